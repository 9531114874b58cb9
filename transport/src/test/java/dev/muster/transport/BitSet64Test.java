package dev.muster.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BitSet64Test {
    @Test
    void bitSet64BehavesLikeASet() {
        Random random = new Random(5);
        BitSet64 marks = new BitSet64();
        Set<Long> model = new HashSet<>();
        for (int i = 0; i < 200_000; i++) {
            // few low bits, so that many want the same place
            long mark = random.nextInt(3) == 0 ? random.nextInt(1000) : (long) random.nextInt(60_000) << 5;
            assertThat(marks.has(mark)).isEqualTo(model.contains(mark));
            assertThat(marks.add(mark)).isEqualTo(model.add(mark));
            assertThat(marks.size()).isEqualTo(model.size());
        }
        assertThat(model).contains(0L).hasSizeGreaterThan(40_000);
    }
}
