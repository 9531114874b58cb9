package dev.muster.core.index;

import dev.muster.core.state.Change;
import java.util.List;

/** Lists the jobs and nodes that a record is about: what indexes must look at after it was applied. */
public final class AffectedEntities {
    private static final List<Integer> NONE = List.of();

    private AffectedEntities() {}

    public static List<Integer> jobs(Change change) {
        return switch (change) {
            case Change.JobSubmitted c -> List.of(c.job().id());
            case Change.ArrayTaskSplit c ->
                c.jobId() == c.arrayJobId() ? List.of(c.jobId()) : List.of(c.arrayJobId(), c.jobId());
            case Change.JobEligible c -> List.of(c.jobId());
            case Change.DependenciesChanged c -> List.of(c.jobId());
            case Change.PriorityChanged c -> List.of(c.jobId());
            case Change.AccrualChanged c -> List.of(c.jobId());
            case Change.DescriptionChanged c -> List.of(c.jobId());
            case Change.ArrayLimitChanged c -> List.of(c.jobId());
            case Change.ControllerPrologDone c -> List.of(c.jobId());
            case Change.JobStarted c -> List.of(c.jobId());
            case Change.PrologDone c -> List.of(c.jobId());
            case Change.LimitChanged c -> List.of(c.jobId());
            case Change.JobShrunk c -> List.of(c.jobId());
            case Change.JobMemoryLowered c -> List.of(c.jobId());
            case Change.StepStarted c -> List.of(c.jobId());
            case Change.StepQueued c -> List.of(c.jobId());
            case Change.StepLaunched c -> List.of(c.jobId());
            case Change.StepPartEnded c -> List.of(c.jobId());
            case Change.StepEnding c -> List.of(c.jobId());
            case Change.StepLimitChanged c -> List.of(c.jobId());
            case Change.StepEnded c -> List.of(c.jobId());
            case Change.JobEnded c -> List.of(c.jobId());
            case Change.PendingJobEnded c -> List.of(c.jobId());
            case Change.NodeReleased c -> List.of(c.jobId());
            case Change.JobRequeued c -> List.of(c.jobId());
            case Change.JobFlagged c -> List.of(c.jobId());
            case Change.JobFailedNode c -> List.of(c.jobId());
            case Change.JobSuspended c -> List.of(c.jobId());
            case Change.JobStopped c -> List.of(c.jobId());
            case Change.JobResumed c -> List.of(c.jobId());
            case Change.JobPreempted c -> List.of(c.jobId());
            case Change.JobPurged c -> List.of(c.jobId());
            case Change.JobRestored c -> List.of(c.job().id());
            case Change.ReservationLost c -> List.of(c.jobId());
            case Change.BufferChanged c -> List.of(c.buffer().jobId());
            case Change.PoolsChanged c -> NONE;
            case Change.ReservationChanged c -> NONE;
            case Change.CrontabChanged c -> NONE;
            case Change.TriggerSet c -> NONE;
            case Change.TriggerCleared c -> NONE;
            case Change.TriggerFired c -> NONE;
            case Change.UsageCharged c -> NONE;
            case Change.ReservationRemoved c -> NONE;
            case Change.ConfigApplied c -> NONE;
            case Change.PolicyChanged c -> NONE;
            case Change.JobIdsReserved c -> NONE;
            case Change.BlobStored c -> NONE;
            case Change.Answered c -> NONE;
            case Change.TimePassed c -> NONE;
            case Change.AnswersForgotten c -> NONE;
            case Change.NodeRegistered c -> NONE;
            case Change.NodeStateChanged c -> NONE;
            case Change.NodeTextsChanged c -> NONE;
            case Change.NodeMarked c -> NONE;
            case Change.NodePowerActionChosen c -> NONE;
            case Change.OptionsChanged c -> NONE;
            case Change.NodeFeaturesChanged c -> NONE;
            case Change.NodeAdded c -> NONE;
            case Change.NodeRemoved c -> NONE;
            case Change.NodeSpecChanged c -> NONE;
            case Change.PartitionChanged c -> NONE;
            case Change.PartitionRemoved c -> NONE;
            case Change.NodeRestored c -> NONE;
            case Change.PartitionRestored c -> NONE;
            case Change.AnswerRestored c -> NONE;
            case Change.ClusterRestored c -> NONE;
        };
    }

    /** Returns the node whose own state changed, "" if none; what jobs hold of nodes follows from {@link #jobs}. */
    public static String node(Change change) {
        return switch (change) {
            case Change.NodeRegistered c -> c.node();
            case Change.NodeFeaturesChanged c -> c.node();
            case Change.NodeStateChanged c -> c.node();
            case Change.NodeSpecChanged c -> c.node();
            case Change.NodeTextsChanged c -> c.node();
            default -> "";
        };
    }
}
