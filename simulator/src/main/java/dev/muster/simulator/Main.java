package dev.muster.simulator;

import java.util.stream.Stream;

/**
 * {@code Main N [firstSeed]}: runs seeds until one fails. {@code -Dseed=S} replays one with its trace,
 * {@code -Dplant=NAME} plants a bug, {@code -Dall} goes on after a failure, {@code -Dseen} counts what was reached.
 */
public final class Main {
    private Main() {}

    public static void main(String[] line) {
        String[] args = Stream.of(line).filter(word -> !word.startsWith("-D")).toArray(String[]::new);
        Stream.of(line)
                .filter(word -> word.startsWith("-D"))
                .map(word -> word.substring(2).split("=", 2))
                .forEach(d -> System.setProperty(d[0], d.length > 1 ? d[1] : "true"));
        PlantedBug bug = PlantedBug.valueOf(System.getProperty("plant", "NONE"));
        if (System.getProperty("seed") != null) {
            Simulation.Outcome o = Simulation.run(Long.parseLong(System.getProperty("seed")), bug, true);
            report(o);
            System.exit(o.violation().isPresent() ? 1 : 0);
        }
        int count = args.length > 0 ? Integer.parseInt(args[0]) : 500;
        long first = args.length > 1 ? Long.parseLong(args[1]) : 1;
        boolean all = System.getProperty("all") != null;
        long began = System.nanoTime();
        long events = 0;
        long virtualMs = 0;
        int failed = 0;
        java.util.TreeMap<String, Integer> seen = new java.util.TreeMap<>();
        for (long seed = first; seed < first + count; seed++) {
            Simulation.Outcome o = Simulation.run(seed, bug, false);
            events += o.events();
            virtualMs += o.virtualMs();
            o.seen().forEach((what, times) -> seen.merge(what, times, Integer::sum));
            if (o.violation().isPresent()) {
                failed++;
                if (all) {
                    System.out.println(seed + ": "
                            + String.valueOf(o.violation().get().getMessage())
                                    .lines()
                                    .findFirst()
                                    .orElse(""));
                } else {
                    report(o);
                    break;
                }
            }
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        System.out.printf(
                java.util.Locale.ROOT,
                "%d seeds, %d failed, %.1f s, %.1f seeds/s, %d events, %.0f times real time%n",
                count,
                failed,
                seconds,
                count / seconds,
                events,
                virtualMs / 1000.0 / seconds);
        if (System.getProperty("seen") != null) {
            seen.forEach((what, times) -> System.out.println(what + ": " + times));
        }
        System.exit(failed > 0 ? 1 : 0);
    }

    private static void report(Simulation.Outcome o) {
        if (o.violation().isEmpty()) {
            System.out.println("seed " + o.seed() + " passes, hash " + Long.toHexString(o.hash()));
            return;
        }
        System.out.println("---- the last events");
        o.trace().forEach(System.out::println);
        System.out.println("---- seed " + o.seed() + " (replay: -Dseed=" + o.seed() + ")");
        System.out.println("faults: " + o.parameters());
        System.out.println(o.violation().get().getMessage());
        o.violation().get().printStackTrace(System.out);
    }
}
