package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Options of sbatch about GPUs that do not go together, with Slurm's sentences. */
class GpuOptionsTest {
    private final FakeHost host = new FakeHost().reply("Submit", "{\"jobId\":12}");

    @ParameterizedTest
    @ValueSource(strings = {"--mem-per-gpu=100", "--cpus-per-gpu=2", "--gpus=0 --mem-per-gpu=100", "--gpus-per-task=1"})
    void clusterWithoutGpusRefusesThem(String option) {
        assertThat(host.run("sbatch " + option + " --wrap=true").err())
                .isEqualTo("sbatch: error: Invalid generic resource (gres) specification\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            --gpus-per-node=1 --gres=gpu:2 | fatal: --gpus-per-node and --gres=gpu are mutually exclusive.
            --cpus-per-gpu=1 -c2 -G1 |\
                fatal: --cpus-per-task, --tres-per-task=cpu:#, and --cpus-per-gpu are mutually exclusive
            --gpus-per-socket=1 | error: --gpus-per-socket option requires --sockets-per-node specification
            --ntasks-per-gpu=2 --gpus-per-task=1 |\
                fatal: --gpus-per-task is mutually exclusive with --ntasks-per-gpu and SLURM_NTASKS_PER_GPU
            --gres=gpu:2 -G1 | error: Failed to ensure --gpus >= --gres=gpu/--gpus-per-node >= --gpus-per-socket
            --gres=gpu:2 -G3 | SPEC, --gpus is not multiple of --gres=gpu/--gpus-per-node
            -G3 --gpus-per-task=2 | SPEC, --gpus not multiple of --gpus-per-task
            -G1 -N2 | SPEC, --gpus < -N
            --gpus-per-task=1 |\
                SPEC. --gpus-per-task or --tres-per-task used without either --gpus or -n/--ntasks is not allowed.
            --gpus-per-task=1 --ntasks-per-node=2 |\
                SPEC. --gpus-per-task or --tres-per-task used without either --gpus or -n/--ntasks is not allowed.
            --tres-per-task=gres/gpu:1 |\
                SPEC. --gpus-per-task or --tres-per-task used without either --gpus or -n/--ntasks is not allowed.
            -n2 --tres-per-task=cpu=2 -c2 |\
                fatal: You can not have --tres-per-task=cpu= and --cpus-per-task please use one or the other
            -n2 --tres-per-task=gres/gpu=1 --gpus-per-task=1 |\
                fatal: You can not have --tres-per-task=gres/gpu= and --gpus-per-task please use one or the other
            -n2 --tres-per-task=mem=200 | fatal: Invalid TRES for --tres-per-task: mem
            -n2 --tres-per-task=gres/gpu:1,node=1 | fatal: Invalid TRES for --tres-per-task: node
            -n2 --tres-per-task=cpu | fatal: Invalid --tres-per-task=cpu=0
            -n2 --tres-per-task=cpu:0 | fatal: Invalid --tres-per-task=cpu=0
            -n2 --tres-per-task=cpu:2147483648 | fatal: Invalid --tres-per-task=cpu=2147483648
            -n2 -G3 --tres-per-task=gres/gpu:1 |\
                SPEC. Based on --gpus and --gpus-per-task number of requested tasks differ from -n/--ntasks.
            -G3 --tres-per-task=gres/gpu:2 | SPEC, --gpus not multiple of --gpus-per-task
            --cpus-per-gpu=2 | error: Requested cpus_per_tres=gres/gpu:2 but did not request any GPU.
            --gpus-per-task=1 -N1-2 |\
                SPEC. --gpus-per-task or --tres-per-task used without either --gpus or -n/--ntasks is not allowed.
            --ntasks-per-gpu=2 -n5 | SPEC, -n/--ntasks has to be a multiple of --ntasks-per-gpu.
            --gpus-per-node=4 --gpus-per-task=3 -n1 | SPEC, --gres=gpu/--gpus-per-node not multiple of --gpus-per-task.
            --cpus-per-gpu=2 | error: Requested cpus_per_tres=gres/gpu:2 but did not request any GPU.
            --mem-per-gpu=1000 | error: Requested mem_per_tres=gres/gpu:1000 but did not request any GPU.
            -G0 --mem-per-gpu=1000 | error: Requested mem_per_tres=gres/gpu:1000 but did not request any GPU.
            -G tesla:1,1 | error: Invalid GRES specification (with and without type identification)
            -G1 --gres=gpu:tesla:1 | error: Invalid GRES specification (with and without type identification)
            -G4 --gpus-per-task=2 -n1 |\
                SPEC. Based on --gpus and --gpus-per-task number of requested tasks differ from -n/--ntasks.
            """)
    void optionsThatContradictEachOtherAreRefused(String options, String sentence) {
        host.settings().gresTypes = List.of("nic", "gpu");
        assertThat(host.run("sbatch " + options + " --wrap=true").err())
                .startsWith("sbatch: " + sentence.replace("SPEC", "error: Failed to validate job spec"));
    }
}
