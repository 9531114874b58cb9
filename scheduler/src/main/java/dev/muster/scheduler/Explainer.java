package dev.muster.scheduler;

import dev.muster.core.command.Planner;
import dev.muster.core.limits.LimitUse;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Dependency;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.core.tres.Licenses;
import dev.muster.model.format.HostList;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.scheduler.node.Candidate;
import dev.muster.scheduler.node.FeatureConstraint;
import dev.muster.scheduler.node.NodeSelector;
import dev.muster.scheduler.node.NodeSlot;
import dev.muster.scheduler.queue.PriorityIndex;
import dev.muster.scheduler.request.ExtraConstraint;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.timeline.RemainingTime;
import dev.muster.scheduler.timeline.TimeGrid;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Explains why a job waits, in plain words: the one reason that counts, with what bears it out, and what would have to
 * be otherwise. Works on a state and the reason and plan that the last pass left; on any thread.
 */
public final class Explainer {
    /** Jobs or nodes that are named one by one, at most. */
    private static final int NAMED_MAX = 3;
    /** Reasons with which a job has no plan: the one it has is of a time before them. */
    private static final Set<JobReason> UNPLANNED = EnumSet.of(
            JobReason.DEPENDENCY,
            JobReason.DEPENDENCY_NEVER_SATISFIED,
            JobReason.JOB_HELD_USER,
            JobReason.JOB_HELD_ADMIN,
            JobReason.PARTITION_DOWN,
            JobReason.PARTITION_INACTIVE,
            JobReason.PARTITION_TIME_LIMIT,
            JobReason.PARTITION_NODE_LIMIT,
            JobReason.PARTITION_CONFIG,
            JobReason.DEADLINE);

    private final State state;
    private final DecisionTime now;
    private final Scheduler scheduler;
    private final Predicate<Job> shown;
    private final LongFunction<String> clock;
    private final List<String> evidence = new ArrayList<>();
    private String change = "";

    /**
     * @param says one sentence
     * @param evidence a sentence each
     * @param change what would have to be otherwise, "" if nothing but time has to pass
     */
    public record Explanation(String says, List<String> evidence, String change) {}

    /**
     * @param shown whether the caller may see a job
     * @param clock a second since 1970 in words
     */
    public Explainer(
            State state, DecisionTime now, Scheduler scheduler, Predicate<Job> shown, LongFunction<String> clock) {
        this.state = state;
        this.now = now;
        this.scheduler = scheduler;
        this.shown = shown;
        this.clock = clock;
    }

    /** @param reason as squeue shows it */
    public Explanation of(Job job, JobReason reason) {
        String says = job.isPending()
                ? waiting(job, reason)
                : switch (job.state()) {
                    case RUNNING ->
                        "It runs since " + clock.apply(job.run().startTime()) + " on "
                                + job.run().allocation().hostList() + ".";
                    case SUSPENDED ->
                        "It is suspended since " + clock.apply(job.run().suspendTime()) + ".";
                    case PENDING -> "It was given back to the queue; its nodes are being cleaned up.";
                    default ->
                        "It is over: " + job.state() + " at "
                                + clock.apply(job.run().endTime()) + ".";
                };
        return new Explanation(says, List.copyOf(evidence), change);
    }

    private String waiting(Job job, JobReason reason) {
        if (job.isHeld()) {
            change = "scontrol release " + job.displayId();
            if (reason == JobReason.JOB_HELD_USER) {
                return "Its owner holds it.";
            }
            if (reason == JobReason.JOB_HELD_ADMIN) {
                return "An administrator holds it.";
            }
            return "It is held: " + reason.word() + (job.reasonText().isEmpty() ? "." : " (" + job.reasonText() + ").");
        }
        return switch (reason) {
            case BEGIN_TIME ->
                "It is not to begin before " + clock.apply(job.desc().timing().beginTime()) + ".";
            case DEPENDENCY, DEPENDENCY_NEVER_SATISFIED -> dependency(job, reason);
            case PARTITION_DOWN,
                    PARTITION_INACTIVE,
                    PARTITION_TIME_LIMIT,
                    PARTITION_NODE_LIMIT,
                    ACCOUNT_NOT_ALLOWED,
                    QOS_NOT_ALLOWED,
                    PARTITION_CONFIG -> partition(job, reason);
            case LICENSES -> licenses(job);
            case RESERVATION -> reservation(job);
            case REQ_NODE_NOT_AVAIL -> nodes(job);
            case JOB_ARRAY_TASK_LIMIT -> {
                change = "scontrol update jobid=" + job.id() + " arraytaskthrottle=...";
                yield "Only " + job.array().maxRunning() + " of its tasks may run at a time, and so many do.";
            }
            case RESOURCES -> resources(job);
            case PRIORITY -> priority(job);
            case NO_TOPOLOGY_UNIT -> "Enough nodes are free, but they do not hang together as the topology wants it.";
            case DEADLINE ->
                "It could not end before its deadline, "
                        + clock.apply(job.desc().timing().deadline()) + ".";
            case NONE -> "The scheduler has not looked at it yet.";
            default -> limit(job, reason);
        };
    }

    /** Explains a reason that lies in the job's partition. */
    private String partition(Job job, JobReason reason) {
        Optional<Partition> partition = state.partitions().find(job.desc().firstPartition());
        return switch (reason) {
            case PARTITION_DOWN, PARTITION_INACTIVE -> {
                change = "An administrator sets the partition UP, or the job is moved: scontrol update jobid="
                        + job.id() + " partition=...";
                yield "Partition " + job.desc().partition() + " is "
                        + (reason == JobReason.PARTITION_DOWN ? "DOWN" : "INACTIVE") + ".";
            }
            case PARTITION_TIME_LIMIT -> {
                change = "A time limit within the partition's, or another partition.";
                yield "It asks for more time than partition " + job.desc().partition() + " allows: "
                        + minutes(job.desc().timing().timeLimitMin()) + ", and at most "
                        + minutes(partition.map(p -> p.info().maxTimeMin()).orElse(-1)) + ".";
            }
            case PARTITION_NODE_LIMIT ->
                "It asks for " + job.desc().request().nodesMin() + " nodes, and partition "
                        + job.desc().partition()
                        + " allows from "
                        + partition.map(p -> p.info().minNodes()).orElse(0) + " to "
                        + partition.map(p -> p.info().maxNodes()).orElse(-1)
                        + " (-1: any number) of its "
                        + partition.map(p -> p.nodes().size()).orElse(0) + ".";
            case ACCOUNT_NOT_ALLOWED, QOS_NOT_ALLOWED -> {
                boolean account = reason == JobReason.ACCOUNT_NOT_ALLOWED;
                change = account
                        ? "Another account (-A), or another partition."
                        : "Another QOS (-q), or another partition.";
                yield "Partition " + job.desc().partition() + " takes no jobs of "
                        + (account
                                ? "account " + job.desc().charge().account()
                                : "QOS " + job.desc().charge().qos()) + ".";
            }
            default -> {
                if (partition.isPresent()
                        && !PartitionLimits.admitsGroups(
                                partition.get().info(), job.desc().owner(), state)) {
                    change = "Another partition.";
                    yield "Partition " + partition.get().name() + " takes jobs of the groups "
                            + partition.get().info().allowGroups() + " alone, and "
                            + job.desc().owner().user() + " is in none of them.";
                }
                change = "A smaller request, another partition, or more nodes in this one.";
                yield "Partition " + job.desc().partition() + " could not hold it even if it were empty: " + asks(job)
                        + ".";
            }
        };
    }

    // ---- one kind of reason each

    private String dependency(Job job, JobReason reason) {
        for (Dependency d : job.dependencies()) {
            if (d.status() == Dependency.Status.FULFILLED) {
                continue;
            }
            if (d.kind() == Dependency.Kind.SINGLETON) {
                evidence.add("No other job of the same name and user may run or come before it.");
                continue;
            }
            String name = d.jobId() + (d.arrayTask() >= 0 ? "_" + d.arrayTask() : "");
            evidence.add(d.kind().word() + ":" + name + ": job " + name + is(d)
                    + (d.status() == Dependency.Status.FAILED ? ", so this never comes true" : ""));
        }
        if (reason == JobReason.DEPENDENCY_NEVER_SATISFIED) {
            change = "scontrol update jobid=" + job.id() + " dependency=... or scancel " + job.displayId();
            return "It waits for what can not happen any more.";
        }
        boolean any = job.dependencies().stream().anyMatch(Dependency::any);
        return "It waits for " + (any ? "any of these" : "other jobs") + ": " + Dependency.print(job.dependencies())
                + ".";
    }

    /** Returns what has become of the job that is waited for; of an array, of all of its tasks. */
    private String is(Dependency d) {
        List<Job> all = new ArrayList<>(d.arrayTask() < 0 ? state.tasksOf(d.jobId()) : List.of());
        state.job(d.jobId(), d.arrayTask()).filter(j -> !all.contains(j)).ifPresent(all::add);
        if (all.isEmpty()) {
            return " is not known any more";
        }
        if (!shown.test(all.getFirst())) {
            return " is not yours to see";
        }
        if (d.arrayTask() >= 0 || all.getFirst().array().jobId() == 0) {
            return " is " + all.getFirst().state();
        }
        Map<JobState, Integer> states = new EnumMap<>(JobState.class);
        all.forEach(j ->
                states.merge(j.state(), j.isArrayRecord() ? j.array().pending().count() : 1, Integer::sum));
        return " has tasks: "
                + states.entrySet().stream()
                        .map(e -> e.getValue() + " " + e.getKey())
                        .collect(Collectors.joining(", "));
    }

    private String licenses(Job job) {
        Map<String, Integer> used = new TreeMap<>();
        List<Job> holders = new ArrayList<>();
        for (Job other : state.jobs().values()) {
            List<LicenseRequest.Item> held = Licenses.held(other);
            held.forEach(i -> used.merge(i.name(), i.count(), Integer::sum));
            if (!held.isEmpty()) {
                holders.add(other);
            }
        }
        LicenseRequest.Wanted wanted =
                LicenseRequest.parse(job.desc().request().licenses()).orElse(LicenseRequest.Wanted.NONE);
        Map<String, Integer> kept = new TreeMap<>();
        state.reservations().values().stream()
                .filter(r -> r.isActive(now.seconds())
                        && !job.desc().charge().reservation().equals(r.name()))
                .forEach(r -> r.licenses().forEach(i -> kept.merge(i.name(), i.count(), Integer::sum)));
        List<Licenses.Pool> pools = Licenses.pools(state);
        for (LicenseRequest.Item i : wanted.items()) {
            pools.stream()
                    .filter(p -> p.title().equals(i.name()) && p.total() >= 0)
                    .forEach(p -> evidence.add("License " + p.name()
                            + ": it asks for " + i.count() + "; " + (used.getOrDefault(p.name(), 0) + p.base()) + " of "
                            + p.total() + " are in use"
                            + by(holders.stream()
                                    .filter(h -> Licenses.held(h).stream()
                                            .anyMatch(l -> l.name().equals(p.name())))
                                    .toList())
                            + (kept.containsKey(p.name()) ? ", " + kept.get(p.name()) + " are in reservations" : "")
                            + "."));
        }
        return "It waits for licenses" + (wanted.any() ? ", any one of which would do" : "") + ".";
    }

    private String reservation(Job job) {
        for (String name : job.desc().charge().reservation().split(",")) {
            Optional<Reservation> r = state.reservations().find(name);
            evidence.add(r.map(o -> "Reservation " + name + " is from " + clock.apply(o.startAt(now.seconds())) + " to "
                            + clock.apply(o.endAt(now.seconds())) + ".")
                    .orElse("There is no reservation " + name + "."));
        }
        return "It runs in a reservation that it cannot use now.";
    }

    private String nodes(Job job) {
        String missing = scheduler.unavailable().missing(state, job.desc());
        if (!missing.isEmpty() && job.desc().request().nodeList().isEmpty()) {
            return missing(job);
        }
        for (String name : HostList.distinct(job.desc().request().nodeList())) {
            Optional<Node> node = state.nodes().find(name);
            if (node.isPresent() && !node.get().isUsable()) {
                evidence.add("Node " + name + " is " + node.get().baseState() + flags(node.get())
                        + (node.get().reason().isEmpty()
                                ? ""
                                : ": " + node.get().reason()) + ".");
            }
        }
        for (Reservation r : state.reservations().values()) {
            if (r.startAt(now.seconds()) < now.seconds() + limitS(job) && r.endAt(now.seconds()) > now.seconds()) {
                evidence.add("Reservation " + r.name() + " has "
                        + HostList.of(r.nodes()).compressed() + " from "
                        + clock.apply(r.startAt(now.seconds()))
                        + " to " + clock.apply(r.endAt(now.seconds())) + ".");
            }
        }
        change = job.desc().request().nodeList().isEmpty()
                ? "A shorter time limit may let it end before the reservation begins."
                : "The nodes come back, or the job asks for others.";
        return job.desc().request().nodeList().isEmpty()
                ? "Reservations leave it no nodes for the time that it asks for."
                : "Nodes that it names cannot be used now.";
    }

    /** Explains a job that does not fit even if all jobs end: which nodes are missing, and why. */
    private String missing(Job job) {
        Optional<Partition> partition = state.partitions().find(job.desc().firstPartition());
        List<Node> unusable = partition.map(Partition::nodes).orElse(List.of()).stream()
                .map(n -> state.nodes().find(n))
                .flatMap(Optional::stream)
                .filter(n -> !n.isUsable())
                .toList();
        for (Node node : unusable.stream().limit(NAMED_MAX).toList()) {
            evidence.add("Node " + node.name() + " is " + node.baseState() + flags(node)
                    + (node.reason().isEmpty() ? "" : ": " + node.reason()) + ".");
        }
        if (unusable.size() > NAMED_MAX) {
            evidence.add("Likewise " + (unusable.size() - NAMED_MAX) + " more of "
                    + HostList.of(unusable.stream().map(Node::name).toList()).compressed() + ".");
        }
        evidence.add("It asks for " + asks(job) + ".");
        change = "The nodes come back, or the job asks for less or for another partition.";
        return "The nodes of partition " + job.desc().partition()
                + " that are there could not hold it even if they were free.";
    }

    private static String flags(Node n) {
        return (n.has(Node.Flag.DRAIN) ? "+DRAIN" : "")
                + (n.has(Node.Flag.NOT_RESPONDING) ? ", and does not answer" : "");
    }

    private String limit(Job job, JobReason reason) {
        int limitMin = state.partitions()
                .find(job.desc().firstPartition())
                .map(p -> PartitionLimits.timeLimitMin(job.desc(), p))
                .orElse(-1);
        Optional<LimitUse.Found> found = LimitUse.of(state, job.desc(), reason, limitMin);
        if (found.isEmpty()) {
            return "It waits for the reason " + reason.word()
                    + (job.reasonText().isEmpty() ? "." : " (" + job.reasonText() + ").");
        }
        LimitUse.Found f = found.get();
        if (f.used() >= 0) {
            evidence.add(
                    f.used() + " of " + f.max() + " " + f.what() + " are in use, and it asks for " + f.asked() + ".");
            change = f.asked() > f.max()
                    ? "Less than it asks for now, or a higher limit."
                    : "Jobs that count against the limit end, or it is raised.";
        } else {
            evidence.add("At most " + f.max() + " " + f.what() + " are allowed"
                    + (f.asked() >= 0 ? ", and it asks for " + f.asked() : "") + ".");
            change = f.asked() >= 0
                    ? "Less than it asks for now, or a higher limit."
                    : "What was used fades or is forgotten, or the limit is raised.";
        }
        return "A limit keeps it back: " + f.limit() + " of " + f.holder() + ".";
    }

    // ---- room and order

    private String resources(Job job) {
        if (!scheduler.unavailable().missing(state, job.desc()).isEmpty()) {
            return missing(job);
        }
        Free free = free(job);
        told(job, free);
        holders(free);
        return free.suffices
                ? "Enough is free now, but not for as long as it asks for: what is free is promised to jobs that "
                        + "come before it."
                : "It comes next in partition " + job.desc().partition() + ", and not enough is free for it.";
    }

    private String priority(Job job) {
        if (!scheduler.unavailable().missing(state, job.desc()).isEmpty()) {
            return missing(job);
        }
        List<Job> ahead = new ArrayList<>();
        long own = priorityOf(job);
        List<String> partitions = job.desc().partitionList();
        for (Job other : state.jobs().values()) {
            if (PriorityIndex.inQueue(other)
                    && other.id() != job.id()
                    && partitions.stream().anyMatch(other.desc().partitionList()::contains)
                    && (priorityOf(other) > own || priorityOf(other) == own && other.id() < job.id())) {
                ahead.add(other);
            }
        }
        ahead.sort(Comparator.comparingLong((Job j) -> -priorityOf(j)).thenComparingInt(Job::id));
        Free free = free(job);
        told(job, free);
        evidence.add(ahead.size() + " waiting job" + (ahead.size() == 1 ? " comes" : "s come")
                + " before it in partition " + job.desc().partition() + "; its priority is " + own + ".");
        for (Job first : ahead.stream().filter(shown).limit(NAMED_MAX).toList()) {
            long start = scheduler.plannedStart(first.id());
            evidence.add("Before it: job " + first.displayId() + " of "
                    + first.desc().owner().user() + ", priority " + priorityOf(first) + ", " + asks(first)
                    + (start > 0 ? ", planned for " + clock.apply(start) : "") + ".");
        }
        change = free.suffices ? "A shorter time limit may let it start beside those that come before it." : "";
        return free.suffices
                ? "What it needs is free, but would be missing to jobs that come before it."
                : "Others come before it, and not enough is free for it beside them.";
    }

    private long priorityOf(Job job) {
        return scheduler.priority(job.id()).orElse(job.priority());
    }

    /**
     * Describes the free resources of a partition.
     *
     * @param withRoom nodes with room for one task at least
     * @param needed the least number of nodes that the job needs
     * @param room its tasks on as many nodes as it may have
     * @param suffices whether the job's nodes could be picked now
     */
    private record Free(
            int nodes,
            int usable,
            long cpus,
            int mostCpus,
            long mostMemoryMb,
            int withRoom,
            int needed,
            Room room,
            boolean suffices,
            List<String> names) {}

    /**
     * Room for {@code tasks} on the best {@code nodes} nodes, the most that the job may have: {@code fitting} tasks
     * fit.
     */
    private record Room(int nodes, long fitting, int tasks) {}

    private Free free(Job job) {
        String name = job.desc().firstPartition();
        Optional<Partition> partition = state.partitions().find(name);
        if (partition.isEmpty()) {
            return new Free(0, 0, 0, 0, 0, 0, 1, new Room(1, 0, 1), false, List.of());
        }
        ResourceNeed need = ResourceNeed.of(job.desc(), partition.get(), state);
        int usable = 0;
        long cpus = 0;
        int mostCpus = 0;
        long memory = 0;
        List<Candidate> able = new ArrayList<>();
        Set<String> excluded = HostList.nameSet(need.excludeList());
        boolean consumed = state.memoryConsumed();
        for (String n : partition.get().nodes()) {
            Node node = state.nodes().at(n);
            boolean fits = FeatureConstraint.match(need.features(), node.features())
                    && ExtraConstraint.match(need.shape().extra(), node.extra());
            if (!node.isUsable() || !fits || excluded.contains(n)) {
                continue;
            }
            usable++;
            int left = Math.max(0, node.spec().cpus() - node.cpusAllocated());
            long leftMb = Math.max(0, node.spec().memoryMb() - node.spec().memSpecLimitMb() - node.memoryAllocatedMb());
            cpus += left;
            mostCpus = Math.max(mostCpus, left);
            memory = Math.max(memory, left > 0 ? leftMb : 0);
            NodeSlot slot = new NodeSlot(able.size(), node);
            int here = NodeSelector.tasksFitting(
                    need,
                    slot,
                    left / Math.max(1, node.spec().cpusPerUnit()),
                    leftMb,
                    node.cpusAllocated() == 0,
                    consumed);
            here = Math.min(here, NodeSelector.tasksByGres(need, slot));
            if (here > 0) {
                able.add(NodeSelector.candidate(slot, here));
            }
        }
        return new Free(
                partition.get().nodes().size(),
                usable,
                cpus,
                mostCpus,
                memory,
                able.size(),
                need.nodesMin(),
                room(need, able),
                canPick(need, able),
                partition.get().nodes());
    }

    private static Room room(ResourceNeed need, List<Candidate> able) {
        int nodes =
                need.nodesMax() > 0 ? Math.min(need.nodesMax(), Math.max(1, able.size())) : Math.max(1, able.size());
        return new Room(
                nodes,
                able.stream()
                        .map(Candidate::tasks)
                        .sorted(Comparator.reverseOrder())
                        .limit(nodes)
                        .mapToLong(Integer::longValue)
                        .sum(),
                need.tasks());
    }

    /** Tests whether the scheduler's own choice of nodes succeeds: their number, devices and neighbourhood count. */
    private boolean canPick(ResourceNeed need, List<Candidate> able) {
        Set<String> named = HostList.nameSet(need.nodeList());
        List<Candidate> order = new ArrayList<>(
                able.stream().filter(c -> named.contains(c.node().spec.name())).toList());
        if (order.size() < named.size()) {
            return false;
        }
        order.addAll(
                able.stream().filter(c -> !named.contains(c.node().spec.name())).toList());
        return !NodeSelector.pick(need, order, named.size(), need.network().in(state.settings()))
                .isEmpty();
    }

    private void told(Job job, Free free) {
        evidence.add("It asks for " + asks(job) + ".");
        evidence.add(free.usable + " of " + free.nodes + " nodes of the partition can be used by it; " + free.cpus
                + " CPUs are free on them,"
                + " at most " + free.mostCpus + " CPUs on one, and at most " + free.mostMemoryMb
                + " MB beside free CPUs. " + free.withRoom + " node"
                + (free.withRoom == 1 ? " has" : "s have") + " room for a part of it or all; it needs " + free.needed
                + ".");
        if (free.withRoom >= free.needed && free.room.fitting < free.room.tasks) {
            evidence.add("Its " + free.room.tasks + (free.room.tasks == 1 ? " task" : " tasks") + " have to fit on "
                    + (free.room.nodes == 1 ? "one node" : "at most " + free.room.nodes + " nodes")
                    + ", where there is room for "
                    + free.room.fitting + " now.");
        }
    }

    /** Names the jobs on the nodes, those that end first at the top. */
    private void holders(Free free) {
        Set<String> nodes = new java.util.HashSet<>(free.names);
        List<Job> running = new ArrayList<>();
        for (Job other : state.jobs().values()) {
            if (other.holdsNodes()
                    && other.run().allocation().nodeNames().stream().anyMatch(nodes::contains)) {
                running.add(other);
            }
        }
        running.sort(Comparator.comparingLong(j -> RemainingTime.seconds(state, j, now.tickMs())));
        evidence.add(running.size() + " job" + (running.size() == 1 ? " has" : "s have") + " its nodes"
                + (running.isEmpty() ? "." : "; first to leave:"));
        for (Job first : running.stream().filter(shown).limit(NAMED_MAX).toList()) {
            long left = RemainingTime.seconds(state, first, now.tickMs());
            evidence.add(
                    "Job " + first.displayId() + " of " + first.desc().owner().user() + " has "
                            + first.run().allocation().cpus()
                            + (first.run().allocation().cpus() == 1 ? " CPU on " : " CPUs on ")
                            + first.run().allocation().hostList()
                            + (left >= RemainingTime.ENDLESS_S
                                    ? ", without a limit: a year counts as his time."
                                    : " until " + clock.apply(now.seconds() + left) + " at the latest."));
        }
    }

    private String by(List<Job> holders) {
        List<String> names = holders.stream()
                .filter(shown)
                .limit(NAMED_MAX)
                .map(h -> h.displayId() + " of " + h.desc().owner().user())
                .toList();
        if (names.isEmpty()) {
            return "";
        }
        return ", by job " + String.join(", ", names) + (holders.size() > names.size() ? " and others" : "");
    }

    private long limitS(Job job) {
        int limit = state.partitions()
                .find(job.desc().firstPartition())
                .map(p -> PartitionLimits.timeLimitMin(job.desc(), p))
                .orElse(-1);
        return limit < 0 ? TimeGrid.HORIZON_S : limit * 60L;
    }

    private String asks(Job job) {
        dev.muster.core.limits.TresCounts a = dev.muster.core.limits.TresCounts.requested(state, job.desc());
        int limit = state.partitions()
                .find(job.desc().firstPartition())
                .map(p -> PartitionLimits.timeLimitMin(job.desc(), p))
                .orElse(-1);
        StringBuilder out = new StringBuilder();
        out.append(a.cpus())
                .append(a.cpus() == 1 ? " CPU" : " CPUs")
                .append(" on ")
                .append(a.nodes())
                .append(a.nodes() == 1 ? " node" : " nodes");
        if (job.desc().request().exclusive() == dev.muster.model.job.ResourceRequest.Exclusive.NODE) {
            out.append(" that it has alone");
        }
        if (a.memoryMb() > 0) {
            out.append(", ").append(a.memoryMb()).append(" MB");
        }
        a.gres().entrySet().stream()
                .filter(g -> g.getKey().indexOf(':') < 0)
                .forEach(g -> out.append(", ").append(g.getValue()).append(' ').append(g.getKey()));
        return out.append(" for ").append(minutes(limit)).toString();
    }

    private static String minutes(int minutes) {
        if (minutes < 0) {
            return "any time";
        }
        if (minutes < 120) {
            return minutes + (minutes == 1 ? " minute" : " minutes");
        }
        if (minutes < 2880) {
            return String.format(java.util.Locale.ROOT, "%d:%02d hours", minutes / 60, minutes % 60);
        }
        return minutes / 1440 + " days";
    }

    /**
     * Returns when and where the job is planned to start; empty if it is not, or if more than nodes has to come before.
     */
    public Optional<Planner.Estimate> planned(Job job, JobReason reason) {
        return job.isPending() && !job.isHeld() && !UNPLANNED.contains(reason)
                ? scheduler.plan(job.id())
                : Optional.empty();
    }
}
