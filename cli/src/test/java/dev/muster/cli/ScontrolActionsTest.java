package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What scontrol asks of slurmctld, and how it reports refusals. */
class ScontrolActionsTest {
    private final FakeHost host = new FakeHost();

    /** Counts and PURGE_COMP in the form that slurmctld gets. An unreadable time counts as five minutes. */
    @ParameterizedTest
    @CsvSource({
        "nodecnt=2m, nodecnt, 1000000",
        "nodecnt=1K, nodecnt, 1024",
        "nodecnt=+2, nodecnt, 2",
        "corecnt=2x, corecnt, 2",
        "corecnt=1K, corecnt, 1",
        "corecnt=1.5, corecnt, 1",
        "nodes=n1 flags=purge_comp, purge_comp, 300",
        "nodes=n1 flags=purge_comp=5:30, purge_comp, 330",
        "nodes=n1 flags=purge_comp=7, purge_comp, 420",
        "nodes=n1 flags=purge_comp=7.5, purge_comp, 300",
        "nodes=n1 flags=purge_comp=x, purge_comp, 300",
        "nodes=n1 flags=purge_comp=-1, purge_comp, 2147483647",
        "nodes=n1 flags=purge_comp=infinite, purge_comp, 2147483647"
    })
    void reservationCountsAreSentNormalized(String words, String key, String value) {
        host.reply("CreateReservation", "{\"name\":\"r\"}");
        host.run("scontrol create reservation starttime=now duration=1 users=root " + words);
        assertThat(host.sent.get("CreateReservation").obj("values").text(key)).isEqualTo(value);
    }

    @Test
    void scontrolChangesSettings() {
        host.run("scontrol fsdampeningfactor 7");
        assertThat(host.sent.get("UpdateSetting").toString())
                .contains("\"key\":\"fairsharedampeningfactor\",\"value\":\"7\"");
        host.run("scontrol update SuspendExcNodes+=n[1-2]");
        assertThat(host.sent.get("UpdateSetting").toString())
                .contains("\"key\":\"suspendexcnodes\",\"value\":\"+n[1-2]\"");
        assertThat(host.run("scontrol fsdampeningfactor x").err()).isEqualTo("invalid dampening factor: x\n");
        assertThat(host.run("scontrol takeover 1").err()).isEqualTo("takeover: invalid backup controller index (1)\n");
        host.run("scontrol reboot n1 force action=cycle reason=x");
        assertThat(host.sent.get("RebootNodes").toString())
                .contains("\"force\":true,\"action\":\"cycle\",\"reason\":\"x\"");
        host.run("scontrol power up force n1");
        assertThat(host.sent.get("UpdateNode").obj("changes").toString()).isEqualTo("{\"state\":\"power_up_force\"}");
        host.run("scontrol power down n1 reason=late action=cycle");
        assertThat(host.sent.get("UpdateNode").obj("changes").text("state")).isEqualTo("power_down");
        host.run("scontrol power down n1 action=cycle asap");
        assertThat(host.sent.get("UpdateNode").toString())
                .contains("\"poweraction\":\"cycle\",\"state\":\"power_down_asap\"");
    }

    @Test
    void scontrolActionsSucceedOrReportErrors() {
        host.reply(
                "JobAction", "{\"errors\":[{\"job\":\"999\",\"errno\":2017,\"error\":\"Invalid job id specified\"}]}");
        assertThat(host.run("scontrol hold 999"))
                .isEqualTo(new FakeHost.Ran(
                        1, "", "Invalid job id specified for job 999\nslurm_suspend error:Invalid job id specified\n"));
        assertThat(host.run("scontrol requeue 999").err()).isEqualTo("Invalid job id specified for job 999\n");
        host.run("scontrol update JobId=5 TimeLimit=10 Nice=3");
        assertThat(host.sent.get("UpdateJob").toString())
                .contains("\"job\":\"5\",\"changes\":{\"timelimit\":\"10\",\"nice\":\"3\"}");
        host.reply("Ping", "{\"host\":\"head\",\"mode\":\"primary\",\"up\":true}");
        assertThat(host.run("scontrol ping").out()).isEqualTo("Slurmctld(primary) at head is UP\n");
        host.refuse("Ping", 1800, "x");
        assertThat(host.run("scontrol ping"))
                .isEqualTo(new FakeHost.Ran(1, "Slurmctld(primary) at head is DOWN\n", ""));
        assertThat(host.run("scontrol show hostnames n[1-2]").out()).isEqualTo("n1\nn2\n");
        assertThat(host.run("scontrol show hostlistsorted n2,n1").out()).isEqualTo("n[1-2]\n");
        assertThat(host.run("scontrol abort")).isEqualTo(new FakeHost.Ran(1, "", "invalid keyword: abort\n"));
    }

    /** Jobs are named by number, with {@code JobId=} before it as well, and held or released by name. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            hold 5,6            | hold    | 5,6
            hold jobid=5,6      | hold    | 5,6
            release JobId=5     | release | 5
            requeue job=5       | requeue | 5
            suspend JOBID=5     | suspend | 5
            top jobid=5         | top     | 5
            hold jobname=x      | hold    | 7,8_[1-2]
            release Name=x      | release | 7,8_[1-2]
            suspend jobname=x   | suspend | jobname=x
            requeue name=x      | requeue | name=x
            hold id=5           | hold    | id=5
            requeue state=specialexit 5 | requeue | 5
            """)
    void scontrolFindsJobsByNumberOrName(String line, String action, String jobs) {
        host.reply("JobAction", "{\"errors\":[]}")
                .reply(
                        "QueryJobs",
                        "{\"jobs\":[{\"jobId\":7,\"state\":\"COMPLETED\"},"
                                + "{\"jobId\":8,\"arrayJobId\":8,\"arrayTaskId\":-1,\"arrayTasks\":\"1-2\","
                                + "\"state\":\"PENDING\"}]}");
        host.run("scontrol " + line);
        assertThat(host.sent.get("JobAction").text("action")).isEqualTo(action);
        assertThat(String.join(",", host.sent.get("JobAction").texts("jobs"))).isEqualTo(jobs);
        if (jobs.startsWith("7")) {
            assertThat(host.sent.get("QueryJobs").flag("allStates")).isTrue();
        }
    }

    /** The error of the last job is that of the request; a whole list is one request of top. */
    @Test
    void errorOfTheLastJobIsThatOfTheList() {
        host.reply("JobAction", "{\"errors\":[{\"job\":\"5\",\"errno\":2021,\"error\":\"Job has already finished\"}]}");
        assertThat(host.run("scontrol hold 5,6").err())
                .isEqualTo("Job has already finished for job 5\nslurm_suspend error\n");
        assertThat(host.run("scontrol hold 6,5").err())
                .isEqualTo("Job has already finished for job 5\nslurm_suspend error:Job has already finished\n");
        assertThat(host.run("scontrol top 5,6").err()).isEqualTo("Job has already finished for job 5,6\n");
    }

    @Test
    void jobsAreChangedByJobNameAlone() {
        assertThat(host.run("scontrol update name=x timelimit=5").err())
                .startsWith("No valid entity in update command\n");
    }
}
