package dev.muster.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.testkit.Cluster;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * --mem-update: what a job has of memory at first, when it is measured, what it uses then → what it keeps on its nodes.
 */
class MemoryUpdateTest {
    private static final String ALLOWED = "externSteps=true options.stepmgr=true options.memory_updates=true";

    private static Cluster cluster(String settings) {
        return new Cluster("n[1-2] cpus=4 mem=1000", "p nodes=n[1-2] defmempercpu=1", settings);
    }

    private static String has(Cluster c, int id) {
        return c.state().jobs().at(id).run().allocation().nodes().stream()
                .map(s -> Long.toString(s.memoryMb()))
                .collect(Collectors.joining(" "));
    }

    private static String measured(String asked, int margin, int passS, long usedMb) {
        Cluster c = cluster(ALLOWED);
        int id = c.accept("partition=p extras.memUpdateMin=2 extras.memUpdateMargin=" + margin + " " + asked);
        c.schedule();
        c.jump(passS, 0);
        c.apply(new Command.MemoryMeasured(id, 1, usedMb * 1024));
        return has(c, id);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            memPerNodeMb=400                    | 20 | 120 | 100 | 120
            memPerNodeMb=400                    | 0  | 130 | 100 | 100
            memPerNodeMb=400                    | 20 | 120 | 399 | 400
            memPerNodeMb=400                    | 20 | 120 | 0   | 40
            memPerNodeMb=400                    | 20 | 119 | 100 | 400
            memPerNodeMb=400                    | 20 | 240 | 100 | 400
            memPerCpuMb=100 tasks=4             | 50 | 120 | 100 | 150
            memPerNodeMb=400 nodesMin=2 tasks=2 | 10 | 120 | 100 | 110 110
            memPerCpuMb=100 nodesMin=2 tasks=5  | 0  | 120 | 200 | 200 100
            memAll=true                         | 0  | 120 | 10  | 100
            """)
    void memoryUpdateKeepsTheUsedMemoryWithAMargin(String asked, int margin, int afterS, long usedMb, String kept) {
        assertThat(measured(asked, margin, afterS, usedMb)).isEqualTo(kept);
    }

    @ParameterizedTest
    @CsvSource({"100, 50", "10, 5"})
    void memoryIsUpdatedOnceInARun(long first, long second) {
        Cluster c = cluster(ALLOWED);
        int id = c.accept("partition=p memPerNodeMb=400 extras.memUpdateMin=2 extras.memUpdateMargin=0");
        c.schedule();
        c.jump(120, 0);
        c.apply(new Command.MemoryMeasured(id, 1, first * 1024));
        String kept = has(c, id);
        c.apply(new Command.MemoryMeasured(id, 1, second * 1024));
        c.apply(new Command.MemoryMeasured(id, 2, second * 1024));
        assertThat(has(c, id)).isEqualTo(kept);
        assertThat(MemoryRules.isDue(c.state(), c.state().jobs().at(id), c.seconds() * 1000))
                .isFalse();
        assertThat(c.state().jobs().at(id).desc().request().memPerNodeMb())
                .as("in another run it may have as much again")
                .isEqualTo(400);
    }
}
