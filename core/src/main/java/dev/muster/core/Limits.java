package dev.muster.core;

import dev.muster.model.JobDesc;
import dev.muster.model.JobReason;
import dev.muster.model.SlurmErrno;
import java.util.Optional;

/** A partition's limits on one job. */
public final class Limits {
    private Limits() {}

    /** Minutes the job would get in this partition; -1 for no limit. */
    public static int timeLimitMin(JobDesc desc, Partition partition) {
        int asked = desc.timing().timeLimitMin();
        if (asked != 0) {
            return asked;
        }
        int standard = partition.info().defaultTimeMin();
        return standard != 0 ? standard : partition.info().maxTimeMin();
    }

    /** The limit that the job breaks, if any. */
    static Optional<SlurmErrno> broken(JobDesc desc, Partition partition) {
        return switch (reason(desc, partition)) {
            case PARTITION_TIME_LIMIT -> Optional.of(SlurmErrno.INVALID_TIME_LIMIT);
            case PARTITION_NODE_LIMIT -> Optional.of(SlurmErrno.INVALID_NODE_COUNT);
            default -> Optional.empty();
        };
    }

    /** Why the job must wait in this partition although nodes may be free; NONE if it need not. */
    public static JobReason reason(JobDesc desc, Partition partition) {
        if (!partition.isUp()) {
            return partition.info().state().equals("INACTIVE") ? JobReason.PARTITION_INACTIVE : JobReason.PARTITION_DOWN;
        }
        int maxTime = partition.info().maxTimeMin();
        int asked = desc.timing().timeLimitMin();
        int least = desc.timing().timeMinMin() > 0 ? desc.timing().timeMinMin() : asked;
        if (maxTime >= 0 && least != 0 && (least < 0 || least > maxTime)) {
            return JobReason.PARTITION_TIME_LIMIT;
        }
        int maxNodes = partition.info().maxNodes();
        if (maxNodes >= 0 && desc.request().nodesMin() > maxNodes) {
            return JobReason.PARTITION_NODE_LIMIT;
        }
        int most = desc.request().nodesMax();
        if (most > 0 && most < partition.info().minNodes()) {
            return JobReason.PARTITION_NODE_LIMIT;
        }
        return JobReason.NONE;
    }
}
