package dev.muster.benchmarks;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * Compares the figures of the small benchmarks with a release's: {@code ReleaseComparison OLD.csv NEW.csv}, both as JMH
 * writes them. Each line has the two times in microseconds and their ratio after both were divided by
 * {@link MachineSpeedBenchmark}'s. The exit status is 1 where a ratio is above {@value #WORSE}.
 */
public final class ReleaseComparison {
    static final double WORSE = 1.25;
    private static final String REFERENCE = "MachineSpeedBenchmark.work";
    private static final int NAME = 0;
    private static final int SCORE = 4;

    private ReleaseComparison() {}

    /** @return microseconds by "Class.method" */
    static Map<String, Double> read(Path csv) throws IOException {
        Map<String, Double> out = new TreeMap<>();
        for (String line : Files.readAllLines(csv)) {
            String[] cells = line.split(",");
            String name = cells[NAME].replace("\"", "");
            if (name.equals("Benchmark")) {
                continue;
            }
            int method = name.lastIndexOf('.');
            out.put(name.substring(name.lastIndexOf('.', method - 1) + 1), Double.parseDouble(cells[SCORE]));
        }
        return out;
    }

    private static double reference(Map<String, Double> figures) {
        return requireNonNull(figures.get(REFERENCE), "each release measures the reference");
    }

    public static void main(String[] args) throws IOException {
        Map<String, Double> old = read(Path.of(args[0]));
        Map<String, Double> now = read(Path.of(args[1]));
        double machine = reference(now) / reference(old);
        boolean worse = false;
        System.out.printf("%-30s %12s %12s %8s%n", "benchmark", "then us", "now us", "ratio");
        for (Map.Entry<String, Double> figure : now.entrySet()) {
            Double before = old.get(figure.getKey());
            if (before == null) {
                System.out.printf("%-30s %12s %12.3f %8s%n", figure.getKey(), "-", figure.getValue(), "-");
                continue;
            }
            double ratio = figure.getValue() / before / machine;
            worse |= ratio > WORSE;
            System.out.printf("%-30s %12.3f %12.3f %8.2f%n", figure.getKey(), before, figure.getValue(), ratio);
        }
        System.exit(worse ? 1 : 0);
    }
}
