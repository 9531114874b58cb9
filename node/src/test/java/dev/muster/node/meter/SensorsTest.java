package dev.muster.node.meter;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.job.UsageSample;
import dev.muster.node.config.Settings;
import dev.muster.node.spool.StatusFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** shows: AcctGatherEnergyType, AcctGatherFilesystemType, AcctGatherNodeFreq, AcctGatherInterconnectType */
class SensorsTest {
    private static final long SECOND = 1_000_000_000L;

    @TempDir
    Path root;

    private Path step;
    private long now;
    private boolean lustre;

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
        Path directory =
                Files.createDirectories(root.resolve("sys/class/powercap").resolve(zone));
        Files.writeString(directory.resolve("name"), name + "\n");
        Files.writeString(directory.resolve("energy_uj"), uj + "\n");
        Files.writeString(directory.resolve("max_energy_range_uj"), "10000000\n");
    }

    private void traffic(String name, long in, long out) throws IOException {
        Path directory = Files.createDirectories(
                root.resolve("sys/class/net").resolve(name).resolve("statistics"));
        Files.writeString(directory.resolve("rx_bytes"), in + "\n");
        Files.writeString(directory.resolve("tx_bytes"), out + "\n");
    }

    private Sensors sensors(boolean rapl, int nodeSeconds, String... interfaces) throws IOException {
        return sensors(rapl ? Settings.Energy.RAPL : Settings.Energy.NOT, nodeSeconds, interfaces);
    }

    private Sensors sensors(Settings.Energy energy, int nodeSeconds, String... interfaces) throws IOException {
        DaemonLog log = new DaemonLog("slurmd", root + "/log", false, 5, "");
        return new Sensors(
                root,
                new Settings.Sensing(
                        energy, nodeSeconds, List.of(interfaces), lustre, Settings.Tasks.NOT, Settings.Profiling.NOT),
                root.resolve("spool"),
                "boot",
                () -> now,
                new PowerMeter(root, energy, new MeterPrograms(Map.of("PATH", root + "/bin"), log)),
                log);
    }

    private void program(String name, String script) throws IOException {
        Path file = Files.createDirectories(root.resolve("bin")).resolve(name);
        Files.writeString(file, "#!/bin/sh\n" + script);
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    private void sample(Sensors s, long at) {
        now = at;
        s.sample();
    }

    @Test
    void powerOfTheManagementControllerIsEnergyOverTime() throws IOException {
        program(
                "ipmi-dcmi",
                "[ $# = 1 ] && echo 'Current Power                        : 200 Watts'\n"
                        + "echo 'Minimum Power over sampling duration : 2 watts'\n");
        Sensors s = sensors(new Settings.Energy(Settings.Energy.Kind.IPMI, 10, "DCMI"), 5);
        assertThat(s.sampleSeconds()).isEqualTo(5);
        s.sample();
        s.begin(step);
        now = 3 * SECOND;
        assertThat(s.used(step).energyJ())
                .as("between two looks as with the last")
                .isEqualTo(600);
        program("ipmi-dcmi", "echo 'Current Power : 100 Watts'\n");
        sample(s, 5 * SECOND);
        assertThat(s.power()).contains(new Sensors.Power(200, 200));
        sample(s, 10 * SECOND);
        assertThat(s.power()).contains(new Sensors.Power(100, 150));
        assertThat(s.end(step, StatusFile.NO_USAGE).energyJ()).isEqualTo(1500);
        Files.delete(root.resolve("bin/ipmi-dcmi"));
        sample(s, 15 * SECOND);
        sample(s, 20 * SECOND);
        assertThat(Files.readString(root.resolve("log")).split("meters: ipmi-dcmi ", -1))
                .as("told once")
                .hasSize(2);
        assertThat(s.power()).isEmpty();
        assertThat(s.read().energyUj()).as("what is not seen is not counted").isEqualTo(2_000_000_000L);
    }

    @Test
    void sensorsAreAddedUpAndTheFirstThatShowsWattsStandsForTheNode() throws IOException {
        program("ipmi-sensors", """
                case "$*" in --record-ids=16,19*) echo "16,PSU1,Power Supply,90.50,W,'OK'"; echo "19,PSU2,Power Supply,60.50,W,'OK'";;
                --comma*) echo "1,Fan,Fan,3000.00,RPM,'OK'"; echo "7,Total,Current,150.00,W,'OK'"; echo "16,PSU1,Power Supply,90.50,W,'OK'";; esac
                """);
        Sensors two = sensors(new Settings.Energy(Settings.Energy.Kind.IPMI, 30, "16,19"), 0);
        two.sample();
        now = 10 * SECOND;
        assertThat(two.read().energyUj()).isEqualTo(1_510_000_000L);
        now = 0;
        Sensors first = sensors(new Settings.Energy(Settings.Energy.Kind.IPMI, 30, ""), 0);
        long before = first.read().energyUj();
        first.sample();
        now = 10 * SECOND;
        assertThat(first.read().energyUj() - before).isEqualTo(1_500_000_000L);
    }

    @Test
    void lustreUsageIsSummedOverAllMounts() throws IOException {
        lustre = true;
        stats("proc/fs/lustre/llite/a", 3, 4096, 1, 100);
        stats("proc/fs/lustre/llite/b", 0, 0, 1, 50);
        Sensors s = sensors(Settings.Energy.NOT, 0);
        s.begin(step);
        stats("proc/fs/lustre/llite/a", 4, 5096, 2, 1100);
        assertThat(s.end(step, StatusFile.NO_USAGE).metered()).isEqualTo(new UsageSample(1000, 1000, 0, 0, 0, 0, 0));
        stats("sys/kernel/debug/lustre/llite/c", 7, 70, 0, 0);
        assertThat(Lustre.read(root)).as("newer clients have it elsewhere").isEqualTo(new Lustre(7, 70, 0, 0));
    }

    private void stats(String place, long reads, long read, long writes, long written) throws IOException {
        Path directory = Files.createDirectories(root.resolve(place));
        Files.writeString(
                directory.resolve("stats"),
                "snapshot_time             1213828728.379056 secs.usecs\n"
                        + (reads > 0
                                ? "read_bytes                " + reads + " samples [bytes] 1 4096 " + read + "\n"
                                : "")
                        + (writes > 0
                                ? "write_bytes               " + writes + " samples [bytes] 1 4096 " + written + "\n"
                                : "")
                        + "open 1 samples [regs]\n");
    }

    @Test
    void gpusAreAskedInTheKernelOrByTheirProgram() throws IOException {
        Settings.Energy gpu = new Settings.Energy(Settings.Energy.Kind.GPU, 30, "");
        program("nvidia-smi", "printf '61.25\\n[N/A]\\n100.75\\n'\n");
        DaemonLog log = new DaemonLog("slurmd", root + "/log", false, 5, "");
        PowerMeter meter = new PowerMeter(root, gpu, new MeterPrograms(Map.of("PATH", root + "/bin"), log));
        assertThat(meter.watts()).hasValue(162);
        for (String card : List.of("card0", "card1")) {
            Path hwmon = Files.createDirectories(
                    root.resolve("sys/class/drm").resolve(card).resolve("device/hwmon/hwmon3"));
            Files.writeString(hwmon.resolve("power1_average"), "35000000\n");
        }
        Files.createDirectories(root.resolve("sys/class/drm/card0-DP-1"));
        assertThat(meter.watts()).hasValue(70);
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
        zone("intel-rapl:0", "package-0", 500_000); // ran over: 2 000 000 to the end of its range, and 500 000 more
        zone("intel-rapl:0:1", "dram", 1_500_000);
        assertThat(s.end(step, StatusFile.NO_USAGE)).isEqualTo(StatusFile.NO_USAGE.with(6, 1000, 20, 0, 0));
        zone("intel-rapl:0", "package-0", 900_000);
        traffic("eth0", 9999, 999);
        assertThat(s.end(step, StatusFile.NO_USAGE))
                .as("reported again")
                .isEqualTo(StatusFile.NO_USAGE.with(6, 1000, 20, 0, 0));
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
        sample(s, 10 * SECOND);
        assertThat(s.power()).contains(new Sensors.Power(0, 0));
        zone("intel-rapl:0", "package-0", 7_000_001);
        zone("intel-rapl:0:1", "dram", 9_000_000);
        sample(s, 11 * SECOND);
        assertThat(s.power()).as("not due").contains(new Sensors.Power(0, 0));
        sample(s, 12 * SECOND + 9 * SECOND);
        assertThat(s.power()).contains(new Sensors.Power(1, 0));
    }

    @Test
    void powerIsNotReportedWithoutAnEnergyFrequency() throws IOException {
        Sensors s = sensors(true, 0);
        assertThat(s.sampleSeconds()).isEqualTo(Sensors.GUARD_SECONDS);
        zone("intel-rapl:0", "package-0", 7_000_000);
        sample(s, 120 * SECOND);
        assertThat(s.power()).isEmpty();
    }

    @Test
    void disabledSensorsAreNotRead() throws IOException {
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
        sample(s, 5 * SECOND);
        sample(s, 9 * SECOND);
        assertThat(s.power()).isEqualTo(Optional.empty());
        assertThat(s.end(step, StatusFile.NO_USAGE)).isEqualTo(StatusFile.NO_USAGE);
        String said = Files.readString(root.resolve("log"));
        assertThat(said.split("no energy counter", -1)).hasSize(2);
        assertThat(said.split("eth9/statistics/rx_bytes: cannot be read", -1)).hasSize(2);
    }
}
