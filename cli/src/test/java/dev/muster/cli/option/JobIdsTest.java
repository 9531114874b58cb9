package dev.muster.cli.option;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.FakeHost;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobIdsTest {
    /** What sacct and sstat say of words that are no ids; nothing of those that are. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "5_; 5_: Job Array ID must not be an empty string",
                "5_[; 5_[: JobID includes unexpected non-numeric characters",
                "5_-1; 5_-1: Job Array ID can not be a negative number",
                "5_x; 5_x: Job Array ID includes unexpected non-numeric characters",
                "5_[1-3]; 5_[1-3]: JobID includes unexpected non-numeric characters",
                "5x; 5x: JobID includes unexpected non-numeric characters",
                "5x.2; 5x.2: JobID includes unexpected non-numeric characters",
                "5_2_3; 5_2_3: JobID includes unexpected non-numeric characters",
                "0; 0: JobID can not be zero",
                "0x; 0x: JobID can not be zero",
                "99999999999; 99999999999: JobID larger than acceptable range",
                "4294967294; 4294967294: JobID larger than acceptable range",
                "5+; 5+: HetJob component must not be an empty string",
                "5+-1; 5+-1: HetJob component can not be a negative number",
                "5+999; 5+999: HetJob component larger than acceptable range",
                "5.; 5.: StepID must not be an empty string",
                "5.x; 5.x: StepID includes unexpected non-numeric characters",
                "5.2x; 5.2x: StepID includes unexpected non-numeric characters",
                "5.-1; 5.-1: StepID can not be a negative number",
                "5.99999999999; 5.99999999999: StepID larger than acceptable range",
                "5.0+0; 5.0+0: HetStep component can not be zero",
                "5.0+x; 5.0+x: HetStep component must not be an empty string",
                "5.0+1x; 5.0+1x: HetStep component includes unexpected non-numeric characters",
                "5.0+999; 5.0+999: HetStep component larger than acceptable range",
                "_1; _1",
                "abc; abc",
                "-5; -5",
                "5; ''",
                "5_1; ''",
                "5+1; ''",
                "5.batch; ''",
                "5_1.0; ''",
                "5.extern; ''",
                "5.0+1; ''",
                "5.TBD; ''",
                "s; s: SLUID is invalid",
                "sbatch:; sbatch:: SLUID is invalid",
                "s1.0; s1.0: SLUID is invalid",
                "S1; S1"
            })
    void malformedJobIdIsReported(String word, String expected) {
        assertThat(JobIds.fault(word).isEmpty() ? "" : JobIds.objection(word))
                .isEqualTo(expected.isEmpty() ? "" : "Bad job/step specified: " + expected);
    }

    /** Error sentences of srun, sattach, sbcast and scontrol for wrong ids. */
    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "srun --jobid=abc true; srun: fatal: Bad job/step specified: abc: JobID can not be zero",
                "sattach abc; sattach: fatal: Bad job/step specified: abc: JobID can not be zero",
                "sbcast -j -1 a b; sbcast: fatal: Bad job/step specified: -1: JobID can not be a negative number",
                "scontrol show step x; scontrol: error: scontrol_print_step: slurm_get_job_steps(x) failed: "
                        + "JobID can not be zero",
                "scontrol show step sabc; scontrol: error: scontrol_print_step: slurm_get_job_steps(sabc) "
                        + "failed: SLUID is invalid",
                "scancel sbatch:; scancel: error: Invalid SLUID sbatch:",
                "scancel s1.0; scancel: error: Invalid SLUID s1.0"
            })
    void invalidJobIdIsRefusedByItsCommand(String line, String expected) {
        assertThat(new FakeHost().run(line)).isEqualTo(new FakeHost.Ran(1, "", expected + "\n"));
    }
}
