package dev.muster.cli.request;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.FakeHost;
import dev.muster.json.Bytes;
import dev.muster.json.Json;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What each component of a heterogeneous job is told of its own options, and what steps read of it. */
class ComponentEnvironmentTest {
    private final FakeHost host = new FakeHost().reply("SubmitHet", "{\"jobId\":7}");

    @Test
    void optionsHaveTheComponentBehindTheirNames() {
        assertThat(host.run("sbatch -n1 -c2 --gpus=1 -m block : -n2 --gpus-per-node=2 --mem-bind=local --wrap=true")
                        .err())
                .isEmpty();
        List<String> env = host.sent.get("SubmitHet").objects("parts").getFirst().texts("environment").stream()
                .map(e -> Bytes.fromBase64(e).text())
                .filter(e -> e.matches("SLURM_(CPUS_PER|GPU|DISTR|TRES|MEM_BIND=|MEM_BIND_H|NTASKS).*"))
                .sorted()
                .toList();
        assertThat(env)
                .containsExactly(
                        "SLURM_CPUS_PER_TASK_HET_GROUP_0=2",
                        "SLURM_DISTRIBUTION_HET_GROUP_0=block",
                        "SLURM_GPUS_HET_GROUP_0=1",
                        "SLURM_GPUS_PER_NODE_HET_GROUP_1=2",
                        "SLURM_MEM_BIND_HET_GROUP_1=local",
                        "SLURM_NTASKS=1");
    }

    /** -2: a plain srun in such a job. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            SLURM_GPUS          | -1 | 9
            SLURM_GPUS          | -2 | 1
            SLURM_GPUS          | 0  | 1
            SLURM_GPUS          | 1  | 2
            SLURM_GPUS          | 2  |
            SLURM_TRES_PER_TASK | 1  |
            SLURM_TRES_PER_TASK | -2 | cpu=2
            SLURM_NTASKS        | 1  |
            SLURM_EXPORT_ENV    | 1  | NONE
            """)
    void stepReadsTheVariablesOfItsHetComponent(String name, int component, String value) {
        Map<String, String> env = Map.of(
                "SLURM_GPUS",
                "9",
                "SLURM_GPUS_HET_GROUP_0",
                "1",
                "SLURM_GPUS_HET_GROUP_1",
                "2",
                "SLURM_TRES_PER_TASK",
                "cpu=2",
                "SLURM_NTASKS",
                "3",
                "SLURM_EXPORT_ENV",
                "NONE");
        assertThat(ComponentEnvironment.value(env, name, component)).isEqualTo(value);
    }

    @Test
    void sallocsCommandHasTheTasksOfAllAndThePlacesOfEach() {
        Map<String, String> env = new TreeMap<>(Map.of(
                "SLURM_NTASKS",
                "1",
                "SLURM_NTASKS_HET_GROUP_0",
                "1",
                "SLURM_NTASKS_HET_GROUP_1",
                "4",
                "SLURM_JOB_NODELIST",
                "n1",
                "SLURM_JOB_NODELIST_HET_GROUP_0",
                "n1",
                "SLURM_JOB_NODELIST_HET_GROUP_1",
                "n2",
                "SLURM_JOB_ID",
                "5"));
        ComponentEnvironment.ofCommand(env, 2);
        assertThat(env)
                .containsEntry("SLURM_NTASKS", "5")
                .containsEntry("SLURM_JOB_ID", "5")
                .doesNotContainKey("SLURM_JOB_NODELIST")
                .containsEntry("SLURM_JOB_NODELIST_HET_GROUP_1", "n2");
    }

    /** A step in a job does not ask for the GPUs that the job has on each node beside its own. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --gres=gpu:1 | 5 | "tresPerNode":"gres/gpu:1"
            --gres=gpu:0 | 5 | "tresPerNode":"gres/gpu:0"
            --gres=nic:1 | 5 | "tresPerNode":"gres/nic:1,gres/gpu:4"
            --gpus=1     | 5 | "tresPerJob":"gres/gpu:1"
            -n1          | 5 | "tresPerNode":"gres/gpu:4"
            --gres=none  | 5 | "tresPerNode":"gres/gpu:0,gres/nic:0"
            --gpus=4     |   | "tresPerNode":"gres/gpu:4","tresPerJob":"gres/gpu:4"
            """)
    void stepGpusReplaceTheJobsGpusPerNode(String option, String job, String asked) {
        host.env.put("SLURM_GPUS_PER_NODE", "4");
        host.settings().gresTypes = List.of("gpu", "nic");
        if (job != null) {
            host.env.put("SLURM_JOB_ID", job);
        }
        host.reply(
                "AwaitAllocation",
                "{\"jobId\":5,\"state\":\"RUNNING\",\"ready\":true,\"nodes\":\"n1\",\"nodeCount\":1,"
                        + "\"shares\":[{\"node\":\"n1\",\"cpus\":1}]}");
        host.refuse("CreateStep", 2015, "no");
        host.refuse("Submit", 2015, "no");
        host.run("srun " + option + " true");
        Json.Obj request = (job == null
                        ? host.sent.get("Submit").obj("job")
                        : host.sent.get("CreateStep").obj("step"))
                .obj("request");
        assertThat(request.toString()).contains(asked);
        assertThat(request.toString().contains("tresPerNode")).isEqualTo(asked.contains("tresPerNode"));
    }
}
