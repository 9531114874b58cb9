package dev.muster.accounting.dbd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.config.SlurmdbdConf;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DbdRoleTest {
    @TempDir
    private static Path dir;

    private static SlurmdbdConf conf(String lines) throws IOException {
        Path file = dir.resolve("slurmdbd.conf");
        Files.writeString(file, lines);
        return SlurmdbdConf.read(file.toFile(), new ArrayList<>());
    }

    /** Columns: DbdHost, DbdBackupHost, the kernel's name, the place, the address with NoInAddrAny. */
    @ParameterizedTest
    @CsvSource(textBlock = """
            a,           b, a,           PRIMARY, 10.0.0.1
            a,           b, a.site.org,  PRIMARY, 10.0.0.1
            a.site.org,  b, a.site.org,  PRIMARY, 10.0.0.1
            a,           b, b,           BACKUP,  b
            a,           b, b.site.org,  BACKUP,  b
            localhost,   b, b,           BACKUP,  b
            localhost,   b, c,           PRIMARY, 10.0.0.1
            localhost,    , c,           PRIMARY, 10.0.0.1
            ,             , c,           PRIMARY, 10.0.0.1
            a,           a, a,           PRIMARY, 10.0.0.1
            """)
    void hostIsFoundByTheKernelsName(String host, String backup, String kernel, DbdRole role, String address)
            throws IOException {
        SlurmdbdConf conf = conf((host == null ? "" : "DbdHost=" + host + "\n")
                + (backup == null ? "" : "DbdBackupHost=" + backup + "\n")
                + "DbdAddr=10.0.0.1\nCommunicationParameters=DisableIPv4,NoInAddrAny\n");
        assertThat(DbdRole.of(conf, kernel)).isEqualTo(role);
        assertThat(role.boundAddress(conf)).isEqualTo(address);
        assertThat(DbdConfig.inert(conf))
                .containsExactly("CommunicationParameters=DisableIPv4 has no effect in this version");
        assertThat(role.boundAddress(conf("DbdHost=a\nDbdBackupHost=b\n"))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '/', textBlock = """
            DbdHost=a                 / c          / ((c or c) != a | (backup) (null))
            DbdHost=a;DbdBackupHost=b / c.site.org / ((c or c.site.org) != a | (backup) b)
            DbdHost=A                 / a          / ((a or a) != A | (backup) (null))
            """)
    void otherHostIsRefused(String lines, String kernel, String names) throws IOException {
        SlurmdbdConf conf = conf(lines.replace(';', '\n') + "\n");
        assertThatThrownBy(() -> DbdRole.of(conf, kernel))
                .isInstanceOf(IOException.class)
                .hasMessage("This host not configured to run SlurmDBD " + names);
    }
}
