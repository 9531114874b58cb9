package dev.muster.core.tres;

import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.SaturatingMath;
import dev.muster.model.job.ResourceRequest;
import java.util.ArrayList;
import java.util.List;

/**
 * The devices that a request's options ask for together: counts per node, per task and for the whole job, and the
 * numbers of tasks that follow from them.
 *
 * @param perNode devices on every node
 * @param perJob devices of all nodes together; empty where per node or per task say it already
 * @param perTask devices of each task
 */
public record GresRequest(List<Tres.Item> perNode, List<Tres.Item> perJob, List<Tres.Item> perTask) {
    private static final String GPU = "gpu";

    public static GresRequest of(ResourceRequest r) {
        List<Tres.Item> perTask = Tres.gres(r.tresPerTask());
        List<Tres.Item> perNode = new ArrayList<>();
        List<Tres.Item> perJob = new ArrayList<>();
        for (Tres.Item item : Tres.gres(r.tresPerSocket())) {
            perNode.add(new Tres.Item(
                    item.name(), item.type(), SaturatingMath.times(item.count(), Math.max(1, r.socketsPerNode()))));
        }
        perNode.addAll(Tres.gres(r.tresPerNode()));
        // tasks carry their devices: a sum beside them only said how many tasks there are
        perNode.removeIf(i -> names(perTask).contains(i.name()));
        // none on each node beside a sum for all of them: the sum counts, the 0 only puts off what the job had said
        List<String> summed = names(Tres.gres(r.tresPerJob()));
        perNode.removeIf(i -> i.count() == 0 && summed.contains(i.name()));
        for (Tres.Item item : Tres.gres(r.tresPerJob())) {
            if (!names(perTask).contains(item.name()) && !names(perNode).contains(item.name())) {
                perJob.add(item);
            }
        }
        return new GresRequest(List.copyOf(perNode), List.copyOf(perJob), List.copyOf(perTask));
    }

    private static List<String> names(List<Tres.Item> items) {
        return items.stream().map(Tres.Item::name).toList();
    }

    /**
     * Tests whether tasks share CPUs: --overcommit counts, unless each task has devices, or each device tasks, of its
     * own.
     */
    public static boolean overcommits(ResourceRequest r) {
        return r.overcommit()
                && r.tasksPerGpu() == 0
                && Tres.gres(r.tresPerTask()).isEmpty();
    }

    /** Returns how many GPUs a specification names, types added up. */
    public static int gpus(String tres) {
        return gpus(Tres.gres(tres));
    }

    public static int gpus(List<Tres.Item> items) {
        int out = 0;
        for (Tres.Item i : items) {
            out = SaturatingMath.plus(out, i.name().equals(GPU) ? i.count() : 0);
        }
        return out;
    }

    /**
     * Returns the CPUs of each of a step's tasks, at least 1: as requested, or for the task's own GPUs or its part of
     * all GPUs.
     */
    public static int cpusPerTask(ResourceRequest r, int tasks, int nodes) {
        if (r.cpusPerTask() > 0 || r.cpusPerGpu() == 0) {
            return Math.max(1, r.cpusPerTask());
        }
        int own = gpus(r.tresPerTask());
        int all = gpus(r.tresPerJob()) > 0
                ? gpus(r.tresPerJob())
                : SaturatingMath.times(gpus(r.tresPerNode()), Math.max(1, nodes));
        long cpus = own > 0
                ? (long) r.cpusPerGpu() * own
                : SaturatingMath.dividedUp((long) r.cpusPerGpu() * all, Math.max(1, tasks));
        return Math.max(1, SaturatingMath.toInt(cpus));
    }

    /**
     * Returns the request with its licenses as they are kept, those of its tasks among those of the job. The number of
     * tasks is known.
     */
    public static ResourceRequest withLicenses(ResourceRequest asked, State state) {
        ResourceRequest r = asked.withLicenses(Licenses.resolved(state, asked.licenses()));
        List<LicenseRequest.Item> perTask = Tres.licenses(r.tresPerTask());
        if (perTask.isEmpty()) {
            return r;
        }
        int tasks = r.tasks() > 0
                ? r.tasks()
                : SaturatingMath.times(Math.max(1, r.tasksPerNode()), Math.max(1, r.nodesMin()));
        List<String> all = new ArrayList<>();
        if (!r.licenses().isEmpty()) {
            all.add(r.licenses());
        }
        perTask.forEach(i ->
                all.add(new LicenseRequest.Item(i.name(), SaturatingMath.times(i.count(), tasks)).toString()));
        LicenseRequest.Wanted sum = LicenseRequest.parse(String.join(",", all)).orElse(LicenseRequest.Wanted.NONE);
        String text = sum.items().isEmpty() ? String.join(",", all) : LicenseRequest.text(sum.items());
        return r.withLicenses(text);
    }

    /** Returns the request with the tasks, nodes and devices that follow from its device options. */
    public static ResourceRequest resolved(ResourceRequest r) {
        int job = gpus(r.tresPerJob());
        int node = SaturatingMath.toInt(
                gpus(r.tresPerNode()) + (long) gpus(r.tresPerSocket()) * Math.max(1, r.socketsPerNode()));
        int task = gpus(r.tresPerTask());
        if (job == 0 && node == 0 && task == 0 && r.tasksPerGpu() == 0) {
            return r;
        }
        ResourceRequest out = r;
        int nodes = Math.max(1, r.nodesMin());
        if (job > 0 && node > 0 && r.nodesMin() == 0 && job % node == 0) {
            nodes = job / node;
            out = out.withNodes(nodes, nodes);
        }
        out = withTasks(out, r, job, job > 0 ? job : SaturatingMath.times(node, nodes), task, nodes);
        int perNode = tasksPerNode(r, node, task);
        return perNode > 0 ? out.withTasksPerNode(perNode) : out;
    }

    /**
     * Returns the request with the tasks that follow from GPUs, or with --ntasks-per-gpu the GPUs that follow from
     * tasks.
     *
     * @param out the request to change
     * @param r as it was asked for
     * @param ofJob GPUs of the job as the request has them; 0 if unset
     * @param total GPUs in all; 0 if unset
     * @param perTask GPUs per task; 0 if unset
     */
    private static ResourceRequest withTasks(
            ResourceRequest out, ResourceRequest r, int ofJob, int total, int perTask, int nodes) {
        if (r.tasks() > 0 && r.tasksPerGpu() > 0 && ofJob > 0) {
            // the number of GPUs wins
            return out.withTasks(SaturatingMath.times(ofJob, r.tasksPerGpu()));
        }
        boolean byTasks = r.tasksPerGpu() > 0 && total == 0 && perTask == 0;
        if (r.tasks() == 0 && r.tasksPerNode() == 0 && !(byTasks && r.nodesMin() > 0)) {
            long tasks = tasksForGpus(r, total, perTask, nodes);
            return tasks > 0 ? out.withTasks(SaturatingMath.toInt(tasks)) : out;
        }
        if (byTasks) {
            int tasks = r.tasks() > 0 ? r.tasks() : SaturatingMath.times(Math.max(1, r.tasksPerNode()), nodes);
            return out.withTasks(tasks).withTresPerJob("gres/gpu:" + SaturatingMath.dividedUp(tasks, r.tasksPerGpu()));
        }
        return out;
    }

    /**
     * Returns the tasks that a request without a number of tasks has for its GPUs; 0 if none follow.
     *
     * @param total GPUs in all; 0 if unset
     * @param perTask GPUs per task; 0 if unset
     */
    private static long tasksForGpus(ResourceRequest r, int total, int perTask, int nodes) {
        if (r.tasksPerGpu() > 0 && total > 0) {
            return (long) total * r.tasksPerGpu();
        }
        if (perTask > 0) {
            return total > 0 ? Math.max(1, total / perTask) : nodes;
        }
        return 0;
    }

    /** Returns the tasks that find their GPUs on one node; 0 where the request sets tasks per node or none follow. */
    private static int tasksPerNode(ResourceRequest r, int gpusPerNode, int gpusPerTask) {
        boolean follows = gpusPerNode > 0 && gpusPerTask > 0 && gpusPerNode % gpusPerTask == 0;
        return follows && r.tasksPerNode() == 0 && r.tasks() != 1 ? gpusPerNode / gpusPerTask : 0;
    }

    /**
     * Returns the devices of a node by their name.
     *
     * @param type "" for any
     */
    public static IndexSet devices(Node.Spec node, String name, String type) {
        IndexSet out = IndexSet.empty();
        for (Node.Gres g : node.gres()) {
            if (g.name().equals(name) && (type.isEmpty() || g.type().equals(type)) && g.count() > 0) {
                out = out.union(IndexSet.range(g.first(), g.first() + g.count() - 1, 1));
            }
        }
        return out;
    }
}
