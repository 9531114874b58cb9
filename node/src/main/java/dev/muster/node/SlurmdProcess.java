package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import dev.muster.node.job.PrologEpilogRuns;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.LaunchThreads;
import dev.muster.node.step.StepdServer;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What a slurmd process has once, for however many nodes it stands: what starts stepds, the threads that have them
 * started, and the hooks that run.
 */
public final class SlurmdProcess implements AutoCloseable {
    static final int STARTERS = 4;
    /** Threads on which the nodes of a process take turns, where there are more of them. */
    static final int LOOPS = 8;

    final StepdServer stepds;
    final LaunchThreads starters = new LaunchThreads(STARTERS);

    final PrologEpilogRuns hooks = new PrologEpilogRuns();

    /** Nodes that the process serves. */
    final int nodes;

    private final Optional<EventLoop.Threads> loops;

    public SlurmdProcess(Path stepd, int nodes) {
        this.nodes = nodes;
        stepds = new StepdServer(stepd);
        loops = nodes > LOOPS ? Optional.of(new EventLoop.Threads(LOOPS)) : Optional.empty();
    }

    /** A node's own. */
    EventLoop loop(DaemonLog log) {
        return loops.map(threads -> new EventLoop(log, threads)).orElseGet(() -> new EventLoop(log));
    }

    @Override
    public void close() {
        starters.close();
        loops.ifPresent(EventLoop.Threads::close);
    }
}
