package dev.muster.scheduler.request;

import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.SharedGpus;
import dev.muster.core.tres.SpecialCores;
import dev.muster.core.tres.Tres;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.SaturatingMath;
import dev.muster.model.job.Distribution;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.ResourceRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A request with its defaults filled in: equal needs are one job class, tested once per pass.
 *
 * @param nodesMax 0 for no bound
 * @param nodesWanted number of nodes, between the two, that is tried first
 * @param gresPerNode on every node
 * @param gresPerJob over all nodes together
 * @param memPerCpuMb 0 if memory is asked for per node or not at all
 * @param shape of the nodes, and how much of each the job may use
 * @param tasksOn nodes that the job lists one by one (arbitrary distribution) and how many tasks each gets
 * @param gpus what comes with each GPU
 * @param licenses of the cluster, for the job as a whole
 * @param limitMin -1 for none
 * @param sharing of its cores with others of the partition
 * @param within reservations, or outside of them
 * @param apart how it shares its nodes
 * @param network how its nodes hang together
 * @param batch features that the node has on which the script runs
 * @param reboot whether nodes are rebooted for it
 * @param sizes how many nodes it may have, in the order in which that is tried; none where all from nodesMin to
 *     nodesMax will do
 */
public record ResourceNeed(
        String partition,
        int nodesMin,
        int nodesMax,
        int nodesWanted,
        int tasks,
        int cpusPerTask,
        int tasksPerNode,
        int cpusPerNodeMin,
        long memPerNodeMb,
        long memPerCpuMb,
        boolean memAll,
        List<Tres.Item> gresPerNode,
        List<Tres.Item> gresPerJob,
        List<Tres.Item> gresPerTask,
        boolean exclusive,
        boolean overcommit,
        Shape shape,
        long tmpDiskMb,
        String features,
        String nodeList,
        String excludeList,
        Map<String, Integer> tasksOn,
        Gpus gpus,
        LicenseRequest.Wanted licenses,
        int limitMin,
        ReservationScope within,
        Sharing sharing,
        SharingPolicy apart,
        TopologyRequest network,
        String batch,
        Reboot reboot,
        List<Integer> sizes) {

    /** FOR_FEATURES: where a node has not what it asks for; ALWAYS: {@code --reboot}. */
    public enum Reboot {
        NEVER,
        FOR_FEATURES,
        ALWAYS
    }

    /**
     * @param sockets least sockets of a node
     * @param cores least cores per socket of a node
     * @param threads the job may use of each core; 0 for all
     * @param tasksPerCore 0 for any number
     * @param tasksPerSocket 0 for any number
     * @param cpusMax MaxCPUsPerNode: of a node for all jobs of the partition; -1 for no bound
     * @param socketCpusMax MaxCPUsPerSocket: of each socket for all jobs of the partition; -1 for no bound
     * @param spared what the job leaves alone of each node
     * @param perSocket devices for each socket that the job has cores of, at least for {@code sockets} of them: those
     *     are in gresPerNode
     * @param contiguous the nodes must be neighbours in the order they are configured in
     * @param spread its tasks are dealt out evenly
     * @param block cores of one socket come before those of the next
     * @param whole CR_Socket: sockets are given whole
     * @param counted CR_CPU: on cores of its own the job has only the CPUs that it requests
     * @param extra what its nodes' Extra texts must say, "" for anything
     * @param tasksGiven the request has a task count
     * @param allCores the job has all cores of its nodes and shares them: --exclusive where OverSubscribe=FORCE
     */
    public record Shape(
            int sockets,
            int cores,
            int threads,
            int tasksPerCore,
            int tasksPerSocket,
            int cpusMax,
            int socketCpusMax,
            boolean contiguous,
            boolean spread,
            boolean block,
            boolean whole,
            boolean counted,
            SpecializedCores spared,
            List<Tres.Item> perSocket,
            String extra,
            boolean tasksGiven,
            boolean allCores) {
        public static Shape of(ResourceRequest r, String extra, Partition partition, Settings settings) {
            int tasksPerCore = r.tasksPerCore() == 0 && settings.selects("CR_ONE_TASK_PER_CORE") ? 1 : r.tasksPerCore();
            return new Shape(
                    r.socketsPerNode(),
                    r.coresPerSocket(),
                    r.threadsUsed(),
                    tasksPerCore,
                    r.tasksPerSocket(),
                    Partition.cpusMax(partition.info().maxCpusPerNode()),
                    Partition.cpusMax(partition.info().maxCpusPerSocket()),
                    r.contiguous(),
                    r.spread(),
                    isBlock(r, settings),
                    isWhole(partition, settings),
                    isCounted(settings),
                    new SpecializedCores(
                            r.coreSpec() != 0,
                            Math.max(0, r.coreSpec()),
                            settings.options().select().specCoresFirst(),
                            r.threadSpec()),
                    r.tresPerTask().isEmpty() ? Tres.gres(r.tresPerSocket()) : List.of(),
                    ExtraConstraint.of(extra, settings),
                    r.tasks() > 0,
                    wantsNode(r) && !isExclusive(r, partition));
        }

        /**
         * Tests whether jobs have whole sockets. The partition's own SelectTypeParameters counts where cores or sockets
         * are given elsewhere too.
         */
        private static boolean isWhole(Partition partition, Settings settings) {
            boolean sockets = settings.selects("CR_SOCKET") || settings.selects("CR_SOCKET_MEMORY");
            boolean wholeCpusOrNodes = isCounted(settings) || settings.selects("LINEAR");
            String own = partition.info().selectTypeParameters().toUpperCase(java.util.Locale.ROOT);
            return own.isEmpty() || own.equals("NONE") || wholeCpusOrNodes ? sockets : own.startsWith("CR_SOCKET");
        }

        private static boolean isCounted(Settings settings) {
            return settings.selects("CR_CPU") || settings.selects("CR_CPU_MEMORY");
        }

        private static boolean isBlock(ResourceRequest r, Settings settings) {
            Distribution d = Distribution.parse(r.distribution()).orElse(Distribution.UNSET);
            return d.sockets() == Distribution.Level.BLOCK
                    || d.nodes() == Distribution.Nodes.PLANE
                    || isCounted(settings)
                    || d.sockets() == Distribution.Level.UNSET && settings.selects("CR_CORE_DEFAULT_DIST_BLOCK");
        }

        public boolean fits(Node.Spec spec) {
            return spec.sockets() >= sockets && spec.coresPerSocket() >= cores && spec.threadsPerCore() >= threads;
        }
    }

    /**
     * The cores and threads that a job leaves alone on each of its nodes, which are charged to it all the same.
     *
     * @param given the job says how many cores; otherwise the node's line holds
     * @param first these are the first of each socket
     * @param threads that it does not use of the cores it has: those are its all the same
     */
    public record SpecializedCores(boolean given, int cores, boolean first, int threads) {
        public boolean any() {
            return given || threads > 0;
        }

        /** Returns the CPUs of a node for the job. */
        public int most(Node.Spec spec) {
            return Math.max(0, spec.cpus() - threads);
        }

        /** Returns how many allocation units more than usual (or, below 0, fewer) a job may have of an idle node. */
        public int more(Node.Spec spec) {
            return given ? spec.reservedUnits().count() - count(spec) : 0;
        }

        private int count(Node.Spec spec) {
            return cores * Math.max(1, spec.units() / Math.max(1, spec.sockets() * spec.coresPerSocket()));
        }

        /**
         * Returns the units of a node that the job may have.
         *
         * @param free without what its line keeps from jobs
         */
        public IndexSet of(Node.Spec spec, IndexSet free) {
            return !given
                    ? free
                    : free.union(spec.reservedUnits())
                            .minus(SpecialCores.of(
                                    spec.reservedUnits(), spec.units(), spec.sockets(), count(spec), first));
        }

        /** Returns the CPUs that are charged for where they are not those that the job has; 0 where they are. */
        public int charge(Node.Spec spec, int cpus) {
            int all = openCpus(spec);
            return !given && threads == 0 || all == cpus ? 0 : all;
        }

        /** Returns the CPUs of a node that its line does not keep from jobs. */
        public static int openCpus(Node.Spec spec) {
            return spec.cpus() - spec.reservedUnits().count() * spec.cpusPerUnit();
        }
    }

    /**
     * @param cpus CPUs per GPU, 0 if unset
     * @param memoryMb MiB per GPU, 0 if unset
     * @param enforced GPUs are only taken with cores near them
     * @param unbound it does not matter where they are
     * @param severalShared the job may have parts of several GPUs
     * @param leastLoaded parts are taken of the GPU that has most of them free
     * @param taskParts parts of a GPU for one task that shares it with no other task; 0 where tasks may share a GPU
     */
    public record Gpus(
            int cpus,
            long memoryMb,
            boolean enforced,
            boolean unbound,
            boolean severalShared,
            boolean leastLoaded,
            int taskParts) {
        /** GPUs with which nothing comes, and of whose place nothing is asked. */
        public static final Gpus PLAIN = new Gpus(0, 0, false, false, false, false, 0);

        public static Gpus of(ResourceRequest r, List<Tres.Item> perTask, Settings settings) {
            List<String> flags =
                    List.of(r.gresFlags().toLowerCase(java.util.Locale.ROOT).split(","));
            boolean unbound = flags.contains("disable-binding");
            boolean several = settings.selects("MULTIPLE_SHARING_GRES_PJ");
            boolean alone = several
                    && (flags.contains("one-task-per-sharing")
                            || settings.selects("ONE_TASK_PER_SHARING_GRES")
                                    && !flags.contains("multiple-tasks-per-sharing"));
            int taskParts = !alone
                    ? 0
                    : perTask.stream()
                            .filter(i -> SharedGpus.isShared(i.name()))
                            .mapToInt(Tres.Item::count)
                            .sum();
            return new Gpus(
                    r.cpusPerGpu(),
                    r.memPerGpuMb(),
                    !unbound && (flags.contains("enforce-binding") || settings.selects("ENFORCE_BINDING_GRES")),
                    unbound,
                    several,
                    settings.selects("LL_SHARED_GRES"),
                    taskParts);
        }

        /** Returns the same with fewer CPUs and less memory per GPU where these are above the bounds. */
        Gpus atMost(int cpusTop, long memoryTopMb) {
            return new Gpus(
                    Math.min(cpusTop, cpus),
                    Math.min(memoryTopMb, memoryMb),
                    enforced,
                    unbound,
                    severalShared,
                    leastLoaded,
                    taskParts);
        }
    }

    /**
     * Returns the CPUs that tasks may use of one allocation unit of a node: fewer than it has where threads are left
     * alone.
     */
    public int usableCpus(Node.Spec spec) {
        int usable = shape.threads > 0 ? Math.min(spec.cpusPerUnit(), shape.threads) : spec.cpusPerUnit();
        return shape.tasksPerCore > 0 && spec.cpusPerUnit() > 1
                ? Math.min(usable, shape.tasksPerCore * cpusPerTask)
                : usable;
    }

    /**
     * Returns the CPUs of one allocation unit that memory per CPU is given for: "usable" ones, so not those of threads
     * that the job leaves alone.
     */
    public int chargedCpus(Node.Spec spec) {
        return shape.threads > 0 ? Math.min(spec.cpusPerUnit(), shape.threads) : spec.cpusPerUnit();
    }

    public static ResourceNeed of(JobDesc desc, Partition partition, State state) {
        // a partition that does not allocate memory takes none from partitions that do on the same nodes
        boolean dealt = partition.consumesMemory(state.settings()) || !state.memoryConsumed();
        return new ResourceNeedBuilder(desc, partition, state, dealt).resolve();
    }

    /** Resolves the request with its memory even where memory is not allocated: a node must have that much. */
    public static ResourceNeed ofEmpty(JobDesc desc, Partition partition, State state) {
        return new ResourceNeedBuilder(desc, partition, state, true).resolve();
    }

    /**
     * Returns the CPUs that the job gets of each node regardless of its tasks. With a task count, --mincpus only
     * selects nodes.
     */
    public int cpusGivenMin() {
        return shape.tasksGiven() && tasksPerNode == 0
                ? SaturatingMath.times(gpus.cpus(), GresRequest.gpus(gresPerNode))
                : cpusPerNodeMin;
    }

    /** Returns the need on exactly this number of nodes. */
    public ResourceNeed exactly(int nodes) {
        return new ResourceNeed(
                partition,
                nodes,
                nodes,
                nodes,
                tasks,
                cpusPerTask,
                tasksPerNode,
                cpusPerNodeMin,
                memPerNodeMb,
                memPerCpuMb,
                memAll,
                gresPerNode,
                gresPerJob,
                gresPerTask,
                exclusive,
                overcommit,
                shape,
                tmpDiskMb,
                features,
                nodeList,
                excludeList,
                tasksOn,
                gpus,
                licenses,
                limitMin,
                within,
                sharing,
                apart,
                network,
                batch,
                reboot,
                List.of());
    }

    private static boolean wantsNode(ResourceRequest r) {
        return r.exclusive() == ResourceRequest.Exclusive.NODE;
    }

    /**
     * Tests whether the job has whole nodes, as one that leaves cores alone does. No --exclusive keeps other jobs away
     * where the partition forces jobs to share cores.
     */
    static boolean isExclusive(ResourceRequest r, Partition partition) {
        boolean asked =
                wantsNode(r) && partition.jobsPerCore(false) == 1 || r.exclusive() == ResourceRequest.Exclusive.TOPO;
        return asked
                || partition.isExclusive()
                || partition.info().exclusiveTopo()
                || r.coreSpec() != 0
                || r.threadSpec() > 0;
    }

    /**
     * @param jobs number of jobs that may have a core at once; 1 if it is not shared
     * @param alike it takes turns only with jobs that asked to share, too
     * @param shy it did not ask, and takes turns all the same
     */
    public record Sharing(int jobs, boolean alike, boolean shy) {
        /** Returns the name under which jobs of the partition count besides that have not asked to share. */
        public static String uninvited(String partition) {
            return "-" + partition;
        }

        /** Returns the names under which a job counts on a node where it shares cores. */
        public List<String> names(String partition) {
            if (jobs == 1) {
                return List.of();
            }
            if (shy) {
                return List.of(partition, uninvited(partition));
            }
            return List.of(partition);
        }
    }

    public int jobsPerCore() {
        return sharing.jobs;
    }

    /** Returns how the job shares cores; under GANG jobs take turns without asking to share. */
    public static Sharing sharing(ResourceRequest r, Partition partition, Settings settings) {
        boolean offered = settings.takesTurns() && partition.jobsPerCore(false) == 1;
        return isExclusive(r, partition)
                ? new Sharing(1, false, false)
                : new Sharing(
                        partition.jobsPerCore(r.oversubscribe() || settings.takesTurns()),
                        offered && r.oversubscribe(),
                        offered && !r.oversubscribe());
    }

    /** Returns the reservation in which the job is to start, "" for none. */
    public String reservation() {
        return within.reservation();
    }

    public ResourceNeed in(ReservationScope where) {
        return new ResourceNeed(
                partition,
                nodesMin,
                nodesMax,
                nodesWanted,
                tasks,
                cpusPerTask,
                tasksPerNode,
                cpusPerNodeMin,
                memPerNodeMb,
                memPerCpuMb,
                memAll,
                gresPerNode,
                gresPerJob,
                gresPerTask,
                exclusive,
                overcommit,
                shape,
                tmpDiskMb,
                features,
                nodeList,
                excludeList,
                tasksOn,
                gpus,
                licenses,
                limitMin,
                where,
                sharing,
                apart,
                network,
                batch,
                reboot,
                sizes);
    }

    public ResourceNeed wanting(int nodes) {
        return new ResourceNeed(
                partition,
                nodesMin,
                nodesMax,
                nodes,
                tasks,
                cpusPerTask,
                tasksPerNode,
                cpusPerNodeMin,
                memPerNodeMb,
                memPerCpuMb,
                memAll,
                gresPerNode,
                gresPerJob,
                gresPerTask,
                exclusive,
                overcommit,
                shape,
                tmpDiskMb,
                features,
                nodeList,
                excludeList,
                tasksOn,
                gpus,
                licenses,
                limitMin,
                within,
                sharing,
                apart,
                network,
                batch,
                reboot,
                sizes);
    }

    /**
     * Returns the need without devices for the job as a whole: devices are counted as they are now only; what comes
     * later is planned by units and memory.
     */
    public ResourceNeed withoutJobGres() {
        return gresPerJob.isEmpty()
                ? this
                : new ResourceNeed(
                        partition,
                        nodesMin,
                        nodesMax,
                        nodesWanted,
                        tasks,
                        cpusPerTask,
                        tasksPerNode,
                        cpusPerNodeMin,
                        memPerNodeMb,
                        memPerCpuMb,
                        memAll,
                        gresPerNode,
                        List.of(),
                        gresPerTask,
                        exclusive,
                        overcommit,
                        shape,
                        tmpDiskMb,
                        features,
                        nodeList,
                        excludeList,
                        tasksOn,
                        gpus,
                        licenses,
                        limitMin,
                        within,
                        sharing,
                        apart,
                        network,
                        batch,
                        reboot,
                        sizes);
    }

    /** Returns the need on nodes with other features. */
    ResourceNeed on(String wanted) {
        return new ResourceNeed(
                partition,
                nodesMin,
                nodesMax,
                nodesWanted,
                tasks,
                cpusPerTask,
                tasksPerNode,
                cpusPerNodeMin,
                memPerNodeMb,
                memPerCpuMb,
                memAll,
                gresPerNode,
                gresPerJob,
                gresPerTask,
                exclusive,
                overcommit,
                shape,
                tmpDiskMb,
                wanted,
                nodeList,
                excludeList,
                tasksOn,
                gpus,
                licenses,
                limitMin,
                within,
                sharing,
                apart,
                network,
                batch,
                Reboot.NEVER,
                sizes);
    }

    /** @param minutes its limit */
    ResourceNeed lasting(int minutes) {
        return new ResourceNeed(
                partition,
                nodesMin,
                nodesMax,
                nodesWanted,
                tasks,
                cpusPerTask,
                tasksPerNode,
                cpusPerNodeMin,
                memPerNodeMb,
                memPerCpuMb,
                memAll,
                gresPerNode,
                gresPerJob,
                gresPerTask,
                exclusive,
                overcommit,
                shape,
                tmpDiskMb,
                features,
                nodeList,
                excludeList,
                tasksOn,
                gpus,
                licenses,
                minutes,
                within,
                sharing,
                apart,
                network,
                batch,
                reboot,
                sizes);
    }

    /** Returns the need on nodes that have the features already. */
    ResourceNeed withoutReboot() {
        return features.isEmpty() ? this : on(features);
    }

    /** Returns the need of a job that has waited long enough for few switches. */
    public ResourceNeed onAnySwitches() {
        return new ResourceNeed(
                partition,
                nodesMin,
                nodesMax,
                nodesWanted,
                tasks,
                cpusPerTask,
                tasksPerNode,
                cpusPerNodeMin,
                memPerNodeMb,
                memPerCpuMb,
                memAll,
                gresPerNode,
                gresPerJob,
                gresPerTask,
                exclusive,
                overcommit,
                shape,
                tmpDiskMb,
                features,
                nodeList,
                excludeList,
                tasksOn,
                gpus,
                licenses,
                limitMin,
                within,
                sharing,
                apart,
                network.withoutSwitches(),
                batch,
                reboot,
                sizes);
    }

    /** Returns the need with the owner's sharing policy, which counts where jobs have nodes exclusively. */
    ResourceNeed by(SharingPolicy policy) {
        return new ResourceNeed(
                partition,
                nodesMin,
                nodesMax,
                nodesWanted,
                tasks,
                cpusPerTask,
                tasksPerNode,
                cpusPerNodeMin,
                memPerNodeMb,
                memPerCpuMb,
                memAll,
                gresPerNode,
                gresPerJob,
                gresPerTask,
                exclusive,
                overcommit,
                shape,
                tmpDiskMb,
                features,
                nodeList,
                excludeList,
                tasksOn,
                gpus,
                licenses,
                limitMin,
                within,
                sharing,
                policy,
                network,
                batch,
                reboot,
                sizes);
    }

    /**
     * Returns when a job that begins then is over at the latest, by its limit; seconds since 1970.
     *
     * @param limitMin minutes, below 0 for none
     */
    public static long end(long beginS, int limitMin) {
        return limitMin < 0 ? Long.MAX_VALUE : beginS + limitMin * 60L;
    }

    public long end(long beginS) {
        return end(beginS, limitMin);
    }

    /** Returns the total of CPUs, at least. */
    public int cpus() {
        return overcommit ? nodesMin : SaturatingMath.times(tasks, cpusPerTask);
    }

    List<String> gresNames() {
        List<String> names = new ArrayList<>();
        for (List<Tres.Item> items : List.of(gresPerNode, gresPerJob, gresPerTask)) {
            for (Tres.Item item : items) {
                names.add(item.name());
            }
        }
        return names;
    }
}
