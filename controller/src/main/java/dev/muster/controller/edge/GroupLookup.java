package dev.muster.controller.edge;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.job.GroupRules;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * Looks up the groups of users with jobs that wait for partitions with AllowGroups: every GroupUpdateTime, without
 * GroupUpdateForce only if the file of groups has changed, and whenever the configuration or such a list changes.
 */
public final class GroupLookup {
    private final Supplier<State> durable;
    private final IntFunction<Optional<List<Integer>>> groups;
    private final Function<Command, Decision> core;
    private final LongSupplier changedMs;
    private final Consumer<RuntimeException> failed;
    private long everyMs;
    private boolean force;
    private boolean asked;
    private long seenMs;

    /**
     * @param groups that a user is in now; empty for an unknown user
     * @param changedMs when the file of groups was changed
     * @param failed told what kept a look from its end
     */
    public GroupLookup(
            Supplier<State> durable,
            IntFunction<Optional<List<Integer>>> groups,
            Function<Command, Decision> core,
            LongSupplier changedMs,
            Consumer<RuntimeException> failed) {
        this.durable = durable;
        this.groups = groups;
        this.core = core;
        this.changedMs = changedMs;
        this.failed = failed;
    }

    /** Sets the period in seconds, 0 for never, and looks once at once. */
    public synchronized void update(long everyS, boolean forced) {
        everyMs = everyS * 1000;
        force = forced;
        soon();
    }

    synchronized void soon() {
        asked = true;
        notifyAll();
    }

    /** Looks until it is interrupted. */
    public void run() {
        try {
            while (!Thread.interrupted()) {
                if (await()) {
                    try {
                        look();
                    } catch (RuntimeException e) {
                        failed.accept(e); // the next look may find what this one did not
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits for the next look, and returns whether there is anything to look for. */
    @SuppressWarnings("WaitNotInLoop") // what woke it is looked at below
    private synchronized boolean await() throws InterruptedException {
        if (!asked) {
            wait(everyMs); // 0: waits until it is notified
        }
        long changed = changedMs.getAsLong();
        boolean reads = asked || everyMs > 0 && (force || changed > seenMs);
        asked = false;
        seenMs = reads ? changed : seenMs;
        return reads;
    }

    void look() {
        State state = durable.get();
        TreeSet<Integer> users = new TreeSet<>();
        for (Job job : state.jobs().values()) {
            if (GroupRules.asks(state, job)) {
                users.add(job.desc().owner().uid());
            }
        }
        Map<Integer, List<Integer>> now = new TreeMap<>();
        users.forEach(uid -> groups.apply(uid).ifPresent(gids -> now.put(uid, gids)));
        boolean more = !now.isEmpty();
        while (more) {
            more = core.apply(new Command.RenewGroups(now)) instanceof Decision.Accepted a
                    && a.reply() instanceof Integer n
                    && n == GroupRules.JOBS_MAX;
        }
    }
}
