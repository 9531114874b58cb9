package dev.muster.scheduler.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import org.junit.jupiter.api.Test;

/**
 * A request → the cores it gets of each node, with how many CPUs and how much memory. Compared with the original by
 * packaging/placement.sh.
 */
class SocketOrderTest {
    /** Two sockets of 4 cores with 2 threads. */
    private static final String NODES = "n[1-2] cpus=16 sockets=2 threads=2 mem=16000";

    @Test
    void tasksOfOneCpuGoRoundTheSockets() {
        check("", """
                tasks=2 | 0 2 200
                tasks=3 | 0,4 4 400
                tasks=5 | 0-1,4 6 600
                tasks=10 | 0-2,4-5 10 1000
                """);
        check("", """
                tasks=8 tasksPerSocket=4 | 0-1,4-5 8 800
                tasks=3 cpusPerNodeMin=6 | 0,4 4 400
                cpusPerNodeMin=6 | 0-1,4 6 600
                tasks=3 ; nodeList=n1 tasks=1 cpusPerNodeMin=12 | 0,4 4 400 ; 1 2 200
                tasks=3 ; nodeList=n1 tasks=1 cpusPerNodeMin=13 | 0,4 4 400 ; (Resources)
                tasks=3 ; tasks=10 | 0,4 4 400 ; 1-3,5-6 10 1000
                """);
    }

    @Test
    void aSocketIsFilledWithWholeTasks() {
        check("", """
                tasks=3 cpusPerTask=2 | 0-2 6 600
                tasks=5 cpusPerTask=2 | 0-4 10 1000
                tasks=3 cpusPerTask=3 | 0-2,4-5 10 1000
                tasks=4 cpusPerTask=3 | 0-2,4-6 12 1200
                tasks=3 cpusPerTask=4 | 0-5 12 1200
                tasks=1 cpusPerTask=5 | 0-2 6 600
                tasks=2 cpusPerTask=2 tasksPerSocket=1 | 0,4 4 400
                tasks=1 ; tasks=3 cpusPerTask=2 | 0 2 200 ; 1-3 6 600
                """);
    }

    /**
     * Tasks that leave no room for another take the first cores, as packaging/placement.sh observed of the original.
     */
    @Test
    void tasksThatFillANodeTakeItsFirstCores() {
        check("", """
                tasks=1 cpusPerTask=12 | 0-5 12 1200
                tasks=1 cpusPerTask=9 | 0-4 10 1000
                tasks=2 cpusPerTask=6 | 0-5 12 1200
                tasks=2 cpusPerTask=5 | 0-2,4-5 10 1000
                tasks=3 tasksPerNode=3 | 0-1 4 400
                tasks=9 tasksPerNode=9 | 0-4 10 1000
                tasks=5 tasksPerNode=8 nodesMin=1 nodesMax=1 | 0-3 8 800
                tasks=3 tasksPerNode=3 cpusPerTask=3 | 0-4 10 1000
                tasks=1 cpusPerTask=5 ; tasks=2 cpusPerTask=4 | 0-2 6 600 ; 3-6 8 800
                tasks=1 cpusPerTask=5 ; tasks=2 cpusPerTask=2 | 0-2 6 600 ; 3-4 4 400
                tasks=3 memPerCpuMb=3000 tasksPerNode=3 | 0-1 4 12000
                """);
    }

    @Test
    void blockDistributionFillsSocketsInOrder() {
        check("CR_CORE_DEFAULT_DIST_BLOCK", """
                tasks=3 | 0-1 4 400
                tasks=3 distribution=block:cyclic | 0,4 4 400
                """);
        check("", """
                tasks=6 distribution=block:block | 0-2 6 600
                tasks=6 distribution=plane=2 | 0-2 6 600
                """);
    }

    @Test
    void eachRemainingNodeKeepsOneCore() {
        check("", """
                tasks=6 nodesMin=2 nodesMax=2 | 0,4 4 400 + 0 2 200
                tasks=4 nodesMin=2 nodesMax=2 | 0 2 200 + 0 2 200
                tasks=20 nodesMin=2 nodesMax=2 | 0-7 16 1600 + 0,4 4 400
                tasks=3 nodesMin=2 nodesMax=2 cpusPerTask=3 | 0-2 6 600 + 0-1 4 400
                """);
    }

    @Test
    void threadsThatAreLeftAloneHaveNoMemory() {
        check("", """
                tasks=3 threadsPerCore=1 | 0-1,4 6 300
                tasks=3 hint=nomultithread | 0-1,4 6 300
                tasks=3 tasksPerCore=1 | 0-1,4 6 600
                """);
    }

    @Test
    void memoryIsCountedForWholeCores() {
        check("", """
                tasks=4 memPerCpuMb=5000 nodesMin=2 | 0 2 10000 + 0 2 10000
                tasks=4 memPerCpuMb=3000 | 0,4 4 12000
                tasks=5 memPerCpuMb=3000 | 0,4 4 12000 + 0 2 6000
                tasks=1 memPerCpuMb=9000 | Requested node configuration is not available
                tasks=1 memPerCpuMb=9000 threadsPerCore=1 | 0 2 9000
                tasks=4 tasksPerCore=1 memPerCpuMb=3000 | 0,4 4 12000 + 0,4 4 12000
                """);
    }

    @Test
    void socketsAreGivenWhole() {
        check("CR_SOCKET", """
                tasks=1 | 0-3 8 800
                tasks=8 | 0-7 16 1600
                tasks=1 ; tasks=1 | 0-3 8 800 ; 4-7 8 800
                tasks=1 ; tasks=9 | 0-3 8 800 ; n2 0-7 16 1600
                tasks=17 | 0-7 16 1600 + 0-3 8 800
                tasks=3 nodesMin=2 nodesMax=2 | 0-3 8 800 + 0-3 8 800
                tasks=1 memPerCpuMb=1500 | 0-3 8 12000
                tasks=1 memPerCpuMb=3000 | Requested node configuration is not available
                """);
    }

    @Test
    void cpusAreCountedAndCoresAreNotShared() {
        check("CR_CPU", """
                tasks=3 | 0-1 3 300
                tasks=10 | 0-4 10 1000
                tasks=5 nodesMin=2 nodesMax=2 | 0-1 3 300 + 0 2 200
                tasks=3 ; tasks=3 | 0-1 3 300 ; 2-3 3 300
                tasks=3 ; tasks=13 | 0-1 3 300 ; n2 0-6 13 1300
                tasks=3 threadsPerCore=1 | 0-2 3 300
                tasks=1 memPerCpuMb=9000 | 0 1 9000
                tasks=3 exclusive=NODE | 0-7 16 1600
                """);
    }

    private static void check(String select, String rows) {
        StringBuilder table = new StringBuilder();
        for (String row : rows.strip().split("\n")) {
            String wishes = row.substring(0, row.indexOf('|'));
            Cluster c = new Cluster(
                    NODES, "p nodes=n[1-2] defmempercpu=100", "memoryConsumed=true options.select=" + select);
            StringBuilder out = new StringBuilder();
            for (String wish : wishes.strip().split(" ; ")) {
                String placed = c.place("partition=p " + wish);
                if (placed.startsWith("n")) {
                    Job last = c.state().jobs().at(c.state().nextJobId() - 1);
                    placed = (placed.startsWith("n2") ? "n2 " : "")
                            + String.join(
                                    " + ",
                                    last.run().allocation().nodes().stream()
                                            .map(SocketOrderTest::shown)
                                            .toList());
                }
                out.append(out.isEmpty() ? "" : " ; ").append(placed);
            }
            table.append(wishes).append("| ").append(out).append('\n');
        }
        assertThat(table.toString()).isEqualTo(rows);
    }

    private static String shown(Allocation.Share s) {
        return s.cores().compact() + " " + s.cpus() + " " + s.memoryMb();
    }
}
