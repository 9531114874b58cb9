package dev.muster.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Codec;
import dev.muster.model.format.IndexSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An allocation of many nodes is as one of few: only quicker to change. */
class ByNodeTest {
    private static Allocation.Share share(String node) {
        return new Allocation.Share(
                node, Allocation.Agent.SLURMD, "boot", IndexSet.of(0), 1, 10, Map.of(), false, false, 0);
    }

    private static List<Allocation.Share> shares(int count) {
        // an order that is not that of the names
        return IntStream.range(0, count)
                .mapToObj(i -> share("n" + i * 11 % count))
                .toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 31, 32, 63, 64, 65, 1000})
    void aListOfAnyLengthIsTheSameList(int count) {
        List<Allocation.Share> plain = shares(count);
        Allocation a = new Allocation(1, plain);
        assertThat(a.nodes()).isEqualTo(plain).hasSameHashCodeAs(plain);
        assertThat(plain).isEqualTo(a.nodes());
        assertThat(a.nodes() instanceof ByNode).isEqualTo(count >= 32);
        for (Allocation.Share s : plain) {
            assertThat(a.on(s.node())).contains(s);
        }
        assertThat(a.on("nowhere")).isEmpty();
        assertThat(Codec.decode(Codec.encode(a), Allocation.class)).isEqualTo(a);
    }

    /** An allocation is released when the last of its shares is, whatever was asked of it before. */
    @Test
    void allocationIsReleasedWithItsLastShare() {
        List<Allocation.Share> shares = new ArrayList<>(shares(100));
        for (int i = 0; i < 100; i++) {
            assertThat(new Allocation(1, shares).allReleased()).isFalse();
            shares.set(i * 37 % 100, shares.get(i * 37 % 100).withReleased());
        }
        assertThat(new Allocation(1, shares).allReleased()).isTrue();
    }

    @Test
    void aNodeNamedTwiceKeepsBothPlaces() {
        List<Allocation.Share> twice = new ArrayList<>(shares(100));
        twice.set(99, twice.get(0));
        assertThat(new Allocation(1, twice).nodes()).isEqualTo(twice).isNotInstanceOf(ByNode.class);
    }

    @Test
    void changedSharesAreFoundByIdentity() {
        List<Allocation.Share> before = new Allocation(1, shares(300)).nodes();
        List<Allocation.Share> after = new ArrayList<>(before);
        after.set(0, after.get(0).withReleased());
        after.set(130, after.get(130).withPrologDone());
        after.set(299, after.get(299).withReleased());
        for (List<Allocation.Share> later : List.of(after, new Allocation(1, after).nodes())) {
            List<Integer> places = new ArrayList<>();
            ByNode.changed(before, later, places::add);
            assertThat(places).containsExactly(0, 130, 299);
        }
    }
}
