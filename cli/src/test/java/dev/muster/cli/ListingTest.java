package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.sacct.SacctField;
import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tables and records as Slurm's own programs print them for the same cluster. */
class ListingTest {
    private static final String JOBS = """
            {"now":1795256134,"jobs":[
            {"jobId":187,"name":"wrap","userName":"root","groupName":"root","partition":"main","state":"RUNNING",
             "priority":4294901729,"submitTime":1795256132,"eligibleTime":1795256132,"accrueTime":1795256132,
             "startTime":1795256133,"runSeconds":1,"timeLimitMin":-1,"submitHost":"localhost","submitPid":3324,
             "nodes":"n[1-2]","batchHost":"n1","nodeCount":2,"cpus":2,"tasks":2,"cpusPerTask":1,"memPerNodeMb":100,
             "tresRequested":"cpu=2,mem=200M,node=2,billing=2","tresAlloc":"cpu=2,node=2,billing=2","workDir":"/tmp",
             "requeue":true,"exclusiveUse":"NO","batch":true,"stdin":"/dev/null","stdout":"/tmp/slurm-187.out",
             "stderr":"/tmp/slurm-187.out",
             "lastSchedEval":1795256133,"submitLine":"sbatch --wrap true"},
            {"jobId":188,"arrayJobId":188,"arrayTaskId":-1,"arrayTasks":"1-9%2","arrayMaxRunning":2,"name":"jb.sh",
             "userName":"root","groupName":"root","partition":"main","state":"PENDING","reason":"JobHeldUser",
             "submitTime":1795256132,"timeLimitMin":-1,"nodeCount":1,"cpus":1,"workDir":"/tmp","command":"/tmp/jb.sh"},
            {"jobId":186,"name":"jb.sh","userName":"root","groupName":"root","partition":"main","state":"RUNNING",
             "priority":4294901730,"submitTime":1795256132,"startTime":1795256133,"endTime":1795256433,"runSeconds":1,
             "timeLimitMin":5,"nodes":"n1","batchHost":"n1","nodeCount":1,"cpus":3,"workDir":"/tmp"}]}
            """;
    private static final String NODES = """
            {"now":1795256205,"nodes":[
            {"name":"n1","hostname":"vm","address":"127.0.0.1","port":26918,"state":"MIXED","cpus":8,"cpusEffective":8,
             "boards":1,"sockets":8,"coresPerSocket":1,"threadsPerCore":1,"cpusAllocated":4,"memoryMb":4000,
             "memoryFreeMb":23839,"cpuLoad":4,"weight":1,"partitions":["main"],"architecture":"x86_64",
             "operatingSystem":"Linux 6","version":"26.05.3","bootTime":1795253375,"slurmdStartTime":1795254292,
             "lastBusy":1795255146,"tresConfigured":"cpu=8,mem=4000M,billing=8","tresAllocated":"cpu=4"},
            {"name":"n2","hostname":"vm","address":"127.0.0.1","port":26919,"state":"MIXED","cpus":8,"cpusEffective":8,
             "sockets":8,"coresPerSocket":1,"threadsPerCore":1,"cpusAllocated":1,"memoryMb":4000,"weight":1,"cpuLoad":4,
             "partitions":["main"],"metered":true,"watts":120,"averageWatts":95}]}
            """;
    private static final String PARTITIONS = """
            {"now":1795256205,"partitions":[{"name":"main","isDefault":true,"state":"UP","nodes":"n[1-2]",
             "overTimeLimitMin":-1,"totalNodes":2,
             "totalCpus":16,"maxTimeMin":-1,"maxNodes":-1,"priorityTier":1,"priorityJobFactor":1,
             "tres":"cpu=16,mem=8000M,node=2,billing=16"}]}
            """;

    private final FakeHost host =
            new FakeHost().reply("QueryJobs", JOBS).reply("QueryNodes", NODES).reply("QueryPartitions", PARTITIONS);

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --running-over=0     | 186 187
            --running-over=1     | ''
            --running-under=0:02 | 186 187
            --running-under=0:01 | ''
            --running-under=1    | 186 187
            --running-over=0 --running-under=0:01 | ''
            """)
    void squeueFiltersJobsByTheirRunTime(String options, String ids) {
        assertThat(inTree(options)).as("the tree has what the table has").isEqualTo(ids);
        assertThat(String.join(
                        " ",
                        host.run("squeue -h -o %i " + options).out().lines().toList()))
                .isEqualTo(ids);
        assertThat(host.run("squeue --running-over=x"))
                .isEqualTo(new FakeHost.Ran(1, "", "squeue: fatal: Invalid time limit specification\n"));
    }

    @Test
    void exitCodesHaveTheirSignals() {
        host.reply(
                "QueryJobs",
                "{\"now\":1,\"jobs\":[{\"jobId\":7,\"exit\":{\"code\":3,\"signal\":0},"
                        + "\"derivedExit\":{\"code\":0,\"signal\":9}}]}");
        assertThat(host.run("squeue -h -O exit_code:5,derivedec:5").out()).isEqualTo("3:0  0:9  \n");
    }

    @Test
    void compactVariablePrintsTreesOnOneLine() {
        String pretty = host.run("squeue --json").out();
        host.env.put("SLURM_JSON", "compact");
        host.env.put("SLURM_YAML", "compact");
        String compact = host.run("squeue --json").out();
        assertThat(compact.lines().count()).isEqualTo(1);
        assertThat(compact).startsWith("{\"jobs\":[{");
        assertThat(Json.object(compact.getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(Json.object(pretty.getBytes(StandardCharsets.UTF_8)));
        assertThat(host.run("squeue --yaml").out())
                .startsWith("--- {\"jobs\":[{")
                .endsWith("}\n...\n");
        host.env.put("SLURM_YAML", "no_tag,compact");
        assertThat(host.run("squeue --yaml").out()).startsWith("--- {\"jobs\":[{");
        host.env.put("SLURM_JSON", "compact,pretty");
        assertThat(host.run("squeue --json").out()).isEqualTo(pretty);
    }

    /**
     * {@code --json=} names a version of the shapes and flags; an unknown version or flag is refused in Slurm's words.
     */
    @Test
    void jsonOptionNamesADataParserVersion() {
        assertThat(host.run("squeue --json=v0.0.44+foo")).satisfies(ran -> {
            assertThat(ran.err()).isEqualTo("squeue: warning: data_parser/v0.0.44 ignoring unknown flag foo\n");
            assertThat(ran.out())
                    .contains("\"data_parser\": \"data_parser\\/v0.0.44+foo\"", "\"power\": {")
                    .doesNotContain("container_type");
        });
        assertThat(host.run("squeue --json=v0.0.45+complex").out())
                .contains("\"type\": null", "\"time_limit\": ")
                .doesNotContain("\"infinite\"");
        assertThat(host.run("sinfo --yaml=list").out())
                .isEqualTo("Possible data_parser plugins:\ndata_parser/v0.0.42\ndata_parser/v0.0.43\n"
                        + "data_parser/v0.0.44\ndata_parser/v0.0.45\n");
        assertThat(host.run("squeue --json=v0.0.41")).isEqualTo(new FakeHost.Ran(1, "", """
                squeue: error: load_plugins: unable to find plugin: data_parser/v0.0.41
                squeue: error: data_parser_g_new: failure loading plugins: Plugin has invalid format or unable to be loaded
                squeue: error: application/json output not supported by data_parser/v0.0.45
                """));
        assertThat(host.run("scontrol --json=v0.0.44 show config").rc()).isEqualTo(244);
        host.env.put("SLURM_JSON", "neat");
        assertThat(host.run("squeue --json"))
                .isEqualTo(new FakeHost.Ran(
                        1, "", "squeue: fatal: Unable to parse serializer \"neat\" flags: Invalid argument\n"));
    }

    /** Words and signs of nodes, as sinfo prints %T and %t of them. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            IDLE      | DRAIN                            | drained   | drain
            MIXED     | DRAIN                            | draining  | drng
            DOWN      | DRAIN,REBOOT_ISSUED              | reboot^   | boot^
            DOWN      | REBOOT_ISSUED                    | reboot^   | boot^
            ALLOCATED | REBOOT_REQUESTED                 | allocated@ | alloc@
            IDLE      | POWERED_DOWN                     | idle~     | idle~
            ALLOCATED | POWERING_UP                      | allocated# | alloc#
            DOWN      | NOT_RESPONDING                   | down*     | down*
            IDLE      | FAIL                             | fail      | fail
            """)
    void nodeStateIsPrintedInSlurmsWords(String base, String flags, String longWord, String word) {
        String list = "[\"" + flags.replace(",", "\",\"") + "\"]";
        host.reply(
                "QueryNodes",
                "{\"nodes\":[{\"name\":\"n1\",\"state\":\"" + base + "\",\"flags\":" + list
                        + ",\"partitions\":[\"main\"],\"cpus\":8}]}");
        assertThat(host.run("sinfo -h -N -o %T,%t").out()).isEqualTo(longWord + "," + word + "\n");
    }

    private String inTree(String options) {
        return Json.object(host.run("squeue --json " + options).out().getBytes(StandardCharsets.UTF_8))
                .objects("jobs")
                .stream()
                .map(j -> Long.toString(j.number("job_id")))
                .sorted()
                .collect(Collectors.joining(" "));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ''                            | 186 187 188
            -t R                          | 186 187
            -t PD                         | 188
            -j 186 -t R                   | 186
            -j 186 -t PD                  | ''
            -j 186,186                    | 186
            -t R --running-over=0         | 186 187
            -t all --running-under=0:01   | ''
            """)
    void squeueTreesHaveTheJobsThatTheOptionsAskFor(String options, String ids) {
        int at = options.indexOf("-j 186");
        if (at >= 0) {
            String one = JOBS.substring(JOBS.indexOf("{\"jobId\":186"), JOBS.lastIndexOf("]}"));
            host.reply(
                    "QueryJobs",
                    "{\"now\":1795256134,\"jobs\":[" + one + (options.contains("186,186") ? "," + one : "") + "]}");
        }
        assertThat(inTree(options)).isEqualTo(ids);
    }

    @Test
    void jsonShowsStepsAndLimits() {
        host.reply("QuerySteps", """
                {"now":1795256134,"steps":[{"jobId":7,"stepId":"0","startTime":1795256130,"partition":"main",
                 "state":"RUNNING","nodes":"n1"},
                {"jobId":8,"stepId":"1","startTime":1795255034,"partition":"main","state":"RUNNING","nodes":"n2"}]}""");
        assertThat(steps("squeue -s --json")).isEqualTo(2);
        assertThat(steps("squeue -s --json --running-over=10")).isEqualTo(1);
        assertThat(steps("squeue -s --json -w n1")).isEqualTo(1);
        assertThat(perNode()).isEqualTo("{\"set\":false,\"infinite\":true,\"number\":0}");
        host.reply("QueryPartitions", PARTITIONS.replace("\"state\"", "\"maxCpusPerNode\":3,\"state\""));
        assertThat(perNode()).isEqualTo("{\"set\":true,\"infinite\":false,\"number\":3}");
        host.reply(
                "QueryNodes",
                "{\"nodes\":[{\"name\":\"n1\",\"partitions\":\"main\",\"cpuSpecList\":\"0-1\",\"memSpecLimitMb\":5}]}");
        assertThat(host.run("sinfo --json").out().replaceAll("\\s+", ""))
                .contains("\"resource_spec\":{\"cpus\":\"0-1\",\"memory\":5}");
    }

    private int steps(String command) {
        return Json.object(host.run(command).out().getBytes(StandardCharsets.UTF_8))
                .objects("steps")
                .size();
    }

    private String perNode() {
        return Json.object(host.run("sinfo --json").out().getBytes(StandardCharsets.UTF_8))
                .objects("sinfo")
                .getFirst()
                .obj("cpus")
                .obj("per_node")
                .obj("max")
                .toString();
    }

    @Test
    void squeuePrintsPlainAndLongLists() {
        assertThat(host.run("squeue").out()).isEqualTo("""
                             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
                       188_[1-9%2]      main    jb.sh     root PD       0:00      1 (JobHeldUser)
                               186      main    jb.sh     root  R       0:01      1 n1
                               187      main     wrap     root  R       0:01      2 n[1-2]
                """);
        assertThat(host.run("squeue -l").out()).isEqualTo("""
                Sat Nov 21 09:46:20 2026
                             JOBID PARTITION     NAME     USER    STATE       TIME TIME_LIMI  NODES NODELIST(REASON)
                       188_[1-9%2]      main    jb.sh     root  PENDING       0:00 UNLIMITED      1 (JobHeldUser)
                               186      main    jb.sh     root  RUNNING       0:01      5:00      1 n1
                               187      main     wrap     root  RUNNING       0:01 UNLIMITED      2 n[1-2]
                """);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', quoteCharacter = '`', textBlock = """
            -h -j 187 -o %i^^^%t^^^%C ~ 187^^^R^^^2
            -h -j 187 -o "%i","%j" ~ "187","wrap"
            -h -j 187 -o [%5i][%.5i][%2i] ~ [187  ][  187][18]
            -h -j 187 -o JobId=%i,%M,%l,%L,%e,%S ~ JobId=187,0:01,UNLIMITED,UNLIMITED,NONE,2026-11-21T10:15:33
            -h -j 187 -o %p|%Q|%V|%m|%z|%K|%F ~ 0.99998473422601|4294901729|2026-11-21T10:15:32|100M|*:*:*|N/A|187
            -h -j 187 -O JobID:|,NumNodes:|,tres-alloc:| ~ 187|2|cpu=2,node=2,billing=2|
            -h -j 187 -O jobid:5,name:.10 ~ 187        wrap
            -h -j 187 -O stdin:|,stderr:|,stdout:| ~ (null)|(null)|(null)|
            -h -j 187 -O jobarrayid,statecompact ~ `187                 R                   `
            """)
    void squeueFormatIsApplied(String args, String line) {
        host.reply(
                "QueryJobs",
                JOBS.substring(0, JOBS.indexOf("{\"jobId\":188"))
                                .stripTrailing()
                                .replaceAll(",$", "") + "]}");
        FakeHost.Ran ran = host.run("squeue " + args);
        assertThat(ran.out()).isEqualTo(line + "\n");
        assertThat(ran.err()).isEmpty();
    }

    /** The node that is none is named, not the list; a typed format stands alone. */
    @Test
    void listingRefusesUnknownNodesAndConflictingFormats() {
        host.refuse("QueryJobs", 2018, "Invalid node name specified");
        host.reply("QueryNodes", "{\"nodes\":[{\"name\":\"n1\"},{\"name\":\"n2\"}]}");
        assertThat(host.run("squeue -h -w n1,n8,n9"))
                .isEqualTo(new FakeHost.Ran(1, "", "squeue: error: Invalid node name n8\n"));
        assertThat(host.run("squeue -h -w n[1-3]").err()).isEqualTo("squeue: error: Invalid node name n3\n");
        String both =
                ": fatal: Options -o(--format) and -l(--long) are mutually exclusive. Please remove one and retry.\n";
        assertThat(host.run("squeue -l -o %i")).isEqualTo(new FakeHost.Ran(1, "", "squeue" + both));
        assertThat(host.run("sinfo -l -o %P")).isEqualTo(new FakeHost.Ran(1, "", "sinfo" + both));
        assertThat(host.run("sinfo -O partition -l")).isEqualTo(new FakeHost.Ran(1, "", "sinfo" + both));
        assertThat(host.run("squeue -O jobid -o %i").err())
                .isEqualTo("squeue: error: -O (--Format) is incompatible with -o (--format)\n");
        assertThat(host.run("scontrol show daemons n1").err()).isEqualTo("too many arguments for keyword:show\n");
        assertThat(host.run("scontrol update nodename=n1 state=drain reason=").err())
                .isEqualTo("You must specify a reason when DOWNING or DRAINING a node. Request denied\n");
    }

    /** One that has no limit has an end where its start is known, and it is none. */
    @ParameterizedTest
    @CsvSource({"RUNNING,100,NONE", "SUSPENDED,100,NONE", "PENDING,0,N/A", "PENDING,1795300000,NONE"})
    void startedJobWithoutLimitShowsEndNone(String state, long start, String end) {
        host.reply(
                "QueryJobs",
                "{\"jobs\":[{\"jobId\":9,\"state\":\"" + state + "\",\"startTime\":" + start + ",\"endTime\":0}]}");
        assertThat(host.run("squeue -h -o %e").out()).isEqualTo(end + "\n");
    }

    @Test
    void invalidSqueueFormatIsRefused() {
        FakeHost.Ran ran = host.run("squeue -o %i|%-5i|x%y -h -j 187");
        assertThat(ran.err()).isEqualTo("squeue: error: Invalid job format specification: -\n");
        assertThat(ran.out()).contains("187|%-5i|x0");
        assertThat(host.run("squeue -j x").err()).isEqualTo("squeue: error: Invalid job id: x\n");
        assertThat(host.run("squeue -o %i -S i,x,-P,-k"))
                .isEqualTo(new FakeHost.Ran(1, "JOBID\n", "squeue: error: Invalid sort specification: k\n"));
        assertThat(host.run("squeue --helpformat").out())
                .startsWith("%a    %F    %K    %B    %o    %k    %O    %I\n%X");
        assertThat(host.run("squeue --helpstate").out())
                .startsWith("pending\nrunning\n")
                .endsWith("stage_out\nstopped\n");
        assertThat(host.run("squeue -t XX").err())
                .startsWith("squeue: error: Invalid job state specified: XX\n"
                        + "squeue: error: Valid job states include: pending,running,");
        host.reply("QueryJobs", "{}");
        ran = host.run("squeue -j 99999");
        assertThat(ran).isEqualTo(new FakeHost.Ran(1, "", "slurm_load_jobs error: Invalid job id specified\n"));
        assertThat(host.run("squeue -h -j 99999,99998").rc()).isZero();
        host.refuse("QueryJobs", 1800, "Unable to contact slurm controller (connect failure)");
        assertThat(host.run("squeue").err())
                .isEqualTo("slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n");
    }

    @Test
    void squeueAsksOnlyForWhatItShows() {
        host.run("squeue -u ann -t R -h -o %i");
        assertThat(host.sent.get("QueryJobs").toString())
                .isEqualTo("{\"userIds\":[1000],\"states\":[\"RUNNING\"],"
                        + "\"joinArrays\":true,\"fields\":[\"jobId\",\"arrayJobId\",\"arrayTaskId\",\"arrayTasks\","
                        + "\"arrayMaxRunning\",\"hetJobId\","
                        + "\"hetOffset\",\"state\",\"flags\",\"partition\",\"priority\",\"userId\"]}");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', quoteCharacter = '`', textBlock = """
            sinfo -h ~ main*        up   infinite      2    mix n[1-2]
            sinfo -h -s ~ main*        up   infinite          2/0/0/2 n[1-2]
            sinfo -h -o %D,%T,%C,%F ~ 2,mixed,5/11/0/16,2/0/0/2
            sinfo -h -o %P|%G|%l|%p|%c|%m ~ main*|(null)|infinite|1|8|4000
            sinfo -h -o %z|%O|%e|%f|%o|%n ~ 8:1:1|0.04|0-23839|(null)|127.0.0.1|vm
            sinfo -h -O CPUsState:20,StateLong:10 ~ `5/11/0/16           mixed     `
            sinfo -h -o a%%P%b ~ amain*(null)
            sinfo -h -o %P% ~ main*
            sinfo -h -o %2P|%.3P|%1P|%4P|%5P| ~ `m*|ma*|*|mai*|main*|`
            sinfo -h -O partition:3,gres:5,gres:6 ~ `ma*     (null)`
            sinfo -h -o % ~ ``
            sinfo -h -o %% ~ ``
            sinfo -h -o x%%D%%% ~ x2
            sinfo -h --format= ~ ``
            sinfo -h --Format= ~ ``
            sinfo --format= ~ `\n`
            sinfo -h -O port:6,nodelist:7 ~ `26918 n[1-2] `
            """)
    void sinfoGroupsNodesByItsOptions(String command, String line) {
        FakeHost.Ran ran = host.run(command);
        assertThat(ran.err()).isEmpty();
        assertThat(ran.out()).isEqualTo(line + "\n");
    }

    @Test
    void sinfoPrintsItsTables() {
        assertThat(host.run("sinfo").out()).isEqualTo("""
                PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST
                main*        up   infinite      2    mix n[1-2]
                """);
        assertThat(host.run("sinfo -N").out().replace(' ', '_')).isEqualTo("""
                NODELIST   NODES PARTITION STATE_
                n1             1     main* mix___
                n2             1     main* mix___
                """.replace(' ', '_'));
        assertThat(host.run("sinfo -Nl").out().replace(' ', '_')).isEqualTo("""
                Sat Nov 21 09:46:20 2026
                NODELIST   NODES PARTITION       STATE CPUS    S:C:T MEMORY TMP_DISK WEIGHT AVAIL_FE REASON______________
                n1             1     main*       mixed 8       8:1:1   4000        0      1   (null) none________________
                n2             1     main*       mixed 8       8:1:1   4000        0      1   (null) none________________
                """.replace(' ', '_'));
    }

    @Test
    void scontrolShowsAJob() {
        String text = host.run("scontrol show job 187").out();
        assertThat(text).startsWith("""
                JobId=187 JobName=wrap
                   UserId=root(0) GroupId=root(0) MCS_label=N/A
                   Priority=4294901729 Nice=0 Account=(null) QOS=(null)
                   JobState=RUNNING Reason=None Dependency=(null)
                   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode=0:0
                   RunTime=00:00:01 TimeLimit=UNLIMITED TimeMin=N/A
                   SubmitTime=2026-11-21T10:15:32 EligibleTime=2026-11-21T10:15:32
                   AccrueTime=2026-11-21T10:15:32
                   StartTime=2026-11-21T10:15:33 EndTime=Unknown Deadline=N/A
                   SuspendTime=None SecsPreSuspend=0 LastSchedEval=2026-11-21T10:15:33 Scheduler=Main
                   Partition=main AllocNode:Sid=localhost:3324
                   ReqNodeList=(null) ExcNodeList=(null)
                   NodeList=n[1-2]
                   BatchHost=n1
                   NumNodes=2 NumCPUs=2 NumTasks=2 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
                   ReqTRES=cpu=2,mem=200M,node=2,billing=2
                   AllocTRES=cpu=2,node=2,billing=2
                   Socks/Node=* NtasksPerN:B:S:C=0:0:*:* CoreSpec=*
                   MinCPUsNode=1 MinMemoryNode=100M MinTmpDiskNode=0
                   Features=(null) DelayBoot=00:00:00
                   OverSubscribe=NO Exclusive=NO Contiguous=0 Licenses=(null) LicensesAlloc=(null) Network=(null)
                   Command=(null)
                   SubmitLine=sbatch --wrap true
                   WorkDir=/tmp
                   StdErr=
                   StdIn=/dev/null
                   StdOut=/tmp/slurm-187.out

                """);
        assertThat(host.run("scontrol -o show job 187").out().lines().count()).isEqualTo(3);
        host.reply("QueryJobs", "{}");
        assertThat(host.run("scontrol show job 9"))
                .isEqualTo(new FakeHost.Ran(1, "", "slurm_load_jobs error: Invalid job id specified\n"));
        assertThat(host.run("scontrol show job").out()).isEqualTo("No jobs in the system\n");
    }

    @Test
    void scontrolShowsStepManagerAndSegmentFields() {
        host.reply("QueryJobs", """
                {"jobs":[{"jobId":5,"batchHost":"n1","stepMgr":true,"segment":2,"spreadSegments":true,
                 "consolidateSegments":true,
                  "containerType":"x","memUpdateMargin":20,"memUpdateMin":5,"partitionPriorities":["p=7","q=9"]}]}""");
        assertThat(host.run("scontrol show job 5").out())
                .contains("   BatchHost=n1\n   StepMgrEnabled=Yes\n   NumNodes=")
                .contains("SegmentSize=2")
                .contains("ContainerType=x")
                .contains("SpreadSegments=Yes")
                .contains("ConsolidateSegments=Yes");
        assertThat(host.run("scontrol --json show job 5").out().replaceAll("\\s+", ""))
                .contains(
                        "STEPMGR_ENABLED",
                        "SPREAD_SEGMENTS",
                        "CONSOLIDATE_SEGMENTS",
                        "\"segment_size\":2",
                        "\"container_type\":\"x\"",
                        "\"memory_update_delay\":5",
                        "\"memory_update_margin\":20",
                        "\"priority_by_partition\":[{\"partition\":\"p\",\"priority\":7},"
                                + "{\"partition\":\"q\",\"priority\":9}]");
        host.reply("QueryJobs", "{\"jobs\":[{\"jobId\":5}]}");
        assertThat(host.run("scontrol show job 5").out())
                .doesNotContain("StepMgrEnabled")
                .doesNotContain("Segment");
    }

    @Test
    void squeueShowsColumnsOfRecentReleases() {
        host.reply("QueryJobs", """
                {"jobs":[{"jobId":5,"state":"PENDING","segment":2,"profile":"energy,task","containerType":"x",
                 "reboot":true,
                  "licensesAlloc":"a:1","cronSpec":"@daily","burstBufferState":"staging-in"},{"jobId":6,
                  "state":"PENDING"}]}""");
        String fields = "JobID:7,SegmentSize:13,Profile:12,ContainerType:15,Reboot:7,LicensesAlloc:15,CronJob:9,"
                + "BurstBufferState:18";
        assertThat(host.run("squeue -O " + fields).out().replaceAll(" +", " "))
                .isEqualTo("""
                JOBID SEGMENT_SIZE PROFILE CONTAINER_TYPE REBOOT LICENSES_ALLOC CRON_JOB BURST_BUFFER_STATE
                5 2 Energy,Task x 1 a:1 Yes staging-in
                6 0 NotSet (null) 0 (null) No (null)
                """.replace("\n", " \n").replace("STATE \n", "STATE\n"));
        assertThat(host.run("scontrol show job 5").out()).contains("Reboot=1");
        host.reply("QuerySteps", """
                {"steps":[{"jobId":5,"stepId":"0","state":"RUNNING","cpus":2,"resvPorts":"7001-7002","network":"ip",
                  "cpuFreq":"1000-1500:performance","containerId":"c1"},{"jobId":5,"stepId":"1","cpuFreq":"High",
                  "containerId":"c2"}]}""");
        assertThat(host.run("squeue -s -O StepID:9,CPUFreq:24,ContainerID:14")
                        .out()
                        .replaceAll(" +", " ")
                        .strip())
                .isEqualTo(
                        "STEPID CPU_FREQ CONTAINER_ID \n5.0 1M-1.50M:Performance c1 \n5.1 Unknown-High:UserSpace c2");
        assertThat(host.run("scontrol -o show step container-id=c1").out())
                .startsWith("StepId=5.0 ")
                .contains("ContainerID=c1", "Network=ip", " CPU_min_freq=1000 CPU_max_freq=1500 Governor=Performance")
                .doesNotContain("StepId=5.1");
        assertThat(host.run("scontrol show step container-id=none").err()).contains("Invalid job id specified");
        host.reply("QuerySteps", """
                {"steps":[{"jobId":5,"stepId":"0","state":"RUNNING","cpus":2,"resvPorts":"7001-7002",\
                "network":"ip"}]}""");
        assertThat(host.run("squeue -s -O JobID:7,Cluster:8,Network:8,ResvPort:15,NumCPUs:9")
                        .out()
                        .replaceAll(" +", " ")
                        .strip())
                .isEqualTo("JOB_ID CLUSTER NETWORK RESERVED_PORTS NUM_CPUS \n5 test ip 7001-7002 2");
    }

    @Test
    void scontrolShowsTopologiesOfAllKinds() {
        host.reply("QueryTopology", """
                {"topologies":[{"name":"t","kind":"TREE","switches":[{"name":"s1","nodes":["n1","n2"]},
                    {"name":"r","level":1,"nodes":["n1","n2"],"switches":["s1"]}]},
                  {"name":"b","kind":"BLOCK","blocks":[{"name":"b1","nodes":["n1","n2"]}],"sizes":[2,4]},
                  {"name":"o","kind":"TORUS","lines":["torus3d:","  toruses:"]},{"name":"f","kind":"FLAT",
                   "alphaRank":true}]}""");
        assertThat(host.run("scontrol show topology").out())
                .as("the cluster's")
                .contains("SwitchName=s1", "SwitchName=r")
                .doesNotContain("BlockName");
        assertThat(host.run("scontrol show topology b").out())
                .contains("BlockName=b1")
                .doesNotContain("SwitchName");
        assertThat(host.run("scontrol show topology unit=s1").out())
                .contains("SwitchName=s1")
                .doesNotContain("SwitchName=r");
        assertThat(host.run("scontrol show topology t node=n1,n2").out()).contains("SwitchName=s1", "SwitchName=r");
        assertThat(host.run("scontrol show topology node=n1,n3").err())
                .isEqualTo("Topology information contains no node named n1,n3\n");
        assertThat(host.run("scontrol show topology b switch=b2").err())
                .isEqualTo("Topology information contains no unit named b2\n");
        assertThat(host.run("scontrol show topology wire=b").err()).contains("Invalid topology filter: wire=b");
        host.env.put("SLURM_TOPO_LEN", "13");
        assertThat(host.run("scontrol show topology").out()).isEqualTo("SwitchName=s1\nSwitchName=r \n");
        host.env.remove("SLURM_TOPO_LEN");
        assertThat(host.run("scontrol show topoconf").out()).isEqualTo("""
                ---
                - topology: t
                  cluster_default: true
                  tree:
                    switches:
                      - switch: s1
                        nodes: n[1-2]
                      - switch: r
                        children: s1
                - topology: b
                  cluster_default: false
                  block:
                    block_sizes:
                      - 2
                      - 4
                    blocks:
                      - block: b1
                        nodes: n[1-2]
                - topology: o
                  cluster_default: false
                  torus3d:
                    toruses:
                - topology: f
                  cluster_default: false
                  flat:
                    alpha_step_rank: true
                """);
        host.reply("QueryTopology", "{}");
        assertThat(host.run("scontrol show topoconf").out())
                .isEqualTo("---\n- topology: default\n  cluster_default: true\n  flat: true\n");
    }

    /** Triggers of daemons are listed as Slurm lists them. */
    @Test
    void daemonTriggersAreListedAsSlurmListsThem() {
        host.reply("QueryTriggers", """
                {"triggers":[{"id":1,"events":["primary_slurmctld_resumed_operation"],"userName":"root",
                 "program":"/bin/true"},
                  {"id":6,"events":["primary_slurmdbd_failure"],"userName":"root","program":"/bin/true"},
                  {"id":8,"events":["primary_database_failure"],"userName":"root","program":"/bin/true"},
                  {"id":10,"events":["burst_buffer"],"userName":"root","program":"/bin/true"},
                  {"id":11,"events":["down"],"userName":"root","program":"/bin/true"}]}""");
        assertThat(host.run("strigger --get -N").out()).isEqualTo("""
                      1 slurmctld       * primary_slurmctld_resumed_operation      0 root           /bin/true
                      6 slurmdbd        * primary_slurmdbd_failure                 0 root           /bin/true
                      8 database        * primary_database_failure                 0 root           /bin/true
                     10 other      (null) burst_buffer                             0 root           /bin/true
                     11 node            * down                                     0 root           /bin/true
                """);
    }

    @Test
    void energyHasDecimalPrefixes() {
        String[][] rows = {
            {"0", "", "0"},
            {"999", "", "999"},
            {"2000", "", "2K"},
            {"13503", "", "13.50K"},
            {"7250000", "", "7.25M"},
            {"13503", "1", "13503"},
            {"13503", "M", "0.01M"},
            {"4000000", "K", "4000K"}
        };
        for (String[] row : rows) {
            char unit = row[1].isEmpty() ? 0 : row[1].equals("1") ? 1 : row[1].charAt(0);
            assertThat(SacctField.energy(Long.parseLong(row[0]), unit))
                    .as(String.join(" ", row))
                    .isEqualTo(row[2]);
        }
    }

    /** Small letters before capitals, as release 26.05.3 lists them. */
    @Test
    void allFieldsFollowTheOrderOfTheirLetters() {
        host.reply("QuerySteps", "{\"steps\":[{\"jobId\":5,\"stepId\":\"0\",\"name\":\"a\"}]}");
        String[][] headings = {
            {
                "squeue -o %all",
                "ACCOUNT|TRES_PER_NODE|MIN_CPUS|MIN_TMP_DISK|END_TIME|FEATURES|GROUP|OVER_SUBSCRIBE|JOBID|NAME|"
            },
            {
                "squeue -s -o %all",
                "TRES_PER_JOB|STEPID|NAME|TIME_LIMIT|USER|TASKS|TIME|NODELIST|PARTITION|START_TIME|UID|\n"
            },
            {
                "sinfo -o %all",
                "AVAIL|ACTIVE_FEATURES|CPUS|TMP_DISK|FREE_MEM|AVAIL_FEATURES|GROUPS|OVERSUBSCRIBE|RESERVATION|"
                        + "TIMELIMIT|"
            }
        };
        for (String[] row : headings) {
            assertThat(host.run(row[0]).out()).startsWith(row[1]);
        }
        assertThat(host.run("sinfo -o %all").out().lines().findFirst().orElse(""))
                .contains("|S:C:T|NODES(A/I) |")
                .endsWith("|CORES |THREADS ");
    }

    /** {@code -O NodeList,Gres: ,GresUsed:} without quotes, as scripts have it. */
    @Test
    void sinfoPassesWordsBehindItsOptions() {
        assertThat(host.run("sinfo -h -N -n n1 -o %N ,GresUsed:")).isEqualTo(host.run("sinfo -h -N -n n1 -o %N"));
    }

    @Test
    void squeueOfStatesAloneComesAsJsonToo() {
        assertThat(host.run("squeue --only-job-state --json").out())
                .contains("\"state\": [")
                .doesNotContain("\"account\"");
    }

    @Test
    void scontrolShowsANodeAndAPartition() {
        assertThat(host.run("scontrol show node n1").out()).isEqualTo("""
                NodeName=n1 Arch=x86_64 CoresPerSocket=1_
                   CPUAlloc=4 CPUEfctv=8 CPUTot=8 CPULoad=0.04
                   AvailableFeatures=(null)
                   ActiveFeatures=(null)
                   Gres=(null)
                   NodeAddr=127.0.0.1 NodeHostName=vm Port=26918 Version=26.05.3
                   OS=Linux 6_
                   RealMemory=4000 AllocMem=0 FreeMem=23839 Sockets=8 Boards=1
                   State=MIXED ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A
                   Partitions=main_
                   BootTime=2026-11-21T09:29:35 SlurmdStartTime=2026-11-21T09:44:52
                   LastBusyTime=2026-11-21T09:59:06 ResumeAfterTime=None SuspendTime=INFINITE
                   CfgTRES=cpu=8,mem=4000M,billing=8
                   AllocTRES=cpu=4
                   CurrentWatts=0 AveWatts=0

                """.replace("_\n", " \n")
                .replace("___\n", "   \n")
                .replace("   \n", "   \n")
                .replace("__ \n", "   \n"));
        assertThat(host.run("scontrol show node n2").out())
                .contains("   CurrentWatts=120 AveWatts=95\n")
                .doesNotContain("ReservationName");
        host.reply(
                "QueryNodes",
                NODES.replace("\"metered\":true", "\"metered\":true,\"reservation\":\"r1\",\"extra\":\"x\""));
        assertThat(host.run("scontrol show node n2").out()).contains("   Extra=x\n   ReservationName=r1\n");
        assertThat(host.run("sinfo -h -N -o %N=%i").out()).isEqualTo("n1=\nn2=r1\n");
        assertThat(host.run("scontrol show node n2 --json").out()).contains("\"reservation\": \"r1\"");
        host.reply("QueryNodes", NODES);
        assertThat(host.run("scontrol show node n9")).isEqualTo(new FakeHost.Ran(1, "Node n9 not found\n", ""));
        assertThat(host.run("scontrol show part").out()).isEqualTo("""
                PartitionName=main
                   AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL
                   AllocNodes=ALL Default=YES QoS=N/A
                   DefaultTime=NONE DisableRootJobs=NO Exclusive=NO GraceTime=0 Hidden=NO
                   MaxNodes=UNLIMITED MaxTime=UNLIMITED MinNodes=0 LLN=NO MaxCPUsPerNode=UNLIMITED MaxCPUsPerSocket=UNLIMITED
                   Nodes=n[1-2]
                   PriorityJobFactor=1 PriorityTier=1 RootOnly=NO ReqResv=NO OverSubscribe=NO
                   OverTimeLimit=NONE PreemptMode=OFF
                   State=UP TotalCPUs=16 TotalNodes=2 SelectTypeParameters=NONE
                   JobDefaults=(null)
                   DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED
                   TRES=cpu=16,mem=8000M,node=2,billing=16

                """);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', quoteCharacter = '`', textBlock = """
            scontrol foo ~ 1 ~ invalid keyword: foo
            scontrol show foo ~ 1 ~ `invalid entity:foo for keyword:show `
            scontrol show ~ 1 ~ too few arguments for keyword:show
            scontrol hold ~ 1 ~ too few arguments for keyword:hold
            scontrol update ~ 1 ~ too few arguments for update keyword
            scontrol create ~ 1 ~ too few arguments for create keyword
            scontrol setdebug foo ~ 1 ~ invalid debug level: foo
            scontrol show job x ~ 1 ~ scontrol_print_job error: Invalid job id specified
            scontrol update nodename=n1 state=down ~ 1 ~ You must specify a reason when DOWNING or DRAINING a node. Request denied
            scontrol delete reservation ~ 1 ~ `scontrol: error: Proper format is 'delete <ENTITY>=<ID>' or 'delete <ENTITY> <ID>'`
            scontrol top 1 2 ~ 1 ~ too many arguments for keyword:top
            scontrol listpids x ~ 1 ~ `"x" does not look like a jobid`
            scontrol create reservation starttime=now corecnt=1,1 ~ 1 ~ scontrol: error: Using a comma separated array for CoreCnt is no longer valid.
            scontrol create reservation starttime=now nodecnt=1,2 ~ 1 ~ scontrol: error: Using a comma separated array for NodeCnt is no longer valid.
            scontrol create reservation starttime=now duration=1 users=root nodecnt=2x ~ 1 ~ scontrol: error: "2x" is not a valid node count
            scontrol create reservation starttime=now duration=1 users=root nodecnt=1kk ~ 1 ~ scontrol: error: "1kk" is not a valid node count
            scontrol create reservation starttime=now duration=1 users=root corecnt=x ~ 1 ~ NO_COUNT
            scontrol create reservation starttime=now users=root user+=bin ~ 1 ~ scontrol: error: Parameter user+=bin specified more than once
            scancel ~ 1 ~ scancel: error: No job identification provided
            scancel foo ~ 1 ~ scancel: error: Invalid job id foo
            scancel -s FOO 1 ~ 1 ~ Unknown job signal: FOO
            scancel -u nouser ~ 1 ~ scancel: error: Invalid user name: nouser
            """)
    void invalidListingCommandIsRefused(String command, int rc, String error) {
        String sentence = error.replace(
                "NO_COUNT",
                "scontrol: error: CoreCnt, Nodes, NodeCnt, TRES or Watts must be specified.  No reservation created.");
        assertThat(host.run(command)).isEqualTo(new FakeHost.Ran(rc, "", sentence + "\n"));
    }

    @Test
    void sviewFailsWithoutAServedPage() {
        host.reply("CreateToken", "{\"token\":\"a.b.c\"}").env.put("MUSTER_PAGE", "localhost:1");
        assertThat(host.run("sview").err())
                .contains("no slurmrestd with a page is reached at http://localhost:1: ")
                .contains("MUSTER_PAGE");
        assertThat(host.run("sview -V").out()).isEqualTo("slurm 26.05.3\n");
    }
}
