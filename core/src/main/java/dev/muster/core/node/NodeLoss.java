package dev.muster.core.node;

import dev.muster.core.command.Decision;
import dev.muster.core.job.ExpeditedRequeue;
import dev.muster.core.job.RequeueExit;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.model.node.NodeMessages;
import java.util.List;
import java.util.Map;

/**
 * A node is gone from its jobs, or has to let them go: their steps' parts there are over, and they are requeued, go on
 * without it or fail.
 */
final class NodeLoss {
    private final State state;
    private final DecisionTime now;
    private final List<Change> changes;
    private final List<Decision.Direct> direct;
    /** Batch jobs go back to the queue, whatever they say of that. */
    private boolean requeueAll;

    /**
     * @param changes receives the changes that a lost node entails
     * @param direct receives the messages to nodes
     */
    NodeLoss(State state, DecisionTime now, List<Change> changes, List<Decision.Direct> direct) {
        this.state = state;
        this.now = now;
        this.changes = changes;
        this.direct = direct;
    }

    /** Takes down a node that was started, or rebooted, and has not come in time. */
    void notResumed(Node node, String reason) {
        if (!node.wanted().isEmpty()) {
            changes.add(new Change.NodeFeaturesChanged(node.name(), node.changeable(), node.active(), List.of()));
        }
        requeueAll = state.settings().options().nodes().requeuesNotResumed();
        down(
                node.with(Node.Flag.POWERING_UP, false)
                        .with(Node.Flag.REBOOT_ISSUED, false)
                        .with(Node.Flag.NEXT_DOWN, false)
                        .with(Node.Flag.NEXT_RESUME, false)
                        .with(Node.Flag.DRAINED_FOR_THIS, false),
                reason,
                state.settings().slurmUid());
    }

    void down(Node node, String reason, int uid) {
        // what is there already stays: it may be an administrator's
        String old = node.reason();
        boolean keep = !old.isEmpty() && (!old.equals(reason) || reason.equals(NodeRules.NOT_RESPONDING));
        String newReason;
        if (!keep) {
            newReason = reason;
        } else if (old.contains(reason)) {
            newReason = old;
        } else {
            newReason = old + " : " + reason;
        }

        changes.add(new Change.NodeStateChanged(
                node.name(),
                node.with(Node.Flag.DOWN, true).with(Node.Flag.UNKNOWN, false).flags(),
                newReason,
                keep ? node.reasonUid() : uid,
                keep ? node.reasonTime() : now.seconds()));
        for (int jobId : node.jobs()) {
            Job job = state.jobs().at(jobId);
            // the node may well be there: taken down by hand, its part of the job is released and must not run on
            direct.add(new Decision.Direct(node.name(), new NodeMessages.EndJob(jobId, job.attempt(), 0, "NodeFail")));
            if (job.has(JobFlag.COMPLETING) || job.run().allocation().isLeaving(node.name())) {
                partsLost(job, node.name(), "NodeFail");
                if (ExpeditedRequeue.isJudged(job)) {
                    changes.addAll(ExpeditedRequeue.first(job, now));
                }
                changes.add(new Change.NodeReleased(jobId, job.attempt(), node.name()));
            } else {
                jobLostNode(job, node.name());
            }
        }
    }

    /** Takes the jobs from a node that goes down in order. */
    void freed(Node node) {
        for (int jobId : node.jobs()) {
            Job job = state.jobs().at(jobId);
            direct.add(new Decision.Direct(node.name(), new NodeMessages.EndJob(jobId, job.attempt(), 0, "NodeFail")));
            if (!job.has(JobFlag.COMPLETING) && !job.run().allocation().isLeaving(node.name())) {
                jobLostNode(job, node.name());
            } else {
                partsLost(job, node.name(), "NodeFail");
                changes.add(new Change.NodeReleased(jobId, job.attempt(), node.name()));
            }
        }
    }

    /** Ends a running job that lost one of its nodes: requeued or NODE_FAIL; its other nodes are told to end it. */
    void jobLostNode(Job job, String node) {
        partsLost(job, node, "NodeFail");
        boolean requeues = ExpeditedRequeue.isAsked(job)
                || job.desc().kind() == JobDesc.Kind.BATCH && (requeueAll || job.mayRequeue(state.settings()));
        if (requeues || !job.desc().extras().noKill() || !goesOnWithout(job, node)) {
            changes.add(new Change.JobFailedNode(job.id(), node));
            if (ExpeditedRequeue.isAsked(job)) {
                changes.addAll(ExpeditedRequeue.lost(job, now));
            } else if (requeues) {
                changes.addAll(RequeueExit.later(state, job, now));
            } else {
                changes.add(new Change.JobEnded(
                        job.id(), JobState.NODE_FAIL, JobReason.NODE_DOWN, "", ExitStatus.exited(1), now.seconds()));
            }
        }
        changes.add(new Change.NodeReleased(job.id(), job.attempt(), node));
    }

    /** --no-kill: the job keeps its other nodes, unless its script ran here. */
    private static boolean goesOnWithout(Job job, String node) {
        return job.run().allocation().nodes().stream()
                        .anyMatch(s -> !s.released() && !s.node().equals(node))
                && job.step(Step.BATCH).stream()
                        .flatMap(s -> s.nodes().stream())
                        .noneMatch(p -> p.node().equals(node));
    }

    /** Steps that still had a part on the node: nothing of it will be heard any more. */
    void partsLost(Job job, String node, String reason) {
        for (Step step : job.run().steps()) {
            if (step.state() == Step.State.RUNNING
                    && step.on(node).filter(p -> !p.done()).isPresent()) {
                ExitStatus killed = step.id() == Step.EXTERN ? ExitStatus.NONE : ExitStatus.signaled(9);
                changes.add(new Change.StepPartEnded(
                        job.id(), step.id(), node, killed, Map.of(), reason, NodeRules.NO_USAGE));
                step.allDone();
                if (step.with(node, p -> p.ended(killed, Map.of(), reason)).allDone()) {
                    changes.add(new Change.StepEnded(job.id(), step.id(), now.seconds()));
                }
            }
        }
    }
}
