package dev.muster.controller.view;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.tres.ImexChannels;
import dev.muster.model.api.JobMessages;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An allocation as srun and salloc need it. */
public final class AllocationView {
    private AllocationView() {}

    /** @param address where a node is spoken to */
    public static JobMessages.Allocation of(
            State state,
            Function<Node, String> address,
            Job job,
            String reason,
            boolean ready,
            long version,
            List<String> said) {
        List<JobMessages.NodeShare> shares = new ArrayList<>();
        List<Integer> tasks = TasksPerNode.of(job);
        int i = 0;
        for (Allocation.Share s : job.run().allocation().nodes()) {
            shares.add(share(
                    state,
                    address,
                    s.node(),
                    s.cpus(),
                    s.memoryMb(),
                    TresText.gresDetail(state, s.node(), s.gres()),
                    tasks.get(i++),
                    List.of(),
                    usable(job, s)));
        }
        List<String> environment = job.run().allocation().isEmpty()
                ? List.of()
                : JobEnvironment.ofAllocation(state, job).entrySet().stream()
                        .map(e -> e.getKey() + "=" + e.getValue())
                        .toList();
        JobDesc d = job.desc();
        return new JobMessages.Allocation(
                job.id(),
                job.state().name(),
                reason,
                ready,
                version,
                job.run().allocation().isEmpty() ? "" : job.run().allocation().hostList(),
                shares.size(),
                d.partition(),
                d.charge().account(),
                d.charge().qos(),
                d.name(),
                d.owner().uid(),
                d.owner().gid(),
                d.owner().user(),
                job.run().startTime(),
                job.run().endTime(),
                job.run().limitMin(),
                shares,
                environment,
                job.run().exit(),
                d.files().workDir().text(),
                job.het().members(),
                said);
    }

    private static int usable(Job job, Allocation.Share s) {
        return s.usableCpus(job.desc().request().threadsUsed());
    }

    /** @param address where a node is spoken to */
    public static JobMessages.NodeShare share(
            State state,
            Function<Node, String> address,
            String name,
            int cpus,
            long memoryMb,
            String gres,
            int tasks,
            List<Integer> ids,
            int usableCpus) {
        Optional<Node> node = state.nodes().find(name);
        return new JobMessages.NodeShare(
                name,
                node.map(address).orElse(name),
                node.map(n -> n.spec().port()).orElse(0),
                cpus,
                memoryMb,
                gres,
                tasks,
                ids,
                usableCpus);
    }

    /** Returns the lines of an allocation: nodes with the same cores, memory and devices share one. */
    static List<JobMessages.NodeDetail> details(State state, Allocation a) {
        List<JobMessages.NodeDetail> out = new ArrayList<>();
        List<String> names = new ArrayList<>();
        Allocation.@Nullable Share last = null;
        for (Allocation.Share s : a.nodes()) {
            if (last != null && (a.channels().size() >= 2 || !areAlike(state, last, s))) {
                out.add(detail(state, names, last, a));
                names.clear();
            }
            names.add(s.node());
            last = s;
        }
        if (last != null) {
            out.add(detail(state, names, last, a));
        }
        return out;
    }

    private static boolean areAlike(State state, Allocation.Share a, Allocation.Share b) {
        return a.cores().equals(b.cores())
                && a.memoryMb() == b.memoryMb()
                && a.gres().equals(b.gres())
                && TresText.gresDetail(state, a.node(), a.gres())
                        .equals(TresText.gresDetail(state, b.node(), b.gres()));
    }

    private static JobMessages.NodeDetail detail(State state, List<String> names, Allocation.Share s, Allocation of) {
        int perUnit = LaunchMessages.perUnit(state, s.node(), s.cores(), s.cpus());
        IndexSet cpus = IndexSet.empty();
        for (int core = s.cores().first(); core >= 0; core = s.cores().next(core + 1)) {
            for (int t = 0; t < perUnit; t++) {
                cpus = cpus.with(core * perUnit + t);
            }
        }
        // a deleted node is still named by jobs that ran on it
        Optional<Node.Spec> spec = state.nodes().find(s.node()).map(Node::spec);
        int sockets = spec.map(Node.Spec::sockets).orElse(1);
        int coresPerSocket =
                spec.map(Node.Spec::coresPerSocket).orElse(s.cores().count());
        int perCore = Math.max(1, spec.map(Node.Spec::units).orElse(1) / Math.max(1, sockets * coresPerSocket));
        IndexSet cores = IndexSet.empty();
        for (int unit = s.cores().first(); unit >= 0; unit = s.cores().next(unit + 1)) {
            cores = cores.with(unit / perCore);
        }
        return new JobMessages.NodeDetail(
                HostList.of(names).compressed(),
                cpus.ranges(),
                TresText.held(state, s.memoryMb()),
                TresText.gresDetail(state, s.node(), s.gres()),
                sockets,
                coresPerSocket,
                cores.ranges(),
                ImexChannels.on(of, s.node()).map(n -> n + 1).orElse(0));
    }
}
