package dev.muster.controller;

import dev.muster.core.Allocation;
import dev.muster.core.Billing;
import dev.muster.core.Job;
import dev.muster.core.State;
import dev.muster.core.Tres;
import dev.muster.model.IndexSet;
import dev.muster.model.ResourceRequest;
import java.util.Map;
import java.util.TreeMap;

/** TRES as Slurm prints them: {@code cpu=2,mem=4G,node=1,billing=2,gres/gpu=1}. */
final class TresText {
    private TresText() {}

    /** With what the job's partition charges for it. */
    static String allocated(State state, Job job, Allocation a) {
        String name = job.desc().partition().split(",")[0];
        return allocated(a, state.partitions().find(name).map(p -> p.info().tresBillingWeights()).orElse(""));
    }

    private static String allocated(Allocation a, String weights) {
        if (a.isEmpty()) {
            return "";
        }
        Map<String, Integer> gres = new TreeMap<>();
        for (Allocation.Share s : a.nodes()) {
            s.gres().forEach((name, devices) -> gres.merge(name, devices.count(), Integer::sum));
        }
        long billing = Billing.of(weights, a.cpus(), a.memoryMb(), a.nodes().size(), gres);
        return text(a.cpus(), a.memoryMb(), a.nodes().size(), billing, gres);
    }

    static String requested(ResourceRequest r, int cpus, int nodes, long memoryMb) {
        Map<String, Integer> gres = new TreeMap<>();
        for (Tres.Item i : Tres.gres(r.tresPerNode())) {
            gres.merge(i.name(), i.count() * nodes, Integer::sum);
        }
        for (Tres.Item i : Tres.gres(r.tresPerJob())) {
            gres.merge(i.name(), i.count(), Integer::sum);
        }
        return text(cpus, memoryMb, nodes, gres);
    }

    static String text(int cpus, long memoryMb, int nodes, Map<String, Integer> gres) {
        return text(cpus, memoryMb, nodes, cpus, gres);
    }

    private static String text(int cpus, long memoryMb, int nodes, long billing, Map<String, Integer> gres) {
        StringBuilder out = new StringBuilder("cpu=").append(cpus);
        if (memoryMb > 0) {
            out.append(",mem=").append(memory(memoryMb));
        }
        out.append(",node=").append(nodes).append(",billing=").append(billing);
        gres.forEach((name, count) -> out.append(",gres/").append(name).append('=').append(count));
        return out.toString();
    }

    static String memory(long mb) {
        return mb % 1024 == 0 ? mb / 1024 + "G" : mb + "M";
    }

    /** {@code gpu:2(IDX:0-1)}. */
    static String gresDetail(Map<String, IndexSet> gres) {
        StringBuilder out = new StringBuilder();
        gres.forEach((name, devices) -> out.append(out.isEmpty() ? "" : ",").append(name).append(':').append(devices.count())
                .append("(IDX:").append(devices.compact()).append(')'));
        return out.toString();
    }
}
