package dev.muster.node.hardware;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Bytes;
import dev.muster.model.job.CpuFreq;
import dev.muster.node.config.SettingsReader;
import dev.muster.node.step.StepStarter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CpuFrequencyTest {
    @TempDir
    Path root;

    /** Governor, lower and upper end, and what userspace is told. */
    private String state() throws Exception {
        StringBuilder out = new StringBuilder();
        for (String f : List.of("scaling_governor", "scaling_min_freq", "scaling_max_freq", "scaling_setspeed")) {
            out.append(out.isEmpty() ? "" : " ")
                    .append(Files.readString(directory().resolve(f)).trim());
        }
        return out.toString();
    }

    private Path directory() {
        return root.resolve("sys/devices/system/cpu/cpu1/cpufreq");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "performance          | performance 1000 3000 -",
                "low                  | userspace 1000 3000 1000",
                "highm1               | userspace 1000 3000 2000",
                "1500                 | userspace 1000 3000 2000",
                "medium-high          | schedutil 2000 3000 -",
                "low-medium:ondemand  | ondemand 1000 2000 -",
            })
    void frequencyIsSetForTheStepAndSetBack(String asked, String during) throws Exception {
        Files.createDirectories(directory());
        Files.writeString(directory().resolve("scaling_available_frequencies"), "3000 2000 1000 \n");
        Files.writeString(directory().resolve("scaling_governor"), "schedutil\n");
        Files.writeString(directory().resolve("scaling_min_freq"), "1000\n");
        Files.writeString(directory().resolve("scaling_max_freq"), "3000\n");
        Files.writeString(directory().resolve("scaling_setspeed"), "-\n");
        CpuFrequency f = new CpuFrequency(root, new DaemonLog("slurmd", root + "/log", false, 5, ""));
        f.set("1.0", CpuFreq.parse(asked).orElseThrow(), List.of(1));
        assertThat(state()).isEqualTo(during);
        f.reset("1.0");
        assertThat(state()).startsWith("schedutil 1000 3000");
    }

    /** shows: CpuFreqDef */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "-",
            value = {
                "CpuFreqDef=Performance | -                              | performance",
                "CpuFreqDef=Performance | SLURM_CPU_FREQ_REQ=low-medium  | low-medium",
                "                       | SLURM_CPU_FREQ_REQ=high        | high",
                "                       | -                              | -",
            })
    void stepGetsTheRequestedOrDefaultFrequency(String line, String variable, String expected) throws Exception {
        Path file = Files.writeString(
                root.resolve("slurm.conf"),
                "ClusterName=c\nSlurmctldHost=h\nNodeName=n CPUs=1\nPartitionName=p Nodes=n\n"
                        + (line == null ? "" : line) + "\n");
        SlurmConf conf = ((SlurmConf.Parsed.Ok) SlurmConf.read(file.toFile())).conf();
        List<Bytes> environment = variable == null ? List.of() : List.of(Bytes.of(variable));
        assertThat(StepStarter.frequency(environment, SettingsReader.cpuFreqDef(conf)))
                .isEqualTo(expected == null ? Optional.empty() : CpuFreq.parse(expected));
    }
}
