package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.Job;
import org.junit.jupiter.api.Test;

/** Jobs one after the other on a node with two GPUs of 100 parts each → the devices each gets, or why it waits. */
class SharedGpusTest {
    @Test
    void partsOfOneGpuAndNeverOfOneThatIsHadWhole() {
        check("n1 cpus=8 gpus=2 mps=200", """
                gres/mps:50                              | mps=[0-49]
                gres/mps:50 gres/mps:60 gres/mps:40      | mps=[0-49] mps=[100-159] mps=[160-199]
                gres/mps:50 gres/mps:50 gres/mps:50      | mps=[0-49] mps=[50-99] mps=[100-149]
                gres/gpu:1 gres/mps:50                   | gpu=[0] mps=[100-149]
                gres/mps:50 gres/gpu:1                   | mps=[0-49] gpu=[1]
                gres/mps:50 gres/gpu:2                   | mps=[0-49] (Resources)
                gres/mps:150                             | Requested node configuration is not available
                gres/mps:10,gres/gpu:1                   | Invalid generic resource (gres) specification
                """);
    }

    @Test
    void partsOfSeveralWithAllSharing() {
        check("n1 cpus=8 gpus=2 mps=200 sharing=all_sharing", """
                gres/mps:50                              | mps=[0-49]
                gres/mps:150                             | mps=[0-149]
                gres/mps:50 gres/mps:140 gres/mps:10     | mps=[0-49] mps=[50-189] mps=[190-199]
                gres/gpu:1 gres/mps:150                  | gpu=[0] (Resources)
                gres/mps:250                             | Requested node configuration is not available
                """);
    }

    @Test
    void theLeastLoadedGpu() {
        check("n1 cpus=8 gpus=2 mps=200", "gresTypes=gpu,mps options.select=CR_CORE,LL_SHARED_GRES", """
                gres/mps:50 gres/mps:60 gres/mps:40      | mps=[0-49] mps=[100-159] mps=[50-89]
                gres/mps:50 gres/mps:50 gres/mps:20      | mps=[0-49] mps=[100-149] mps=[50-69]
                gres/mps:50 gres/mps:90 gres/mps:60      | mps=[0-49] mps=[100-189] (Resources)
                """);
    }

    private static void check(String node, String rows) {
        check(node, "gresTypes=gpu,mps", rows);
    }

    private static void check(String node, String settings, String rows) {
        for (String row : rows.strip().split("\n")) {
            String[] cells = row.split("\\|");
            Cluster c = new Cluster(node, "p nodes=n1 defmempercpu=1", settings);
            StringBuilder out = new StringBuilder();
            for (String wish : cells[0].strip().split(" ")) {
                String placed = c.place("partition=p tresPerNode=" + wish);
                if (placed.startsWith("n1")) {
                    Job last = c.state().jobs().at(c.state().nextJobId() - 1);
                    placed = last.run().allocation().nodes().getFirst().gres().entrySet().stream()
                            .map(e -> e.getKey() + "=[" + e.getValue().compact() + "]").findFirst().orElse("none");
                }
                out.append(out.isEmpty() ? "" : " ").append(placed);
            }
            assertThat(out.toString()).as(row).isEqualTo(cells[1].strip());
        }
    }
}
