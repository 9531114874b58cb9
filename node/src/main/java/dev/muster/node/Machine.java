package dev.muster.node;

import java.nio.file.Path;
import java.util.concurrent.ExecutorService;

/** What a slurmd process has once, for however many nodes it stands: what starts stepds, and the threads that have them started. */
public final class Machine implements AutoCloseable {
    static final int STARTERS = 4;

    final StepdServer stepds;
    final ExecutorService starters = Loop.starters(STARTERS);

    /** Of the one process. */
    final int nodes;

    public Machine(Path stepd, int nodes) {
        this.nodes = nodes;
        stepds = new StepdServer(stepd);
    }

    @Override
    public void close() {
        starters.shutdown();
    }
}
