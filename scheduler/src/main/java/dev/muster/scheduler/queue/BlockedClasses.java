package dev.muster.scheduler.queue;

import dev.muster.scheduler.claim.RemainingCapacity;
import dev.muster.scheduler.node.FreeTable;
import dev.muster.scheduler.node.NeedClass;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.IntConsumer;

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

    private static final RemainingCapacity.Left[] NOBODY_ASKED = {};

    private final FreeTable table;
    private byte[] is = new byte[0];
    private int[] cpus = new int[0];
    private long[] memoryMb = new long[0];
    private int[] gpus = new int[0];
    private int[] limits = new int[0];
    private int[] partitions = new int[0];
    private int[] desks = new int[0];
    private boolean[] exclusive = new boolean[0];
    private NeedClass.Where[] wheres = new NeedClass.Where[0];
    private NeedClass[] needs = new NeedClass[0];
    /** Number of reservations made before the class failed, where it failed because of them; 0 otherwise. */
    private int[] behind = new int[0];

    private int size;
    /** The change of the table up to which all classes were known to be short. */
    private long at;
    /** Nodes that gained resources since; the change for which their maxima below were computed. */
    private int[] freer = {};

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
    private RemainingCapacity.Left[] lefts = NOBODY_ASKED;

    private RemainingCapacity leftBeside;
    private long leftAt;
    private int leftVersion;

    public BlockedClasses(FreeTable table) {
        this.table = table;
    }

    /** The class still does not fit. A class in doubt is tested here, and the result is kept. */
    public boolean isStillBlocked(int id) {
        if (id >= size || is[id] == 0) {
            return false;
        }
        if (is[id] == DOUBTFUL && !mayServe(id)) {
            is[id] = SURE;
        }
        return is[id] == SURE;
    }

    /**
     * Tests the same where gained resources may be reserved for jobs with earlier turns; looked up if only a few nodes
     * have grown.
     *
     * @param came number of reservations made so far in the pass, all still in force
     */
    public boolean isStillBlocked(int id, int came, RemainingCapacity beside) {
        if (isStillBlocked(id)
                || id >= size
                || is[id] == 0
                || behind[id] > came
                || freer.length > FEW
                || mayServe(id, beside)) {
            return isBlockedForSure(id);
        }
        is[id] = SURE;
        behind[id] = Math.max(behind[id], came);
        return true;
    }

    private boolean mayServe(int id, RemainingCapacity beside) {
        left(beside);
        for (int k = 0; k < freer.length; k++) {
            int n = freer[k];
            if (mayTake(id, n)) {
                lefts[k] = lefts[k] == null ? beside.left(n, table.cpus[n], table.memoryMb[n]) : lefts[k];
                if (lefts[k].has(limits[id], cpus[id], memoryMb[id], exclusive[id])) {
                    return true;
                }
            }
        }
        return false;
    }

    private void left(RemainingCapacity beside) {
        if (leftBeside != beside
                || leftAt != table.changes()
                || leftVersion != beside.version()
                || lefts.length != freer.length) {
            leftBeside = beside;
            leftAt = table.changes();
            leftVersion = beside.version();
            lefts = new RemainingCapacity.Left[freer.length];
        }
    }

    /** Tests as {@link FreeTable#mayTake}, by the figures that are noted down here. */
    private boolean mayTake(int id, int n) {
        return table.cpus[n] >= cpus[id]
                && table.memoryMb[n] >= memoryMb[id]
                && table.gpus[n] >= gpus[id]
                && table.isOpen(wheres[id].mask, exclusive[id], n);
    }

    /** The class is known not to fit, without another test. */
    public boolean isBlockedForSure(int id) {
        return id < size && is[id] == SURE;
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
    public int behind(int id) {
        return behind[id];
    }

    /** Adjusts the numbers of reservations after some were added or removed behind the first {@code from}. */
    public void shift(int from, int by) {
        for (int id = 0; id < size; id++) {
            behind[id] = behind[id] > from ? Math.max(from, behind[id] + by) : behind[id];
        }
    }

    /** Forgets classes that are blocked only because of reservations. */
    public void forgetBehind() {
        for (int id = 0; id < size; id++) {
            is[id] = behind[id] > 0 ? 0 : is[id];
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
        if (at != table.freed()) {
            return;
        }
        if (id >= is.length) {
            int length = Math.max(id + 64, is.length * 2);
            is = Arrays.copyOf(is, length);
            cpus = Arrays.copyOf(cpus, length);
            memoryMb = Arrays.copyOf(memoryMb, length);
            gpus = Arrays.copyOf(gpus, length);
            limits = Arrays.copyOf(limits, length);
            partitions = Arrays.copyOf(partitions, length);
            desks = Arrays.copyOf(desks, length);
            exclusive = Arrays.copyOf(exclusive, length);
            wheres = Arrays.copyOf(wheres, length);
            needs = Arrays.copyOf(needs, length);
            behind = Arrays.copyOf(behind, length);
        }
        size = Math.max(size, id + 1);
        is[id] = SURE;
        cpus[id] = c.cpusMin;
        memoryMb[id] = c.memoryMin;
        gpus[id] = c.gpus;
        limits[id] = c.need.limitMin();
        partitions[id] = c.partition;
        desks[id] = c.desk;
        exclusive[id] = c.exclusive;
        wheres[id] = c.places();
        needs[id] = c;
        behind[id] = after;
    }

    public int size() {
        return size;
    }

    /** Resources were taken since the classes in doubt were last tested. */
    public boolean isStale() {
        return doubts > 0 && renewedAt != table.changes();
    }

    /**
     * Tests the classes in doubt: one that no grown node can serve is blocked again.
     *
     * @param came number of reservations made so far in the pass, all still in force
     * @param beside what these leave; empty to ignore them
     * @param sure receives each class that is blocked for certain now
     */
    public void renew(int came, Optional<RemainingCapacity> beside, IntConsumer sure) {
        if (doubts == 0 || renewedAt == table.changes() && beside.isEmpty()) {
            return;
        }
        renewedAt = table.changes();
        look();
        boolean few = freer.length <= FEW;
        int left = 0;
        for (int i = 0; i < doubts; i++) {
            int id = doubtful[i];
            if (is[id] == DOUBTFUL && (few ? !mayServe(id) : !isLess(id))) {
                is[id] = SURE;
            } else if (is[id] == DOUBTFUL
                    && few
                    && beside.isPresent()
                    && behind[id] <= came
                    && !mayServe(id, beside.get())) {
                is[id] = SURE;
                behind[id] = came;
            }
            if (is[id] == DOUBTFUL) {
                doubtful[left++] = id;
            } else if (is[id] == SURE) {
                sure.accept(id);
            }
        }
        doubts = left;
    }

    public void clear() {
        doubts = 0;
        Arrays.fill(is, 0, size, (byte) 0);
        Arrays.fill(needs, 0, size, null);
        Arrays.fill(wheres, 0, size, null);
        size = 0;
    }

    /**
     * Reads the nodes that gained resources since the last call. A class still in doubt from an earlier gain is not
     * blocked any more.
     */
    public void wake() {
        if (at == table.freed()) {
            return;
        }
        for (int id = 0; id < size; id++) {
            if (is[id] == DOUBTFUL && mayServe(id)) {
                is[id] = 0;
            } else if (is[id] != 0) {
                is[id] = SURE;
            }
        }
        Optional<FreeTable.Freer> now = size == 0 ? Optional.empty() : table.freerSince(at);
        at = table.freed();
        changes = -1;
        renewedAt = -1;
        doubts = 0;
        if (now.isEmpty()) {
            freer = new int[0];
            clear();
            return;
        }
        freer = now.get().nodes();
        lefts = NOBODY_ASKED;
        leftBeside = null;
        look();
        for (int id = 0; id < size; id++) {
            if (is[id] == SURE && isLess(id)) {
                is[id] = DOUBTFUL;
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
        for (int n : freer) {
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
        for (int n : freer) {
            if (mayTake(id, n)) {
                return true;
            }
        }
        return false;
    }
}
