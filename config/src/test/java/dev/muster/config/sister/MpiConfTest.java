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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MpiConfTest {
    @TempDir
    Path directory;

    private final List<ConfigError> errors = new ArrayList<>();

    private MpiConf read(String text) throws IOException {
        Path file = directory.resolve("mpi.conf");
        Files.writeString(file, text.replace('|', '\n'));
        return MpiConf.read(file.toFile(), errors);
    }

    @Test
    void mpiConfValuesAreRead() throws IOException {
        MpiConf conf = read("PMIxCliTmpDirBase=/scratch|PMIxDebug=1|PMIxEnv=A=1;B=2|PMIxTimeout=20|PMIxCollFence=tree|"
                + "PMIxDirectConn=yes");
        assertThat(errors).isEmpty();
        assertThat(conf.clientDirectory()).isEqualTo("/scratch");
        assertThat(conf.debug()).isTrue();
        assertThat(conf.environment()).containsExactly("A=1", "B=2");
        assertThat(conf.timeoutSeconds()).isEqualTo(20);
        assertThat(conf.without()).containsExactly("PMIxDirectConn");
        assertThat(conf.show())
                .startsWith(
                        "",
                        "MPI Plugins Configuration:",
                        "PMIxCliTmpDirBase       = /scratch",
                        "PMIxCollFence           = tree",
                        "PMIxDebug               = 1",
                        "PMIxDirectConn          = yes");
    }

    @Test
    void mpiDefaultsAreShownWithoutAFile() {
        assertThat(MpiConf.DEFAULT.show())
                .containsExactly(
                        "",
                        "MPI Plugins Configuration:",
                        "PMIxCliTmpDirBase       = (null)",
                        "PMIxCollFence           = (null)",
                        "PMIxDebug               = 0",
                        "PMIxDirectConn          = yes",
                        "PMIxDirectConnEarly     = no",
                        "PMIxDirectConnUCX       = no",
                        "PMIxDirectSameArch      = no",
                        "PMIxEnv                 = (null)",
                        "PMIxFenceBarrier        = no",
                        "PMIxNetDevicesUCX       = (null)",
                        "PMIxShareServerTopology = no",
                        "PMIxTimeout             = 300",
                        "PMIxTlsUCX              = (null)");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            value = {
                "PMIxTimeout=soon ! PMIxTimeout",
                "PMIxCollFence=star ! Invalid value of PMIxCollFence: star",
                "PMIxCliTmpDirBase=here ! PMIxCliTmpDirBase must be an absolute path: here",
                "PMIxEnv=A ! Invalid value of PMIxEnv: A",
                "Colour=red ! unrecognized key: Colour",
            })
    void invalidMpiConfIsReported(String text, String error) throws IOException {
        assertThat(read(text)).isEqualTo(MpiConf.DEFAULT);
        assertThat(errors).hasSize(1);
        assertThat(errors.getFirst().message()).contains(error);
    }
}
