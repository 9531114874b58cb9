package dev.muster.scheduler.node;

import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.Tres;
import dev.muster.scheduler.queue.UnavailableNodes;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.SharingPolicy;
import java.util.List;

/**
 * A class of equal needs with what may be said about all of them quickly: bounds below what each asks for, and when
 * they were last turned down for want of anything free. Owned by the core thread.
 */
public final class NeedClass {
    public final int id;
    public final ResourceNeed need;
    /** The number of its partition. */
    public final int partition;
    /** Nodes it may run on, shared by all classes that may run on the same. */
    private final CandidateMask where;
    /** Whether nothing but what is free can serve the class, so that {@link FreeTable#isShort} holds of it. */
    public final boolean bounded;
    /** The bounds are the whole request: what blocks the class blocks every class that requests no less. */
    public final boolean simple;

    public final boolean exclusive;
    /** The number of all that ask for the same licenses for the same time; 0 for none. */
    public final int desk;
    /** Whether the class asks for licenses; below it, whether it names nodes. */
    public final boolean licensed;

    public final boolean named;
    public final boolean single;
    public final int nodesMin;
    public final int tasks;
    public final int cpusPerTask;
    /** The least CPUs on each node; memory in MiB and GPUs follow. */
    public final int cpusMin;

    public final long memoryMin;
    public final int gpus;
    private final int tasksPerNode;
    private final long memPerCpuMb;
    private final Memory free = new Memory();
    /**
     * Version of the nodes' configuration for which it is known whether the partition can never hold the class; -1: not
     * asked yet.
     */
    private long judgedAt = -1;

    private boolean exceeding;
    /**
     * Version of {@link UnavailableNodes} for which it is known whether the class waits for nodes that are gone; -1:
     * not asked yet.
     */
    private long missedAt = -1;

    private boolean missing;

    /**
     * Memory of when something was last too little, as {@link FreeTable#freed} of the table that was asked; -1: it is
     * not known to be.
     */
    public static final class Memory {
        /** Attempts of preemption after which the costly test for room is repeated. */
        private static final int REST = 30;

        private long shortAt = -1;
        /**
         * Nodes that had room for one task at least, and tasks for which there was room, or more: too few of one of
         * them.
         */
        private long nodes;

        private long tasks;
        /** A node that was enough alone when it was last looked for; -1: none is known. */
        int witness = -1;
        /** Attempts left in which the test for room without all victims is skipped, because the last one found room. */
        private int rest;

        public void at(long freed) {
            at(freed, Integer.MAX_VALUE, Integer.MAX_VALUE);
        }

        public void at(long freed, long nodesFound, long tasksFound) {
            shortAt = freed;
            nodes = nodesFound;
            tasks = tasksFound;
        }

        public void forget() {
            shortAt = -1;
        }

        /** Returns whether the test for room without all victims is due again. */
        public boolean isDue() {
            return rest-- <= 0;
        }

        public void fitted(boolean fits) {
            rest = fits ? REST : 0;
        }
    }

    /** Nodes that several classes may run on. The mask is made anew when nodes' features change. */
    public static final class CandidateMask {
        public final int id;
        final NodeFilter key;
        public long[] mask;

        public CandidateMask(int id, NodeFilter key, long[] mask) {
            this.id = id;
            this.key = key;
            this.mask = mask;
        }
    }

    public NeedClass(int id, ResourceNeed need, int partition, CandidateMask where, int desk, boolean memoryConsumed) {
        this.id = id;
        this.desk = desk;
        this.partition = partition;
        this.need = need;
        this.where = where;
        this.bounded = need.jobsPerCore() == 1 && !need.shape().spared().any();
        this.exclusive = need.exclusive();
        this.licensed = !need.licenses().items().isEmpty();
        this.named = !need.nodeList().isEmpty();
        this.single = need.nodesMin() == 1 && need.nodesMax() == 1 && !need.overcommit();
        this.nodesMin = need.nodesMin();
        this.tasks = need.overcommit() ? 0 : need.tasks();
        this.cpusPerTask = need.overcommit() ? 1 : need.cpusPerTask();
        long onOne = single ? (long) tasks * cpusPerTask : cpusPerTask;
        this.cpusMin = (int) Math.min(Integer.MAX_VALUE, Math.max(1, Math.max(need.cpusPerNodeMin(), onOne)));
        this.memPerCpuMb = memoryConsumed ? need.memPerCpuMb() : 0;
        this.memoryMin = memoryConsumed ? Math.max(need.memPerNodeMb(), memPerCpuMb * cpusPerTask) : 0;
        this.gpus = Math.max(GresRequest.gpus(need.gresPerNode()), gpusBeside(need, single));
        this.tasksPerNode = need.tasksPerNode();
        this.simple = bounded && isSimple(need);
    }

    /**
     * Tests whether the need asks for CPUs, memory and GPUs per node on nodes with plain features, and for nothing
     * else.
     */
    private static boolean isSimple(ResourceNeed need) {
        return need.nodeList().isEmpty()
                && need.tasksOn().isEmpty()
                && plain(need.shape())
                && !need.overcommit()
                && !need.memAll()
                && need.gresPerJob().isEmpty()
                && need.gresPerTask().isEmpty()
                && plain(need.gresPerNode())
                && need.gpus().cpus() == 0
                && need.gpus().memoryMb() == 0
                && need.apart().equals(SharingPolicy.ANYBODY)
                && need.within().isNone()
                && need.network().ports() == 0
                && FeatureConstraint.isPlain(need.features());
    }

    /** Returns the least GPUs on each node that follow from GPUs per task or per job. */
    private static int gpusBeside(ResourceNeed need, boolean single) {
        int perTask = GresRequest.gpus(need.gresPerTask());
        int ofJob = GresRequest.gpus(need.gresPerJob());
        return single ? Math.max(ofJob, perTask * need.tasks()) : Math.max(perTask, Math.min(1, ofJob));
    }

    private static boolean plain(ResourceNeed.Shape s) {
        return s.sockets() <= 0
                && s.cores() <= 0
                && s.threads() <= 0
                && s.tasksPerCore() == 0
                && s.tasksPerSocket() == 0
                && s.socketCpusMax() < 0
                && !s.contiguous()
                && !s.spread()
                && s.perSocket().isEmpty();
    }

    private static boolean plain(List<Tres.Item> gres) {
        return gres.isEmpty()
                || gres.size() == 1
                        && gres.getFirst().name().equals("gpu")
                        && gres.getFirst().type().isEmpty();
    }

    /** Returns the mask of its candidate nodes; empty until it is known. */
    public long[] mask() {
        return where.mask;
    }

    public void look(long[] mask) {
        where.mask = mask;
    }

    public CandidateMask places() {
        return where;
    }

    public int where() {
        return where.id;
    }

    /** Returns the most tasks that fit into these CPUs and this memory. */
    public long tasksOn(int cpus, long memoryMb) {
        long maxTasks = cpus / cpusPerTask;
        maxTasks = memPerCpuMb > 0 ? Math.min(maxTasks, memoryMb / memPerCpuMb / cpusPerTask) : maxTasks;
        return tasksPerNode > 0 ? Math.min(maxTasks, tasksPerNode) : maxTasks;
    }

    /** Tests whether the class was found short, and nothing has become free since that could serve it. */
    public boolean isKnownShort(FreeTable table) {
        return isKnownShort(table, free);
    }

    public boolean isKnownShort(FreeTable table, Memory memory) {
        if (memory.shortAt < 0) {
            return false;
        }
        if (memory.shortAt == table.freed()) {
            return true;
        }
        boolean stays = table.grownSince(memory.shortAt)
                .filter(f -> leavesShort(f, table, memory))
                .isPresent();
        memory.shortAt = stays ? table.freed() : -1;
        return stays;
    }

    /** Tests whether too little is free even with all that became freer since. */
    private boolean leavesShort(FreeTable.GrownNodes grown, FreeTable table, Memory memory) {
        long nodes = grown.mayServe(this, table);
        if (nodes == 0) {
            return true;
        }
        long tasks = memory.tasks >= this.tasks ? 0 : grown.tasks(this, table);
        boolean stays = memory.nodes + nodes < nodesMin || memory.tasks + tasks < this.tasks;
        memory.nodes += nodes;
        memory.tasks += tasks;
        return stays;
    }

    /** Tests whether what is free does not suffice: remembered, or looked for. */
    public boolean isShort(FreeTable table) {
        return isShort(table, free);
    }

    public boolean isShort(FreeTable table, Memory memory) {
        if (!bounded) {
            return false;
        }
        if (isKnownShort(table, memory)) {
            return true;
        }
        return table.isShort(this, memory);
    }

    /** Notes that the class is short because one that requests no more is. */
    public void isShortAsWell(FreeTable table) {
        free.at(table.freed());
    }

    public void forget() {
        free.forget();
    }

    /** Returns whether one node with this many tasks suffices. */
    boolean isEnough(long onOne) {
        return nodesMin <= 1 && onOne >= tasks;
    }

    /** Tests whether the class may not have reserved nodes or parts of them. */
    public boolean heedsReservations() {
        return bounded && need.within().isNone();
    }

    /** Tests whether it is known if the partition can ever hold the class. */
    public boolean isJudged(long version) {
        return judgedAt == version;
    }

    public boolean exceeds() {
        return exceeding;
    }

    public void judged(long version, boolean exceeds) {
        judgedAt = version;
        exceeding = exceeds;
    }

    /**
     * Tests whether this class requests no fewer resources than the other with the same candidate nodes, and for no
     * less time, so that it does not fit where the other does not.
     *
     * @param anyTime the other would not fit for any time
     */
    public boolean asksNoLess(NeedClass other, boolean anyTime) {
        return where == other.where
                && bounded
                && nodesMin >= other.nodesMin
                && tasks >= other.tasks
                && asksNoLessPerNode(other)
                && (single || !other.single)
                && need.within().isNone()
                && need.reboot() == other.need.reboot()
                && (anyTime || asksNoLessTime(other));
    }

    private boolean asksNoLessPerNode(NeedClass other) {
        return cpusPerTask >= other.cpusPerTask
                && need.cpusPerNodeMin() >= other.need.cpusPerNodeMin()
                && need.memPerNodeMb() >= other.need.memPerNodeMb()
                && need.memPerCpuMb() >= other.need.memPerCpuMb()
                && gpus >= other.gpus
                && (exclusive || !other.exclusive)
                && (other.tasksPerNode == 0 || tasksPerNode > 0 && tasksPerNode <= other.tasksPerNode);
    }

    private boolean asksNoLessTime(NeedClass other) {
        return need.limitMin() < 0 || other.need.limitMin() >= 0 && need.limitMin() >= other.need.limitMin();
    }

    /**
     * Tests whether jobs of this class wait for nodes that an administrator must bring back.
     *
     * @param ask if it is not known as of that version
     */
    public boolean isMissing(long version, java.util.function.BooleanSupplier ask) {
        if (missedAt != version) {
            missedAt = version;
            missing = ask.getAsBoolean();
        }
        return missing;
    }
}
