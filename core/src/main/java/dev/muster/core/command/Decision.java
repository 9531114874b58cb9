package dev.muster.core.command;

import dev.muster.core.state.Change;
import dev.muster.model.SlurmErrno;
import dev.muster.model.node.NodeMessages.ToNode;
import java.util.List;

/** The core's answer to a command. */
public sealed interface Decision {
    /** Changes at which a command that could make more stops; the rest follows in the next one. */
    int CHANGES_MAX = 1000;

    /**
     * Done as records say.
     *
     * @param reply for the caller
     * @param direct messages to nodes that no record justifies (signals), sent once the records are durable
     */
    record Accepted(List<Change> changes, Object reply, List<Direct> direct) implements Decision {}

    /**
     * Refused; nothing changes.
     *
     * @param component number of the component whose description is the reason; the last component if all of them
     *     together are
     */
    record Rejected(SlurmErrno errno, String sentence, int component) implements Decision {
        public Rejected(SlurmErrno errno, String sentence) {
            this(errno, sentence, Integer.MAX_VALUE - 1);
        }

        public Rejected of(int number) {
            return new Rejected(errno, sentence, number);
        }
    }

    record Direct(String node, ToNode message) {}

    static Accepted of(List<Change> changes, Object reply) {
        return new Accepted(List.copyOf(changes), reply, List.of());
    }

    static Accepted of(List<Change> changes, Object reply, List<Direct> direct) {
        return new Accepted(List.copyOf(changes), reply, List.copyOf(direct));
    }

    static Rejected reject(SlurmErrno errno) {
        return new Rejected(errno, errno.sentence());
    }

    static Rejected unknownJob() {
        return reject(SlurmErrno.INVALID_JOB_ID);
    }
}
