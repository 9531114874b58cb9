package dev.muster.node.meter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.Identity;
import dev.muster.model.api.SlurmdMessages.TaskUsage;
import dev.muster.model.node.NodeMessages.ReadUse;
import dev.muster.model.node.NodeMessages.StepUse;
import dev.muster.model.node.NodeMessages.UsePoint;
import dev.muster.model.node.NodeMessages.UseRead;
import dev.muster.node.os.ProcessTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StepUsageFilesTest {
    @TempDir
    private Path dir;

    private StepUsageFiles uses(int filesMax) throws IOException {
        return new StepUsageFiles(
                dir.resolve(StepUsageFiles.DIRECTORY), filesMax, new DaemonLog("slurmd", "/dev/null", false, 1, ""));
    }

    private static ProcessTable.Running step(int job, int attempt, int step) {
        Identity root = new Identity(0, 0, "root", "root", List.of(), "/", "/bin/sh");
        return new ProcessTable.Running(job, attempt, step, root, Path.of("/tmp"), 1, Optional.empty(), false);
    }

    @Test
    void stepUseSumsTasksAndSeparatesAttempts() throws IOException {
        StepUsageFiles uses = uses(10);
        uses.saw(
                step(7, 1, 0),
                List.of(
                        new TaskUsage(0, 0, 1, List.of(1), 1000, 50, 90, 0, 10, 1),
                        new TaskUsage(1, 1, 2, List.of(2), 500, 70, 90, 0, 20, 2)));
        uses.saw(step(7, 2, 0), List.of(new TaskUsage(0, 0, 1, List.of(1), 9, 9, 9, 0, 9, 9)));
        uses.saw(step(71, 1, 0), List.of(new TaskUsage(0, 0, 1, List.of(1), 8, 8, 8, 0, 8, 8)));
        uses.saw(step(7, 1, -5), List.of());
        UseRead read = uses.read(new ReadUse(3, 7, 1));
        assertThat(read.id()).isEqualTo(3);
        assertThat(read.steps()).hasSize(1);
        UsePoint point = read.steps().getFirst().points().getFirst();
        assertThat(point).isEqualTo(new UsePoint(point.time(), 1500, 120, 30, 3));
        assertThat(uses.read(new ReadUse(4, 8, 1)).steps()).isEmpty();
    }

    @Test
    void aLongStepHasCoarserPointsAndItsLastOne() throws IOException {
        StepUsageFiles uses = uses(10);
        Path file = dir.resolve(StepUsageFiles.DIRECTORY).resolve("1.1.0");
        for (int i = 1; i <= 1000; i++) {
            uses.add(file, new UsePoint(i, i * 10L, 5, 0, 0));
        }
        List<UsePoint> points =
                uses.read(new ReadUse(1, 1, 1)).steps().getFirst().points();
        assertThat(points)
                .hasSizeBetween(StepUsageFiles.POINTS_MAX / 2, StepUsageFiles.POINTS_MAX)
                .last()
                .extracting(UsePoint::time)
                .isEqualTo(1000L);
        assertThat(points).extracting(UsePoint::time).isSorted();
    }

    @Test
    void oldestStepUsesMakeRoomAndCutOnesAreSkipped() throws IOException {
        StepUsageFiles uses = uses(5);
        Path all = dir.resolve(StepUsageFiles.DIRECTORY);
        for (int i = 1; i <= 8; i++) {
            uses.add(all.resolve(i + ".1.0"), new UsePoint(1, 1, 1, 1, 1));
            assertThat(all.resolve(i + ".1.0").toFile().setLastModified(i * 1000L))
                    .isTrue();
        }
        try (var list = Files.list(all)) {
            assertThat(list.map(p -> p.getFileName().toString()).sorted())
                    .containsExactly("4.1.0", "5.1.0", "6.1.0", "7.1.0", "8.1.0");
        }
        Files.writeString(all.resolve("8.1.0"), "2 2 2 2 2\n3 3 3");
        assertThat(uses.read(new ReadUse(1, 8, 1)).steps())
                .containsExactly(new StepUse(0, List.of(new UsePoint(2, 2, 2, 2, 2))));
    }
}
