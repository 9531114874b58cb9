package dev.muster.scheduler.node;

import dev.muster.core.command.Decision;
import dev.muster.core.job.UnsupportedOptions;
import dev.muster.core.node.ChangingFeatures;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.Licenses;
import dev.muster.core.tres.SharedGpus;
import dev.muster.core.tres.Tres;
import dev.muster.model.SlurmErrno;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.ResourceRequest;
import dev.muster.model.job.TresBind;
import dev.muster.model.job.TresFreq;
import dev.muster.scheduler.request.ExtraConstraint;
import dev.muster.scheduler.request.ResourceNeed;
import dev.muster.scheduler.request.TopologyRequest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Decides whether a job can run at all on the nodes as they are configured, and if not, in which words it is refused.
 */
public final class Feasibility {
    /**
     * The selection is repeated each time that the candidates have grown by one part in this number: trying it with
     * each further node would take quadratic time.
     */
    private static final int NEXT_PART = 8;

    private Feasibility() {}

    static Optional<Decision.Rejected> infeasible(State state, JobDesc desc) {
        if (!TresBind.isValid(desc.extras().tresBind())
                || !TresFreq.isValid(desc.extras().tresFreq())) {
            return Optional.of(Decision.reject(SlurmErrno.INVALID_TRES));
        }
        if (SharedGpus.clash(desc.request(), desc.extras().tresFreq())) {
            return Optional.of(Decision.reject(SlurmErrno.INVALID_GRES));
        }
        boolean understood = !state.settings().options().requests().extraConstraints()
                || ExtraConstraint.isValid(desc.extras().extra());
        if (!understood) {
            return Optional.of(Decision.reject(SlurmErrno.INVALID_EXTRA));
        }
        Optional<Decision.Rejected> wrong = UnsupportedOptions.refusal(desc, state.settings())
                .or(() -> malformed(state, desc.request(), desc.extras().batchFeatures()));
        return isHeld(desc)
                ? wrong
                : wrong.or(() -> {
                    Optional<Decision.Rejected> last = Optional.empty();
                    for (String name : desc.partitionList()) {
                        Optional<Partition> partition = state.partitions().find(name);
                        if (partition.isPresent()) {
                            last = inPartition(state, desc, partition.get(), false);
                            if (last.isEmpty()) {
                                return Optional.empty();
                            }
                        }
                    }
                    return last;
                });
    }

    /**
     * Tests whether the job is held. It may be changed before it is released: only what can never be right is refused.
     */
    static boolean isHeld(JobDesc desc) {
        return desc.timing().hold()
                || desc.timing().prioritySet() && desc.timing().priority() == 0;
    }

    /** Resources of a task are named in full, or nothing is said of them. */
    private static final Pattern OF_TASK = Pattern.compile("((cpu|gres/|license/)[^,]*(,(cpu|gres/|license/)[^,]*)*)?");

    private static Optional<Decision.Rejected> malformed(State state, ResourceRequest r, String batch) {
        for (String tres : List.of(r.tresPerNode(), r.tresPerJob(), r.tresPerTask(), r.tresPerSocket())) {
            Optional<SlurmErrno> wrong = wrongTres(tres, tres.equals(r.tresPerTask()), state);
            if (wrong.isPresent()) {
                return Optional.of(Decision.reject(wrong.get()));
            }
        }
        Optional<SlurmErrno> wrongGpus = wrongGpus(r);
        if (wrongGpus.isPresent()) {
            return Optional.of(Decision.reject(wrongGpus.get()));
        }
        Optional<Decision.Rejected> wrongFeature = wrongFeature(r, batch, state);
        if (wrongFeature.isPresent()) {
            return wrongFeature;
        }
        if (!r.licenses().isEmpty() && Licenses.isWrong(state, r.licenses())) {
            return Optional.of(Decision.reject(SlurmErrno.INVALID_LICENSES));
        }
        boolean known = areKnownNodes(r.nodeList(), state) && areKnownNodes(r.excludeList(), state);
        return !known || requiresExcluded(r)
                ? Optional.of(Decision.reject(SlurmErrno.INVALID_NODE_NAME))
                : Optional.empty();
    }

    /** @param ofTask the text equals that of --tres-per-task, which alone may name CPUs and licenses */
    private static Optional<SlurmErrno> wrongTres(String tres, boolean ofTask, State state) {
        boolean cut = tres.equals("gres/") || tres.endsWith(",gres/");
        if (cut || ofTask && !OF_TASK.matcher(tres).matches()) {
            return Optional.of(SlurmErrno.INVALID_TRES);
        }
        // a count of 0 may name devices that do not exist
        boolean known = Tres.isValid(tres)
                && (ofTask || !Tres.namesOthers(tres))
                && Tres.gres(tres).stream()
                        .allMatch(item -> item.count() <= 0
                                || state.settings().gresTypes().contains(item.name()));
        return known ? Optional.empty() : Optional.of(SlurmErrno.INVALID_GRES);
    }

    private static Optional<SlurmErrno> wrongGpus(ResourceRequest r) {
        GresRequest gres = GresRequest.of(r);
        boolean gpus =
                GresRequest.gpus(gres.perNode()) + GresRequest.gpus(gres.perJob()) + GresRequest.gpus(gres.perTask())
                        > 0;
        if (!gpus && (r.tasksPerGpu() > 0 || r.cpusPerGpu() > 0 || r.memPerGpuMb() > 0)) {
            return Optional.of(SlurmErrno.INVALID_GRES);
        }
        // tasks with their own devices share no CPUs, and the request sets no CPUs per task
        boolean sharesCpus = r.overcommit()
                && r.cpusPerTask() == 0
                && !Tres.gres(r.tresPerTask()).isEmpty();
        int perTask = GresRequest.gpus(r.tresPerTask());
        int perNode = GresRequest.gpus(r.tresPerNode());
        int nodes = Math.max(r.nodesMin(), r.nodesMax());
        boolean tooMany =
                perTask > 0 && perNode > 0 && nodes > 0 && (long) perTask * r.tasks() > (long) perNode * nodes;
        return sharesCpus || tooMany ? Optional.of(SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE) : Optional.empty();
    }

    private static Optional<Decision.Rejected> wrongFeature(ResourceRequest r, String batch, State state) {
        String objection = FeatureConstraint.objection(r.features());
        if (!objection.isEmpty()) {
            return Optional.of(new Decision.Rejected(SlurmErrno.INVALID_FEATURE, objection));
        }
        List<String> names = FeatureConstraint.names(r.features());
        if (!batch.isEmpty()
                && (!FeatureConstraint.isPlain(batch)
                        || !Set.copyOf(names).containsAll(FeatureConstraint.names(batch)))) {
            return Optional.of(Decision.reject(SlurmErrno.INVALID_BATCH_FEATURE));
        }
        if (!state.settings().options().requests().anyFeature() && !areOnNodes(names, state)) {
            return Optional.of(Decision.reject(SlurmErrno.INVALID_FEATURE));
        }
        boolean known = FeatureConstraint.objection(r.prefer()).isEmpty()
                && areOnNodes(FeatureConstraint.names(r.prefer()), state);
        if (!known && !state.settings().options().requests().anyPreference()) {
            return Optional.of(Decision.reject(SlurmErrno.INVALID_PREFER));
        }
        return ChangingFeatures.objection(state, r.features());
    }

    /** Tests whether each feature is one of some node. */
    private static boolean areOnNodes(List<String> features, State state) {
        return features.stream()
                .allMatch(f -> state.nodes().values().stream()
                        .anyMatch(n -> n.features().contains(f)));
    }

    private static boolean areKnownNodes(String list, State state) {
        return list.isEmpty()
                || HostList.parse(list) instanceof HostList.Parsed.Ok ok
                        && ok.list().names().stream().allMatch(state.nodes()::has);
    }

    /** Tests whether a node is asked for and excluded. */
    private static boolean requiresExcluded(ResourceRequest r) {
        return !r.nodeList().isEmpty()
                && !r.excludeList().isEmpty()
                && HostList.parse(r.nodeList()) instanceof HostList.Parsed.Ok asked
                && HostList.parse(r.excludeList()) instanceof HostList.Parsed.Ok excluded
                && asked.list().names().stream().anyMatch(excluded.list()::contains);
    }

    /** Returns the lines that come before the refusal: what no node of the partition has enough of. */
    private static String lacking(State state, Partition partition, ResourceNeed need) {
        List<Node.Spec> specs = partition.nodes().stream()
                .flatMap(n -> state.nodes().find(n).stream())
                .map(Node::spec)
                .toList();
        long memory = need.memPerNodeMb() > 0 ? need.memPerNodeMb() : need.memPerCpuMb();
        StringBuilder out = new StringBuilder();
        if (specs.stream().noneMatch(s -> s.cpus() >= Math.max(need.cpusPerNodeMin(), need.cpusPerTask()))) {
            out.append("CPU count per node can not be satisfied\n");
        }
        if (specs.stream().noneMatch(s -> s.memoryMb() >= memory)) {
            out.append("Memory specification can not be satisfied\n");
        }
        if (specs.stream().noneMatch(s -> s.tmpDiskMb() >= need.tmpDiskMb())) {
            out.append("Temporary disk specification can not be satisfied\n");
        }
        if (specs.stream().noneMatch(need.shape()::fits)) {
            out.append("Socket, core and/or thread specification can not be satisfied\n");
        }
        return out.toString();
    }

    /** @param strictly asking for more than the whole partition has is an error too */
    private static Optional<Decision.Rejected> inPartition(
            State state, JobDesc desc, Partition partition, boolean strictly) {
        return inPartition(state, desc, partition, strictly, List.of());
    }

    /** Tests whether the job has room in the partition when these nodes are not there. */
    public static boolean fitsWithout(State state, JobDesc desc, Partition partition, List<String> unavailable) {
        return inPartition(state, desc, partition, true, unavailable).isEmpty();
    }

    /**
     * A need with the nodes that it names, which are read once: a list may have thousands.
     *
     * @param within nodes outside of which none is taken; empty for all
     * @param required by name, in their order
     */
    private record PartitionRequest(
            ResourceNeed need, Set<String> within, Set<String> required, LayeredResourceRequest layers) {
        static PartitionRequest of(State state, ResourceNeed need) {
            return new PartitionRequest(
                    need,
                    HostList.nameSet(need.network().within()),
                    HostList.nameSet(need.nodeList()),
                    Feasibility.layers(state, need));
        }

        /** Returns the nodes with the required ones first. */
        List<String> ordered(List<String> nodes) {
            if (required.isEmpty()) {
                return nodes;
            }
            List<String> out = new ArrayList<>(required);
            for (String name : nodes) {
                if (!required.contains(name)) {
                    out.add(name);
                }
            }
            return out;
        }

        boolean isOpen(String node) {
            return (within.isEmpty() || within.contains(node)) && (layers.isEmpty() || layers.allows(node));
        }
    }

    private static Optional<SlurmErrno> wrongNodeCount(PartitionRequest request, Partition partition) {
        ResourceNeed need = request.need;
        Set<String> within = request.within;
        int segment = need.network().segment();
        if (!within.isEmpty() && within.size() < need.nodesMin() || segment > 0 && need.nodesWanted() % segment != 0) {
            return Optional.of(SlurmErrno.INVALID_NODE_COUNT);
        }
        Set<String> required = request.required;
        if (!required.isEmpty() && !new HashSet<>(partition.nodes()).containsAll(required)) {
            return Optional.of(SlurmErrno.REQUESTED_NODES_NOT_IN_PARTITION);
        }
        return need.nodesMax() > 0 && required.size() > need.nodesMax()
                ? Optional.of(SlurmErrno.INVALID_NODE_COUNT)
                : Optional.empty();
    }

    /**
     * Collects the nodes that the need fits on if they are empty, until it fits on some of them together.
     *
     * @param unavailable nodes that do not count
     * @return whether the need fits; if not, all candidates of the partition are collected
     */
    private static boolean findCandidates(
            State state,
            PartitionRequest request,
            Partition partition,
            List<String> unavailable,
            List<Candidate> candidates) {
        ResourceNeed need = request.need;
        Topology topology = need.network().in(state.settings());
        Set<String> required = request.required;
        Set<String> excluded = new HashSet<>(HostList.distinct(need.excludeList()));
        excluded.addAll(unavailable);
        boolean anyFeatures = state.settings().options().requests().anyFeature();
        boolean memory = state.memoryConsumed();
        int found = 0;
        long total = 0;
        int next = 0;
        for (String name : request.ordered(partition.nodes())) {
            boolean open = !excluded.contains(name) && request.isOpen(name);
            Optional<Candidate> candidate = open ? candidate(state, need, name, anyFeatures, memory) : Optional.empty();
            if (candidate.isEmpty()) {
                continue;
            }
            found += required.contains(name) ? 1 : 0;
            candidates.add(candidate.get());
            total += candidate.get().tasks();
            boolean enough = total >= need.tasks() && candidates.size() >= need.nodesMin();
            if (enough && found == required.size() && candidates.size() >= next) {
                if (!NodeSelector.pick(need, candidates, found, topology, request.layers)
                        .isEmpty()) {
                    return true;
                }
                next = candidates.size() + candidates.size() / NEXT_PART + 1;
            }
        }
        return false;
    }

    /** Returns the node as a candidate for the need if no job was on it; empty if the need does not fit even then. */
    private static Optional<Candidate> candidate(
            State state, ResourceNeed need, String name, boolean anyFeatures, boolean memoryConsumed) {
        Optional<Node> node = state.nodes().find(name).filter(n -> !n.isClosedToJobs());
        if (node.isEmpty()
                || !anyFeatures
                        && !FeatureConstraint.match(need.features(), node.get().features())) {
            return Optional.empty();
        }
        NodeSlot empty = new NodeSlot(0, node.get());
        int tasks = tasksOnEmpty(need, empty, memoryConsumed);
        boolean small = need.overcommit() && empty.spec.cpus() < need.cpusPerTask();
        return tasks > 0 && !small && need.tmpDiskMb() <= empty.spec.tmpDiskMb()
                ? Optional.of(NodeSelector.candidate(empty, tasks))
                : Optional.empty();
    }

    private static Optional<Decision.Rejected> inPartition(
            State state, JobDesc desc, Partition partition, boolean strictly, List<String> unavailable) {
        ResourceNeed need = ResourceNeed.ofEmpty(desc, partition, state).onAnySwitches();
        Topology topology = need.network().in(state.settings());
        String objection = TopologyRequest.objection(desc.request(), topology);
        if (!objection.isEmpty()) {
            return Optional.of(new Decision.Rejected(SlurmErrno.NOT_SUPPORTED, objection));
        }
        PartitionRequest request = PartitionRequest.of(state, need);
        Optional<SlurmErrno> wrongCount = wrongNodeCount(request, partition);
        if (wrongCount.isPresent()) {
            return Optional.of(Decision.reject(wrongCount.get()));
        }
        boolean waits = state.settings().enforcePartLimits().equals("NO");
        if (!hasCpus(
                state,
                partition,
                Math.max(need.cpus(), (long) need.nodesMin()),
                need.shape().cpusMax())) {
            // the partition may grow
            if (waits && !strictly) {
                return Optional.empty();
            }
            return Optional.of(Decision.reject(
                    waits ? SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE : SlurmErrno.TOO_MANY_REQUESTED_CPUS));
        }
        List<Candidate> candidates = new ArrayList<>();
        if (findCandidates(state, request, partition, unavailable, candidates)) {
            return Optional.empty();
        }
        int found = (int) candidates.stream()
                .filter(c -> request.required.contains(c.node().spec.name()))
                .count();
        if (!request.layers.isEmpty()
                && found == request.required.size()
                && !NodeSelector.pick(need, candidates, found, topology, request.layers)
                        .isEmpty()) {
            return Optional.empty();
        }
        return refusalOf(state, desc, partition, request, candidates, found, waits && !strictly);
    }

    /**
     * Explains what the candidates of a partition lack, all of them idle; empty if the job may wait.
     *
     * @param found required nodes among the candidates, which come first
     * @param mayWait a job that the partition cannot run waits until the partition grows
     */
    private static Optional<Decision.Rejected> refusalOf(
            State state,
            JobDesc desc,
            Partition partition,
            PartitionRequest request,
            List<Candidate> candidates,
            int found,
            boolean mayWait) {
        ResourceNeed need = request.need;
        if (found < request.required.size() || candidates.isEmpty()) {
            return Optional.of(new Decision.Rejected(
                    SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE,
                    lacking(state, partition, need) + SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE.sentence()));
        }
        Topology topology = need.network().in(state.settings());
        boolean fits = !NodeSelector.pick(need, candidates, found, topology).isEmpty();
        if (!fits
                && topology.isStrict()
                && !NodeSelector.pick(need, candidates, found, Topology.FLAT).isEmpty()) {
            return Optional.of(Decision.reject(SlurmErrno.REQUESTED_TOPO_CONFIG_UNAVAILABLE));
        }
        // a job that only asks for more nodes or tasks than the partition has waits (PartitionConfig): it may grow
        if (!waitsForMore(state, partition, desc.request().nodesMin(), fits, request.layers)) {
            return Optional.of(Decision.reject(SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE));
        }
        return fits || mayWait
                ? Optional.empty()
                : Optional.of(Decision.reject(SlurmErrno.REQUESTED_PART_CONFIG_UNAVAILABLE));
    }

    /**
     * Tests that nothing but more nodes is missing, if anything is.
     *
     * @param fits on all candidates together, whatever is layered
     */
    private static boolean waitsForMore(
            State state, Partition partition, int nodesMin, boolean fits, LayeredResourceRequest layers) {
        if (fits) {
            // nodes as they are, but without what the job wants of layered resources
            return layers.isEmpty();
        }
        // there are nodes and CPUs enough, but not such as the job wants, unless some are still to come
        return partition.nodes().size() < nodesMin
                || partition.nodes().stream()
                        .anyMatch(n -> state.nodes()
                                .find(n)
                                .filter(node -> !node.has(Node.Flag.FUTURE))
                                .isEmpty());
    }

    private static LayeredResourceRequest layers(State state, ResourceNeed need) {
        Map<String, Integer> all =
                need.licenses().items().isEmpty() || state.settings().layered().isEmpty()
                        ? Map.of()
                        : Licenses.capacities(state);
        return new LayeredResourceRequest(
                state.settings().layered(), need.licenses(), pool -> all.getOrDefault(pool, 0));
    }

    private static int tasksOnEmpty(ResourceNeed need, NodeSlot empty, boolean memoryConsumed) {
        IndexSet units = GpuPlaces.open(need, empty, empty.freeUnits);
        int tasks = Math.min(
                NodeSelector.tasksFitting(need, empty, units.count(), empty.freeMemoryMb, true, memoryConsumed),
                NodeSelector.tasksByGres(need, empty));
        return GpuPlaces.tasks(need, empty, units, tasks);
    }

    /** Returns the reason of a job that waits because the partition is too small for it. */
    public static JobReason tooSmall(ResourceNeed need, State state) {

        return need.nodesMin()
                        > state.partitions()
                                .find(need.partition())
                                .map(p -> p.nodes().size())
                                .orElse(0)
                ? JobReason.PARTITION_NODE_LIMIT
                : JobReason.PARTITION_CONFIG;
    }

    /** Tests whether the partition as it is configured is too small for the job, whatever is free. */
    public static boolean exceeds(State state, JobDesc desc, Partition partition) {
        return inPartition(state, desc, partition, true).isPresent();
    }

    /** Returns whether the nodes of the partition have that many CPUs together; stops at the first nodes that do. */
    private static boolean hasCpus(State state, Partition partition, long wanted, int mostOfNode) {
        long cpus = 0;
        for (String name : partition.nodes()) {
            Optional<Node> node = state.nodes().find(name);
            int here = node.isPresent() ? node.get().spec().cpus() : 0;
            cpus += mostOfNode < 0 ? here : Math.min(here, mostOfNode);
            if (cpus >= wanted) {
                return true;
            }
        }
        return cpus >= wanted;
    }
}
