package dev.muster.controller.nodes;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Acknowledgements of reports wait a moment for something else that the node is told, and one stands for all before it.
 */
class AckBatcherTest {
    @Test
    void oneSaysWhatThoseBeforeItSay() {
        AckBatcher ack = new AckBatcher();
        assertThat(ack.along()).as("nothing has come").isZero();
        assertThat(ack.isFirst(3)).as("the moment begins").isTrue();
        assertThat(ack.isFirst(5)).as("it is under way").isFalse();
        assertThat(ack.isFirst(4)).as("what became durable before").isFalse();
        assertThat(ack.isDue()).as("nothing was said meanwhile").isTrue();
        assertThat(ack.along()).isEqualTo(5);
        assertThat(ack.along()).as("once").isZero();
    }

    @Test
    void whatWentAlongNeedsNoMessageOfItsOwn() {
        AckBatcher ack = new AckBatcher();
        assertThat(ack.isFirst(7)).isTrue();
        assertThat(ack.along()).as("with a launch").isEqualTo(7);
        assertThat(ack.isDue()).isFalse();
        assertThat(ack.isFirst(8)).as("the next moment").isTrue();
        assertThat(ack.isDue()).isTrue();
        assertThat(ack.along()).isEqualTo(8);
    }
}
