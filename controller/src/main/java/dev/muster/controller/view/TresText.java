package dev.muster.controller.view;

import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.limits.TresCounts;
import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.BurstBuffer;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.tres.SharedGpus;
import dev.muster.model.format.IndexSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** TRES as Slurm prints them: {@code cpu=2,mem=4G,node=1,billing=2,gres/gpu=1}. */
public final class TresText {
    private static final String UNITS = "MGTP";

    private TresText() {}

    /** Returns the TRES of an allocation with the billing of the job's partition. */
    static String allocated(State state, Job job, Allocation a) {
        return a.isEmpty()
                ? ""
                : text(
                        state,
                        job,
                        TresCounts.of(state, a),
                        held(state, a.memoryMb()),
                        job.run().allocation().licenses());
    }

    /** Returns the TRES that the job asks for, with their billing. */
    static String requested(State state, Job job) {
        return requested(state, job, TresCounts.asked(state, job.desc()));
    }

    /**
     * Returns the TRES of a request with the billing of the job's partition. Licenses of which any one would do are all
     * counted.
     */
    static String requested(State state, Job job, TresCounts a) {
        return text(state, job, a, asked(state, job, a), job.desc().request().licenses());
    }

    /**
     * A job that asks for no memory on a cluster that does not allocate memory may use all of a node, and so asks for
     * that.
     */
    private static long asked(State state, Job job, TresCounts a) {
        PartitionLimits.Memory memory = PartitionLimits.memory(state, job);
        boolean none = PartitionLimits.saysNoMemory(job.desc().request(), memory);
        return none && a.memoryMb() == 0 ? TresCounts.wholeNode(state, job.desc()) * a.nodes() : a.memoryMb();
    }

    /**
     * Returns the memory that a job holds in MiB: 0 on a cluster that does not allocate memory, because what it uses is
     * not taken from other jobs.
     */
    static long held(State state, long memoryMb) {
        return state.memoryConsumed() ? memoryMb : 0;
    }

    private static String text(State state, Job job, TresCounts a, long memoryMb, String licenses) {
        long billing = new TresCounts(a.cpus(), memoryMb, a.nodes(), a.gres()).billing(state, job.desc());
        return text(a.cpus(), memoryMb, a.nodes(), billing, a.gres()) + licenses(state, licenses) + buffer(state, job);
    }

    private static String buffer(State state, Job job) {
        boolean tracked = state.settings().options().accounting().buffers().contains("lua");
        long mb = tracked ? BurstBuffer.megabytes(job.desc()) : 0;
        return mb > 0 ? "," + BurstBuffer.TRES + "=" + memory(mb) : "";
    }

    /** Returns the licenses that AccountingStorageTRES names, each after a comma. */
    public static String licenses(State state, String text) {
        List<String> tracked = state.settings().options().accounting().licenses();
        StringBuilder out = new StringBuilder();
        for (LicenseRequest.Item item : tracked.isEmpty()
                ? List.<LicenseRequest.Item>of()
                : LicenseRequest.parse(text).map(LicenseRequest.Wanted::items).orElse(List.of())) {
            if (tracked.contains(item.name()) && item.count() > 0) {
                out.append(",license/").append(item.name()).append('=').append(item.count());
            }
        }
        return out.toString();
    }

    static String text(int cpus, long memoryMb, int nodes, Map<String, Integer> gres) {
        return text(cpus, memoryMb, nodes, cpus, gres);
    }

    /** Steps are charged nothing of their own, and say so where memory is not theirs either. */
    static String ofStep(int cpus, long memoryMb, int nodes, Map<String, Integer> gres) {
        StringBuilder out =
                new StringBuilder("cpu=").append(cpus).append(",mem=").append(memoryMb == 0 ? "0" : memory(memoryMb));
        return others(out.append(",node=").append(nodes), gres);
    }

    static String text(int cpus, long memoryMb, int nodes, long billing, Map<String, Integer> gres) {
        StringBuilder out = new StringBuilder("cpu=").append(cpus);
        if (memoryMb > 0) {
            out.append(",mem=").append(memory(memoryMb));
        }
        return others(out.append(",node=").append(nodes).append(",billing=").append(billing), gres);
    }

    private static String others(StringBuilder out, Map<String, Integer> gres) {
        gres.forEach(
                (name, count) -> out.append(",gres/").append(name).append('=').append(count));
        return out.toString();
    }

    static String memory(long mb) {
        int unit = 0;
        for (; mb > 0 && mb % 1024 == 0 && unit < UNITS.length() - 1; unit++) {
            mb /= 1024;
        }
        return Long.toString(mb) + UNITS.charAt(unit);
    }

    /** {@code gpu:a100:2(IDX:0-1),license(CNT:3)}: devices of a node with their types. */
    public static String gresDetail(State state, String node, Map<String, IndexSet> gres) {
        StringBuilder out = new StringBuilder();
        typed(state, node, gres)
                .forEach((name, devices) -> out.append(out.isEmpty() ? "" : ",")
                        .append(name)
                        .append(countAndPlaces(state, node, name, devices)));
        return out.toString();
    }

    private static String countAndPlaces(State state, String node, String name, IndexSet devices) {
        if (SharedGpus.isShared(name)) {
            return ":" + devices.count() + parts(state, node, name, devices);
        }
        return isCounted(state, node, name)
                ? "(CNT:" + devices.count() + ")"
                : ":" + devices.count() + "(IDX:" + devices.ranges() + ")";
    }

    /** {@code (0/100,50/100)}: of each GPU the used parts and all parts. */
    private static String parts(State state, String node, String name, IndexSet had) {
        List<dev.muster.core.state.Node.Gres> all =
                state.nodes().find(node).map(n -> n.spec().gres()).orElse(List.of());
        SharedGpus.Parts parts = SharedGpus.parts(all, name);
        List<String> out = new java.util.ArrayList<>();
        for (int g = 0; g < parts.gpus(); g++) {
            out.add(had.intersect(parts.of(g)).count() + "/" + parts.count(g));
        }
        return out.isEmpty() ? "(CNT:" + had.count() + ")" : "(" + String.join(",", out) + ")";
    }

    /** Tests whether a resource has a number and no places, as those without device files; GPUs always have places. */
    private static boolean isCounted(State state, String node, String name) {
        String plain = name.indexOf(':') < 0 ? name : name.substring(0, name.indexOf(':'));
        return !plain.equals("gpu")
                && state.nodes().find(node).map(n -> n.spec().gres()).orElse(List.of()).stream()
                        .noneMatch(g -> g.name().equals(plain) && !g.file().isEmpty());
    }

    /** {@code gpu:a100:4,nic:1}: of the whole allocation. */
    static String gresTotal(State state, Allocation a) {
        Map<String, Integer> sums = new LinkedHashMap<>();
        for (Allocation.Share s : a.nodes()) {
            typed(state, s.node(), s.gres())
                    .forEach((name, devices) -> sums.merge(name, devices.count(), Integer::sum));
        }
        StringBuilder out = new StringBuilder();
        sums.forEach((name, count) ->
                out.append(out.isEmpty() ? "" : ",").append(name).append(':').append(count));
        return out.toString();
    }

    private static Map<String, IndexSet> typed(State state, String node, Map<String, IndexSet> gres) {
        // in the order of the node's line
        Map<String, IndexSet> out = new LinkedHashMap<>();
        List<Node.Gres> known =
                state.nodes().find(node).map(n -> n.spec().gres()).orElse(List.of());
        gres.forEach((name, devices) -> {
            IndexSet rest = devices;
            for (Node.Gres g : known) {
                if (g.name().equals(name) && !g.type().isEmpty() && g.count() > 0) {
                    IndexSet ofType = devices.intersect(IndexSet.range(g.first(), g.first() + g.count() - 1, 1));
                    if (!ofType.isEmpty()) {
                        out.merge(name + ":" + g.type(), ofType, IndexSet::union);
                        rest = rest.minus(ofType);
                    }
                }
            }
            if (!rest.isEmpty()) {
                out.put(name, rest);
            }
        });
        return out;
    }
}
