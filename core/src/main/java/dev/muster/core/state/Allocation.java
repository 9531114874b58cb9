package dev.muster.core.state;

import dev.muster.core.tres.Licenses;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.Sluid;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The resources of a job: a versioned value, changed only as a whole.
 *
 * @param version grows with every change of the allocation
 * @param nodes in the job's node order
 * @param awaitsController PrologSlurmctld has not succeeded yet
 * @param licenses what it has of the cluster's, as {@link Licenses} reads it
 * @param leaving what the job has given up while it runs, until nothing of it is left there
 * @param backfilled it was started ahead of a job that came first and waits
 * @param resizes when it became smaller, in order: accounting has a row for each size
 * @param ports of MpiParams that are the job's own on each of its nodes, for its steps
 * @param channels of the fabric between its nodes
 * @param scriptOn the node that runs the script; "" for the first
 */
public record Allocation(
        int version,
        List<Share> nodes,
        boolean awaitsController,
        String licenses,
        List<Share> leaving,
        boolean backfilled,
        List<Resize> resizes,
        IndexSet ports,
        List<Channel> channels,
        String scriptOn) {
    public Allocation {
        nodes = ByNode.of(nodes, Share::node);
    }

    public static final Allocation NONE =
            new Allocation(0, List.of(), false, "", List.of(), false, List.of(), IndexSet.empty(), List.of(), "");

    public Allocation(int version, List<Share> nodes) {
        this(version, nodes, false, "", List.of(), false, List.of(), IndexSet.empty(), List.of(), "");
    }

    /**
     * @param time seconds since 1970
     * @param firstStep steps with this number and above belong to the new size
     */
    public record Resize(long time, int firstStep) {}

    /** The agent that runs the job's part on a node. */
    public enum Agent {
        SLURMD,
        KUBELET,
        NONE
    }

    /**
     * A job's part of one node.
     *
     * @param bootId of the node when the job was started there: launches for another boot are refused; "" until a node
     *     that was without power has come up
     * @param cores indices of allocated units (cores, or CPUs where each is a unit of its own)
     * @param cpus how many CPUs of these the job may use
     * @param gres GRES name → device indices
     * @param released nothing of the attempt is left on the node
     * @param charge CPUs that the job is charged for where those are not the ones it may use; 0 where they are
     */
    public record Share(
            String node,
            Agent agent,
            String bootId,
            IndexSet cores,
            int cpus,
            long memoryMb,
            Map<String, IndexSet> gres,
            boolean prologDone,
            boolean released,
            int charge) {

        /**
         * Returns the CPUs charged to the job on the node. Cores and threads that --core-spec or --thread-spec leaves
         * idle count, because no other job can have them.
         */
        public int chargedCpus() {
            return charge > 0 ? charge : cpus;
        }

        /**
         * Returns the units of the node that no other job may have. A job with specialized cores has all units: its
         * own, and the specialized ones that stay idle.
         */
        public IndexSet units(Node.Spec spec) {
            return charge == 0 ? cores : IndexSet.range(0, spec.units() - 1, 1).minus(spec.reservedUnits());
        }

        /**
         * Returns the CPUs for tasks, with the given number of threads used of each core.
         *
         * @param threads 0 for all
         */
        public int usableCpus(int threads) {
            return threads > 0 && !cores.isEmpty() ? Math.min(cpus, cores.count() * threads) : cpus;
        }

        public Share withReleased() {
            return new Share(node, agent, bootId, cores, cpus, memoryMb, gres, prologDone, true, charge);
        }

        Share withMemory(long mb) {
            return new Share(node, agent, bootId, cores, cpus, mb, gres, prologDone, released, charge);
        }

        /** Returns the allocation with a node that has come up. */
        Share onBoot(String boot) {
            return new Share(node, agent, boot, cores, cpus, memoryMb, gres, prologDone, released, charge);
        }

        public Share withPrologDone() {
            return new Share(node, agent, bootId, cores, cpus, memoryMb, gres, true, released, charge);
        }
    }

    public boolean isEmpty() {
        return nodes.isEmpty();
    }

    /** Returns the part of the node that runs the script. */
    public Share ofScript() {
        int index = scriptOn.isEmpty() ? 0 : ByNode.find(nodes, scriptOn, Share::node);
        return nodes.get(Math.max(0, index));
    }

    public Allocation withScriptOn(String node) {
        return new Allocation(
                version, nodes, awaitsController, licenses, leaving, backfilled, resizes, ports, channels, node);
    }

    /** Returns the CPUs that the job is charged for. */
    public int cpus() {
        int sum = 0;
        for (Share s : nodes) {
            sum += s.chargedCpus();
        }
        return sum;
    }

    public long memoryMb() {
        long sum = 0;
        for (Share s : nodes) {
            sum += s.memoryMb;
        }
        return sum;
    }

    /** Returns everything that is not free yet. */
    public List<Share> held() {
        return leaving.isEmpty()
                ? nodes
                : Stream.concat(nodes.stream(), leaving.stream()).toList();
    }

    public boolean isLeaving(String node) {
        return !leaving.isEmpty() && leaving.stream().anyMatch(s -> s.node.equals(node));
    }

    /**
     * Gives up these nodes.
     *
     * @param resize absent in records without sizes: then there is no new size
     */
    Allocation without(List<String> names, Optional<Resize> resize) {
        return new Allocation(
                version + 1,
                nodes.stream().filter(s -> !names.contains(s.node)).toList(),
                awaitsController,
                licenses,
                Stream.concat(leaving.stream(), nodes.stream().filter(s -> names.contains(s.node)))
                        .toList(),
                backfilled,
                resizes.size() < Sluid.SIZES_MAX
                        ? Stream.concat(resizes.stream(), resize.stream()).toList()
                        : resizes,
                ports,
                channels,
                scriptOn);
    }

    /** Returns the allocation with nothing left on a node that was given up. */
    Allocation left(String node) {
        return new Allocation(
                version + 1,
                nodes,
                awaitsController,
                licenses,
                leaving.stream().filter(s -> !s.node.equals(node)).toList(),
                backfilled,
                resizes,
                ports,
                channels,
                scriptOn);
    }

    /** Returns the part of a node, given up or not. */
    public Optional<Share> on(String node) {
        int index = ByNode.find(nodes, node, Share::node);
        return index >= 0
                ? Optional.of(nodes.get(index))
                : leaving.stream().filter(s -> s.node.equals(node)).findFirst();
    }

    public boolean allReleased() {
        return ByNode.allOver(nodes, Share::released) && leaving.stream().allMatch(Share::released);
    }

    /** Tests whether some nodes of the job have yet to come up. */
    public boolean awaitsNodes() {
        for (Share s : nodes) {
            if (s.bootId.isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /** Tests whether the prologs are done, on the nodes and the controller's. */
    public boolean allPrologsDone() {
        if (awaitsController) {
            return false;
        }
        for (Share s : nodes) {
            if (!s.prologDone) {
                return false;
            }
        }
        return true;
    }

    public List<String> nodeNames() {
        return nodes.stream().map(Share::node).toList();
    }

    /** Returns the compressed hostlist. */
    public String hostList() {
        return HostList.of(nodeNames()).compressed();
    }

    /** PrologSlurmctld has to succeed first; onNodes: prologs there as well. */
    public Allocation awaitingController(boolean onNodes) {
        return new Allocation(
                version,
                onNodes ? nodes : nodes.stream().map(Share::withPrologDone).toList(),
                true,
                licenses,
                leaving,
                backfilled,
                resizes,
                ports,
                channels,
                scriptOn);
    }

    public Allocation controllerDone() {
        return new Allocation(
                version + 1, nodes, false, licenses, leaving, backfilled, resizes, ports, channels, scriptOn);
    }

    public Allocation withLicenses(String text) {
        return new Allocation(
                version, nodes, awaitsController, text, leaving, backfilled, resizes, ports, channels, scriptOn);
    }

    public Allocation withPorts(IndexSet own) {
        return new Allocation(
                version, nodes, awaitsController, licenses, leaving, backfilled, resizes, own, channels, scriptOn);
    }

    /**
     * An NVIDIA IMEX channel.
     *
     * @param nodes that use it, compressed; "" for all of the job's
     */
    public record Channel(int number, String nodes) {}

    public Allocation withChannels(List<Channel> own) {
        return new Allocation(
                version, nodes, awaitsController, licenses, leaving, backfilled, resizes, ports, own, scriptOn);
    }

    public Allocation ahead() {
        return new Allocation(
                version, nodes, awaitsController, licenses, leaving, true, resizes, ports, channels, scriptOn);
    }

    public Allocation with(String node, java.util.function.UnaryOperator<Share> change) {
        int index = ByNode.find(nodes, node, Share::node);
        List<Share> changed = index >= 0 && nodes instanceof ByNode<Share> all
                ? all.with(index, change.apply(nodes.get(index)))
                : nodes.stream()
                        .map(s -> s.node.equals(node) ? change.apply(s) : s)
                        .toList();
        return new Allocation(
                version + 1,
                changed,
                awaitsController,
                licenses,
                leaving,
                backfilled,
                resizes,
                ports,
                channels,
                scriptOn);
    }
}
