package dev.muster.node.hardware;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ZoneSortTest {
    @TempDir
    Path root;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "sort | false | true",
                "verbose,sort,local | false | true",
                "local | false | false",
                "'' | true | true",
                "nosort | true | false",
                "nosort,local | true | false"
            })
    void memBindOptionOverridesTheZoneSortDefault(String memBind, boolean always, boolean wanted) {
        assertThat(new ZoneSort(root, always, null).isWanted(memBind)).isEqualTo(wanted);
    }

    @Test
    void zoneSortWritesTheKernelFile() throws Exception {
        new ZoneSort(root, true, null).before("", List.of(0)); // a kernel without it: nothing happens
        Path order = root.resolve("sys/kernel/zone_sort_free_pages/nodeid");
        Files.createDirectories(order.getParent());
        Files.writeString(order, "");
        new ZoneSort(root, true, null).before("local", List.of(0, 1));
        assertThat(Files.readString(order)).isEqualTo("1");
        new ZoneSort(root, true, null).before("nosort", List.of(0));
        assertThat(Files.readString(order)).isEqualTo("1");
    }
}
