package dev.muster.simulator;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Table;
import dev.muster.model.node.NodeMessages;

/** States and messages as a {@link PlantedBug} makes them. */
final class PlantedMutations {
    private PlantedMutations() {}

    /** Returns the state with the first job number as the next one. */
    static State withFirstJobId(State state) {
        return new State(
                state.tickMs(),
                state.settings(),
                1,
                state.jobIdCeiling(),
                state.nextSluid(),
                state.sluidCeiling(),
                state.jobs(),
                state.nodes(),
                state.partitions(),
                state.answers(),
                state.ended(),
                state.children(),
                state.blobs(),
                state.accounts(),
                state.reservations(),
                state.shares(),
                state.preempted(),
                state.triggers(),
                state.crontabs(),
                state.buffers());
    }

    /** Returns the state without the answers kept for repeated requests. */
    static State withoutAnswers(State state) {
        return new State(
                state.tickMs(),
                state.settings(),
                state.nextJobId(),
                state.jobIdCeiling(),
                state.nextSluid(),
                state.sluidCeiling(),
                state.jobs(),
                state.nodes(),
                state.partitions(),
                Table.empty(),
                state.ended(),
                state.children(),
                state.blobs(),
                state.accounts(),
                state.reservations(),
                state.shares(),
                state.preempted(),
                state.triggers(),
                state.crontabs(),
                state.buffers());
    }

    /** Returns the node with the resources of a share freed a second time. */
    static Node releasedAgain(Node node, Allocation.Share share) {
        return new Node(
                node.spec(),
                node.flags(),
                node.reason(),
                node.reasonUid(),
                node.reasonTime(),
                node.bootId(),
                node.version(),
                node.startTime(),
                node.hardware(),
                node.comment(),
                node.extra(),
                node.jobs(),
                node.cpusAllocated() - share.chargedCpus(),
                node.memoryAllocatedMb() - share.memoryMb(),
                node.lastBusy(),
                node.resumeAfter(),
                node.powerTime(),
                node.changeable(),
                node.active(),
                node.wanted(),
                node.powerAction(),
                node.marks());
    }

    /** Returns a registration under an earlier boot id. */
    static NodeMessages.Register ofBoot(String bootId, NodeMessages.Register m) {
        return new NodeMessages.Register(
                m.node(), m.cluster(), bootId, m.version(), m.startTime(), m.hardware(), m.attempts(), "", "");
    }
}
