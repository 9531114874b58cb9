package dev.muster.controller.view;

import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.BurstBuffer;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.scheduler.Scheduler;
import dev.muster.scheduler.queue.UnavailableNodes;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Reasons why jobs wait or how they ended: the reason's word, and the sentence that goes with it. */
final class JobReasons {
    /**
     * All properties of a job that decide which reservations keep it from its nodes; many jobs of a queue share them.
     */
    private record ReservedFrom(String partition, int uid, JobDesc.Charge charge, int limitMin) {}

    private final State state;
    private final Scheduler planner;
    private final long now;
    private final Map<ReservedFrom, Boolean> allReserved = new HashMap<>();

    /** @param now seconds since 1970 */
    JobReasons(State state, Scheduler planner, long now) {
        this.state = state;
        this.planner = planner;
        this.now = now;
    }

    /** Returns why a job waits or how it ended, as squeue's REASON shows it. */
    JobReason of(Job job) {
        if (job.state() != JobState.PENDING || job.reason() != JobReason.NONE) {
            return job.reason();
        }
        JobReason buffer = job.eligibleTime() > 0 ? state.buffers().blocks(job.id()) : JobReason.NONE;
        JobReason reason = buffer != JobReason.NONE ? buffer : planner.reason(job.id());
        return reason != JobReason.REQ_NODE_NOT_AVAIL
                        && unavailable(job, reason).startsWith(UnavailableNodes.WORD)
                ? JobReason.REQ_NODE_NOT_AVAIL
                : reason;
    }

    /** Returns the sentence for a job that waits for unavailable or reserved nodes; "" for other jobs. */
    private String unavailable(Job job, JobReason reason) {
        if (job.state() != JobState.PENDING) {
            return "";
        }
        return switch (reason) {
            case RESOURCES, REQ_NODE_NOT_AVAIL -> planner.unavailable().words(state, job.desc(), now);
            // its turn alone does not help a job that needs nodes that are down or reserved
            case PRIORITY -> {
                String missing = planner.unavailable().missing(state, job.desc());
                yield missing.isEmpty() && areAllReserved(job.desc()) ? UnavailableNodes.MAINTENANCE : missing;
            }
            case QOS_NOT_ALLOWED, ACCOUNT_NOT_ALLOWED ->
                PartitionLimits.notAdmitted(job.desc(), state, reason == JobReason.QOS_NOT_ALLOWED);
            default -> "";
        };
    }

    private boolean areAllReserved(JobDesc desc) {
        return state.reservations().size() > 0
                && allReserved.computeIfAbsent(
                        new ReservedFrom(
                                desc.partition(),
                                desc.owner().uid(),
                                desc.charge(),
                                desc.timing().timeLimitMin()),
                        key -> planner.unavailable().areAllReserved(state, desc, now));
    }

    /** Returns the sentence that squeue shows beyond the reason's word; "" for none. */
    private String text(Job job) {
        Optional<BurstBuffer> buffer = state.buffers().byJob().find(job.id());
        String words = buffer.map(BurstBuffer::words).orElse("");
        if (!words.isEmpty()) {
            return words;
        }
        if (job.has(JobFlag.STAGE_OUT)) {
            return "burst_buffer/lua: Stage-out in progress";
        }
        if (job.state() == JobState.CANCELLED) {
            return "";
        }
        if (job.reasonText().isEmpty()) {
            return unavailable(job, of(job));
        }
        return job.reasonText();
    }

    /** Returns one text for several tasks, as squeue joins them: each of their texts once. */
    String text(Job job, List<Job> others) {
        if (others.isEmpty()) {
            return text(job);
        }
        Set<String> words = new LinkedHashSet<>();
        for (int i = -1; i < others.size(); i++) {
            Job j = i < 0 ? job : others.get(i);
            String text = text(j);
            words.add(text.isEmpty() ? wordOrNone(of(j)) : text);
        }
        return words.size() == 1 ? text(job) : String.join(",", words);
    }

    private static String wordOrNone(JobReason reason) {
        return reason == JobReason.NONE ? "None" : reason.word();
    }
}
