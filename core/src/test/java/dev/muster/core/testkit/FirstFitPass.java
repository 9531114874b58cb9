package dev.muster.core.testkit;

import dev.muster.core.command.Planner;
import dev.muster.core.limits.AccountRules;
import dev.muster.core.limits.AccountUse;
import dev.muster.core.limits.LimitCache;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.limits.Priorities;
import dev.muster.core.node.CompleteWait;
import dev.muster.core.options.AccountingEnforcement;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** One look of {@link FirstFitPlanner} at the queue: starts what fits and notes why the other jobs wait. */
final class FirstFitPass {
    private final State state;
    private final int most;
    private final Map<Integer, JobReason> reasons;
    private final Map<Integer, Long> priorities = new HashMap<>();
    private final Map<String, FreeNode> free;
    private final List<Planner.Start> starts = new ArrayList<>();
    /** Partitions in which a job waits for resources. */
    private final Set<String> blocked = new HashSet<>();

    private final Set<String> completing;
    private final boolean limited;
    private final AccountUse use = new AccountUse();
    private final LimitCache limits = new LimitCache();

    /** @param most number of starts at most */
    FirstFitPass(State state, DecisionTime now, int most, Map<Integer, JobReason> reasons) {
        this.state = state;
        this.most = most;
        this.reasons = reasons;
        free = FreeNode.usable(state);
        if (Priorities.isActive(state.settings())) {
            Priorities rules = new Priorities(state, now.seconds());
            state.jobs().values().stream()
                    .filter(FirstFitPass::mayStart)
                    .forEach(j -> priorities.put(j.id(), rules.of(j)));
        }
        completing = CompleteWait.partitions(state, now);
        AccountRules rules = new AccountRules(state);
        limited = rules.enforces(AccountingEnforcement.Word.LIMITS);
        use.reset(state);
        limits.at(state, rules, use, now.seconds());
    }

    /** Returns the computed priorities of jobs that may start; empty with priority/basic. */
    Map<Integer, Long> priorities() {
        return priorities;
    }

    List<Planner.Start> run() {
        state.jobs().values().stream()
                .filter(FirstFitPass::mayStart)
                .sorted(Comparator.comparingInt(
                                (Job j) -> -partitions(j).getFirst().info().priorityTier())
                        .thenComparingLong(j -> -priorities.getOrDefault(j.id(), j.priority()))
                        .thenComparingInt(Job::id))
                .forEach(this::consider);
        return starts;
    }

    private static boolean mayStart(Job job) {
        return job.isPending() && job.eligibleTime() > 0 && !job.isHeld();
    }

    /** Returns the partitions that the job names, the highest tier first. */
    private List<Partition> partitions(Job job) {
        return job.desc().partitionList().stream()
                .flatMap(name -> state.partitions().find(name).stream())
                .sorted(Comparator.comparingInt(p -> -p.info().priorityTier()))
                .toList();
    }

    private void consider(Job job) {
        if (job.isHet()) {
            List<Job> components = state.members(job);
            if (job.isHetLeader()
                    && components.stream().allMatch(c -> state.buffers().blocks(c.id()) == JobReason.NONE)) {
                startTogether(components);
            }
        } else if (state.buffers().blocks(job.id()) != JobReason.NONE) {
            reasons.put(job.id(), state.buffers().blocks(job.id()));
        } else if (job.isArrayRecord()) {
            startTasks(job);
        } else {
            start(job, -1);
        }
    }

    private void startTasks(Job record) {
        int task = record.array().pending().first();
        for (int room = tasksToStart(record); task >= 0; room--) {
            if (room <= 0) {
                reasons.put(record.id(), JobReason.JOB_ARRAY_TASK_LIMIT);
                return;
            }
            if (!start(record, task)) {
                return;
            }
            task = record.array().pending().next(task + 1);
        }
    }

    /** Returns how many more tasks of the array may run by the limit behind the {@code %} of {@code --array}. */
    private int tasksToStart(Job record) {
        int limit = record.array().maxRunning();
        List<Job> tasks = state.tasksOf(record.array().jobId());
        return limit == 0
                ? Integer.MAX_VALUE
                : limit - (int) tasks.stream().filter(Job::holdsNodes).count();
    }

    /** Starts the job or one task of it in the first of its partitions with room; notes a reason if none has. */
    private boolean start(Job job, int task) {
        JobReason reason = JobReason.NONE;
        for (Partition partition : partitions(job)) {
            for (Job as : PartitionLimits.under(job, partition, state, j -> limit(j, partition) == JobReason.NONE)) {
                JobReason why = startIn(partition, as, task);
                if (why == JobReason.NONE) {
                    return true;
                }
                reason = reason == JobReason.NONE ? why : reason;
            }
        }
        reasons.put(job.id(), reason);
        return false;
    }

    private JobReason startIn(Partition partition, Job job, int task) {
        JobReason limit = limit(job, partition);
        if (limit != JobReason.NONE) {
            return limit;
        }
        if (completing.contains(partition.name())) {
            return reasons.getOrDefault(job.id(), JobReason.PRIORITY);
        }
        if (blocked.contains(partition.name()) || starts.size() >= most) {
            return JobReason.PRIORITY;
        }
        Optional<Allocation> allocation = place(job, partition, free);
        if (allocation.isEmpty()) {
            blocked.add(partition.name());
            return JobReason.RESOURCES;
        }
        JobReason tooMuch = isLimited(job)
                ? limits.blocks(job.desc(), allocation.get(), PartitionLimits.runMin(job.desc(), partition))
                : JobReason.NONE;
        if (tooMuch == JobReason.NONE) {
            add(job, task, partition, allocation.get());
        }
        return tooMuch;
    }

    private boolean isLimited(Job job) {
        return limited && !job.has(JobFlag.EXPEDITING);
    }

    /** Returns the limit of the partition, association or QOS that keeps the job waiting; NONE if none does. */
    private JobReason limit(Job job, Partition partition) {
        JobReason reason = PartitionLimits.reason(job.desc(), partition, state);
        return reason == JobReason.NONE && isLimited(job)
                ? limits.blocks(job.id(), job.desc(), PartitionLimits.runMin(job.desc(), partition))
                : reason;
    }

    private void add(Job job, int task, Partition partition, Allocation allocation) {
        allocation.nodes().forEach(s -> free.get(s.node()).take(s));
        int limitMin = PartitionLimits.runMin(job.desc(), partition);
        count(job, partition, allocation, 1);
        String qos = job.desc().charge().firstQos();
        starts.add(new Planner.Start(job.id(), task, allocation, limitMin, partition.name(), "", qos));
    }

    private Optional<Allocation> place(Job job, Partition partition, Map<String, FreeNode> nodes) {
        Set<String> inUse = isLimited(job) ? limits.nodesInUse(job.desc()).orElse(Set.of()) : Set.of();
        return new FirstFit(state, job.desc(), partition).on(nodes, inUse);
    }

    /** Starts all components of a heterogeneous job on nodes of their own, each in its first partition, or none. */
    private void startTogether(List<Job> components) {
        Map<String, FreeNode> left = FreeNode.usable(state);
        starts.forEach(s ->
                s.allocation().nodes().forEach(share -> left.get(share.node()).take(share)));
        List<Allocation> allocations = new ArrayList<>();
        JobReason reason = JobReason.NONE;
        for (Job job : components) {
            Partition partition = partitions(job).getFirst();
            reason = limit(job, partition);
            Optional<Allocation> allocation =
                    mayStart(job) && !completing.contains(partition.name()) && reason == JobReason.NONE
                            ? place(job, partition, left)
                            : Optional.empty();
            if (allocation.isEmpty()) {
                reason = reason == JobReason.NONE ? JobReason.RESOURCES : reason;
                break;
            }
            left.keySet().removeAll(allocation.get().nodeNames());
            count(job, partition, allocation.get(), 1);
            allocations.add(allocation.get());
        }
        for (int i = 0; i < allocations.size(); i++) {
            count(components.get(i), partitions(components.get(i)).getFirst(), allocations.get(i), -1);
        }
        for (int i = 0; i < components.size(); i++) {
            Job job = components.get(i);
            if (reason == JobReason.NONE) {
                add(job, -1, partitions(job).getFirst(), allocations.get(i));
            } else {
                reasons.put(job.id(), reason);
            }
        }
    }

    /** @param sign 1 for a start, -1 to take a start back */
    private void count(Job job, Partition partition, Allocation allocation, int sign) {
        use.started(state, job.desc(), allocation, PartitionLimits.runMin(job.desc(), partition), sign);
    }
}
