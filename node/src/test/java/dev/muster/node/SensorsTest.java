package dev.muster.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.DaemonLog;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** shows: AcctGatherEnergyType, AcctGatherNodeFreq, AcctGatherInterconnectType */
class SensorsTest {
    private static final long SECOND = 1_000_000_000L;
    @TempDir
    Path root;
    private Path step;

    @BeforeEach
    void machine() throws IOException {
        step = Files.createDirectories(root.resolve("spool/step"));
        zone("intel-rapl:0", "package-0", 5_000_000);
        zone("intel-rapl:0:0", "core", 77);
        zone("intel-rapl:0:1", "dram", 1_000_000);
        zone("intel-rapl:1", "psys", 99);
        traffic("eth0", 100, 10);
        traffic("lo", 7, 7);
    }

    private void zone(String zone, String name, long uj) throws IOException {
        Path directory = Files.createDirectories(root.resolve("sys/class/powercap").resolve(zone));
        Files.writeString(directory.resolve("name"), name + "\n");
        Files.writeString(directory.resolve("energy_uj"), uj + "\n");
        Files.writeString(directory.resolve("max_energy_range_uj"), "10000000\n");
    }

    private void traffic(String name, long in, long out) throws IOException {
        Path directory = Files.createDirectories(root.resolve("sys/class/net").resolve(name).resolve("statistics"));
        Files.writeString(directory.resolve("rx_bytes"), in + "\n");
        Files.writeString(directory.resolve("tx_bytes"), out + "\n");
    }

    private Sensors sensors(boolean rapl, int nodeSeconds, String... interfaces) throws IOException {
        return new Sensors(root, new Settings.Sensing(rapl, nodeSeconds, List.of(interfaces), Settings.Tasks.NOT,
                Settings.Profiling.NOT), root.resolve("spool"), "boot", 0,
                new DaemonLog("slurmd", root + "/log", false, 5, ""));
    }

    @Test
    void aStepIsToldWhatItsNodeUsedInItsTime() throws IOException {
        Sensors s = sensors(true, 0, "eth0");
        s.begin(step);
        zone("intel-rapl:0", "package-0", 8_000_000);
        zone("intel-rapl:0:0", "core", 2_000_000);
        zone("intel-rapl:1", "psys", 9_000_000);
        traffic("eth0", 1100, 30);
        assertThat(s.used(step)).isEqualTo(new Sensors.Reading(3_000_000, 1000, 20));
        zone("intel-rapl:0", "package-0", 500_000);     // ran over: 2 000 000 to the end of its range, and 500 000 more
        zone("intel-rapl:0:1", "dram", 1_500_000);
        assertThat(s.end(step, StatusFile.NO_USAGE)).isEqualTo(StatusFile.NO_USAGE.with(6, 1000, 20));
        zone("intel-rapl:0", "package-0", 900_000);
        traffic("eth0", 9999, 999);
        assertThat(s.end(step, StatusFile.NO_USAGE)).as("reported again").isEqualTo(StatusFile.NO_USAGE.with(6, 1000, 20));
    }

    @Test
    void aStepKeepsItsMeasureOverARestartOfSlurmd() throws IOException {
        sensors(true, 0).begin(step);
        zone("intel-rapl:0", "package-0", 9_000_000);
        Sensors again = sensors(true, 0);
        zone("intel-rapl:0", "package-0", 1_000_000);
        assertThat(again.end(step, StatusFile.NO_USAGE).energyJ()).isEqualTo(6);
    }

    @Test
    void powerIsThatOfTheLastIntervalAndSinceTheStart() throws IOException {
        Sensors s = sensors(true, 10);
        assertThat(s.sampleSeconds()).isEqualTo(10);
        assertThat(s.power()).isEmpty();
        zone("intel-rapl:0", "package-0", 7_000_000);
        s.sample(10 * SECOND);
        assertThat(s.power()).contains(new Sensors.Power(0, 0));
        zone("intel-rapl:0", "package-0", 7_000_001);
        zone("intel-rapl:0:1", "dram", 9_000_000);
        s.sample(11 * SECOND);
        assertThat(s.power()).as("not due").contains(new Sensors.Power(0, 0));
        s.sample(12 * SECOND + 9 * SECOND);
        assertThat(s.power()).contains(new Sensors.Power(1, 0));
    }

    @Test
    void withoutAFrequencyCountersAreFollowedButNoPowerIsTold() throws IOException {
        Sensors s = sensors(true, 0);
        assertThat(s.sampleSeconds()).isEqualTo(Sensors.GUARD_SECONDS);
        zone("intel-rapl:0", "package-0", 7_000_000);
        s.sample(120 * SECOND);
        assertThat(s.power()).isEmpty();
    }

    @Test
    void whatIsOffIsNotRead() throws IOException {
        Sensors off = sensors(false, 30);
        off.begin(step);
        assertThat(off.isOn()).isFalse();
        assertThat(off.sampleSeconds()).isZero();
        assertThat(step.resolve("sensors")).doesNotExist();
        assertThat(off.end(step, StatusFile.NO_USAGE)).isEqualTo(StatusFile.NO_USAGE);
    }

    @Test
    void aMachineWithoutCountersSaysSoOnceAndMeasuresNothing() throws IOException {
        for (String zone : List.of("intel-rapl:0", "intel-rapl:0:1")) {
            Files.delete(root.resolve("sys/class/powercap").resolve(zone).resolve("energy_uj"));
        }
        Sensors s = sensors(true, 1, "eth9");
        s.begin(step);
        s.sample(5 * SECOND);
        s.sample(9 * SECOND);
        assertThat(s.power()).isEqualTo(Optional.empty());
        assertThat(s.end(step, StatusFile.NO_USAGE)).isEqualTo(StatusFile.NO_USAGE);
        String said = Files.readString(root.resolve("log"));
        assertThat(said.split("no energy counter", -1)).hasSize(2);
        assertThat(said.split("eth9/statistics/rx_bytes: cannot be read", -1)).hasSize(2);
    }
}
