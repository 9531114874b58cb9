package dev.muster.cli.option;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.FakeHost;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** -M: which clusters a command goes to. */
class ClustersTest {
    private final FakeHost host = new FakeHost().reply("Show", """
            {"rows":[{"Cluster":"test","ControlHost":"10.0.0.1","ControlPort":"6817"},{"Cluster":"far",
             "ControlHost":"10.0.0.2","ControlPort":"6817"},
             {"Cluster":"gone","ControlHost":"","ControlPort":"0"}]}""");

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            squeue -o %i                  | -         | -    | here
            squeue -o %i -M test          | -         | -    | here
            squeue -o %i -M far           | -         | -    | far
            squeue -o %i --clusters=far   | -         | -    | far
            squeue -o %i -Mfar,test       | -         | -    | far test
            sinfo -o %N -M all            | -         | -    | far test
            scancel -M far 7              | -         | -    | far
            scontrol -M far show job      | -         | -    | far
            squeue -o %i                  | far       | -    | far
            squeue -o %i -M test          | far       | -    | here
            squeue -o %i -M gone          | -         | gone | ''
            squeue -o %i -M test,nowhere  | -         | nowhere | ''
            """)
    void commandGoesToItsNamedClusters(String command, String variable, String unknown, String asked) {
        if (variable != null) {
            host.env.put("SLURM_CLUSTERS", variable);
        }
        FakeHost.Ran ran = host.run(command);
        assertThat(String.join(" ", host.turns.isEmpty() && unknown == null ? java.util.List.of("here") : host.turns))
                .isEqualTo(asked);
        String name = command.split(" ")[0];
        String unregistered =
                "nowhere".equals(unknown) ? name + ": error: No cluster 'nowhere' known by database.\n" : "";
        assertThat(ran.err())
                .isEqualTo(
                        unknown == null
                                ? ""
                                : unregistered + name + ": error: '" + unknown
                                        + "' can't be reached now, or it is an invalid entry for --cluster.  "
                                        + "Use 'sacctmgr list clusters' to see available clusters.\n" + name
                                        + ": fatal: Could not get cluster information\n");
    }

    /** The one where it starts first; this one where others are no earlier. */
    @ParameterizedTest
    @CsvSource({"test=5 far=4, far", "test=4 far=5, test", "far=4 test=4, test", "far=4, far"})
    void sbatchTakesTheEarliestStart(String starts, String chosen) {
        for (String s : starts.split(" ")) {
            host.reply(
                    s.substring(0, s.indexOf('=')) + " Submit",
                    "{\"jobId\":9,\"testStart\":" + s.substring(s.indexOf('=') + 1) + "}");
        }
        String names = String.join(
                ",",
                java.util.Arrays.stream(starts.split(" "))
                        .map(s -> s.replaceFirst("=.*", ""))
                        .toList());
        assertThat(host.run("sbatch -M " + names + " --wrap=x"))
                .isEqualTo(new FakeHost.Ran(0, "Submitted batch job 9 on cluster " + chosen + "\n", ""));
        assertThat(host.sent.get("Submit").flag("testOnly")).isFalse();
    }

    /** The option has had both names. */
    @ParameterizedTest
    @ValueSource(strings = {"-M far", "--clusters=far", "--cluster=far", "--cluster far"})
    void sbatchSubmitsToTheNamedCluster(String option) {
        host.reply("far Submit", "{\"jobId\":9}");
        assertThat(host.run("sbatch " + option + " --parsable --wrap=x")).isEqualTo(new FakeHost.Ran(0, "9;far\n", ""));
    }

    /** srun and salloc choose a cluster too, and send all later requests there. */
    @ParameterizedTest
    @CsvSource({
        "salloc --no-shell, test=5 far=4, test far far",
        "salloc --no-shell, far=9, far",
        "salloc --no-shell, test=4 far=4, test far test",
        "srun --test-only true, test=5 far=4, test far far"
    })
    void srunAndSallocTakeTheEarliestStart(String command, String starts, String turns) {
        host.reply(
                "AwaitAllocation",
                "{\"jobId\":9,\"state\":\"RUNNING\",\"ready\":true,\"nodes\":\"x1\",\"nodeCount\":1}");
        for (String s : starts.split(" ")) {
            host.reply(
                    s.substring(0, s.indexOf('=')) + " Submit",
                    "{\"jobId\":9,\"testStart\":" + s.substring(s.indexOf('=') + 1) + "}");
        }
        String names = String.join(
                ",",
                java.util.Arrays.stream(starts.split(" "))
                        .map(s -> s.replaceFirst("=.*", ""))
                        .toList());
        assertThat(host.run(command.replaceFirst(" ", " -M " + names + " ")).rc())
                .isZero();
        assertThat(String.join(" ", host.turns)).isEqualTo(turns);
    }

    /**
     * A step in an allocation of another cluster; not where the variable is of another job than the one that runs here.
     */
    @ParameterizedTest
    @CsvSource({
        "far:10.0.0.2:6817:11520, far, far",
        "far:10.0.0.2:6817:11520, test, ''",
        "test:10.0.0.1:6817:11520, test, ''"
    })
    void stepsGoWhereTheirAllocationIs(String working, String ofJob, String turns) {
        host.env.put("SLURM_JOB_ID", "9");
        host.env.put("SLURM_WORKING_CLUSTER", working);
        host.env.put("SLURM_CLUSTER_NAME", ofJob);
        host.reply("AwaitAllocation", "{\"jobId\":9,\"state\":\"COMPLETED\"}");
        assertThat(host.run("srun true").rc()).isEqualTo(1);
        assertThat(String.join(" ", host.turns)).isEqualTo(turns);
    }
}
