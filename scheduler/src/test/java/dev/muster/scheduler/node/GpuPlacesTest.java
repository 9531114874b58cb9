package dev.muster.scheduler.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import org.junit.jupiter.api.Test;

/** Jobs one after the other → the cores and devices that each gets of each node, or why it waits. */
class GpuPlacesTest {
    /** Two sockets of 8 cores with 2 threads, 3 GPUs near each. */
    private static final String SIX = "n[1-2] cpus=32 sockets=2 threads=2 gpus=6 near=0-7;8-15";
    /** Two sockets of 6 cores, 2 GPUs with 10 shares near each; 2 cores of each GPU are reserved for its jobs. */
    private static final String KEPT = "n[1-2] cpus=12 sockets=2 gpus=4 shards=40 near=0-5;6-11 restricted=2";

    @Test
    void enforceBindingPlacesJobsOnCoresNearGpus() {
        check(SIX, "", """
                tasks=2 tresPerTask=gres/gpu:3 | 0,8 gpu=0-5
                tasks=1 tresPerTask=gres/gpu:3 | 0 gpu=0-2
                tasksPerNode=2 nodesMin=1 nodesMax=1 cpusPerTask=2 tresPerTask=gres/gpu:3 | 0,8 gpu=0-5
                tasksPerNode=2 nodesMin=1 nodesMax=1 cpusPerTask=2 tresPerTask=gres/gpu:2 | 0,8 gpu=0-1,3-4
                tasks=1 cpusPerTask=2 tresPerNode=gres/gpu:3 | 0 gpu=0-2
                tasks=1 cpusPerTask=2 tresPerNode=gres/gpu:4 | 0,8 gpu=0-1,3-4
                cpusPerTask=4 tresPerNode=gres/gpu:4 | 0,8 gpu=0-1,3-4
                cpusPerGpu=1 tresPerJob=gres/gpu:4 | 0,8 gpu=0-1,3-4
                cpusPerGpu=4 tasksPerNode=2 nodesMin=1 nodesMax=1 tresPerNode=gres/gpu:1 | 0-1 gpu=0
                tasks=1 nodesMin=1 nodesMax=1 tresPerJob=gres/gpu:6 | 0,8 gpu=0-5
                tasks=2 cpusPerTask=2 tresPerJob=gres/gpu:6 | 0,8 gpu=0-5
                tasks=2 tresPerJob=gres/gpu:6 | 0,8 gpu=0-5
                tasks=2 nodesMin=2 nodesMax=2 tresPerJob=gres/gpu:6 | 0,8 gpu=0-4 + 0,8 gpu=0
                tasks=2 nodesMin=2 nodesMax=2 cpusPerGpu=2 tresPerTask=gres/gpu:3 | 0-2 gpu=0-2 + 0-2 gpu=0-2
                cpusPerTask=16 tresPerNode=gres/gpu:1 | 0-7 gpu=0
                cpusPerTask=18 tresPerNode=gres/gpu:1 | Requested node configuration is not available
                cpusPerTask=18 tresPerNode=gres/gpu:2 | 0-3,8-12 gpu=0,3
                """.replace(" |", " gresFlags=enforce-binding |"));
    }

    @Test
    void jobWithoutEnforceBindingGetsNoExtraCores() {
        check(SIX, "", """
                tasksPerNode=1 nodesMin=1 nodesMax=1 cpusPerTask=2 tresPerTask=gres/gpu:6 | 0 gpu=0-5
                tasks=1 cpusPerTask=2 tresPerNode=gres/gpu:4 | 8 gpu=0,3-5
                cpusPerTask=4 tresPerNode=gres/gpu:4 | 0-1 gpu=0-3
                cpusPerTask=18 tresPerNode=gres/gpu:1 | 0-8 gpu=0
                cpusPerTask=18 tresPerNode=gres/gpu:1 gresFlags=disable-binding | 0-8 gpu=0
                cpusPerTask=16 ; cpusPerTask=1 tresPerNode=gres/gpu:1 | 0-7 ; 8 gpu=3
                cpusPerTask=16 ; cpusPerTask=1 tresPerNode=gres/gpu:1 gresFlags=disable-binding | 0-7 ; 8 gpu=3
                """);
    }

    /** --gpus: each node gives all its GPUs, but leaves one per remaining node. */
    @Test
    void gpusOfAJobFillNodesButLeaveOneForEachNode() {
        check("n[1-2] cpus=16 sockets=2 threads=2 gpus=4 near=0-3;4-7", "", """
                tresPerJob=gres/gpu:3 | 0 gpu=0-1 + 0 gpu=0
                tresPerJob=gres/gpu:4 | 0 gpu=0-2 + 0 gpu=0
                tresPerJob=gres/gpu:5 | 0 gpu=0-3 + 0 gpu=0
                tresPerJob=gres/gpu:6 | 0 gpu=0-3 + 0 gpu=0-1
                tresPerJob=gres/gpu:7 | 0 gpu=0-3 + 0 gpu=0-2
                tasks=4 tresPerJob=gres/gpu:4 | 0 gpu=0-2 + 0 gpu=0
                tresPerJob=gres/gpu:4 gresFlags=disable-binding | 0 gpu=0-2 + 0 gpu=0
                """.replace(
                        "tresPerJob", "nodesMin=2 nodesMax=2 tresPerJob"));
        check("n[1-2] cpus=16 sockets=2 threads=2 gpus=4", "", """
                nodesMin=2 nodesMax=2 tresPerJob=gres/gpu:4 | 0 gpu=0-2 + 0 gpu=0
                nodesMin=2 nodesMax=2 tresPerJob=gres/gpu:5 | 0 gpu=0-3 + 0 gpu=0
                """);
    }

    /** Several GPUs are those with most links among them, of those that are free, as in Slurm. */
    @Test
    void linkedGpusGoTogether() {
        check("n[1-2] cpus=8 gpus=4 links=-1,0,4,0;0,-1,0,4;4,0,-1,0;0,4,0,-1", "", """
                tresPerNode=gres/gpu:1 | 0 gpu=0
                tresPerNode=gres/gpu:2 | 0 gpu=0,2
                tresPerNode=gres/gpu:3 | 0 gpu=0-2
                tresPerJob=gres/gpu:2 nodesMin=1 nodesMax=1 | 0 gpu=0,2
                nodeList=n1 tresPerNode=gres/gpu:1 ; nodeList=n1 tresPerNode=gres/gpu:2 | 0 gpu=0 ; 1 gpu=1,3
                nodeList=n1 tresPerNode=gres/gpu:2 ; nodeList=n1 tresPerNode=gres/gpu:2 | 0 gpu=0,2 ; 1 gpu=1,3
                nodeList=n1 tresPerTask=gres/gpu:1 tasks=2 | 0-1 gpu=0,2
                """);
    }

    /** GPUs of --gpus-per-socket have cores of the same sockets, as long as these have enough. */
    @Test
    void gpusOfSocketsHaveTheirCores() {
        check("n[1-2] cpus=16 sockets=2 threads=2 gpus=4 near=0-3;4-7", "", """
                nodeList=n1 tasks=2 socketsPerNode=1 tresPerSocket=gres/gpu:2 | 4 gpu=2-3
                nodeList=n1 tasks=2 socketsPerNode=2 tresPerSocket=gres/gpu:1 | 4 gpu=0,2
                nodeList=n1 tresPerNode=gres/gpu:2 ; nodeList=n1 tasks=2 socketsPerNode=1 tresPerSocket=gres/gpu:1 | 0 gpu=0-1 ; 4 gpu=2
                tasks=2 socketsPerNode=1 tresPerSocket=gres/gpu:2 ; tasks=2 socketsPerNode=1 tresPerSocket=gres/gpu:2 | 4 gpu=2-3 ; 0 gpu=0-1
                nodeList=n1 tasks=8 ; nodeList=n1 tasks=2 socketsPerNode=1 tresPerSocket=gres/gpu:1 | 0-1,4-5 ; 6 gpu=2
                nodeList=n1 tasks=10 socketsPerNode=1 tresPerSocket=gres/gpu:2 | 0-1,4-6 gpu=0-3
                """);
    }

    /**
     * Cores lie evenly over the groups of the GPUs, the remainder in the last; GPUs go by the cores of each group. As
     * in the original.
     */
    @Test
    void coresAndGpusGoByGroups() {
        check("n[1-2] cpus=16 sockets=2 threads=2 gpus=4 near=0-3;4-7", "", """
                tasks=1 tresPerNode=gres/gpu:4 | 4 gpu=0-3
                tresPerNode=gres/gpu:4 | 0 gpu=0-3
                tasks=5 tresPerNode=gres/gpu:4 | 0,4-5 gpu=0-3
                tasks=1 tresPerNode=gres/gpu:3 | 4 gpu=0,2-3
                tasks=3 tresPerNode=gres/gpu:3 | 0,4 gpu=0-2
                tasks=5 tresPerNode=gres/gpu:3 | 0,4-5 gpu=0,2-3
                tasks=9 tresPerNode=gres/gpu:3 | 0-1,4-6 gpu=0-2
                tasks=9 tresPerNode=gres/gpu:2 | 0-4 gpu=0-1
                tasks=3 tresPerTask=gres/gpu:1 | 0,4 gpu=0-2
                tresPerNode=gres/gpu:1 ; tresPerNode=gres/gpu:1 ; tresPerNode=gres/gpu:1 | 0 gpu=0 ; 4 gpu=2 ; 1 gpu=1
                tasks=8 distribution=block:block ; nodeList=n1 tasks=1 tresPerNode=gres/gpu:3 | 0-3 ; 4 gpu=0,2-3
                tasks=2 nodesMin=2 nodesMax=2 tresPerNode=gres/gpu:4 | 4 gpu=0-3 + 4 gpu=0-3
                tasks=6 nodesMin=2 nodesMax=2 tresPerNode=gres/gpu:4 | 0,4 gpu=0-3 + 0 gpu=0-3
                tasks=3 tresPerTask=gres/gpu:2 | 4 gpu=0-3 + 4 gpu=2-3
                tasks=5 socketsPerNode=1 tresPerSocket=gres/gpu:1 | 0,4-5 gpu=0,2
                """);
        check("n[1-2] cpus=16 sockets=4 gpus=4 near=0-3;4-7;8-11;12-15", "", """
                tasks=1 tresPerNode=gres/gpu:2 | 4 gpu=0-1
                tasks=3 tresPerNode=gres/gpu:4 | 4,8,12 gpu=0-3
                tasks=5 tresPerNode=gres/gpu:4 | 0,4,8,12-13 gpu=0-3
                tasks=2 distribution=block:block ; tasks=1 tresPerNode=gres/gpu:2 | 0-1 ; 8 gpu=0,2
                tasks=2 distribution=block:block ; tasks=6 tresPerNode=gres/gpu:2 | 0-1 ; 4-6,8-10 gpu=1-2
                tasks=6 distribution=block:block ; tasks=5 tresPerNode=gres/gpu:2 | 0-5 ; 8-9,12-14 gpu=2-3
                """);
        check("n[1-2] cpus=16 sockets=2 threads=2 gpus=4", "", """
                tasks=1 tresPerNode=gres/gpu:1 | 4 gpu=0
                tasks=1 cpusPerTask=3 tresPerNode=gres/gpu:1 | 0,4 gpu=0
                tasks=5 tresPerNode=gres/gpu:2 | 0,4-5 gpu=0-1
                tasks=3 distribution=block:block tresPerNode=gres/gpu:2 | 0,4 gpu=0-1
                tasks=3 nodesMin=2 nodesMax=2 tresPerNode=gres/gpu:2 | 0 gpu=0-1 + 0 gpu=0-1
                """);
    }

    /** Cores 4 and 5 are near GPUs of both groups and count for one of them only. */
    @Test
    void aCoreNearGpusOfTwoGroupsCountsOnce() {
        String nodes = "n[1-2] cpus=10 gpus=4 near=0-5;4-9";
        check(nodes, "", """
                tasks=10 nodesMin=1 nodesMax=1 tresPerNode=gres/gpu:4 | 0-9 gpu=0-3
                tasks=11 nodesMin=1 nodesMax=1 tresPerNode=gres/gpu:4 | Requested node configuration is not available
                tasks=4 distribution=block:block ; nodeList=n1 tasks=6 tresPerNode=gres/gpu:4 | 0-3 ; 4-9 gpu=0-3
                tasks=10 nodesMin=1 nodesMax=1 tresPerNode=gres/gpu:4 gresFlags=enforce-binding | 0-9 gpu=0-3
                """);
        // the cores of the second group are all cores of the first
        check("n[1-2] cpus=10 gpus=4 near=0-5;4-5", "", """
                tasks=6 nodesMin=1 nodesMax=1 tresPerNode=gres/gpu:4 gresFlags=enforce-binding | 0-5 gpu=0-3
                tasks=7 nodesMin=1 nodesMax=1 tresPerNode=gres/gpu:4 gresFlags=enforce-binding | Requested node configuration is not available
                """);
        // near the first two groups lie six cores together, near the first and the third eight
        check("n[1-2] cpus=12 gpus=6 near=0-4;1-5;6-8", "", """
                nodeList=n1 tasks=1 tresPerNode=gres/gpu:4 | 6 gpu=0-1,4-5
                nodeList=n1 tasks=8 tresPerNode=gres/gpu:4 | 0-4,6-8 gpu=0-1,4-5
                """);
        check("n[1-2] cpus=12 gpus=6 near=0-4;1-5;6-8 restricted=1", "", """
                tasks=6 nodesMin=1 nodesMax=1 tresPerNode=gres/gpu:4 gresFlags=enforce-binding | 0-5 gpu=0-3
                """);
    }

    @Test
    void jobWithoutGpusKeepsOffRestrictedCores() {
        check(KEPT, "", """
                tasks=1 | 4
                tasks=4 nodesMax=1 nodesMin=1 | 4-5,10-11
                tasks=8 nodesMin=2 nodesMax=2 | 4-5,10-11 + 4-5,10-11
                tasks=3 cpusPerTask=2 nodesMin=1 nodesMax=1 | Requested node configuration is not available
                tasks=9 nodesMin=2 nodesMax=2 | Requested node configuration is not available
                tasks=1 tresPerNode=gres/gpu:1 | 0 gpu=0
                tasks=4 nodesMin=1 nodesMax=1 tresPerNode=gres/gpu:1 | 0-1,4-5 gpu=0
                cpusPerTask=12 tresPerNode=gres/gpu:4 | 0-11 gpu=0-3
                tasks=4 nodesMin=1 nodesMax=1 tresPerTask=gres/gpu:1 | 0-1,6-7 gpu=0-3
                tasks=5 nodesMin=2 nodesMax=2 tresPerTask=gres/gpu:1 | 0-1,6-7 gpu=0-3 + 0 gpu=0
                cpusPerTask=3 tasks=1 tresPerTask=gres/gpu:1 | 0-1,4 gpu=0
                cpusPerTask=2 tasks=3 nodesMin=1 nodesMax=1 tresPerTask=gres/gpu:1 | 0-1,4,6-8 gpu=0,2-3
                cpusPerTask=2 tasks=4 nodesMin=1 nodesMax=1 tresPerNode=gres/gpu:1 | Requested node configuration is not available
                tasks=1 tresPerNode=gres/gpu:1 ; tasks=1 tresPerNode=gres/gpu:1 ; tasks=1 | 0 gpu=0 ; 2 gpu=1 ; 4
                """);
    }

    @Test
    void shardJobUsesTheRestrictedCoresOfItsGpus() {
        check(KEPT, "MULTIPLE_SHARING_GRES_PJ", """
                tresPerNode=gres/shard:40 | 0 shard=0-39
                cpusPerTask=12 tresPerNode=gres/shard:4 | 0-11 shard=0-3
                cpusPerTask=12 tresPerNode=gres/shard:1 | Requested node configuration is not available
                tasks=1 tresPerTask=gres/shard:1 | 0 shard=0
                tasks=3 cpusPerTask=2 nodesMin=1 nodesMax=1 tresPerTask=gres/shard:5 | 0-5 shard=0-14
                tasks=1 cpusPerTask=8 tresPerTask=gres/shard:10 | 0-7 shard=0-9
                tasks=2 cpusPerTask=3 nodesMin=1 nodesMax=1 tresPerNode=gres/shard:3 | 0-5 shard=0-2
                """);
        check(KEPT, "", """
                tresPerNode=gres/shard:40 | Requested node configuration is not available
                """);
    }

    private static void check(String nodes, String select, String rows) {
        StringBuilder table = new StringBuilder();
        for (String row : rows.strip().split("\n")) {
            String[] cells = row.split("\\|");
            Cluster c =
                    new Cluster(nodes, "p nodes=n[1-2] defmempercpu=1", "gresTypes=gpu,shard options.select=" + select);
            StringBuilder out = new StringBuilder();
            for (String wish : cells[0].strip().split(" ; ")) {
                String placed = c.place("partition=p " + wish);
                if (placed.startsWith("n")) {
                    Job last = c.state().jobs().at(c.state().nextJobId() - 1);
                    placed = String.join(
                            " + ",
                            last.run().allocation().nodes().stream()
                                    .map(GpuPlacesTest::shown)
                                    .toList());
                }
                out.append(out.isEmpty() ? "" : " ; ").append(placed);
            }
            table.append(cells[0]).append("| ").append(out).append('\n');
        }
        assertThat(table.toString()).isEqualTo(rows);
    }

    private static String shown(Allocation.Share s) {
        StringBuilder out = new StringBuilder(s.cores().ranges());
        s.gres()
                .forEach((name, devices) ->
                        out.append(' ').append(name).append('=').append(devices.ranges()));
        return out.toString();
    }
}
