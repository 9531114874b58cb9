package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What -v adds in each command, and the options that say how values are written. */
class VerboseTest {
    private static final String JOBS = """
            {"now":1795256134,"lastUpdate":1795256132,"jobs":[
            {"jobId":187,"name":"wrap","userName":"ann","userId":1000,"partition":"main","state":"RUNNING",
             "memPerCpuMb":2048,"tmpDiskMb":1024,
             "stdout":"/tmp/o-187","stdoutPattern":"/tmp/o-%j","nodes":"n1"}]}
            """;
    private static final String ACCOUNTING = """
            {"now":1795256134,"cluster":"c","jobs":[{"job":{"jobId":188,"arrayJobId":187,"arrayTaskId":12,"name":"nm",
             "userName":"ann",
             "userId":4242,"state":"COMPLETED","nodes":"n[3-4]","stdout":"/x/%A_%4a.%N.%u","stdin":"/dev/null",
             "stderr":"/x/\\\\%j"}}]}
            """;
    private final FakeHost host = new FakeHost()
            .reply("QueryJobs", JOBS)
            .reply("QueryAccounting", ACCOUNTING)
            .reply("QueryPriorities", "{\"type\":\"priority/multifactor\"}")
            .reply("QueryShares", "{\"type\":\"priority/multifactor\"}")
            .reply("QuerySteps", "{\"steps\":[]}")
            .reply("AwaitSteps", "{\"state\":\"RUNNING\"}")
            .reply("Cancel", "{}");

    @Test
    void squeueTellsItsOptions() {
        assertThat(host.run("squeue -v -h -t r,pd -j 187 --local -o %i").out()).isEqualTo("""
                -----------------------------
                all         = false
                array       = false
                federation  = false
                format      = %i
                iterate     = 0
                job_flag    = 1
                jobs        = 187
                licenses    = (null)
                local       = true
                names       = (null)
                nodes       =\s
                partitions  = (null)
                priority    = false
                reservation = (null)
                sibling      = false
                sort        = (null)
                start_flag  = 0
                states      = r,pd
                step_flag   = 0
                steps       = (null)
                users       = (null)
                verbose     = 1
                -----------------------------


                last_update_time=1795256132 records=1
                187
                """);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', textBlock = """
            squeue -h -O cpuspertask:4,cpus-per-task:3                                    ~ 1   1
            squeue -h -O stdout:20,minmemory:6,mintmpdisk:6                               ~ /tmp/o-%j           2G    1G
            squeue -h --expand-patterns --noconvert -O stdout:20,minmemory:6,mintmpdisk:6 ~ /tmp/o-187          2048M 1024M
            sacct -nP -j 188 -o stdout,stderr,uid                                         ~ /x/%A_%4a.%N.%u|/x/\\%j|4242
            sacct -nP -j 188 --expand-patterns --use-local-uid -o stdout,stderr,uid ~ /x/187_0012.n3.ann|/x/%j|1000
            """)
    void valuesAreExpandedAndConvertedByOptions(String command, String expected) {
        assertThat(host.run(command).out().strip()).isEqualTo(expected);
    }

    @Test
    void onlyJobStateOptionRequestsJustStateFields() {
        assertThat(host.run("squeue --only-job-state -h -j 187").out()).isEqualTo("               187  R\n");
        assertThat(host.sent.get("QueryJobs").texts("fields"))
                .containsExactly(
                        "jobId",
                        "arrayJobId",
                        "arrayTaskId",
                        "arrayTasks",
                        "arrayMaxRunning",
                        "hetJobId",
                        "hetOffset",
                        "state",
                        "flags");
        assertThat(host.run("squeue --only-job-state -u ann"))
                .isEqualTo(new FakeHost.Ran(
                        1,
                        "",
                        "squeue: fatal: Option --only-job-state only works alone, with -j (--jobs) and/or -t "
                                + "(--states) parameters, "
                                + "parameters for cluster/federation selection, and the printing options.\n"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', textBlock = """
            sacct -vn -j 188 ~ sacct: Jobs Eligible in the time window from Epoch 0 to Sat Nov 21 09:46:20 2026
            sacct -vn -S 01:00 -E 02:00 ~ sacct: Jobs Eligible in the time window from Sat Nov 21 01:00:00 2026 to Sat Nov 21 02:00:00 2026
            sacct -vn -s r,cd -S 01:00  ~ 'sacct: Jobs RUNNING,COMPLETED in the time window from Sat Nov 21 01:00:00 2026 to'
            sacct -vvnX -j 188 -o state ~ opt_field_list=state,
            sshare -v -u ann -A a,b     ~ Users requested:
            sshare -v                   ~ Accounts requested:
            scancel -v 187              ~ scancel: Terminating job 187
            swait -v --timeout=0 187    ~ swait: waiting for the steps of JobId=187
            """)
    void verboseOptionPrintsDetailsToStderr(String command, String expected) {
        assertThat(host.run(command).err()).contains(expected);
        assertThat(host.run(command.replace("-vv", "-").replace(" -v ", " ").replace("-v", "-"))
                        .err())
                .doesNotContain(expected);
    }

    /** Steps are filtered as jobs are: those on one of these nodes. */
    @Test
    void stepsAreFilteredByNode() {
        host.reply(
                "QuerySteps",
                "{\"steps\":[{\"jobId\":1,\"stepId\":\"0\",\"nodes\":\"n[1-2]\"},{\"jobId\":2,"
                        + "\"stepId\":\"0\",\"nodes\":\"n3\"}]}");
        assertThat(host.run("squeue -h -s -o %i -w n[2,4-5]").out()).isEqualTo("1.0\n");
        assertThat(host.run("squeue -h -s -o %i").out()).isEqualTo("1.0\n2.0\n");
    }

    /** Jobs of a federation have a column for the cluster; the long form has none. */
    @Test
    void sprioSiblingAddsAClusterColumn() {
        String plain = "          JOBID PARTITION   PRIORITY       SITE\n";
        assertThat(host.run("sprio").out()).isEqualTo(plain);
        assertThat(host.run("sprio --sibling").out()).isEqualTo(plain.replace("PARTITION", "PARTITION  CLUSTER"));
        assertThat(host.run("sprio --sibling -u ann").out())
                .isEqualTo(plain.replace("PARTITION", "PARTITION  CLUSTER     USER"));
        assertThat(host.run("sprio --sibling -l").out()).doesNotContain("CLUSTER");
    }

    /** Job ids may follow -j as operands; other operands are refused. */
    @Test
    void sprioTakesNoOtherWords() {
        assertThat(host.run("sprio 5").err()).startsWith("sprio: error: Unrecognized option: 5\n");
        assertThat(host.run("sprio -j 5").err()).doesNotContain("Unrecognized");
    }

    @Test
    void sprioTellsItsOptions() {
        assertThat(host.run("sprio -v -j 1,2 -u ann -o %i").out()).startsWith("""
                -----------------------------
                format     = %i
                job_flag   = 1
                jobs       = 1,2
                partition  = (null)
                users      = ann
                verbose    = 1
                -----------------------------


                """);
    }

    @Test
    void scrontabSaysHowManyEntries() {
        host.reply("QueryCrontab", "{}").reply("SetCrontab", "{}");
        assertThat(host.run("scrontab -l").err()).startsWith("no crontab for ");
        assertThat(host.run("scrontab -Q -l")).isEqualTo(new FakeHost.Ran(1, "", ""));
        assertThat(host.run("scrontab -v -r").err()).endsWith(" has 0 entries now\n");
        assertThat(host.run("scrontab --usage").out()).startsWith("Usage: scrontab [");
    }

    @Test
    void adminCommentIsSentWithTheCancel() {
        host.run("scancel --admin-comment=why 187");
        assertThat(host.sent.get("Cancel").text("adminComment")).isEqualTo("why");
    }
}
