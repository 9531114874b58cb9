package dev.muster.controller.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Acknowledgements of reports wait a moment for something else that the node is told, and one stands for all before it.
 */
class AckBatcherTest {
    @Test
    void newestAckStandsForAllEarlierOnes() {
        AckBatcher ack = new AckBatcher();
        assertThat(ack.takeNewest()).as("nothing has come").isZero();
        assertThat(ack.noteDurable(3)).as("the moment begins").isTrue();
        assertThat(ack.noteDurable(5)).as("it is under way").isFalse();
        assertThat(ack.noteDurable(4)).as("what became durable before").isFalse();
        assertThat(ack.endWait()).as("nothing was said meanwhile").isTrue();
        assertThat(ack.takeNewest()).isEqualTo(5);
        assertThat(ack.takeNewest()).as("once").isZero();
    }

    @Test
    void ackSentWithALaunchNeedsNoOwnMessage() {
        AckBatcher ack = new AckBatcher();
        assertThat(ack.noteDurable(7)).isTrue();
        assertThat(ack.takeNewest()).as("with a launch").isEqualTo(7);
        assertThat(ack.endWait()).isFalse();
        assertThat(ack.noteDurable(8)).as("the next moment").isTrue();
        assertThat(ack.endWait()).isTrue();
        assertThat(ack.takeNewest()).isEqualTo(8);
    }
}
