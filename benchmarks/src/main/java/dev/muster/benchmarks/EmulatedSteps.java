package dev.muster.benchmarks;

import static java.util.Objects.requireNonNull;

import dev.muster.json.Bytes;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.Usage;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.spool.StatusFile;
import dev.muster.node.step.Launcher;
import dev.muster.node.step.StepWatch;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * One node's steps without processes. What a step does is what the last line of the batch script says, or the step's
 * command: {@code sleep SECONDS}, {@code exit CODE}, {@code gate} (until {@link EmulatedNodes#open}); all else is over
 * at once, with 0. A signal that ends processes ends it.
 */
final class EmulatedSteps implements Launcher {
    private final EmulatedNodes all;
    private final JobSpool spool;
    /**
     * Programs by the step's directory, until they are followed. They belong to the node's thread, as all of this
     * class.
     */
    private final Map<Path, Program> started = new HashMap<>();

    EmulatedSteps(EmulatedNodes all, JobSpool spool) {
        this.all = all;
        this.spool = spool;
    }

    /** @param ranks of its tasks here */
    private record Program(String[] words, List<Integer> ranks) {
        boolean is(String name) {
            return words[0].equals(name);
        }

        double number() {
            return words.length > 1 ? Double.parseDouble(words[1]) : 0;
        }

        StatusFile status(int waitStatus) {
            long nowMs = System.currentTimeMillis();
            List<StatusFile.Task> tasks = new ArrayList<>();
            ranks.forEach(rank -> tasks.add(new StatusFile.Task(rank, true, 1, waitStatus, nowMs, "", "")));
            return new StatusFile(StatusFile.State.COMPLETE, 1, true, "", tasks, StatusFile.NO_USAGE);
        }
    }

    @Override
    public Begun start(Launch launch) {
        Path directory =
                spool.stepDirectory(launch.share().jobId(), launch.share().attempt(), launch.stepId());
        started.put(
                directory,
                new Program(
                        words(launch),
                        launch.tasks().stream().map(NodeMessages.Task::rank).toList()));
        all.launched(launch.share().jobId(), launch.stepId());
        return new Begun(1, CompletableFuture.completedFuture(true));
    }

    private static String[] words(Launch launch) {
        if (launch.stepId() != NodeMessages.STEP_BATCH) {
            return launch.step().arguments().isEmpty()
                    ? new String[] {"true"}
                    : launch.step().arguments().stream()
                            .map(EmulatedSteps::text)
                            .toArray(String[]::new);
        }
        String script = text(launch.script()).strip();
        return script.substring(script.lastIndexOf('\n') + 1).split(" +");
    }

    private static String text(Bytes bytes) {
        return new String(bytes.toArray(), StandardCharsets.UTF_8);
    }

    @Override
    public Begun startExternal(JobShare share) {
        started.put(
                spool.stepDirectory(share.jobId(), share.attempt(), NodeMessages.STEP_EXTERN),
                new Program(new String[] {"extern"}, List.of()));
        return new Begun(1, CompletableFuture.completedFuture(true));
    }

    @Override
    public StepWatch watch(Path stepDirectory, EventLoop loop, StepWatch.Listener listener) {
        Program program = requireNonNull(started.remove(stepDirectory), "a step is watched once, after its start");
        return new StepWatch(stepDirectory, spool, loop, listener) {
            @Override
            public void start(CompletableFuture<Boolean> ended, boolean isNumbered) {
                if (program.is("gate")) {
                    var _ = all.gate().thenRun(() -> loop.post(() -> end(0)));
                } else if (!program.is("extern")) {
                    long ms = program.is("sleep") ? (long) (program.number() * 1000) : 0;
                    loop.later(ms, () -> end(program.is("exit") ? (int) program.number() << 8 : 0));
                }
            }

            private void end(int waitStatus) {
                all.ended();
                listener.complete(program.status(waitStatus));
            }

            @Override
            public void send(char type, int mode, long signal, byte[] bytes) {
                boolean ends = signal == Os.SIGNAL_KILL || signal == Os.SIGNAL_TERM;
                if (type == 'S' && ends) {
                    loop.post(() -> end((int) signal));
                }
            }
        };
    }

    @Override
    public Usage used(Path stepDirectory, Optional<StatusFile> last) {
        return StatusFile.NO_USAGE;
    }

    @Override
    public void stepEnded(int jobId, int stepId) {}

    @Override
    public boolean hasContainer(Path stepDirectory) {
        return false;
    }

    @Override
    public void stopContainers(Path stepDirectory) {}

    @Override
    public void removeContainers(Path stepDirectory) {}

    @Override
    public List<Path> externalGroups(JobShare share) {
        return List.of();
    }

    @Override
    public boolean cleansUp(JobShare share) {
        return false;
    }

    @Override
    public void cleanUp(JobShare share) {}

    @Override
    public void reopen(JobShare share) {}
}
