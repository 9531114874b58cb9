package dev.muster.scheduler.queue;

import dev.muster.scheduler.claim.RemainingCapacity;
import dev.muster.scheduler.node.FreeTable;
import dev.muster.scheduler.node.NeedClass;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Job classes that did not fit. A pass skips a blocked class until one of its candidate nodes gains resources; then the
 * class is in doubt until it is tested, because another job may have taken the gain. The smallest request of each class
 * stands in arrays by class, so that a pass skips thousands of classes cheaply. Owned by the core thread.
 */
public final class BlockedClasses {
    private static final byte SURE = 1;
    private static final byte DOUBTFUL = 2;
    /** Number of grown nodes up to which each class is tested on what reservations leave of them. */
    private static final int FEW = 16;

    private static final RemainingCapacity.NodeRemainder[] NO_REMAINDERS = {};

    private final FreeTable table;
    private byte[] states = new byte[0];
    private int[] cpus = new int[0];
    private long[] memoryMb = new long[0];
    private int[] gpus = new int[0];
    private int[] limits = new int[0];
    private int[] partitions = new int[0];
    private int[] desks = new int[0];
    private boolean[] exclusive = new boolean[0];
    private NeedClass.CandidateMask[] wheres = new NeedClass.CandidateMask[0];
    private NeedClass[] needs = new NeedClass[0];
    /** Number of reservations made before the class failed, where it failed because of them; 0 otherwise. */
    private int[] reservationsBefore = new int[0];

    private int size;
    /** The change of the table up to which all classes were known to be short. */
    private long tableVersion;
    /** Nodes that gained resources since; the change for which their maxima below were computed. */
    private int[] grownNodes = {};

    private long changes = -1;
    /** Classes in doubt, and perhaps some that no longer are. */
    private int[] doubtful = {};

    private int doubts;
    /** Number of the table's change up to which classes were renewed. */
    private long renewedAt = -1;

    private int mostCpus;
    private long mostMemoryMb;
    private int mostGpus;
    /**
     * Capacity of the grown nodes beside reservations, for one change of the table and one version of the reservations.
     */
    private RemainingCapacity.NodeRemainder[] remaining = NO_REMAINDERS;

    private @Nullable RemainingCapacity remainingFrom;
    private long remainingTableVersion;
    private int remainingVersion;

    public BlockedClasses(FreeTable table) {
        this.table = table;
    }

    /** Tests whether the class still does not fit. A class in doubt is tested here, and the result is kept. */
    public boolean isStillBlocked(int id) {
        if (id >= size || states[id] == 0) {
            return false;
        }
        if (states[id] == DOUBTFUL && !mayServe(id)) {
            states[id] = SURE;
        }
        return states[id] == SURE;
    }

    /**
     * Tests the same where gained resources may be reserved for jobs with earlier turns; looked up if only a few nodes
     * have grown.
     *
     * @param reservationsMade number of reservations made so far in the pass, all still in force
     */
    public boolean isStillBlocked(int id, int reservationsMade, RemainingCapacity capacity) {
        if (isStillBlocked(id)
                || id >= size
                || states[id] == 0
                || reservationsBefore[id] > reservationsMade
                || grownNodes.length > FEW
                || mayServe(id, capacity)) {
            return isBlockedForSure(id);
        }
        states[id] = SURE;
        reservationsBefore[id] = Math.max(reservationsBefore[id], reservationsMade);
        return true;
    }

    private boolean mayServe(int id, RemainingCapacity capacity) {
        refreshRemaining(capacity);
        for (int k = 0; k < grownNodes.length; k++) {
            int n = grownNodes[k];
            if (mayTake(id, n)) {
                remaining[k] = remaining[k] == null ? capacity.left(n, table.cpus[n], table.memoryMb[n]) : remaining[k];
                if (remaining[k].has(limits[id], cpus[id], memoryMb[id], exclusive[id])) {
                    return true;
                }
            }
        }
        return false;
    }

    private void refreshRemaining(RemainingCapacity capacity) {
        if (remainingFrom != capacity
                || remainingTableVersion != table.changes()
                || remainingVersion != capacity.version()
                || remaining.length != grownNodes.length) {
            remainingFrom = capacity;
            remainingTableVersion = table.changes();
            remainingVersion = capacity.version();
            remaining = new RemainingCapacity.NodeRemainder[grownNodes.length];
        }
    }

    /** Tests as {@link FreeTable#mayTake}, by the figures that are noted down here. */
    private boolean mayTake(int id, int n) {
        return table.cpus[n] >= cpus[id]
                && table.memoryMb[n] >= memoryMb[id]
                && table.gpus[n] >= gpus[id]
                && table.isOpen(wheres[id].mask, exclusive[id], n);
    }

    /** Tests whether the class is known not to fit, without another test. */
    public boolean isBlockedForSure(int id) {
        return id < size && states[id] == SURE;
    }

    /** Returns a blocked class. */
    public NeedClass need(int id) {
        return needs[id];
    }

    /** Returns the partition number of a blocked class. */
    public int partition(int id) {
        return partitions[id];
    }

    /** Returns {@link NeedClass#desk} of a blocked class. */
    public int desk(int id) {
        return desks[id];
    }

    /** Returns the number of reservations that must have been made in a pass before the class counts as blocked. */
    public int reservationsBefore(int id) {
        return reservationsBefore[id];
    }

    /** Adjusts the numbers of reservations after some were added or removed behind the first {@code from}. */
    public void shift(int from, int by) {
        for (int id = 0; id < size; id++) {
            reservationsBefore[id] = reservationsBefore[id] > from
                    ? Math.max(from, reservationsBefore[id] + by)
                    : reservationsBefore[id];
        }
    }

    /** Forgets classes that are blocked only because of reservations. */
    public void forgetBehind() {
        for (int id = 0; id < size; id++) {
            states[id] = reservationsBefore[id] > 0 ? 0 : states[id];
        }
    }

    public void add(int id, NeedClass c) {
        add(id, c, 0);
    }

    /**
     * Adds a class for which the free resources are too few.
     *
     * @param after number of planned places at that time
     */
    public void add(int id, NeedClass c, int after) {
        if (tableVersion != table.freed()) {
            return;
        }
        if (id >= states.length) {
            int length = Math.max(id + 64, states.length * 2);
            states = Arrays.copyOf(states, length);
            cpus = Arrays.copyOf(cpus, length);
            memoryMb = Arrays.copyOf(memoryMb, length);
            gpus = Arrays.copyOf(gpus, length);
            limits = Arrays.copyOf(limits, length);
            partitions = Arrays.copyOf(partitions, length);
            desks = Arrays.copyOf(desks, length);
            exclusive = Arrays.copyOf(exclusive, length);
            wheres = Arrays.copyOf(wheres, length);
            needs = Arrays.copyOf(needs, length);
            reservationsBefore = Arrays.copyOf(reservationsBefore, length);
        }
        size = Math.max(size, id + 1);
        states[id] = SURE;
        cpus[id] = c.cpusMin;
        memoryMb[id] = c.memoryMin;
        gpus[id] = c.gpus;
        limits[id] = c.need.limitMin();
        partitions[id] = c.partition;
        desks[id] = c.desk;
        exclusive[id] = c.exclusive;
        wheres[id] = c.places();
        needs[id] = c;
        reservationsBefore[id] = after;
    }

    public int size() {
        return size;
    }

    /** Tests whether resources were taken since the classes in doubt were last tested. */
    public boolean isStale() {
        return doubts > 0 && renewedAt != table.changes();
    }

    /**
     * Tests the classes in doubt: one that no grown node can serve is blocked again.
     *
     * @param reservationsMade number of reservations made so far in the pass, all still in force
     * @param capacity what these leave; empty to ignore them
     * @param sure receives each class that is blocked for certain now
     */
    public void renew(int reservationsMade, Optional<RemainingCapacity> capacity, IntConsumer sure) {
        if (doubts == 0 || renewedAt == table.changes() && capacity.isEmpty()) {
            return;
        }
        renewedAt = table.changes();
        look();
        boolean fewGrown = grownNodes.length <= FEW;
        int stillDoubtful = 0;
        for (int i = 0; i < doubts; i++) {
            int id = doubtful[i];
            if (states[id] == DOUBTFUL && (fewGrown ? !mayServe(id) : !isLess(id))) {
                states[id] = SURE;
            } else if (states[id] == DOUBTFUL
                    && fewGrown
                    && capacity.isPresent()
                    && reservationsBefore[id] <= reservationsMade
                    && !mayServe(id, capacity.get())) {
                states[id] = SURE;
                reservationsBefore[id] = reservationsMade;
            }
            if (states[id] == DOUBTFUL) {
                doubtful[stillDoubtful++] = id;
            } else if (states[id] == SURE) {
                sure.accept(id);
            }
        }
        doubts = stillDoubtful;
    }

    public void clear() {
        doubts = 0;
        Arrays.fill(states, 0, size, (byte) 0);
        Arrays.fill(needs, 0, size, null);
        Arrays.fill(wheres, 0, size, null);
        size = 0;
    }

    /**
     * Reads the nodes that gained resources since the last call. A class still in doubt from an earlier gain is not
     * blocked any more.
     */
    public void wake() {
        if (tableVersion == table.freed()) {
            return;
        }
        for (int id = 0; id < size; id++) {
            if (states[id] == DOUBTFUL && mayServe(id)) {
                states[id] = 0;
            } else if (states[id] != 0) {
                states[id] = SURE;
            }
        }
        Optional<FreeTable.GrownNodes> now = size == 0 ? Optional.empty() : table.grownSince(tableVersion);
        tableVersion = table.freed();
        changes = -1;
        renewedAt = -1;
        doubts = 0;
        if (now.isEmpty()) {
            grownNodes = new int[0];
            clear();
            return;
        }
        grownNodes = now.get().nodes();
        remaining = NO_REMAINDERS;
        remainingFrom = null;
        look();
        for (int id = 0; id < size; id++) {
            if (states[id] == SURE && isLess(id)) {
                states[id] = DOUBTFUL;
                if (doubts == doubtful.length) {
                    doubtful = Arrays.copyOf(doubtful, doubts * 2 + 64);
                }
                doubtful[doubts++] = id;
            }
        }
    }

    private void look() {
        if (changes == table.changes()) {
            return;
        }
        changes = table.changes();
        mostCpus = 0;
        mostMemoryMb = 0;
        mostGpus = 0;
        for (int n : grownNodes) {
            mostCpus = Math.max(mostCpus, table.cpus[n]);
            mostMemoryMb = Math.max(mostMemoryMb, table.memoryMb[n]);
            mostGpus = Math.max(mostGpus, table.gpus[n]);
        }
    }

    private boolean isLess(int id) {
        return cpus[id] <= mostCpus && memoryMb[id] <= mostMemoryMb && gpus[id] <= mostGpus;
    }

    /** Tests whether one of the nodes that became freer may take a task of the class. */
    private boolean mayServe(int id) {
        look();
        if (!isLess(id)) {
            return false;
        }
        for (int n : grownNodes) {
            if (mayTake(id, n)) {
                return true;
            }
        }
        return false;
    }
}
