package dev.muster.node.os;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.DaemonLog;
import dev.muster.node.job.Hooks;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.step.Launcher;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** No exception leaves a job waiting: the work that it waits for has an answer, and the node is drained. */
class UnexpectedErrorsTest {
    @TempDir
    Path directory;

    private final List<String> drained = new CopyOnWriteArrayList<>();
    private final Consumer<String> node = drained::add;
    private DaemonLog log;
    private EventLoop loop;

    @BeforeEach
    void begin() throws Exception {
        log = new DaemonLog("slurmd", directory.resolve("log").toString(), false, DaemonLog.INFO, "");
        loop = new EventLoop(log);
        UnexpectedErrors.add(node);
    }

    @AfterEach
    void end() {
        UnexpectedErrors.remove(node);
        loop.close();
    }

    @Test
    void workThatThrowsHasAnAnswerAllTheSame() throws Exception {
        CompletableFuture<String> answer = new CompletableFuture<>();
        loop.aside(
                () -> {
                    throw new IllegalArgumentException("Invalid environment variable value");
                },
                e -> Hooks.PROLOG_ERROR,
                answer::complete);
        assertThat(answer.get(10, TimeUnit.SECONDS)).isEqualTo("Prolog error");
        assertThat(drained)
                .singleElement()
                .isEqualTo("slurmd internal error: IllegalArgumentException, see slurmd's log");
    }

    @Test
    void theLoopGoesOnAfterAnException() throws Exception {
        CompletableFuture<String> answer = new CompletableFuture<>();
        loop.post(() -> {
            throw new IllegalStateException("half a change");
        });
        loop.post(() -> answer.complete("next"));
        assertThat(answer.get(10, TimeUnit.SECONDS)).isEqualTo("next");
        assertThat(drained).hasSize(1);
    }

    @Test
    void aProgramThatCannotBeBegunHasFailed() throws Exception {
        Path program = Files.createFile(directory.resolve("prolog"));
        program.toFile().setExecutable(true);
        Files.writeString(program, "#!/bin/sh\nexit 0\n");
        assertThat(Hooks.runOne(program.toString(), Map.of("A", "b"), 10, List.of()))
                .isEmpty();
        assertThat(Hooks.runOne(program.toString(), Map.of("A", "b\0c"), 10, List.of()))
                .hasValueSatisfying(why -> assertThat(why).contains("Invalid"));
        assertThat(Hooks.runOne("/no\0where", Map.of(), 10, List.of())).isPresent();
        assertThat(Hooks.runOne("/nowhere", Map.of(), 10, List.of())).hasValue("/nowhere: not executable");
    }

    @Test
    void machineErrorDrainsTheNodeAndJobErrorDoesNot() {
        for (String text : List.of(
                "No space left on device",
                "cannot fork",
                "cannot set up: Read-only file system",
                "fork: Cannot allocate memory")) {
            assertThat(Launcher.FailedException.ofSystem(text).drain).as(text).isTrue();
        }
        assertThat(Launcher.FailedException.ofSystem("No such file or directory").drain)
                .isFalse();
    }

    /** A launch that could not be recorded was not made: it may be tried again. */
    @Test
    void aLaunchThatCannotBeRecordedIsNotMarked() throws Exception {
        Path spool = Files.createDirectory(directory.resolve("spool"));
        JobSpool tested = new JobSpool(spool);
        tested.open();
        Files.createDirectory(spool.resolve("launched"));
        assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> tested.mark(7, 1, 0, "100")))
                .isInstanceOf(java.io.IOException.class);
        Files.delete(spool.resolve("launched"));
        assertThat(tested.mark(7, 1, 0, "100")).isTrue();
        assertThat(tested.mark(7, 1, 0, "100")).isFalse();
        assertThat(tested.mark(7, 1, 0, "101")).as("another job of that number").isTrue();
        assertThat(tested.highestJobId()).isEqualTo(7);
    }
}
