package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import org.junit.jupiter.api.Test;

/** Jobs one after the other on a node with two GPUs of 100 parts each → the devices each gets, or why it waits. */
class SharedGpusTest {
    @Test
    void partsOfOneGpuAndNeverOfOneThatIsHadWhole() {
        check("n1 cpus=8 gpus=2 mps=200", """
                gres/mps:50                              | mps=[0-49]
                gres/mps:50 gres/mps:50 gres/mps:50      | mps=[0-49] mps=[50-99] (Resources)
                gres/gpu:1 gres/mps:50                   | gpu=[0] mps=[100-149]
                gres/mps:50 gres/gpu:1                   | mps=[0-49] gpu=[1]
                gres/mps:50 gres/gpu:2                   | mps=[0-49] (Resources)
                gres/mps:150                             | Requested node configuration is not available
                gres/mps:10,gres/gpu:1                   | Invalid generic resource (gres) specification
                """);
    }

    /** But one job has parts of one, whatever Flags say. */
    @Test
    void oneMpsGpuIsSharedAtATimeUnlessFlagsAllowAll() {
        check("n1 cpus=8 gpus=2 mps=200", """
                gres/mps:50 gres/mps:40 gres/mps:10      | mps=[0-49] mps=[50-89] mps=[90-99]
                gres/mps:50 gres/mps:60                  | mps=[0-49] (Resources)
                gres/mps:50 gres/gpu:1 gres/mps:10       | mps=[0-49] gpu=[1] mps=[50-59]
                """);
        check("n1 cpus=8 gpus=2 mps=200 sharing=all_sharing", """
                gres/mps:50 gres/mps:60 gres/mps:40      | mps=[0-49] mps=[100-159] mps=[160-199]
                gres/mps:150                             | Requested node configuration is not available
                """);
        check(
                "n1 cpus=8 gpus=2 shards=20",
                "gresTypes=gpu,shard",
                "gres/shard:6 gres/shard:6 | shard=[0-5] shard=[10-15]");
        check(
                "n1 cpus=8 gpus=2 shards=20 sharing=one_sharing",
                "gresTypes=gpu,shard",
                "gres/shard:6 gres/shard:6 | shard=[0-5] (Resources)");
    }

    /** The last GPUs have the parts that are left over. Or each has as many as gres.conf says. */
    @Test
    void remainingSharedPartsGoToTheLastGpus() {
        check("n1 cpus=8 gpus=3 shards=8", "gresTypes=gpu,shard", """
                gres/shard:3 gres/shard:3 gres/shard:2   | shard=[2-4] shard=[5-7] shard=[0-1]
                gres/shard:4                             | Requested node configuration is not available
                """);
        check("n1 cpus=8 gpus=4 shards=10", "gresTypes=gpu,shard", """
                gres/shard:2 gres/shard:2 gres/shard:2   | shard=[0-1] shard=[2-3] shard=[4-5]
                gres/gpu:3 gres/shard:3 gres/shard:1     | gpu=[0-2] shard=[7-9] (Resources)
                """);
        check("n1 cpus=8 gpus=4 shards=2", "gresTypes=gpu,shard", """
                gres/shard:1 gres/shard:1 gres/gpu:2     | shard=[0] shard=[1] gpu=[0-1]
                gres/shard:2                             | Requested node configuration is not available
                """);
        check("n1 cpus=8 gpus=4 shards=14 parts=0,8,3,3", "gresTypes=gpu,shard", """
                gres/shard:7 gres/shard:3 gres/shard:1   | shard=[0-6] shard=[8-10] shard=[7]
                gres/shard:8 gres/gpu:1 gres/gpu:3       | shard=[0-7] gpu=[0] (Resources)
                """);
    }

    @Test
    void llSharedGresTakesTheLeastLoadedGpu() {
        check(
                "n1 cpus=8 gpus=2 mps=200 sharing=all_sharing",
                "gresTypes=gpu,mps options.select=CR_CORE,LL_SHARED_GRES",
                """
                gres/mps:50 gres/mps:60 gres/mps:40      | mps=[0-49] mps=[100-159] mps=[50-89]
                gres/mps:50 gres/mps:50 gres/mps:20      | mps=[0-49] mps=[100-149] mps=[50-69]
                gres/mps:50 gres/mps:90 gres/mps:60      | mps=[0-49] mps=[100-189] (Resources)
                """);
    }

    /** Two tasks with several shares each, by ONE_TASK_PER_SHARING_GRES. */
    @Test
    void oneTaskPerSharingGresGivesEachTaskAGpu() {
        String several = "gresTypes=gpu,shard options.select=CR_CORE,MULTIPLE_SHARING_GRES_PJ";
        String apart = several + ",ONE_TASK_PER_SHARING_GRES";
        tasks(several, "2 shard:2 | 0-3; 3 shard:2 | 0-5; 5 shard:1 | 0-4");
        tasks(apart, "2 shard:2 | 0-1,4-5; 2 shard:4 | 0-7; 3 shard:2 | Requested node configuration is not available");
        tasks(apart, "2 shard:2, 2 shard:1, 2 shard:2 | 0-1,4-5 2,6 (Resources)");
        tasks(apart, "1 shard:3, 2 shard:2 | 0-2 (Resources)");
        tasks(apart, "3 shard:2 gresFlags=multiple-tasks-per-sharing | 0-5");
        tasks(several, "2 shard:2 gresFlags=one-task-per-sharing | 0-1,4-5");
        tasks(
                "gresTypes=gpu,shard",
                "1 shard:2 gresFlags=one-task-per-sharing | In order to use"
                        + " --gres-flags=one-task-per-sharing you must also have "
                        + "SelectTypeParameters=MULTIPLE_SHARING_GRES_PJ in your slurm.conf");
    }

    /** @param rows {@code TASKS GRES, … | what each gets; …} */
    private static void tasks(String settings, String rows) {
        for (String row : rows.split("; ")) {
            Cluster c = new Cluster("n1 cpus=8 gpus=2 shards=8", "p nodes=n1 defmempercpu=1", settings);
            StringBuilder out = new StringBuilder();
            for (String wish : row.split(" \\| ")[0].split(", ")) {
                String[] words = wish.split(" ", 3);
                String placed = c.place("partition=p tasks=" + words[0] + " tresPerTask=gres/" + words[1]
                        + (words.length > 2 ? " " + words[2] : ""));
                out.append(out.isEmpty() ? "" : " ")
                        .append(
                                !placed.startsWith("n1")
                                        ? placed
                                        : c.state()
                                                .jobs()
                                                .at(c.state().nextJobId() - 1)
                                                .run()
                                                .allocation()
                                                .nodes()
                                                .getFirst()
                                                .gres()
                                                .get("shard")
                                                .compact());
            }
            assertThat(out.toString()).as(row).isEqualTo(row.split(" \\| ")[1]);
        }
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
                            .map(e -> e.getKey() + "=[" + e.getValue().compact() + "]")
                            .findFirst()
                            .orElse("none");
                }
                out.append(out.isEmpty() ? "" : " ").append(placed);
            }
            assertThat(out.toString()).as(row).isEqualTo(cells[1].strip());
        }
    }
}
