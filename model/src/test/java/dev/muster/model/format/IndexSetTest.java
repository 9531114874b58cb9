package dev.muster.model.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever is done to a set, small or large, it is the set of numbers that the same makes of a tree of numbers, in the
 * one form that it has.
 */
class IndexSetTest {
    private static final int ROUNDS = 3000;

    /** @param most the largest index: of one word, of one block, of several blocks */
    @ParameterizedTest
    @ValueSource(ints = {5, 63, 64, 200, 16_383, 16_384, 60_000})
    void indexSetBehavesLikeATreeSet(int most) {
        Random random = new Random(most);
        for (int round = 0; round < ROUNDS; round++) {
            TreeSet<Integer> a = some(random, most);
            TreeSet<Integer> b = some(random, most);
            IndexSet x = set(a);
            IndexSet y = set(b);
            int one = random.nextInt(most + 1);
            int to = one + random.nextInt(most + 1 - one);

            same(x.union(y), and(a, b));
            TreeSet<Integer> both = new TreeSet<>(a);
            both.retainAll(b);
            same(x.intersect(y), both);
            TreeSet<Integer> rest = new TreeSet<>(a);
            rest.removeAll(b);
            same(x.minus(y), rest);
            same(x.with(one), and(a, new TreeSet<>(java.util.List.of(one))));
            TreeSet<Integer> without = new TreeSet<>(a);
            without.remove(one);
            same(x.without(one), without);
            same(
                    IndexSet.range(one, to, 1),
                    new TreeSet<>(IntStream.rangeClosed(one, to).boxed().toList()));
            assertThat(x.contains(one)).isEqualTo(a.contains(one));
            same(x, a);
            same(y, b);
        }
    }

    private static TreeSet<Integer> and(TreeSet<Integer> a, TreeSet<Integer> b) {
        TreeSet<Integer> out = new TreeSet<>(a);
        out.addAll(b);
        return out;
    }

    private static TreeSet<Integer> some(Random random, int most) {
        TreeSet<Integer> out = new TreeSet<>();
        int highest = random.nextInt(most + 1);
        for (int i = random.nextInt(6); i > 0; i--) {
            out.add(random.nextInt(highest + 1));
        }
        return out;
    }

    @Test
    void aStepIsShownWhereAllGoByIt() {
        String[][] table = {
            {"0-12:2", "0-12:2"},
            {"0-10:2", "0,2,4,6,8,10"},
            {"1-61:10", "1-61:10"},
            {"1-81:20", "1,21,41,61,81"},
            {"0-5,10-40:5", "0-5,10,15,20,25,30,35,40"},
            {"0-20:2,31", "0,2,4,6,8,10,12,14,16,18,20,31"},
            {"1-3,7", "1-3,7"},
            {"", ""},
            {"5", "5"}
        };
        for (String[] row : table) {
            assertThat(IndexSet.shown(row[0])).isEqualTo(row[1]);
        }
    }

    private static IndexSet set(TreeSet<Integer> of) {
        return IndexSet.of(of.stream().mapToInt(Integer::intValue).toArray());
    }

    private static void same(IndexSet set, TreeSet<Integer> numbers) {
        int[] found = IntStream.iterate(set.first(), i -> i >= 0, i -> set.next(i + 1))
                .toArray();
        int[] wanted = numbers.stream().mapToInt(Integer::intValue).toArray();
        assertThat(found).isEqualTo(wanted);
        assertThat(set.count()).isEqualTo(wanted.length);
        assertThat(set)
                .isEqualTo(set(numbers))
                .isEqualTo(IndexSet.parse(set.compact()))
                .isEqualTo(IndexSet.parse(set.ranges()));
        assertThat(set.hashCode()).isEqualTo(set(numbers).hashCode());
        assertThat(set.last()).isEqualTo(Arrays.stream(wanted).max().orElse(-1));
    }
}
