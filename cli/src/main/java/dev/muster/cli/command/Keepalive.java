package dev.muster.cli.command;

import dev.muster.json.Json;

/**
 * Reports to slurmctld that srun is alive while its step runs, if InactiveLimit is set. A stopped srun reports nothing,
 * even if another process serves it.
 */
public final class Keepalive implements AutoCloseable {
    private static final int TIMES_WITHIN_LIMIT = 3;

    private final CommandContext c;
    private final int jobId;
    private boolean over;

    private Keepalive(CommandContext c, int jobId) {
        this.c = c;
        this.jobId = jobId;
    }

    /**
     * Returns how often the command reports that it is alive, in milliseconds; Integer.MAX_VALUE without InactiveLimit.
     */
    public static int everyMs(CommandContext c) {
        int limitS = c.host().settings().inactiveLimit;
        return limitS <= 0 ? Integer.MAX_VALUE : (int) Math.min(Integer.MAX_VALUE, limitS * 1000L / TIMES_WITHIN_LIMIT);
    }

    public static Keepalive begin(CommandContext c, int jobId) {
        Keepalive signs = new Keepalive(c, jobId);
        if (everyMs(c) < Integer.MAX_VALUE) {
            c.host().startBackground("signs of life", signs::run);
        }
        return signs;
    }

    private void run() {
        Json.Obj q = new Json.Obj().put("jobId", (long) jobId).put("stepId", -1L);
        while (true) {
            synchronized (this) {
                try {
                    if (!over) {
                        wait(everyMs(c));
                    }
                } catch (InterruptedException e) {
                    return;
                }
                if (over) {
                    return;
                }
            }
            if (!c.host().isCallerStopped()) {
                try {
                    c.host().controller().call("AwaitChange", q);
                } catch (SlurmException e) {
                    // slurmctld is away, or the job is over: which the step's own stream tells
                }
            }
        }
    }

    @Override
    public synchronized void close() {
        over = true;
        notifyAll();
    }
}
