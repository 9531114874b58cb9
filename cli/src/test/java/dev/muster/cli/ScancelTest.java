package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Exit codes and sentences of scancel. */
class ScancelTest {
    private final FakeHost host = new FakeHost();

    /** A missing step of a running job has slurmctld's code; a job that has ended is unknown to scancel: code 1. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            scancel 9.5          | RUNNING   | 2017 | 225 | job step id 9: Invalid job id specified
            scancel 9.5          | COMPLETED | 2017 | 1   | job step id 9.5: Invalid job id specified
            scancel 9.5          | -         | 2017 | 1   | job step id 9.5: Invalid job id specified
            scancel 9_1.5        | -         | 2017 | 1   | job step id 9_1.5: Invalid job id specified
            scancel -s USR1 9    | COMPLETED | 2021 | 1   | job id 9: Invalid job id specified
            scancel -b 9         | COMPLETED | 2021 | 1   | job id 9: Invalid job id specified
            """)
    void missingStepOrJobSetsScancelsExitCode(String line, String state, int errno, int rc, String said) {
        String job = line.substring(line.lastIndexOf(' ') + 1);
        FakeHost host = new FakeHost()
                .reply(
                        "Cancel",
                        "{\"done\":[],\"errors\":[{\"job\":\"" + job + "\",\"errno\":" + errno + ",\"error\":\""
                                + (errno == 2017
                                        ? "Invalid job id specified"
                                        : "Job/step already completing or completed")
                                + "\"}]}");
        if (state == null) {
            host.refuse("QueryJobs", 2017, "Invalid job id specified");
        } else {
            host.reply("QueryJobs", "{\"jobs\":[{\"jobId\":9,\"state\":\"" + state + "\"}]}");
        }
        assertThat(host.run(line))
                .isEqualTo(new FakeHost.Ran(rc, "", "scancel: error: Kill job error on " + said + "\n"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"9.batch", "9.extern", "9.interactive", "9_1.batch", "9.x", "9.-1", "9.0.1"})
    void scancelTakesStepsByTheirNumbersOnly(String step) {
        assertThat(new FakeHost().run("scancel " + step))
                .isEqualTo(new FakeHost.Ran(1, "", "scancel: error: Invalid job id " + step + "\n"));
    }

    @Test
    void scancelIsQuietAboutJobsThatAreGone() {
        host.reply("Cancel", "{\"errors\":[{\"job\":\"999\",\"errno\":2017,\"error\":\"Invalid job id specified\"}]}");
        assertThat(host.run("scancel 999")).isEqualTo(new FakeHost.Ran(0, "", ""));
        assertThat(host.run("scancel -v 999"))
                .isEqualTo(new FakeHost.Ran(
                        0,
                        "",
                        "scancel: Terminating job 999\n"
                                + "scancel: error: Kill job error on job id 999: Invalid job id specified\n"));
        assertThat(host.run("scancel -s USR1 999").rc()).isEqualTo(1);
        assertThat(host.sent.get("Cancel").integer("signal")).isEqualTo(10);
        host.reply("Cancel", "{\"errors\":[{\"job\":\"999\",\"errno\":2002,\"error\":\"Access/permission denied\"}]}");
        assertThat(host.run("scancel 999"))
                .isEqualTo(new FakeHost.Ran(
                        210, "", "scancel: error: Kill job error on job id 999: Access/permission denied\n"));
    }
}
