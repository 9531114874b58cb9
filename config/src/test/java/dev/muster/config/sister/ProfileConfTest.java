package dev.muster.config.sister;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProfileConfTest {
    @TempDir
    private Path dir;

    private final List<ConfigError> errors = new ArrayList<>();

    private ProfileConf read(String type, String text) throws IOException {
        Path conf = Files.writeString(
                dir.resolve("slurm.conf"),
                "ClusterName=c\nSlurmctldHost=h\nNodeName=n1\nPartitionName=p Nodes=n1\n" + "AcctGatherProfileType="
                        + type + "\n");
        Path gather = Files.writeString(dir.resolve("acct_gather.conf"), text);
        errors.clear();
        return ProfileConf.of(
                ((SlurmConf.Parsed.Ok) SlurmConf.read(conf.toFile())).conf(),
                AcctGatherConf.read(gather.toFile(), errors),
                errors);
    }

    private List<String> messages() {
        return errors.stream()
                .map(e -> e.message().replaceAll("^.*?\\.conf: ", ""))
                .toList();
    }

    @Test
    void influxdbProfileConfIsRead() throws IOException {
        ProfileConf conf = read("influxdb", """
            ProfileInfluxDBHost=db:8086
            ProfileInfluxDBDatabase=series
            ProfileInfluxDBDefault=Task,Energy
            ProfileInfluxDBRTPolicy=week
            ProfileInfluxDBUser=slurm
            ProfileInfluxDBPass=secret
            ProfileInfluxDBFrequency=5
            ProfileInfluxDBTimeout=3
            ProfileInfluxDBFlags=grouped_fields
            ProfileInfluxDBExtraTags=cluster,user
            """);
        assertThat(messages()).isEmpty();
        assertThat(conf)
                .isEqualTo(new ProfileConf(
                        "influxdb",
                        Set.of("energy", "task"),
                        "",
                        "db:8086",
                        "series",
                        "week",
                        "slurm",
                        "secret",
                        5,
                        3,
                        true,
                        List.of("cluster", "user")));
        assertThat(read("acct_gather_profile/none", "ProfileInfluxDBHost=db:8086\n"))
                .isEqualTo(ProfileConf.NONE);
        conf = read("acct_gather_profile/influxdb", "ProfileInfluxDBHost=db:8086\nProfileInfluxDBDatabase=series\n");
        assertThat(List.of(conf.frequencyS(), conf.timeoutS())).containsExactly(30, 10);
        assertThat(conf.standard()).isEmpty();
    }

    @Test
    void invalidInfluxdbProfileConfIsReported() throws IOException {
        read(
                "acct_gather_profile/influxdb",
                "ProfileInfluxDBPass=x\nProfileInfluxDBDefault=Everything\nProfileInfluxDBExtraTags=sluid,uid\n"
                        + "ProfileInfluxDBFrequency=soon\n");
        String plugin = " This is required to use the acct_gather_profile/influxdb plugin";
        assertThat(messages())
                .containsExactlyInAnyOrder(
                        "No ProfileInfluxDBHost in your acct_gather.conf file." + plugin,
                        "No ProfileInfluxDBDatabase in your acct_gather.conf file." + plugin,
                        "No ProfileInfluxDBUser in your acct_gather.conf file. This is "
                                + "required if ProfileInfluxDBPass is specified to use the "
                                + "acct_gather_profile/influxdb plugin",
                        "ProfileInfluxDBDefault can not be set to Everything, please specify a valid option",
                        "ProfileInfluxDBExtraTags=sluid is not part of this version; there is cluster, uid, user",
                        "ProfileInfluxDBExtraTags requires ProfileInfluxDBFlags=grouped_fields",
                        "Bad value \"soon\" for ProfileInfluxDBFrequency");
    }

    @Test
    void hdf5ProfileConfIsRead() throws IOException {
        ProfileConf conf =
                read("acct_gather_profile/hdf5", "ProfileHDF5Dir=/shared/profiles\nProfileHDF5Default=Task,Network\n");
        assertThat(messages()).isEmpty();
        assertThat(List.of(conf.kind(), conf.directory(), conf.standard()))
                .containsExactly("hdf5", "/shared/profiles", Set.of("network", "task"));
        read("acct_gather_profile/hdf5", "ProfileHDF5Default=Everything\n");
        assertThat(messages())
                .containsExactly(
                        "No ProfileHDF5Dir in your acct_gather.conf file.  This is required to use the "
                                + "acct_gather_profile/hdf5 plugin",
                        "ProfileHDF5Default can not be set to Everything, please specify a valid option");
        read("acct_gather_profile/hdf5", "ProfileHDF5Dir=profiles\n");
        assertThat(messages()).containsExactly("ProfileHDF5Dir=profiles is not an absolute path");
    }
}
