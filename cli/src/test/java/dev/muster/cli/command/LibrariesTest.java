package dev.muster.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class LibrariesTest {
    private static final String LDD = """
            \tlinux-vdso.so.1 (0x00007ff960cc7000)
            \tlibsix.so => /opt/my lib/libsix.so (0x00007ff960cb5000)
            \tlibgone.so => not found
            \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007ff960ac8000)
            \t/lib64/ld-linux-x86-64.so.2 (0x00007ff960cc9000)
            """;

    @Test
    void systemLibrariesAreLeftOut() {
        assertThat(Libraries.paths(LDD, List.of("/lib", "/usr/lib", "/lib64", "/usr/lib64")))
                .containsExactly(Path.of("/opt/my lib/libsix.so"));
        assertThat(Libraries.paths(LDD, List.of("/opt"))).hasSize(2);
        assertThat(Libraries.paths(LDD, List.of())).hasSize(3);
        assertThat(Libraries.paths("\tnot a dynamic executable\n", List.of())).isEmpty();
    }
}
