package dev.muster.core.command;

import dev.muster.core.state.Change;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Gives out job numbers within one decision: ascending, wrapping after the full range, skipping numbers still known.
 */
public final class IdAllocator {
    /** Ids reserved at a time: the most that are skipped when a journal's tail was cut. */
    public static final int BLOCK = 1000;

    private final State state;
    private final Map<Integer, Integer> tasksLeft = new HashMap<>();
    private int nextJobId;
    private int ceiling;
    private long nextSluid;
    private long sluidCeiling;
    private boolean reserved;

    public IdAllocator(State state) {
        this.state = state;
        nextJobId = state.nextJobId();
        ceiling = state.jobIdCeiling();
        nextSluid = state.nextSluid();
        sluidCeiling = state.sluidCeiling();
    }

    /** Leaves out what is reserved, and all up to numbers that are known otherwise to have been given. */
    public static Change.JobIdsReserved above(State state, int knownJobId, long knownSluid) {
        int first = Math.max(state.jobIdCeiling(), knownJobId < state.settings().maxJobId() ? knownJobId + 1 : 0);
        long sluid = Math.max(state.sluidCeiling(), knownSluid + 1);
        return new Change.JobIdsReserved(first, first + BLOCK, sluid, sluid + BLOCK);
    }

    /** Numbers between FirstJobId and MaxJobId go round; where all are taken, those above are better than none. */
    public int jobId() {
        for (long tried = 0; ; tried++) {
            boolean all = tried > state.jobs().size();
            if (nextJobId >= state.settings().maxJobId() && !all) {
                nextJobId = state.settings().firstJobId();
                ceiling = nextJobId + BLOCK;
                reserved = true;
            }
            int id = nextJobId++;
            if (nextJobId + BLOCK / 2 > ceiling) {
                ceiling = nextJobId + BLOCK;
                reserved = true;
            }
            if (!state.jobs().has(id)) {
                return id;
            }
        }
    }

    public long sluid() {
        long id = nextSluid++;
        if (nextSluid + BLOCK / 2 > sluidCeiling) {
            sluidCeiling = nextSluid + BLOCK;
            reserved = true;
        }
        return id;
    }

    /** Returns a number for a task that leaves the array's pending record: the last one keeps the array's. */
    public int forTask(Job array) {
        int left = tasksLeft.getOrDefault(array.id(), array.array().pending().count());
        tasksLeft.put(array.id(), left - 1);
        return left <= 1 ? array.id() : jobId();
    }

    /** Returns the records that must be applied before the numbers are used. */
    public List<Change> reservations() {
        List<Change> out = new ArrayList<>();
        if (reserved) {
            out.add(new Change.JobIdsReserved(state.nextJobId(), ceiling, state.nextSluid(), sluidCeiling));
        }
        return out;
    }
}
