package dev.muster.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsReaderTest {
    @TempDir
    Path dir;

    /**
     * Prologs run as the manual of slurm.conf says: z to a, Z to A, 9 to 0. A file that an editor leaves behind is
     * hidden and does not run.
     */
    @Test
    void prologsRunInReverseOrderOfTheirNames() throws Exception {
        Files.createDirectory(dir.resolve("d"));
        for (String name : List.of("1.sh", "a.sh", "Z.sh", "b.sh", ".a.sh.swp")) {
            Files.writeString(dir.resolve("d").resolve(name), "");
        }
        assertThat(SettingsReader.programs(List.of("d/*", "/bin/last"), dir).stream()
                        .map(p -> Path.of(p).getFileName().toString())
                        .toList())
                .containsExactly("b.sh", "a.sh", "Z.sh", "1.sh", "last");
    }
}
