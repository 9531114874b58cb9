package dev.muster.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.sister.CgroupConf;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CgroupSettingsTest {
    @TempDir
    Path directory;

    /** The machine has 1000 MB; limits in MB, 0 for none. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ConstrainRAMSpace=yes                                                  | 100  | 100 | 100 | 0
            ConstrainRAMSpace=yes;AllowedRAMSpace=150                              | 100  | 150 | 100 | 0
            ConstrainRAMSpace=yes;AllowedRAMSpace=50                               | 100  | 50  | 50  | 0
            ConstrainRAMSpace=yes                                                  | 10   | 30  | 10  | 0
            ConstrainRAMSpace=yes;MinRAMSpace=5                                    | 10   | 10  | 10  | 0
            ConstrainRAMSpace=yes;MaxRAMPercent=20                                 | 500  | 200 | 200 | 0
            ConstrainRAMSpace=yes;ConstrainSwapSpace=yes                           | 100  | 100 | 100 | 100
            ConstrainRAMSpace=yes;ConstrainSwapSpace=yes;AllowedSwapSpace=50       | 100  | 100 | 100 | 150
            ConstrainSwapSpace=yes;AllowedSwapSpace=50                             | 100  | 150 | 100 | 150
            ConstrainRAMSpace=yes;ConstrainSwapSpace=yes;AllowedSwapSpace=900      | 100  | 100 | 100 | 1000
            ConstrainRAMSpace=yes                                                  | 0    | 0   | 0   | 0
            ConstrainRAMSpace=yes;MaxRAMPercent=20                                 | 0    | 200 | 0   | 0
            ConstrainRAMSpace=no                                                   | 100  | 0   | 0   | 0
            """)
    void memoryLimitsFollowCgroupConf(String lines, long allocated, long hard, long soft, long withSwap)
            throws Exception {
        Path file = directory.resolve("cgroup.conf");
        Files.writeString(file, lines.replace(';', '\n') + "\n");
        CgroupConf conf = CgroupConf.read(file.toFile(), new ArrayList<>());
        CgroupSettings c = new CgroupSettings(
                conf,
                CgroupSettings.Tracking.DESCENT,
                false,
                false,
                conf.constrainRamSpace(),
                conf.constrainSwapSpace(),
                Map.of());
        assertThat(c.memory(allocated, 1000))
                .isEqualTo(new CgroupSettings.Memory(hard << 20, soft << 20, withSwap << 20));
    }
}
