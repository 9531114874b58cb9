package dev.muster.core.limits;

import dev.muster.core.options.AccountingEnforcement;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import java.util.Optional;

/**
 * The time limit of a job that sets none: MaxWall of its QOS or association where that is shorter than the partition's.
 */
public final class DefaultTimeLimit {
    private final State state;
    private final AccountRules rules;

    public DefaultTimeLimit(State state, AccountRules rules) {
        this.state = state;
        this.rules = rules;
    }

    /** Gives a job without a time limit the limit of its QOS or association, if the partition's is longer. */
    public JobDesc withDefault(JobDesc desc) {
        if (!rules.limited() || desc.timing().timeLimitMin() != 0) {
            return desc;
        }
        long maxMin = maxWallMin(desc);
        Optional<Partition> partition = state.partitions().find(desc.firstPartition());
        int standard = partition.map(p -> PartitionLimits.timeLimitMin(desc, p)).orElse(-1);
        if (maxMin < 0 || standard >= 0 && standard <= maxMin) {
            return desc;
        }
        return withLimit(desc, maxMin);
    }

    /** Returns the job with MaxWall of its first QOS as its time limit, if that QOS has one. */
    public JobDesc ofQos(JobDesc desc) {
        long maxMin = state.accounts()
                .qos(desc.charge().firstQos())
                .map(q -> LimitValues.number(q.limits(), "MaxWall"))
                .orElse(-1L);
        return maxMin < 0 ? desc : withLimit(desc, maxMin);
    }

    private static JobDesc withLimit(JobDesc desc, long minutes) {
        JobDesc.Timing t = desc.timing();
        return desc.withTiming(new JobDesc.Timing(
                (int) minutes,
                t.timeMinMin(),
                t.beginTime(),
                t.deadline(),
                t.dependency(),
                t.array(),
                t.nice(),
                t.hold(),
                t.prioritySet(),
                t.priority(),
                t.requeue(),
                t.killOnInvalidDependency(),
                t.delayBootMin(),
                t.siteFactor(),
                t.expedite()));
    }

    private long maxWallMin(JobDesc desc) {
        long ofQos = rules.rules(desc).stream()
                .mapToLong(r -> LimitValues.number(r.limits(), "MaxWall"))
                .filter(min -> min >= 0)
                .findFirst()
                .orElse(-1L);
        long own = ofQos >= 0
                ? ofQos
                : rules.assoc(desc)
                        .map(a -> LimitValues.number(a.limits(), "MaxWall"))
                        .orElse(-1L);
        long group = rules.enforces(AccountingEnforcement.Word.SAFE) ? groupWallMin(desc) : -1;
        if (own < 0) {
            return group;
        }
        if (group < 0) {
            return own;
        }
        return Math.min(own, group);
    }

    /** Returns GrpWall of the job's QOS or of its accounts; -1 if none is set. */
    private long groupWallMin(JobDesc desc) {
        long ofQos = rules.rules(desc).stream()
                .mapToLong(r -> LimitValues.number(r.limits(), "GrpWall"))
                .filter(min -> min >= 0)
                .findFirst()
                .orElse(-1L);
        return ofQos >= 0
                ? ofQos
                : rules.chain(desc).stream()
                        .mapToLong(a -> LimitValues.number(a.limits(), "GrpWall"))
                        .filter(min -> min >= 0)
                        .min()
                        .orElse(-1L);
    }
}
