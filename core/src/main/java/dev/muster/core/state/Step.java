package dev.muster.core.state;

import dev.muster.model.format.IndexSet;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.StepDesc;
import dev.muster.model.job.StepId;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A step of a running job, or a component of a heterogeneous step in it.
 *
 * @param id as in {@link StepId}, or {@link #BATCH} or {@link #EXTERN}
 * @param desc as asked for, without its environment
 * @param envHash blob of the environment
 * @param nodes its parts, in task order; none while it is queued
 * @param ending a reason it was told to end for, "" if it was not
 * @param ports of MpiParams that the step has for itself on its nodes
 * @param het jobs that the step runs in, in the order of its ranks, where it runs in several components of a
 *     heterogeneous job
 */
public record Step(
        int id,
        StepDesc desc,
        String envHash,
        List<Part> nodes,
        State state,
        long startTime,
        long endTime,
        String ioToken,
        String ending,
        List<Integer> het,
        IndexSet ports) {
    public Step {
        nodes = ByNode.of(nodes, Part::node);
    }

    public static final int BATCH = StepId.BATCH;
    public static final int EXTERN = StepId.EXTERN;

    /** Begins the reason of a step that the user UID cancelled: {@code Cancelled by UID}. */
    public static final String CANCELLED_BY = "Cancelled by ";
    /**
     * Begins the reason of a step whose srun the user UID interrupted: its tasks have SIGINT, and SIGKILL where srun
     * asks for it afterwards.
     */
    public static final String INTERRUPTED_BY = "Interrupted by ";

    public enum State {
        RUNNING,
        ENDED,
        QUEUED
    }

    /**
     * A step's part of one node.
     *
     * @param tasks ranks in the order of their local index
     * @param cores units it may use
     * @param exit the most severe task exit, once done
     * @param exits per rank (text key), once done
     * @param reason "" or why the node ended it
     */
    public record Part(
            String node,
            List<Integer> tasks,
            IndexSet cores,
            int cpus,
            long memoryMb,
            Map<String, IndexSet> gres,
            boolean launched,
            boolean done,
            ExitStatus exit,
            Map<String, ExitStatus> exits,
            String reason) {
        public Part ended(ExitStatus worst, Map<String, ExitStatus> all, String why) {
            return new Part(node, tasks, cores, cpus, memoryMb, gres, launched, true, worst, all, why);
        }

        public Part rankedFrom(int first) {
            return new Part(
                    node,
                    tasks.stream().map(t -> t + first).toList(),
                    cores,
                    cpus,
                    memoryMb,
                    gres,
                    launched,
                    done,
                    exit,
                    exits,
                    reason);
        }

        public Part started() {
            return new Part(node, tasks, cores, cpus, memoryMb, gres, true, done, exit, exits, reason);
        }
    }

    /** Tests whether a user asked for the step, as {@link StepId#isAsked}. */
    public boolean isAsked() {
        return StepId.isAsked(id);
    }

    public boolean isBatch() {
        return id == BATCH;
    }

    public boolean isInterrupted() {
        return ending.startsWith(INTERRUPTED_BY);
    }

    /** Returns the user id of a reason that names one, as text. */
    public Optional<String> endedBy() {
        if (isInterrupted()) {
            return Optional.of(ending.substring(INTERRUPTED_BY.length()));
        }
        if (ending.startsWith(CANCELLED_BY)) {
            return Optional.of(ending.substring(CANCELLED_BY.length()));
        }
        return Optional.empty();
    }

    /** Returns the step's id as users type it: {@code 0}, {@code 3+1}, {@code batch}, {@code extern}. */
    public String name() {
        return StepId.name(id);
    }

    /** Returns the number that the step has in common with the other components of a heterogeneous step. */
    public int number() {
        return StepId.number(id);
    }

    public boolean allDone() {
        return ByNode.allOver(nodes, Part::done);
    }

    /** Returns the most severe exit over all nodes. */
    public ExitStatus exit() {
        ExitStatus worst = ExitStatus.NONE;
        for (Part p : nodes) {
            if (p.exit.compareTo(worst) > 0) {
                worst = p.exit;
            }
        }
        return worst;
    }

    /** Returns the first reason that a node gave for ending the step, "" if none did. */
    public String reason() {
        for (Part p : nodes) {
            if (!p.reason.isEmpty()) {
                return p.reason;
            }
        }
        return "";
    }

    public int tasks() {
        int sum = 0;
        for (Part p : nodes) {
            sum += p.tasks.size();
        }
        return sum;
    }

    /** Returns the index of a node among the step's; -1 for none. */
    public int place(String node) {
        return ByNode.find(nodes, node, Part::node);
    }

    /** Returns the part of a node. */
    public Optional<Part> on(String node) {
        int index = place(node);
        return index < 0 ? Optional.empty() : Optional.of(nodes.get(index));
    }

    public Step with(String node, java.util.function.UnaryOperator<Part> change) {
        int index = ByNode.find(nodes, node, Part::node);
        List<Part> changed = index >= 0 && nodes instanceof ByNode<Part> all
                ? all.with(index, change.apply(nodes.get(index)))
                : nodes.stream()
                        .map(p -> p.node.equals(node) ? change.apply(p) : p)
                        .toList();
        return new Step(id, desc, envHash, changed, state, startTime, endTime, ioToken, ending, het, ports);
    }

    Step ended(long time) {
        return new Step(
                id,
                desc,
                envHash,
                nodes,
                State.ENDED,
                startTime == 0 ? time : startTime,
                time,
                ioToken,
                ending,
                het,
                ports);
    }

    /** Returns the queued step as one that runs on these nodes. */
    public Step begun(List<Part> on, IndexSet reserved, long time) {
        return new Step(id, desc, envHash, on, State.RUNNING, time, 0, ioToken, "", het, reserved);
    }

    public boolean isQueued() {
        return state == State.QUEUED;
    }

    Step withTimeLimit(int minutes) {
        return new Step(
                id,
                desc.withTimeLimit(minutes),
                envHash,
                nodes,
                state,
                startTime,
                endTime,
                ioToken,
                ending,
                het,
                ports);
    }

    /** Tests whether the step has a time limit of its own to be ended for, and has not been told to end. */
    public boolean isLimited() {
        return id >= 0 && state == State.RUNNING && ending.isEmpty() && desc.timeLimitMin() > 0;
    }

    Step withEnding(String why) {
        return new Step(id, desc, envHash, nodes, state, startTime, endTime, ioToken, why, het, ports);
    }
}
