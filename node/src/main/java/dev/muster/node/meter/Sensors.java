package dev.muster.node.meter;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages.Usage;
import dev.muster.node.config.Settings;
import dev.muster.node.os.Os;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * Meters of the whole node: energy of its processors and memory (RAPL, /sys/class/powercap), or the power that a
 * {@link PowerMeter} shows over time, and traffic of its network interfaces. What a step used is the difference between
 * its end and its start, so steps that share a node are each told all of it.
 *
 * <p>The kernel's energy counters run over after some minutes of full load: {@link #sample} is to be called more often
 * than that. The sum over them is kept in the spool directory, so that steps which outlive a slurmd keep their measure.
 */
public final class Sensors {
    /** How often the counters are looked at where AcctGatherNodeFreq does not say: well before they run over. */
    static final int GUARD_SECONDS = 120;

    private static final String FILE = "sensors";
    private static final long MICRO = 1_000_000;
    private static final double NS_PER_S = 1e9;

    /**
     * @param energyUj microjoules since some moment in the past
     * @param inBytes since the interfaces came up, as outBytes; fsRead and fsWritten since file systems were mounted
     */
    public record Reading(long energyUj, long inBytes, long outBytes, long fsRead, long fsWritten) {
        Reading(long energyUj, long inBytes, long outBytes) {
            this(energyUj, inBytes, outBytes, 0, 0);
        }

        Reading since(Reading before) {
            return new Reading(
                    Math.max(0, energyUj - before.energyUj),
                    Math.max(0, inBytes - before.inBytes),
                    Math.max(0, outBytes - before.outBytes),
                    Math.max(0, fsRead - before.fsRead),
                    Math.max(0, fsWritten - before.fsWritten));
        }

        public long energyJ() {
            return energyUj / MICRO;
        }
    }

    /**
     * A step's measure in its directory.
     *
     * @param over the second reading has been taken: a report that is made again tells the same
     */
    private record StepReading(Reading start, Reading end, boolean over) {}

    /** @param zones the last value of each counter */
    private record Total(String bootId, long energyUj, Map<String, Long> zones) {}

    /** Power in watts. */
    public record Power(int now, int average) {}

    private final Path root;
    private final Settings.Sensing what;
    private final Path totalFile;
    private final DaemonLog log;
    private final String bootId;
    private final Set<Path> complained = new HashSet<>();
    private long energyUj;
    private final Map<String, Long> zones = new TreeMap<>();
    private long firstUj;
    private long firstNs;
    private long lastUj;
    private long lastNs;
    private Optional<Power> power = Optional.empty();
    private final PowerMeter meter;
    private final LongSupplier clockNs;
    /** The last value of the meter, and the time up to which it is counted. */
    private OptionalDouble watts = OptionalDouble.empty();

    private long countedNs;

    /**
     * @param root "/" or a directory with a sys of its own for tests
     * @param spool where the sum of the counters is kept
     * @param clockNs grows
     */
    public Sensors(
            Path root,
            Settings.Sensing what,
            Path spool,
            String bootId,
            LongSupplier clockNs,
            PowerMeter meter,
            DaemonLog log) {
        this.root = root;
        this.what = what;
        this.log = log;
        this.bootId = bootId;
        this.clockNs = clockNs;
        this.meter = meter;
        totalFile = spool.resolve(FILE);
        if (counts()) {
            Total kept = load(totalFile, Total.class)
                    .filter(t -> t.bootId().equals(bootId))
                    .orElse(new Total(bootId, 0, Map.of()));
            energyUj = kept.energyUj();
            zones.putAll(kept.zones());
            long nowNs = clockNs.getAsLong();
            countedNs = nowNs;
            advance(nowNs);
            firstUj = energyUj;
            firstNs = nowNs;
            lastUj = energyUj;
            lastNs = nowNs;
        }
    }

    boolean isOn() {
        return counts() || !what.interfaces().isEmpty() || what.lustre();
    }

    private boolean counts() {
        return what.energy().kind() != Settings.Energy.Kind.NONE;
    }

    /** Seconds between two samples; 0 where there is nothing to sample. */
    public int sampleSeconds() {
        int maxSeconds = what.energy().measuresPower() ? what.energy().seconds() : GUARD_SECONDS;
        if (!counts()) {
            return 0;
        }
        if (what.nodeSeconds() > 0) {
            return Math.min(what.nodeSeconds(), maxSeconds);
        }
        return maxSeconds;
    }

    /** Follows the counters, and for AcctGatherNodeFreq works out the power since the last sample. */
    public void sample() {
        // the meter may run a program: other threads must not wait for it
        OptionalDouble shown = what.energy().measuresPower() ? meter.watts() : OptionalDouble.empty();
        sampled(clockNs.getAsLong(), shown);
    }

    private synchronized void sampled(long nowNs, OptionalDouble shown) {
        if (!counts()) {
            return;
        }
        advance(nowNs);
        watts = shown;
        if (what.energy().measuresPower() && watts.isEmpty()) {
            power = Optional.empty();
        }
        if (nowNs <= lastNs) {
            return;
        }
        boolean isTime = what.nodeSeconds() > 0
                && nowNs - lastNs >= (what.nodeSeconds() - 1) * 1_000_000_000L
                && (!zones.isEmpty() || watts.isPresent());
        if (isTime) {
            power = Optional.of(
                    new Power(watts(energyUj - lastUj, nowNs - lastNs), watts(energyUj - firstUj, nowNs - firstNs)));
            lastUj = energyUj;
            lastNs = nowNs;
        }
    }

    private static int watts(long uj, long ns) {
        return (int) Math.round(uj * 1000.0 / ns);
    }

    /** Power at the last sample and its average since slurmd started; empty without samples. */
    public synchronized Optional<Power> power() {
        return power;
    }

    synchronized Reading read() {
        if (counts()) {
            advance(clockNs.getAsLong());
        }
        long in = 0;
        long out = 0;
        for (String name : what.interfaces()) {
            Path statistics = root.resolve("sys/class/net").resolve(name).resolve("statistics");
            in += number(statistics.resolve("rx_bytes")).orElse(0L);
            out += number(statistics.resolve("tx_bytes")).orElse(0L);
        }
        Lustre files = what.lustre() ? Lustre.read(root) : Lustre.NONE;
        return new Reading(energyUj, in, out, files.readBytes(), files.writtenBytes());
    }

    private void advance(long nowNs) {
        if (!what.energy().measuresPower()) {
            packages();
        } else if (nowNs > countedNs) {
            energyUj += Math.round(watts.orElse(0) * (nowNs - countedNs) / NS_PER_S * MICRO);
            countedNs = nowNs;
            save(totalFile, new Total(bootId, energyUj, Map.of()));
        }
    }

    /** Packages and, beside them, memory; cores and graphics are part of their package. */
    private void packages() {
        boolean moved = false;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(root.resolve("sys/class/powercap"), "intel-rapl:*")) {
            for (Path zone : all) {
                String kind = Os.read(zone.resolve("name")).map(String::trim).orElse("");
                Optional<Long> now = kind.startsWith("package") || kind.equals("dram")
                        ? number(zone.resolve("energy_uj"))
                        : Optional.empty();
                if (now.isPresent()) {
                    Long before = zones.put(zone.getFileName().toString(), now.get());
                    if (before != null) {
                        energyUj += now.get() - before;
                    }
                    if (before != null && now.get() < before) {
                        // the counter has begun again at 0
                        energyUj += number(zone.resolve("max_energy_range_uj")).orElse(0L);
                    }
                    moved = true;
                }
            }
        } catch (IOException e) {
            moved = false;
        }
        if (!moved) {
            complain(root.resolve("sys/class/powercap"), "no energy counter (intel-rapl) can be read there");
            return;
        }
        save(totalFile, new Total(bootId, energyUj, Map.copyOf(zones)));
    }

    private Optional<Long> number(Path file) {
        Optional<String> text = Os.read(file).map(String::trim).filter(t -> t.matches("[0-9]{1,18}"));
        if (text.isEmpty()) {
            complain(file, "cannot be read");
        }
        return text.map(Long::parseLong);
    }

    /** Once for each: what is missing stays so. */
    private void complain(Path file, String why) {
        if (complained.add(file)) {
            log.error(file + ": " + why);
        }
    }

    /** Keeps the counters at the start of a step. */
    public void begin(Path stepDirectory) {
        if (isOn()) {
            save(stepDirectory.resolve(FILE), new StepReading(read(), new Reading(0, 0, 0), false));
        }
    }

    /** Since {@link #begin}, up to the step's end where that has been asked for. */
    public Reading used(Path stepDirectory) {
        Optional<StepReading> kept = isOn() ? load(stepDirectory.resolve(FILE), StepReading.class) : Optional.empty();
        return kept.map(k -> (k.over() ? k.end() : read()).since(k.start())).orElse(new Reading(0, 0, 0));
    }

    /** The step is over: adds to what its processes used. */
    public Usage end(Path stepDirectory, Usage usage) {
        Path file = stepDirectory.resolve(FILE);
        if (isOn()) {
            load(file, StepReading.class)
                    .filter(k -> !k.over())
                    .ifPresent(k -> save(file, new StepReading(k.start(), read(), true)));
        }
        Reading r = used(stepDirectory);
        return usage.with(r.energyJ(), r.inBytes(), r.outBytes(), r.fsRead(), r.fsWritten());
    }

    private void save(Path file, Object record) {
        try {
            Path next = file.resolveSibling(file.getFileName() + ".new");
            Files.write(next, Codec.encode(record));
            Files.move(next, file, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            complain(file, "cannot be written: " + ErrorSentence.reason(e));
        }
    }

    private static <T> Optional<T> load(Path file, Class<T> type) {
        try {
            return Optional.of(Codec.decode(Files.readAllBytes(file), type));
        } catch (IOException | Json.MalformedException e) {
            return Optional.empty();
        }
    }
}
