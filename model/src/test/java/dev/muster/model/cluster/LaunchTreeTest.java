package dev.muster.model.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LaunchTreeTest {
    private static List<Integer> nodes(int count) {
        return IntStream.range(0, count).boxed().toList();
    }

    /** A node with those behind it in brackets. */
    private static String tree(List<Integer> nodes, int width) {
        return LaunchTree.branches(nodes, width).stream()
                .map(b -> b.getFirst() + (b.size() > 1 ? "(" + tree(b.subList(1, b.size()), width) + ")" : ""))
                .collect(Collectors.joining(" "));
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            1,  4,  0
            4,  4,  0 1 2 3
            5,  4,  0(1) 2 3 4
            9,  4,  0(1 2) 3(4) 5(6) 7(8)
            7,  2,  0(1(2) 3) 4(5 6)
            3,  1,  0(1(2))
            3,  0,  0(1(2))
            """)
    void launchTreeHasItsLayout(int count, int width, String tree) {
        assertThat(tree(nodes(count), width)).isEqualTo(tree);
    }

    private static int levels(List<Integer> nodes, int width) {
        return nodes.isEmpty()
                ? 0
                : 1
                        + LaunchTree.branches(nodes, width).stream()
                                .mapToInt(b -> levels(b.subList(1, b.size()), width))
                                .max()
                                .orElse(0);
    }

    private static void all(List<Integer> nodes, int width, List<Integer> into) {
        List<List<Integer>> branches = LaunchTree.branches(nodes, width);
        assertThat(branches.size()).isLessThanOrEqualTo(width);
        branches.forEach(b -> {
            into.add(b.getFirst());
            all(b.subList(1, b.size()), width, into);
        });
    }

    @ParameterizedTest
    @CsvSource({"64,4,3", "1000,16,3", "272,16,2", "16,16,1", "10000,16,4", "5,1,5", "0,16,0"})
    void launchTreeReachesEveryNodeOnceInItsLevels(int count, int width, int levels) {
        List<Integer> reached = new ArrayList<>();
        all(nodes(count), width, reached);
        assertThat(reached.stream().sorted().toList()).isEqualTo(nodes(count));
        assertThat(levels(nodes(count), width)).isEqualTo(levels);
        assertThat(LaunchTree.levels(count, width)).isEqualTo(levels);
    }

    @Test
    void rankListIsParsed() {
        assertThat(LaunchTree.ranks("", 9)).isEmpty();
        assertThat(LaunchTree.ranks("0-2,7", 9)).containsExactly(0, 1, 2, 7);
        for (String bad : List.of("2-1", "-1", "0-9999999", "a", "1,")) {
            assertThatThrownBy(() -> LaunchTree.ranks(bad.equals("1,") ? "1,,2" : bad, 9))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
