package dev.muster.controller.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.model.node.NodeMessages;
import org.junit.jupiter.api.Test;

class PendingNodeMessagesTest {
    private final PendingNodeMessages unheard = new PendingNodeMessages();

    private static NodeMessages.Signal signal(int job) {
        return new NodeMessages.Signal(job, 0, 0, 10, false, false);
    }

    @Test
    void keptMessagesAreTakenOnceAndInOrder() {
        assertThat(unheard.keep("n1", signal(1))).isTrue();
        assertThat(unheard.keep("n1", new NodeMessages.Notify(1, 0, 0, "hear"))).isTrue();
        assertThat(unheard.keep("n2", signal(2))).isTrue();
        assertThat(unheard.take("n1")).containsExactly(signal(1), new NodeMessages.Notify(1, 0, 0, "hear"));
        assertThat(unheard.take("n1")).isEmpty();
        assertThat(unheard.take("n2")).containsExactly(signal(2));
    }

    /** The state says it again when the node is back. */
    @Test
    void suspendMessageIsNotKeptForAnAbsentNode() {
        assertThat(unheard.keep("n1", new NodeMessages.Suspend(1, 0, true))).isFalse();
        assertThat(unheard.take("n1")).isEmpty();
    }

    @Test
    void oldestKeptMessagesAreDroppedFirst() {
        for (int job = 1; job <= PendingNodeMessages.MOST + 2; job++) {
            unheard.keep("n1", signal(job));
        }
        assertThat(unheard.take("n1"))
                .hasSize(PendingNodeMessages.MOST)
                .startsWith(signal(3))
                .endsWith(signal(PendingNodeMessages.MOST + 2));
    }
}
