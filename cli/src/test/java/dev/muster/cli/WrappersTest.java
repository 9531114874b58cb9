package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What other workload managers' commands become here, and what they refuse. */
class WrappersTest {
    private static final String JOBS = """
            {"now":1795256134,"jobs":[
            {"jobId":1,"name":"fromscript","userName":"ann","userId":1000,"groupName":"users","groupId":100,
             "partition":"main","state":"RUNNING",
             "priority":7,"submitTime":1795256132,"startTime":1795256133,"endTime":1795256433,"runSeconds":65,
             "timeLimitMin":5,"submitHost":"login",
             "nodes":"n[1-2]","nodeCount":2,"cpus":3,"memPerNodeMb":100,
             "details":[{"nodes":"n1","cpuIds":"0-1","memoryMb":100},{"nodes":"n2","cpuIds":"0","memoryMb":100}]},
            {"jobId":2,"name":"longnameofajobthatdoesnotfit","userName":"bob","partition":"main","state":"PENDING",
             "reason":"JobHeldUser",
             "submitTime":1795256132,"timeLimitMin":-1,"nodeCount":1,"cpus":1,"submitHost":"login"},
            {"jobId":3,"name":"over","userName":"ann","partition":"main","state":"COMPLETED","submitTime":1795256132,
             "timeLimitMin":1440,
             "nodeCount":1,"cpus":1,"runSeconds":3,"submitHost":"login"}]}
            """;
    private final FakeHost host = new FakeHost().reply("QueryJobs", JOBS).reply("Submit", "{\"jobId\":12}");

    /** qsub and the options of sbatch that say the same must send the same. */
    @ParameterizedTest
    @CsvSource(delimiter = '~', quoteCharacter = '`', textBlock = """
            -o o -e e j.pbs                            ~ -o o -e e
            j.pbs                                      ~ -o j.pbs.o%A -e j.pbs.e%A
            -N x j.pbs                                 ~ -J x -o x.o%A -e x.e%A
            -j oe j.pbs                                ~ -o j.pbs.o%A
            -j oe -o o -l nodes=2:ppn=4,walltime=1:00:30 j.pbs ~ -o o -N2 -n8 -t61
            -j oe -o o -l walltime=90 j.pbs            ~ -o o -t2
            -j oe -o o -l mem=2gb j.pbs                ~ -o o --mem=2048M
            -j oe -o o -l select=2:ncpus=4:mpiprocs=2:mem=1gb j.pbs ~ -o o -N2 --mincpus=4 --ntasks-per-node=2 --cpus-per-task=2 --mem=1024M
            -j oe -o o -l nodes=n1+n2 j.pbs            ~ -o o -N2 -wn1,n2
            -j oe -o o -l nodes=2:ppn=2:big j.pbs      ~ -o o -N2 -n4 --constraint=big
            -j oe -o o -l place=excl j.pbs             ~ -o o --exclusive
            -j oe -o o -l nodes=1:ppn=2+2:ppn=3 j.pbs  ~ error: parts that differ are not supported
            -l foo=1 j.pbs                             ~ error: -l foo=1: this resource is not supported
            -l vmem=1gb j.pbs                          ~ error: -l vmem=1gb: this resource is not supported
            -l walltime=1:2:3:4 j.pbs                  ~ error: Invalid time limit specified (1:2:3:4)
            -l mem=lots j.pbs                          ~ error: an amount of memory is needed
            -W umask=022 j.pbs                         ~ error: -W umask=022 is not supported
            -j oe -o o -W depend=afterok:1:2,afterany:3 j.pbs ~ -o o --dependency=afterok:1:2,afterany:3
            -j oe -o o -W group_list=g -P key -q other -p 5 j.pbs ~ -o o --account=g --wckey=key -p other --nice=5
            -j oe -o o -m abe -M u@x -r n -h j.pbs     ~ -o o --mail-type=FAIL,BEGIN,END --mail-user=u@x --no-requeue -H
            -j oe -o o -t 1-5 j.pbs                    ~ -o o --array=1-5
            -t 1-5 j.pbs                               ~ --array=1-5 -o j.pbs.o%A.%a -e j.pbs.e%A.%a
            -j oe -o o -pe shm 4 -wd /tmp j.pbs        ~ -o o --cpus-per-task=4 -D /tmp
            -j oe -o o -a 202611222330 j.pbs           ~ -o o --begin=2026-11-22T23:30
            -j oe -o o -a 222330.05 j.pbs              ~ -o o --begin=2026-11-22T23:30:05
            -pe mpi 4 j.pbs                            ~ error: -pe takes the word shm
            -Z j.pbs                                   ~ error: Unknown option: Z
            -N                                         ~ error: Option N requires an argument
            """)
    void qsubSendsWhatSbatchSends(String args, String sbatch) {
        host.files.put("/work/j.pbs", "#!/bin/sh\ntrue\n");
        FakeHost.Ran ran = host.run("qsub " + args);
        if (sbatch.startsWith("error: ")) {
            assertThat(ran.rc()).isNotZero();
            assertThat(ran.err()).contains(sbatch.substring(7));
            assertThat(host.sent).doesNotContainKey("Submit");
            return;
        }
        assertThat(ran.err()).isEmpty();
        assertThat(ran.out()).isEqualTo("12\n");
        Json.Obj asked = host.sent.get("Submit");
        assertThat(host.run("sbatch " + sbatch + " j.pbs").err()).isEmpty();
        assertThat(masked(asked)).isEqualTo(masked(host.sent.get("Submit")));
    }

    @Test
    void qsubKeepsTheOutputFilesOfTheScript() {
        host.files.put("/work/j.pbs", "#!/bin/sh\n#PBS -o from.out\n#PBS -j oe\ntrue\n");
        assertThat(host.run("qsub j.pbs").rc()).isZero();
        assertThat(masked(host.sent.get("Submit")))
                .contains("\"stdout\":\"ZnJvbS5vdXQ=\"")
                .doesNotContain("stderr");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', quoteCharacter = '`', textBlock = """
            -n 4 -W 1:30 -q main -J a ./work x     ~ -n 4 -t 90 -p main -J a --wrap="./work x"
            -J a[1-9]%2 -o o.%J.%I ./work          ~ -J a --array=1-9%2 -o o.%A.%a --wrap=./work
            -o o.%J -M 2048 ./work                 ~ -J work -o o.%j --mem=2M --wrap=./work
            -w "done(1) && ended(2)" -x ./work     ~ -J work --dependency=afterok:1,afterany:2 --exclusive --wrap=./work
            -w "exit(1) || started(2)" ./work      ~ -J work --dependency=afternotok:1?after:2 --wrap=./work
            -R "span[ptile=2] rusage[mem=50]" ./w  ~ -J w --ntasks-per-node=2 --mem=50M --wrap=./w
            -R "select[type==any]" ./w             ~ error: is not supported: span[hosts=1]
            -w "done(x)" ./w                       ~ error: -w done(x) is not supported
            -W soon ./w                            ~ error: [hours:]minutes are needed
            -app x ./w                             ~ error: Unknown option: app
            """)
    void bsubSendsWhatSbatchSends(String args, String sbatch) {
        FakeHost.Ran ran = run("bsub " + args);
        if (sbatch.startsWith("error: ")) {
            assertThat(ran.rc()).isEqualTo(2);
            assertThat(ran.err()).contains(sbatch.substring(7));
            return;
        }
        assertThat(ran.err()).isEmpty();
        assertThat(ran.out())
                .isEqualTo("Job <12> is submitted to " + (args.contains("-q") ? "" : "default ") + "queue <main>.\n");
        Json.Obj asked = host.sent.get("Submit");
        assertThat(run("sbatch " + sbatch).err()).isEmpty();
        assertThat(masked(asked)).isEqualTo(masked(host.sent.get("Submit")));
    }

    /** Words as a shell takes them, with double quotes. */
    private FakeHost.Ran run(String line) {
        List<String> words = new ArrayList<>();
        Matcher m = Pattern.compile("(?:[^\\s\"]|\"[^\"]*\")+").matcher(line);
        while (m.find()) {
            words.add(m.group().replace("\"", ""));
        }
        return host.run(words.getFirst(), words.subList(1, words.size()));
    }

    /** All but what tells one submission from another. */
    private static String masked(Json.Obj sent) {
        return sent.toString()
                .replaceAll("\"requestId\":\"[^\"]*\"", "")
                .replaceAll("\"submitLine\":\"([^\"\\\\]|\\\\.)*\"", "");
    }

    @Test
    void qstatPrintsJobsAsPbsDoes() {
        assertThat(host.run("qstat").out()).isEqualTo("""
                Job id              Name             Username        Time Use S Queue\s\s\s\s\s\s\s\s\s\s
                ------------------- ---------------- --------------- -------- - ---------------
                1                   fromscript       ann             00:01:05 R main\s\s\s\s\s\s\s\s\s\s\s
                2                   longnameofajobth bob             00:00:00 Q main\s\s\s\s\s\s\s\s\s\s\s
                3                   over             ann             00:00:03 C main\s\s\s\s\s\s\s\s\s\s\s
                """);
        assertThat(host.run("qstat -n -1 -u ann,bob").out().lines().skip(5))
                .containsExactly(
                        "1                    ann      main     fromscript           --         2     3  "
                                + "200mb 00:05 R 00:01   n1/2+n2/1",
                        "2                    bob      main     longnameofajobthatdo --         1     1     "
                                + "--    -- Q 00:00   --",
                        "3                    ann      main     over                 --         1     1     "
                                + "-- 24:00 C 00:00   --");
        assertThat(host.run("qstat -i 1 2.server").out()).contains("\n2 ").doesNotContain("\n1 ");
        assertThat(host.run("qstat 99").rc()).isEqualTo(153);
        assertThat(host.run("qstat -f 1").out())
                .startsWith("Job Id:\t1\n\tJob_Name = fromscript\n\tJob_Owner = ann@login\n\tjob_state = R\n")
                .contains("\texec_host = n1/2+n2/1\n\tPriority = 7\n\teuser = ann(1000)\n")
                .contains("\tResource_List.walltime = 00:05:00\n");
    }

    @Test
    void bjobsPrintsJobsAsLsfDoes() {
        assertThat(host.run("bjobs -u all").out()).isEqualTo("""
                JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME
                1       ann     RUN   main       login       2*n1:n2     fromscript Nov 21 10:15
                2       bob     PSUSP main       login                   longnameof Nov 21 10:15
                """);
        assertThat(host.run("bjobs -d -noheader").out()).startsWith("3       ann     DONE ");
        FakeHost.Ran none = host.run("bjobs 99");
        assertThat(List.of(none.rc(), none.err())).isEqualTo(List.of(255, "Job <99> is not found\n"));
        FakeHost.Ran killed = host.run("bkill 0");
        assertThat(killed.out()).isEqualTo("Job <1> is being terminated\n");
        assertThat(host.run("bkill 3").err()).isEqualTo("Job <3>: No matching job found\n");
    }

    @Test
    void invalidHoldOrJobNumberIsRefused() {
        host.refuse("UpdateJob", 2017, "Invalid job id specified");
        assertThat(host.run("qhold -h x 3").err()).isEqualTo("qhold: error: -h: u, o, s or n, not x\n");
        assertThat(host.run("qdel").err()).startsWith("Missing Job ID\nUsage:\n    qdel ");
        assertThat(host.run("qrls -h n 3").rc()).isZero();
        assertThat(host.run("qalter 3").err()).startsWith("Nothing to alter");
        assertThat(host.run("mpiexec.slurm -n 2").err()).startsWith("Either a program or -config is needed");
        assertThat(host.run("sgather --usage").out()).isEqualTo("Usage: sgather [-CFfhjkprtvV] SOURCE DEST\n");
        assertThat(host.run("sgather a b").err()).contains("Need a job id");
        assertThat(host.run("lsid").out()).contains("My cluster name is ");
    }
}
