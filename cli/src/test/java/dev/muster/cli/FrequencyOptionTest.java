package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class FrequencyOptionTest {
    /** shows: CpuFreqGovernors */
    @Test
    void governorThatIsNotConfiguredIsRefused() {
        FakeHost host = new FakeHost().reply("Submit", "{\"jobId\":12}");
        assertThat(host.run("sbatch --cpu-freq=conservative --wrap true").err())
                .contains("governor of conservative is not allowed in slurm.conf");
        host.settings().cpuFreqGovernors = List.of("conservative");
        assertThat(host.run("sbatch --cpu-freq=conservative --wrap true").rc()).isZero();
        assertThat(host.run("sbatch --cpu-freq=performance --wrap true").rc()).isNotZero();
    }
}
