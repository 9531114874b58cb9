package dev.muster.controller.engine;

import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import dev.muster.journal.Journal;
import dev.muster.model.SlurmErrno;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The order of things for each command: decide, apply, append; and only once the journal says that what justifies them
 * is durable, effects and then the answer, in the order of the decisions. No thread of its own: slurmctld drives it
 * with two, the simulator with none.
 */
public final class Pipeline {
    /** Points at which the simulator may crash; without an effect elsewhere. */
    public enum Point {
        DECIDED,
        APPENDED,
        DURABLE,
        EFFECTS_OUT
    }

    /** Effects of durable entries. Called in order, in the thread that calls {@link #releaseNext}. */
    public interface Effects {
        void apply(Entry entry, State before, State after);

        void direct(List<Decision.Direct> messages);
    }

    private record Done(
            long index,
            Consumer<Decision> answer,
            Decision decision,
            @Nullable Entry entry,
            State before,
            State after) {}

    private final Core core;
    private final Journal journal;
    private final Effects effects;
    private final Consumer<Point> points;
    private final ArrayDeque<Done> undurable = new ArrayDeque<>();
    private volatile State durable;
    private volatile long durableIndex;

    public Pipeline(Core core, Journal journal, Effects effects, Consumer<Point> points) {
        this.core = core;
        this.journal = journal;
        this.effects = effects;
        this.points = points;
        this.durable = core.state();
        this.durableIndex = journal.durableIndex();
    }

    /** Returns the newest state of which everything is durable. */
    public State durable() {
        return durable;
    }

    public long durableIndex() {
        return durableIndex;
    }

    /**
     * Takes a decision as far as the journal's queue. One thread calls it.
     *
     * @param answer gets the decision once it and what it was based on are durable
     * @return the index that must be durable before
     */
    long take(Decision decision, Command command, int uid, DecisionTime now, Consumer<Decision> answer) {
        Entry entry = null;
        State before = core.state();
        long index = journal.lastIndex();
        if (decision instanceof Decision.Accepted a && !a.changes().isEmpty()) {
            entry = new Entry(now.tickMs(), now.timeMs(), uid, name(command), a.changes());
            points.accept(Point.DECIDED);
            core.apply(entry);
            index = journal.append(entry.encode());
            points.accept(Point.APPENDED);
        }
        synchronized (undurable) {
            undurable.add(new Done(index, answer, decision, entry, before, core.state()));
        }
        return index;
    }

    private static String name(Command command) {
        return command instanceof Command.Once once
                ? name(once.command())
                : command.getClass().getSimpleName();
    }

    /** Decides and takes the decision. */
    public Decision decide(Command command, int uid, DecisionTime now, Consumer<Decision> answer) {
        Decision decision = core.decide(command, now);
        take(decision, command, uid, now, answer);
        return decision;
    }

    /** Lets out what one decision justifies, if it is durable. False if there is nothing to let out yet. */
    public boolean releaseNext() {
        Done done;
        synchronized (undurable) {
            done = undurable.peek();
            if (done == null || done.index > journal.durableIndex()) {
                return false;
            }
            undurable.poll();
        }
        points.accept(Point.DURABLE);
        durable = done.after;
        durableIndex = done.index;
        if (done.entry != null) {
            effects.apply(done.entry, done.before, done.after);
        }
        if (done.decision instanceof Decision.Accepted a && !a.direct().isEmpty()) {
            effects.direct(a.direct());
        }
        points.accept(Point.EFFECTS_OUT);
        done.answer.accept(done.decision);
        return true;
    }

    /**
     * Drops decisions that are not durable: the journal has ended. Their effects never leave, and their callers are
     * told to ask the current leader.
     */
    void abandon() {
        List<Done> dropped;
        synchronized (undurable) {
            dropped = List.copyOf(undurable);
            undurable.clear();
        }
        dropped.forEach(done -> done.answer.accept(Decision.reject(SlurmErrno.IN_STANDBY_MODE)));
    }

    boolean isEmpty() {
        synchronized (undurable) {
            return undurable.isEmpty();
        }
    }
}
