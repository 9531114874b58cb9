package dev.muster.controller.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ListChangeTimesTest {
    @Test
    void aListIsAsOldAsTheNewestOfItsTables() {
        ListChangeTimes since = new ListChangeTimes();
        Object nodes = new Object();
        Object jobs = new Object();
        assertThat(since.of(5, nodes, jobs)).isEqualTo(5);
        assertThat(since.of(9, nodes, jobs)).isEqualTo(5);
        assertThat(since.of(10, nodes, new Object())).isEqualTo(10);
        assertThat(since.of(11, nodes, jobs)).as("back is a change too").isEqualTo(11);
        assertThat(since.of(12, nodes, jobs)).isEqualTo(11);
    }
}
