package dev.muster.core.testkit;

import dev.muster.core.command.Decision;
import dev.muster.core.command.Planner;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.core.tres.GresRequest;
import dev.muster.core.tres.Licenses;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.ResourceRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The smallest planner that core works with: it starts jobs in the order of their priority, each on the first nodes
 * with room, within the limits of partitions, associations and QOS. A job that does not fit blocks the later jobs of
 * its partition. A job of a reservation gets nodes of the reservation, but none are kept free for it. The planner has
 * no index, no backfill, no preemption and no licenses: tests of these use the scheduler.
 */
public final class FirstFitPlanner implements Planner {
    private final Map<Integer, JobReason> reasons = new HashMap<>();
    private Map<Integer, Long> priorities = Map.of();

    @Override
    public List<Start> starts(State state, DecisionTime now, int most) {
        reasons.keySet().removeIf(id -> !state.jobs().has(id));
        FirstFitPass pass = new FirstFitPass(state, now, most, reasons);
        priorities = pass.priorities();
        return pass.run();
    }

    /** Tests what the job names, then the job on nodes without jobs in each of its partitions. */
    @Override
    public Optional<Decision.Rejected> infeasible(State state, JobDesc desc) {
        Optional<SlurmErrno> unknown = unknown(state, desc.request());
        if (unknown.isPresent()) {
            return unknown.map(Decision::reject);
        }
        if (state.nodes().values().stream()
                .allMatch(n -> n.spec().tmpDiskMb() < desc.request().tmpDiskMb())) {
            return Optional.of(new Decision.Rejected(
                    SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE, "Temporary disk specification can not be satisfied"));
        }
        Map<String, FreeNode> idle = FreeNode.of(state, List.of());
        boolean fits = desc.partitionList().stream()
                .flatMap(name -> state.partitions().find(name).stream())
                .anyMatch(p -> new FirstFit(state, desc, p).on(idle, Set.of()).isPresent());
        return fits ? Optional.empty() : Optional.of(Decision.reject(SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE));
    }

    /** Returns the error of a request that names a feature, node, GRES or license that the cluster does not have. */
    private Optional<SlurmErrno> unknown(State state, ResourceRequest request) {
        List<String> features = state.nodes().values().stream()
                .flatMap(n -> n.features().stream())
                .toList();
        if (!matches(request.features(), features)) {
            return Optional.of(SlurmErrno.INVALID_FEATURE);
        }
        if (!matches(request.prefer(), features)) {
            return Optional.of(SlurmErrno.INVALID_PREFER);
        }
        if (!HostList.nameSet(request.nodeList()).stream()
                .allMatch(name -> state.nodes().has(name))) {
            return Optional.of(SlurmErrno.INVALID_NODE_NAME);
        }
        if (GresRequest.of(request).perNode().stream()
                .anyMatch(i -> i.count() > 0 && !state.settings().gresTypes().contains(i.name()))) {
            return Optional.of(SlurmErrno.INVALID_GRES);
        }
        return !request.licenses().isEmpty() && Licenses.isWrong(state, request.licenses())
                ? Optional.of(SlurmErrno.INVALID_LICENSES)
                : Optional.empty();
    }

    /** Estimates a start now, or at the planned end of the first running job that leaves enough room. */
    @Override
    public Optional<Estimate> estimate(State state, DecisionTime now, JobDesc desc) {
        Partition partition = state.partitions().at(desc.firstPartition());
        List<Job> running = new ArrayList<>(
                state.jobs().values().stream().filter(Job::holdsNodes).toList());
        running.sort(Comparator.comparingLong(j -> j.run().plannedEnd()));
        for (long start = now.seconds(); ; start = running.removeFirst().run().plannedEnd()) {
            Map<String, FreeNode> nodes = FreeNode.of(state, running);
            Optional<Allocation> allocation = new FirstFit(state, desc, partition).on(nodes, Set.of());
            if (allocation.isPresent() || running.isEmpty()) {
                long at = Math.max(start, now.seconds());
                return allocation.map(a -> new Estimate(at, a.nodeNames(), a.cpus(), partition.name()));
            }
        }
    }

    @Override
    public JobReason reason(int jobId) {
        return reasons.getOrDefault(jobId, JobReason.NONE);
    }

    @Override
    public List<Preempt> preemptions() {
        return List.of();
    }

    @Override
    public List<Integer> resumes() {
        return List.of();
    }

    @Override
    public OptionalLong priority(int jobId) {
        Long priority = priorities.get(jobId);
        return priority == null ? OptionalLong.empty() : OptionalLong.of(priority);
    }

    /** Understands features that are joined by {@code &} and {@code |}, without parentheses and counts. */
    @Override
    public boolean matches(String expression, List<String> features) {
        return matchesFeatures(expression, features);
    }

    static boolean matchesFeatures(String expression, List<String> features) {
        return expression.isEmpty()
                || Stream.of(expression.split("\\|"))
                        .anyMatch(alternative -> features.containsAll(List.of(alternative.split("&"))));
    }

    @Override
    public void follow(State before, State after, Entry entry) {}

    @Override
    public void reset(State state) {
        reasons.clear();
    }
}
