package dev.muster.node.meter;

import dev.muster.node.config.Settings;
import dev.muster.node.os.Os;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;

/**
 * What a node takes in watts, as its management controller (FreeIPMI's programs) or its GPUs (nvidia-smi, and the
 * kernel for those of AMD) show it. A look may take a while.
 */
public final class PowerMeter {
    private static final double MICRO = 1e6;
    private static final List<String> ROWS =
            List.of("--comma-separated-output", "--no-header-output", "--quiet-cache", "--sdr-cache-recreate");

    private final Path root;
    private final Settings.Energy what;
    private final MeterPrograms programs;

    /** @param root "/" or a directory with a sys of its own for tests */
    public PowerMeter(Path root, Settings.Energy what, MeterPrograms programs) {
        this.root = root;
        this.what = what;
        this.programs = programs;
    }

    /** Empty where nothing shows any. */
    OptionalDouble watts() {
        return switch (what.kind()) {
            case IPMI -> ipmi();
            case GPU -> gpus();
            case NONE, RAPL -> OptionalDouble.empty();
        };
    }

    private OptionalDouble ipmi() {
        String sensors = what.sensors();
        if (sensors.startsWith("DCMI")) {
            String which =
                    sensors.equals("DCMI") ? "--get-system-power-statistics" : "--get-enhanced-system-power-statistics";
            return programs.run(List.of("ipmi-dcmi", which))
                    .map(PowerMeter::current)
                    .orElse(OptionalDouble.empty());
        }
        List<String> command = new java.util.ArrayList<>(List.of("ipmi-sensors"));
        if (!sensors.isEmpty()) {
            command.add("--record-ids=" + sensors);
        }
        command.addAll(ROWS);
        return programs.run(command)
                .map(text -> rows(text, sensors.isEmpty() ? 1 : Integer.MAX_VALUE))
                .orElse(OptionalDouble.empty());
    }

    /** Reads the first line {@code Current Power : 332 Watts}. */
    private static OptionalDouble current(String text) {
        return text.lines()
                .filter(l -> l.toLowerCase(java.util.Locale.ROOT).matches("current power\\s*:\\s*[0-9.]+\\s+watts\\s*"))
                .mapToDouble(l -> Double.parseDouble(l.replaceAll("[^0-9.]", "")))
                .findFirst();
    }

    /** Sum of the first {@code rows} lines {@code 16,Name,Type,210.00,W,Event} that are in watts. */
    private static OptionalDouble rows(String text, int rows) {
        double[] all = text.lines()
                .map(l -> l.split(","))
                .filter(c -> c.length > 4 && c[4].equals("W") && c[3].matches("[0-9]+(\\.[0-9]+)?"))
                .mapToDouble(c -> Double.parseDouble(c[3]))
                .limit(rows)
                .toArray();
        return sum(all);
    }

    private static OptionalDouble sum(double[] all) {
        return all.length == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(java.util.Arrays.stream(all).sum());
    }

    private OptionalDouble gpus() {
        double[] kernel = hwmon();
        if (kernel.length > 0) {
            return sum(kernel);
        }
        return programs.run(List.of("nvidia-smi", "--query-gpu=power.draw", "--format=csv,noheader,nounits"))
                .map(text -> sum(text.lines()
                        .map(String::strip)
                        .filter(l -> l.matches("[0-9]+(\\.[0-9]+)?"))
                        .mapToDouble(Double::parseDouble)
                        .toArray()))
                .orElse(OptionalDouble.empty());
    }

    private double[] hwmon() {
        Map<String, Double> out = new TreeMap<>();
        try (DirectoryStream<Path> cards = Files.newDirectoryStream(root.resolve("sys/class/drm"), "card*")) {
            for (Path card : cards) {
                try (DirectoryStream<Path> meters = Files.newDirectoryStream(card.resolve("device/hwmon"), "hwmon*")) {
                    for (Path meter : meters) {
                        Optional<String> uw = Os.read(meter.resolve("power1_average"))
                                .or(() -> Os.read(meter.resolve("power1_input")))
                                .map(String::strip)
                                .filter(t -> t.matches("[0-9]{1,15}"));
                        uw.ifPresent(t -> out.put(card.getFileName().toString(), Long.parseLong(t) / MICRO));
                    }
                } catch (IOException e) {
                    // a connector of a card, or one without meters
                }
            }
        } catch (IOException e) {
            return new double[0];
        }
        return out.values().stream().mapToDouble(Double::doubleValue).toArray();
    }
}
