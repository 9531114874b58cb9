package dev.muster.core.node;

import dev.muster.core.command.Decision;
import dev.muster.core.command.Requests;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Steps that began while slurmctld was away: decided by the same rules on the job's first node, and made known here by
 * each of their nodes.
 */
public final class ManagedSteps {
    private static final String NOT_REACHED = "NodeUnreachable";

    private final State state;
    private final DecisionTime now;
    private final List<Change> changes = new ArrayList<>();
    private final List<Decision.Direct> direct = new ArrayList<>();

    ManagedSteps(State state, DecisionTime now) {
        this.state = state;
        this.now = now;
    }

    /** Tests whether the job's first node, or that of its first component, is told what it needs to decide on steps. */
    public static boolean isManaged(Job job) {
        return job.desc().extras().stepMgr()
                && job.state().isActive()
                && !job.run().allocation().isEmpty();
    }

    /**
     * Returns the step as the job's step manager reports it: each part of it has been begun already, or is not begun
     * any more.
     */
    public static Bytes written(Step step) {
        return Bytes.of(Codec.encode(new Step(
                step.id(),
                step.desc(),
                "",
                step.nodes().stream().map(Step.Part::started).toList(),
                step.state(),
                step.startTime(),
                0,
                step.ioToken(),
                "",
                step.het(),
                step.ports())));
    }

    Decision told(Job job, String node, NodeMessages.StepManaged m) {
        Step step = Codec.decode(m.step().toArray(), Step.class);
        Optional<Step> known = job.step(step.id());
        if (known.isPresent() && known.get().ioToken().equals(step.ioToken())) {
            missed(job, known.get(), m.missed());
        } else if (job.steps(step.number()).stream().anyMatch(s -> !s.ioToken().equals(step.ioToken()))) {
            // decided here at the same time, before either side knew of the other
            direct.add(new Decision.Direct(
                    node, new NodeMessages.EndStep(job.id(), job.attempt(), step.id(), 0, "Revoked")));
        } else if (isThere(job) && step.isAsked() && !step.nodes().isEmpty()) {
            adopt(job, step, m);
        }
        return Decision.of(changes, "", direct);
    }

    /**
     * Tests whether the job takes reports of its steps. A job that has ended and has something left on its nodes does:
     * later reports tell what ran there.
     */
    private static boolean isThere(Job job) {
        return job.state().isActive() || job.has(JobFlag.COMPLETING) && job.state() != JobState.PENDING;
    }

    private void adopt(Job job, Step step, NodeMessages.StepManaged m) {
        // an earlier copy of the request came here, and its answer was lost: no srun serves that step
        Requests.answered(state, m.requestId(), m.uid())
                .map(a -> Integer.parseInt(a.text()))
                .filter(id -> id != step.number())
                .ifPresent(id -> state.members(job)
                        .forEach(j -> j.steps(id).stream()
                                .filter(s -> s.state() == Step.State.RUNNING
                                        && s.ending().isEmpty())
                                .forEach(s -> changes.add(new Change.StepEnding(j.id(), s.id(), "Revoked", true)))));
        changes.add(new Change.StepStarted(job.id(), step));
        missed(job, step, m.missed());
        Requests.remember(changes, m.requestId(), m.uid(), Bytes.of(Integer.toString(step.number())));
    }

    private void missed(Job job, Step step, List<String> nodes) {
        Step after = step;
        for (String node : nodes) {
            Optional<Step.Part> part = after.nodes().stream()
                    .filter(p -> p.node().equals(node) && !p.done())
                    .findFirst();
            if (part.isPresent()) {
                Map<String, ExitStatus> exits = new TreeMap<>();
                part.get().tasks().forEach(rank -> exits.put(Integer.toString(rank), ExitStatus.signaled(9)));
                changes.add(new Change.StepPartEnded(
                        job.id(), step.id(), node, ExitStatus.signaled(9), exits, NOT_REACHED, NodeRules.NO_USAGE));
                after = after.with(node, p -> p.ended(ExitStatus.signaled(9), exits, NOT_REACHED));
            }
        }
        if (after != step && after.allDone()) {
            changes.add(new Change.StepEnded(job.id(), step.id(), now.seconds()));
        }
    }
}
