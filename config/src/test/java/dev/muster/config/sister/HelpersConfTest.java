package dev.muster.config.sister;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.key.ConfigError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HelpersConfTest {
    @TempDir
    Path directory;

    private HelpersConf read(List<ConfigError> errors, String... lines) throws IOException {
        Path file = directory.resolve("helpers.conf");
        Files.write(file, List.of(lines));
        return HelpersConf.read(file.toFile(), errors);
    }

    @Test
    void everyHelpersConfKeyIsRead() throws IOException {
        List<ConfigError> errors = new ArrayList<>();
        HelpersConf conf = read(
                errors,
                "AllowUserBoot=alice,bob",
                "BootTime=60",
                "ExecTime=3",
                "MutuallyExclusive=a,b",
                "Feature=a,b Helper=/x",
                "NodeName=n[1-2] Feature=c Helper=/y Flags=Rebootless");
        assertThat(errors).isEmpty();
        assertThat(conf.users()).containsExactly("alice", "bob");
        assertThat(List.of(conf.bootSeconds(), conf.execSeconds())).containsExactly(60, 3);
        assertThat(conf.exclusive()).containsExactly(List.of("a", "b"));
        assertThat(conf.of("n2").stream().map(f -> f.name() + f.helper())).containsExactly("a/x", "b/x", "c/y");
        assertThat(conf.of("n2").stream()
                        .filter(HelpersConf.Feature::rebootless)
                        .map(HelpersConf.Feature::name))
                .containsExactly("c");
        assertThat(conf.of("n3").stream().map(HelpersConf.Feature::name)).containsExactly("a", "b");
    }

    @Test
    void invalidHelpersConfIsReported() throws IOException {
        for (String[] c : new String[][] {
            {"Feature=a", "needs Helper"},
            {"Feature=a Helper=x", "needs Helper"},
            {"Helper=/x", "Feature is missing"},
            {"Feature=a Helper=/x Flags=other", "Invalid Flags: other"},
            {"BootTime=x", "BootTime"},
            {"Features=a", "unrecognized key"}
        }) {
            List<ConfigError> errors = new ArrayList<>();
            read(errors, c[0]);
            assertThat(errors.toString()).contains(c[1]);
        }
    }
}
