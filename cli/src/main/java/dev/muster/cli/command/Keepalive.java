package dev.muster.cli.command;

import dev.muster.json.Json;

/**
 * Reports to slurmctld that srun is alive while its step runs, if InactiveLimit is set. A stopped srun reports nothing,
 * even if another process serves it.
 */
public final class Keepalive implements AutoCloseable {
    private static final int TIMES_WITHIN_LIMIT = 3;

    private final CommandContext context;
    private final int jobId;
    private boolean over;

    private Keepalive(CommandContext context, int jobId) {
        this.context = context;
        this.jobId = jobId;
    }

    /**
     * Returns how often the command reports that it is alive, in milliseconds; Integer.MAX_VALUE without InactiveLimit.
     */
    public static int everyMs(CommandContext context) {
        int limitS = context.host().settings().inactiveLimit;
        return limitS <= 0 ? Integer.MAX_VALUE : (int) Math.min(Integer.MAX_VALUE, limitS * 1000L / TIMES_WITHIN_LIMIT);
    }

    public static Keepalive begin(CommandContext context, int jobId) {
        Keepalive signs = new Keepalive(context, jobId);
        if (everyMs(context) < Integer.MAX_VALUE) {
            context.host().startBackground("signs of life", signs::run);
        }
        return signs;
    }

    private void run() {
        Json.Obj query = new Json.Obj().put("jobId", (long) jobId).put("stepId", -1L);
        while (true) {
            synchronized (this) {
                try {
                    if (!over) {
                        wait(everyMs(context));
                    }
                } catch (InterruptedException e) {
                    return;
                }
                if (over) {
                    return;
                }
            }
            if (!context.host().isCallerStopped()) {
                try {
                    context.host().controller().call("AwaitChange", query);
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
