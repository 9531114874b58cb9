package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What --gres and -p say where they say little, and the words in which a job is told its options. */
class GresWordsTest {
    private final FakeHost host = new FakeHost()
            .reply("Submit", "{\"jobId\":7}")
            .reply("QueryPartitions", "{\"partitions\":[{\"name\":\"main\"},{\"name\":\"long\"}]}");

    @Test
    void helpListsTheKinds() {
        host.settings().gresTypes = List.of("gpu", "nic");
        for (String command :
                List.of("sbatch --gres=help --wrap=true", "srun --gres=HELP true", "salloc --gres=list")) {
            assertThat(host.run(command))
                    .isEqualTo(new FakeHost.Ran(
                            0, "Valid gres options are:\ngpu[[:type]:count]\nnic[[:type]:count]\n", ""));
        }
        assertThat(host.calls).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --gres=gpu:1,      | "tresPerNode":"gres/gpu:1"
            --gres=,gpu        | "tresPerNode":"gres/gpu"
            --gres=none,gpu    | "tresPerNode":"gres/none,gres/gpu"
            -p ,main           | "partition":"main"
            -p main,,long,     | "partition":"main,long"
            --nice=5x          | "nice":5
            --nice=-5.5        | "nice":-5
            --priority=5x      | "priority":5
            --switches=2@x     | "switches":"2"
            --switches=2@      | "switches":"2"
            --switches=2@5@6   | "switches":"2"
            --tres-per-task=foo,cpu=2 | "tresPerTask":"cpu=2"
            --profile=none     | U0xVUk1fUFJPRklMRT1Ob25l
            --profile=all      | U0xVUk1fUFJPRklMRT1FbmVyZ3ksTHVzdHJlLE5ldHdvcmssVGFzaw==
            --profile=Task,energy | U0xVUk1fUFJPRklMRT1FbmVyZ3ksVGFzaw==
            --open-mode=append | U0xVUk1fT1BFTl9NT0RFPWE=
            --open-mode=t      | U0xVUk1fT1BFTl9NT0RFPXQ=
            """)
    void emptyListItemsAreDropped(String option, String part) {
        host.run("sbatch " + option + " --wrap=true");
        assertThat(new String(Json.print(host.sent.get("Submit")), StandardCharsets.UTF_8))
                .contains(part);
    }

    /** Values from which Slurm reads nothing: the job asks for nothing by them. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "--gres=",
                "--gres=,",
                "--gres=none",
                "--partition=",
                "-p ,",
                "--nice=x",
                "--nice=-x",
                "--tres-per-task=foo",
                "--tres-per-task=,",
                "--tres-per-task=gres",
                "--segment=",
                "--segment=0",
                "--wait-all-nodes=",
                "--acctg-freq=",
                "--acctg-freq=,",
                "--priority=x",
                "--priority=0",
                "--priority="
            })
    void emptyOptionValueRequestsNothing(String option) {
        assertThat(host.run("sbatch " + option + " --wrap=true").rc()).isZero();
        Json.Obj job = host.sent.get("Submit").obj("job");
        for (String field : List.of("request", "partition", "timing")) {
            assertThat(job.has(field)).as(field).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpu:", "gpu:a100:", "gpu::", "gpu:1,gpu:"})
    void aCountIsMissing(String gres) {
        for (String command : List.of("sbatch --wrap=true", "srun", "salloc")) {
            String name = command.split(" ")[0];
            assertThat(host.run(command + " --gres=" + gres + (name.equals("srun") ? " true" : ""))
                            .err())
                    .isEqualTo(name + ": error: Invalid Trackable RESource (TRES) specification\n");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            main,nosuch,other | nosuch
            nosuch            | nosuch
            ,                 | (null)
            """)
    void firstUnknownPartitionOfAListIsNamed(String partitions, String told) {
        host.refuse("Submit", 2000, "Invalid partition name specified");
        assertThat(host.run("sbatch -p " + partitions + " --wrap=true").err())
                .isEqualTo("sbatch: error: invalid partition specified: " + told
                        + "\nsbatch: error: Batch job submission failed: Invalid partition name specified\n");
    }
}
