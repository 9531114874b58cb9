package dev.muster.controller.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ParallelDecoderTest {
    private final List<String> used = new ArrayList<>();
    private final ParallelDecoder<Integer> ahead = new ParallelDecoder<>(
            () -> b -> Integer.valueOf(new String(b, StandardCharsets.UTF_8)),
            (value, index) -> used.add(index + "=" + value));

    private void add(int from, int to) {
        for (int i = from; i < to; i++) {
            ahead.add(i, Integer.toString(i * 3).getBytes(StandardCharsets.UTF_8));
        }
    }

    @Test
    void decodedEntriesAreUsedInOrder() {
        for (int count : new int[] {0, 1, 999, 1000, 1001, 12_345}) {
            used.clear();
            add(0, count);
            ahead.finish();
            assertThat(used).hasSize(count);
            for (int i = 0; i < count; i++) {
                assertThat(used.get(i)).isEqualTo(i + "=" + i * 3);
            }
        }
    }

    /** The error itself, and nothing after it. */
    @Test
    void decodingErrorIsThrownWhereTheEntryIsUsed() {
        assertThatThrownBy(() -> {
                    add(0, 1500);
                    ahead.add(1500, "x".getBytes(StandardCharsets.UTF_8));
                    add(1501, 20_000);
                    ahead.finish();
                })
                .isInstanceOf(NumberFormatException.class);
        assertThat(used).hasSize(1000);
    }
}
