package dev.muster.scheduler.preempt;

import dev.muster.model.job.JobDesc;
import dev.muster.scheduler.request.ResourceNeed;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Priorities up to which preemption freed too little in this pass, by partition and QOS, for any need or for one: no
 * job of such a priority needs another try. Called by {@link Preemptor}.
 */
final class FailedPreemptors {
    /** Highest priority for which no job is a victim, by partition and QOS. */
    private final Map<PreemptorGroup, Long> withoutVictim = new HashMap<>();
    /** Highest priority whose need does not fit even without all victims, by partition, QOS and need. */
    private final Map<PreemptorGroup, Long> withoutRoom = new HashMap<>();

    /** @param need empty for any */
    private record PreemptorGroup(String partition, String qos, Optional<NeedIdentity> need) {}

    /** Needs are one object each. */
    private record NeedIdentity(ResourceNeed need) {
        @Override
        public boolean equals(Object o) {
            return o instanceof NeedIdentity s && s.need == need;
        }

        @Override
        public int hashCode() {
            return need.limitMin() * 31 + need.tasks();
        }
    }

    /** Notes that no job is a victim of this one. */
    void addWithoutVictim(JobDesc preemptor, ResourceNeed need, long priority) {
        withoutVictim.merge(ofAnyNeed(preemptor, need), priority, Math::max);
    }

    /** Notes that the job has no room even without all victims. */
    void addWithoutRoom(JobDesc preemptor, ResourceNeed need, long priority) {
        withoutRoom.merge(ofNeed(preemptor, need), priority, Math::max);
    }

    /** Tests whether a try of such a job with this priority is known to fail. */
    boolean has(JobDesc preemptor, ResourceNeed need, long priority) {
        return withoutVictim.getOrDefault(ofAnyNeed(preemptor, need), Long.MIN_VALUE) >= priority
                || withoutRoom.getOrDefault(ofNeed(preemptor, need), Long.MIN_VALUE) >= priority;
    }

    private static PreemptorGroup ofAnyNeed(JobDesc preemptor, ResourceNeed need) {
        return new PreemptorGroup(need.partition(), preemptor.charge().firstQos(), Optional.empty());
    }

    private static PreemptorGroup ofNeed(JobDesc preemptor, ResourceNeed need) {
        return new PreemptorGroup(need.partition(), preemptor.charge().firstQos(), Optional.of(new NeedIdentity(need)));
    }
}
