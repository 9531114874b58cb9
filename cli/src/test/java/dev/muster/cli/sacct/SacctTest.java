package dev.muster.cli.sacct;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.FakeHost;
import dev.muster.json.Json;
import dev.muster.model.accounting.PackedAnswer;
import dev.muster.model.accounting.PackedAnswer.Column;
import dev.muster.model.accounting.PackedAnswer.Kind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SacctTest {
    private static final String EXTREMES =
            "cpu=61000000@3@n2/90@2@n2,mem=3000@1@n1/1000@0@n1,vmem=9500@2@n2/0@3@n2,pages=8@3@n2/0@1@n1,"
                    + "read=3145728@2@n2/0@3@n2,write=40@3@n2/1@2@n2";

    private final FakeHost host = new FakeHost();

    private static byte[] part(int next, int... ids) {
        PackedAnswer.Writer w = new PackedAnswer.Writer(
                FakeHost.NOW,
                "c",
                List.of(
                        new Column("jobId", Kind.NUMBER),
                        new Column("state", Kind.TEXT),
                        new Column("cancelledBy", Kind.NUMBER),
                        new Column("arrayTaskId", Kind.NUMBER),
                        new Column("exit.code", Kind.NUMBER)),
                List.of(
                        new Column("stepId", Kind.NUMBER),
                        new Column("state", Kind.TEXT),
                        new Column("exit.code", Kind.NUMBER),
                        new Column("usage.userCpuUs", Kind.NUMBER)));
        for (int id : ids) {
            w.job("c");
            w.value(id);
            w.value(id % 2 == 0 ? "CANCELLED" : "COMPLETED");
            w.value(id % 2 == 0 ? 1000 : -1);
            w.value(-1);
            w.value(id % 3);
            for (int s = 0; s < id % 2; s++) {
                w.step();
                w.value(-5);
                w.value("COMPLETED");
                w.value(s);
                w.value(1_500_000);
            }
        }
        return w.end(next);
    }

    private void answers(byte[]... parts) {
        host.replies.put("QueryAccounting", new ArrayList<>(List.of(parts)).iterator());
    }

    @Test
    void partsOfAPackedAnswerAreOneList() {
        answers(part(3, 1, 2), part(0, 3));
        assertThat(host.run("sacct -a -nP -o jobid,state,exitcode,totalcpu").out())
                .isEqualTo("""
                1|COMPLETED|1:0|00:01.500
                1.batch|COMPLETED|0:0|00:01.500
                2|CANCELLED by 1000|2:0|00:00.000
                3|COMPLETED|0:0|00:01.500
                3.batch|COMPLETED|0:0|00:01.500
                """);
        assertThat(host.calls).containsExactly("QueryAccounting", "QueryAccounting");
        assertThat(host.sent.get("QueryAccounting").number("fromJob")).isEqualTo(3);
        assertThat(host.sent.get("QueryAccounting").flag("packed")).isTrue();
        // only what is shown
        assertThat(host.sent.get("QueryAccounting").texts("fields"))
                .containsExactlyInAnyOrder("exit", "usage", "jobId", "arrayJobId", "arrayTaskId");
    }

    @ParameterizedTest
    @CsvSource({"--json, 1", "--json -X, 0", "--yaml, 1"})
    void aDocumentIsMadeOfAllParts(String options, int steps) {
        answers(part(3, 1, 2), part(0, 3));
        FakeHost.Ran ran = host.run("sacct -a " + options);
        assertThat(ran.rc()).isZero();
        if (options.contains("yaml")) {
            assertThat(ran.out().lines().filter(l -> l.startsWith("  !!str job_id:")))
                    .hasSize(3);
            assertThat(ran.out())
                    .startsWith("%YAML 1.1\n--- !!map\n!!str jobs: !!seq\n- !!map\n")
                    .endsWith("!!str warnings: !!seq []\n...\n");
            return;
        }
        Json.Obj all = Json.object(ran.out().getBytes(java.nio.charset.StandardCharsets.UTF_8));
        assertThat(all.objects("jobs"))
                .extracting(j -> j.integer("job_id") + " " + j.objects("steps").size())
                .containsExactly("1 " + steps, "2 0", "3 " + steps);
        assertThat(all.has("meta")).isTrue();
        assertThat(all.list("errors")).isEmpty();
    }

    @Test
    void aTitleIsCutWithoutASign() {
        answers(part(0));
        assertThat(host.run("sacct -a -o jobid%3,jobname%-5").out()).isEqualTo("Job JobNa \n--- ----- \n");
    }

    /** The file is as jobcomp/filetxt writes it; a name may have blanks and more. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            -c -n -P -o jobid,uid,jobname,partition,nodelist,end | 1,0,a job=x,main,n[1-2],2026-11-20T09:20:49 7,1000,b,other,(null),Unknown
            -c -n -P -j 7_1                              | 7,1000,b,other,0,(null),CANCELLED,Unknown
            -c -n -P -j 7_2                              | ''
            -c -n -P -j 1_1                              | ''
            -f /log -n -P -b -r main                     | 1,0,COMPLETED
            -c -n -P -o jobid,user,elapsed,timelimit -N n2 | 1,root(0),00:00:09,5
            -c -n -P -s CA -o jobid,exitcode,reqtres     | 7,0:15,cpu=1,node=1
            -c -n -P -b -S 2026-11-20T09:20:49           | 1,0,COMPLETED
            -c -n -P -b -S 2026-11-20T09:20:50           | ''
            -c -n -P -b -S 2026-11-01 -E 2026-11-20T09:20:39 | ''
            """)
    void completionRecordsAreReadFromTheFile(String options, String lines) {
        FakeHost own = new FakeHost();
        own.settings().jobCompType = "jobcomp/filetxt";
        own.settings().jobCompLoc = "/log";
        own.files.put("/log", """
                JobId=1 UserId=root(0) GroupId=root(0) Name=a job=x JobState=COMPLETED Partition=main TimeLimit=5 StartTime=2026-11-20T09:20:40 \
                EndTime=2026-11-20T09:20:49 NodeList=n[1-2] NodeCnt=2 ProcCnt=2 WorkDir=/tmp ReservationName= Tres=cpu=2 Account=a ExitCode=0:0\s
                JobId=7 UserId=u(1000) GroupId=g(100) Name=b JobState=CANCELLED Partition=other TimeLimit=UNLIMITED StartTime=Unknown \
                EndTime=Unknown NodeList=(null) NodeCnt=0 ProcCnt=0 Tres=cpu=1,node=1 ArrayJobId=7 ArrayTaskId=1 ExitCode=0:15\s
                """);
        FakeHost.Ran ran = own.run("sacct " + options);
        assertThat(ran.err()).isEmpty();
        assertThat(ran.out().strip().replace("a job", "a_job").replace('|', ',').replace('\n', ' '))
                .isEqualTo(lines.replace("a job", "a_job"));
    }

    /** SLURM_TIME_FORMAT; what is no time stays as it is. */
    @Test
    void completionTimesFollowSlurmTimeFormat() {
        host.settings().jobCompType = "jobcomp/filetxt";
        host.files.put(
                "/log",
                "JobId=1 UserId=r(0) JobState=COMPLETED StartTime=2026-11-20T09:20:40 "
                        + "EndTime=2026-11-20T09:20:49 EligibleTime=Unknown\n");
        host.env.put("SLURM_TIME_FORMAT", "%H-%M");
        assertThat(host.run("sacct -f /log -nP -o start,end,eligible,submit").out())
                .isEqualTo("09-20|09-20|Unknown|\n");
        assertThat(host.run("sacct -S 2026-11-20T09:20 -E 2026-11-20T08:10").err())
                .isEqualTo("sacct: error: Start time (09-20) requested is after end time (08-10).\n");
    }

    @Test
    void disabledJobCompletionIsReported() {
        assertThat(host.run("sacct -c")).isEqualTo(new FakeHost.Ran(1, "", "Slurm job completion is disabled\n"));
        host.settings().jobCompType = "jobcomp/filetxt";
        host.settings().jobCompLoc = "/log";
        assertThat(host.run("sacct -c -o jobid,state").out()).isEqualTo("""
                JobID             State\s
                ------------ ----------\s
                """);
        assertThat(host.run("sacct -f /none")).isEqualTo(new FakeHost.Ran(1, "", "/none is not a valid file\n"));
        assertThat(host.run("sacct -c -I 3").rc()).isEqualTo(1);
        assertThat(host.run("sacct -c --json").rc()).isEqualTo(1);
        host.settings().jobCompType = "jobcomp/kafka";
        assertThat(host.run("sacct -c").err())
                .isEqualTo("sacct: error: what jobcomp/kafka has written cannot be read here\n");
    }

    @Test
    void jsonOfNoJobsIsAnEmptyList() {
        answers(part(0));
        assertThat(host.run("sacct -a --json").out()).startsWith("{\n  \"jobs\": [\n  ],\n  \"meta\": {");
    }

    /** An older slurmdbd answers in trees. */
    @Test
    void unpackedAnswerIsReadToo() {
        host.reply(
                "QueryAccounting",
                "{\"now\":5,\"jobs\":[{\"job\":{\"jobId\":7,\"state\":\"RUNNING\",\"arrayTaskId\":-1}}]}");
        assertThat(host.run("sacct -a -nPX -o jobid,state").out()).isEqualTo("7|RUNNING\n");
    }

    /** What the tables have no index for is chosen here: by one of the flags, and by all of the features. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "-F SchedMain; 7 8",
                "-F schedbackfill; 9",
                "-F SchedMain,SchedBackfill; 7 8 9",
                "--flags=None; 10",
                "-F StartReceived; 7 8 9",
                "-C a; 7 8",
                "-C a,b; 8",
                "--constraints=c -F SchedBackfill; 9",
                "-C d; ''"
            })
    void sacctFiltersByFlagsAndFeatures(String options, String expected) {
        host.reply(
                "QueryAccounting",
                ("{'now':5,'jobs':[{'job':{'jobId':7,'arrayTaskId':-1,'flags':'SchedMain,StartReceived',"
                                + "'features':'a'}},"
                                + "{'job':{'jobId':8,'arrayTaskId':-1,'flags':'SchedMain,StartReceived',"
                                + "'features':'[a*2&b]'}},"
                                + "{'job':{'jobId':9,'arrayTaskId':-1,'flags':'SchedBackfill,StartReceived',"
                                + "'features':'b|c'}},"
                                + "{'job':{'jobId':10,'arrayTaskId':-1,'flags':'','features':''}}]}")
                        .replace('\'', '"'));
        assertThat(host.run("sacct -a -nPX -o jobid " + options).out().strip().replace('\n', ' '))
                .isEqualTo(expected);
        assertThat(host.sent.get("QueryAccounting").flag("packed")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "-F nosuch; sacct: error: str_2_job_flags: Invalid job flag nosuch",
                "--units=X; sacct: error: Invalid unit type 'X'. Possible options are 'KMGTP'|sacct: fatal: "
                        + "Invalid unit type",
                "--nnodes=x; sacct: error: Invalid numeric value \"x\" for requested node range.",
                "--ncpus=1-x; sacct: error: Invalid numeric value \"1-x\" for requested cpu range.",
                "-k x; sacct: fatal: Invalid time limit specification",
                "-s nosuch; sacct: fatal: unrecognized job state value 'nosuch'",
                "-u nosuch; sacct: error: Invalid user id: nosuch",
                "extra words; sacct: error: Unknown arguments:|sacct: error:  extra|sacct: error:  words"
            })
    void invalidSacctOptionIsRefused(String options, String expected) {
        FakeHost.Ran ran = host.run("sacct " + options);
        assertThat(ran.rc()).isEqualTo(1);
        assertThat(ran.err()).isEqualTo(expected.replace('|', '\n') + "\n");
    }

    @ParameterizedTest
    @CsvSource({"-k 5, 5, 5", "-K 10, 0, 10", "-k 5 -K 10, 5, 10"})
    void sacctSendsItsTimeLimitFilter(String options, long least, long most) {
        answers(part(0));
        host.run("sacct -a " + options);
        Json.Obj asked = host.sent.get("QueryAccounting");
        assertThat(List.of(asked.number("minLimitMin"), asked.number("maxLimitMin")))
                .isEqualTo(List.of(least, most));
    }

    /** Suspending a job suspends its steps; a job that never ran has no steps. */
    @Test
    void suspendedJobSuspendsItsSteps() {
        String rows = "{'now':1000,'jobs':[{'job':{'jobId':7,'arrayTaskId':-1,'nodes':'n1','state':'SUSPENDED',"
                + "'startTime':100,'cpusAllocated':2,"
                + "'cpusRequested':1,'suspendedSeconds':50,'suspendedSince':400},'steps':["
                + "{'stepId':0,'cpus':1,'startTime':120,'state':'SUSPENDED','suspendedSeconds':30},"
                + "{'stepId':1,'cpus':1,'startTime':150,'endTime':350,'state':'COMPLETED',"
                + "'suspendedSeconds':20}]},"
                + "{'job':{'jobId':8,'arrayTaskId':-1,'state':'CANCELLED','cpusRequested':4,'endTime':500},"
                + "'steps':[]}]}";
        host.reply("QueryAccounting", rows.replace('\'', '"'));
        assertThat(host.run("sacct -nP -j 7,8 -o jobid,elapsedraw,suspended,cputimeraw,alloccpus,ncpus")
                        .out())
                .isEqualTo("""
                7|250|00:10:50|500|2|2
                7.0|250|00:10:30|250|1|1
                7.1|180|00:00:20|180|1|1
                8|0|00:00:00|0|0|0
                """);
        host.reply("QueryAccounting", rows.replace('\'', '"'));
        byte[] document = host.run("sacct -j 7,8 --json").out().getBytes(java.nio.charset.StandardCharsets.UTF_8);
        Json.Obj job = Json.object(document).objects("jobs").getFirst();
        assertThat(job.obj("time").number("elapsed")).isEqualTo(250);
        assertThat(job.obj("time").number("suspended")).isEqualTo(650);
        assertThat(job.objects("steps").getFirst().obj("time").number("suspended"))
                .isEqualTo(630);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', textBlock = """
            MinCPU,MinCPUNode,MinCPUTask                ~ 00:00:00|n2|2
            MaxRSS,MaxRSSNode,MaxRSSTask                ~ 3000K|n1|1
            MaxPages,MaxPagesNode,MaxPagesTask,AvePages ~ 8|n2|3|4
            MaxDiskRead,MaxDiskReadNode,MaxDiskReadTask ~ 3.00M|n2|2
            MaxDiskWriteNode,MaxDiskWriteTask           ~ n2|3
            TRESUsageInMax ~ cpu=00:01:01,energy=7,fs/disk=3145728,mem=3000K,pages=8,vmem=9500K
            TRESUsageInMaxNode                          ~ cpu=n2,fs/disk=n2,mem=n1,pages=n2,vmem=n2
            TRESUsageInMaxTask                          ~ cpu=3,fs/disk=2,mem=1,pages=3,vmem=2
            TRESUsageInMin                              ~ cpu=00:00:00,energy=7,fs/disk=0,mem=1000K,pages=0,vmem=0K
            TRESUsageInMinNode                          ~ cpu=n2,fs/disk=n2,mem=n1,pages=n1,vmem=n2
            TRESUsageInMinTask                          ~ cpu=2,fs/disk=3,mem=0,pages=1,vmem=3
            TRESUsageInAve ~ cpu=00:00:30,energy=7,fs/disk=1048576,mem=2000K,pages=4,vmem=6375K
            TRESUsageInTot ~ cpu=00:02:00,energy=7,fs/disk=4194304,mem=8000K,pages=16,vmem=25500K
            MaxRSS,AveRSS,MaxDiskRead --noconvert       ~ 3072000|2048000|3145728
            TRESUsageInMax --noconvert ~ cpu=00:01:01,energy=7,fs/disk=3145728,mem=3072000,pages=8,vmem=9728000
            TRESUsageOutMax,TRESUsageOutMaxNode         ~ energy=7,fs/disk=40|fs/disk=n2
            TRESUsageOutMin,TRESUsageOutMinTask         ~ energy=7,fs/disk=1|fs/disk=2
            TRESUsageOutAve                             ~ energy=7,fs/disk=20
            AveCPUFreq,ReqCPUFreq,ReqCPUFreqMax         ~ 2.10G|High|High
            ReqCPUFreqMin,ReqCPUFreqGov                 ~ 1.20G|OnDemand
            """)
    void sacctShowsTheUsageExtremesOfSingleTasks(String fields, String expected) {
        host.reply(
                "QueryAccounting",
                ("{'now':5,'jobs':[{'job':{'jobId':7,'arrayTaskId':-1},'steps':[{'stepId':0,'tasks':4,"
                                + "'cpuFreq':'1200000-high:ondemand',"
                                + "'usage':{'userCpuUs':120000000,"
                                + "'maxRssKb':3000,'maxRssNode':'n1','maxRssTask':1,'aveRssKb':2000,'maxVmKb':9500,"
                                + "'aveVmKb':6375,'maxPages':8,'avePages':4,"
                                + "'readBytes':4194304,'writeBytes':80,'minCpuUs':90,'aveCpuUs':30000000,'energyJ':7,"
                                + "'aveCpuKhz':2100500,'extremes':'" + EXTREMES + "'}}]}]}")
                        .replace('\'', '"'));
        assertThat(host.run("sacct -nP -j 7.0 -o " + fields).out().strip()).isEqualTo(expected);
    }
}
