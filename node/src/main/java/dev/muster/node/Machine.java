package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import dev.muster.node.job.PrologEpilogRuns;
import dev.muster.node.os.LaunchThreads;
import dev.muster.node.os.Loop;
import dev.muster.node.step.StepdServer;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What a slurmd process has once, for however many nodes it stands: what starts stepds, the threads that have them
 * started, and the hooks that run.
 */
public final class Machine implements AutoCloseable {
    static final int STARTERS = 4;
    /** Threads on which the nodes of a process take turns, where there are more of them. */
    static final int LOOPS = 8;

    final StepdServer stepds;
    final LaunchThreads starters = new LaunchThreads(STARTERS);

    final PrologEpilogRuns hooks = new PrologEpilogRuns();

    /** Nodes that the process serves. */
    final int nodes;

    private final Optional<Loop.Threads> loops;

    public Machine(Path stepd, int nodes) {
        this.nodes = nodes;
        stepds = new StepdServer(stepd);
        loops = nodes > LOOPS ? Optional.of(new Loop.Threads(LOOPS)) : Optional.empty();
    }

    /** A node's own. */
    Loop loop(DaemonLog log) {
        return loops.map(threads -> new Loop(log, threads)).orElseGet(() -> new Loop(log));
    }

    @Override
    public void close() {
        starters.close();
        loops.ifPresent(Loop.Threads::close);
    }
}
