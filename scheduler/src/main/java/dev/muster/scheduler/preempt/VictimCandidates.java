package dev.muster.scheduler.preempt;

import dev.muster.core.state.Job;
import java.util.List;

/** Jobs that may give way to one kind of preemptor, with what {@link Preemptor} found out about each. */
final class VictimCandidates {
    /** Possible victims in the order in which they go; of some {@link Preemptor#mayGo} says no. */
    final List<PreemptableJobs.PreemptableJob> candidates;
    /** Jobs that go already. */
    final List<Job> ending;
    /**
     * Whether each candidate that was looked up may be preempted: {@link Preemptor#MAY} or {@link Preemptor#MAY_NOT}; 0
     * for the others.
     */
    final byte[] verdicts;

    VictimCandidates(List<PreemptableJobs.PreemptableJob> candidates, List<Job> ending) {
        this.candidates = candidates;
        this.ending = ending;
        this.verdicts = new byte[candidates.size()];
    }
}
