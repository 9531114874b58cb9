package dev.muster.scheduler.queue;

import dev.muster.scheduler.claim.RemainingCapacity;
import dev.muster.scheduler.node.FreeTable;
import dev.muster.scheduler.node.NeedClass;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.IntConsumer;

/**
 * Numbers of those for whom what is free was too little and has not become more since, with the least that each asks of
 * a node, side by side: a pass goes over thousands of them without a look at any. Whom something that became free may
 * serve is in doubt until he is asked for: it may have been taken by then. Owned by the core thread.
 */
public final class BlockedClasses {
    private static final byte SURE = 1;
    private static final byte DOUBTFUL = 2;
    /** Of so many nodes it is looked up for each class what others leave of them. */
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
    /** How many had their places kept before it, where it was too little for that; 0 where that did not count. */
    private int[] behind = new int[0];

    private int size;
    /** Up to which change of the table all of them were known to be short. */
    private long at;
    /** What has become free since, and the most that one of those nodes has after so many changes. */
    private int[] freer = {};

    private long changes = -1;
    /** Those in doubt, and perhaps some that no longer are. */
    private int[] doubtful = {};

    private int doubts;
    /** Up to which change of the table. */
    private long renewedAt = -1;

    private int mostCpus;
    private long mostMemoryMb;
    private int mostGpus;
    /**
     * Of the nodes that became freer, what these leave of them, as of so many changes of the table and so many of
     * theirs.
     */
    private RemainingCapacity.Left[] lefts = NOBODY_ASKED;

    private RemainingCapacity leftBeside;
    private long leftAt;
    private int leftVersion;

    public BlockedClasses(FreeTable table) {
        this.table = table;
    }

    /** Still too little is free. */
    public boolean has(int id) {
        if (id >= size || is[id] == 0) {
            return false;
        }
        if (is[id] == DOUBTFUL && !mayServe(id)) {
            is[id] = SURE;
        }
        return is[id] == SURE;
    }

    /**
     * The same, where things that became free may be kept for those who came already: on a few nodes that is looked up.
     *
     * @param came so many had their places kept, and nothing of that is over
     */
    public boolean has(int id, int came, RemainingCapacity beside) {
        if (has(id) || id >= size || is[id] == 0 || behind[id] > came || freer.length > FEW || mayServe(id, beside)) {
            return isSure(id);
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

    /** As {@link FreeTable#mayTake}, from what is noted down here. */
    private boolean mayTake(int id, int n) {
        return table.cpus[n] >= cpus[id]
                && table.memoryMb[n] >= memoryMb[id]
                && table.gpus[n] >= gpus[id]
                && table.isOpen(wheres[id].mask, exclusive[id], n);
    }

    /** As far as can be told without a look at what it asks for. */
    public boolean isSure(int id) {
        return id < size && is[id] == SURE;
    }

    /** Of one that is settled. */
    public NeedClass need(int id) {
        return needs[id];
    }

    /** Likewise the number of its partition. */
    public int partition(int id) {
        return partitions[id];
    }

    /** Likewise {@link NeedClass#desk}. */
    public int desk(int id) {
        return desks[id];
    }

    /** So many must have had their places kept before what is said of it holds. */
    public int behind(int id) {
        return behind[id];
    }

    /** Of those whose places are kept some came, or went, beyond so many. */
    public void shift(int from, int by) {
        for (int id = 0; id < size; id++) {
            behind[id] = behind[id] > from ? Math.max(from, behind[id] + by) : behind[id];
        }
    }

    /** What is kept for others is not counted on any more. */
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

    /** Something was taken since those in doubt were last looked at. */
    public boolean isStale() {
        return doubts > 0 && renewedAt != table.changes();
    }

    /**
     * Whom none of what became freer may serve is in doubt no more.
     *
     * @param came so many had their places kept, and nothing of that is over
     * @param beside what is left beside these; empty to leave that aside
     * @param sure told of each who is so now
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
     * Takes up what became freer since the last time. Who is still in doubt as to what became free before that is not
     * settled any more.
     */
    public void wake() {
        if (at == table.freed()) {
            return;
        }
        for (int id = 0; id < size; id++) {
            if (is[id] == DOUBTFUL && mayServe(id)) {
                is[id] = 0;
            } else if (is[id] == 0) {
                is[id] = 0;
            } else {
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

    /** One of the nodes that became freer may take a task of it. */
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
