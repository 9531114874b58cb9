package dev.muster.controller.view;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.model.api.JobMessages;
import dev.muster.model.job.JobDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

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
        List<Integer> tasks = JobEnvironment.taskCounts(job);
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
}
