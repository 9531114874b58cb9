package dev.muster.model.accounting;

import dev.muster.model.job.TaskPeaks;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;

/**
 * The most and the least that a task of a step used, with task and node, as one text of its row:
 * {@code cpu=9@3@n2/1@0@n1,mem=…}. Units are those of {@link TaskPeaks}.
 */
public final class Extremes {
    /** Measured values of a task, by their names in the text. */
    public enum Measure {
        CPU,
        MEM,
        VMEM,
        PAGES,
        READ,
        WRITE
    }

    /** A value, and which task on which node had it. */
    public record At(long value, int task, String node) {
        private static At parse(String text) {
            String[] parts = text.split("@", 3);
            return new At(Long.parseLong(parts[0]), Integer.parseInt(parts[1]), parts[2]);
        }

        @Override
        public String toString() {
            return value + "@" + task + "@" + node;
        }
    }

    /** Both ends of what the tasks had. */
    public record Span(At most, At least) {}

    private final Map<Measure, Span> spans = new EnumMap<>(Measure.class);

    private Extremes() {}

    /** @param text of a row; "" where nothing is known. What cannot be read is not there */
    public static Extremes parse(String text) {
        Extremes out = new Extremes();
        for (String item : text.split(",")) {
            int equalSign = item.indexOf('=');
            int slash = item.indexOf('/', equalSign);
            if (equalSign <= 0 || slash < 0) {
                continue;
            }
            try {
                out.spans.put(
                        Measure.valueOf(item.substring(0, equalSign).toUpperCase(java.util.Locale.ROOT)),
                        new Span(At.parse(item.substring(equalSign + 1, slash)), At.parse(item.substring(slash + 1))));
            } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
                // another version wrote it: the rest counts
            }
        }
        return out;
    }

    /** Adds the tasks of one more node. Of equal values the first counts. */
    public Extremes and(TaskPeaks peaks, String node) {
        add(Measure.CPU, peaks.cpuUs(), node);
        add(Measure.MEM, peaks.rssKb(), node);
        add(Measure.VMEM, peaks.vmKb(), node);
        add(Measure.PAGES, peaks.pages(), node);
        add(Measure.READ, peaks.readBytes(), node);
        add(Measure.WRITE, peaks.writeBytes(), node);
        return this;
    }

    private void add(Measure measure, TaskPeaks.Range r, String node) {
        spans.merge(
                measure,
                new Span(new At(r.max(), r.maxTask(), node), new At(r.min(), r.minTask(), node)),
                (a, b) -> new Span(
                        b.most.value > a.most.value ? b.most : a.most,
                        b.least.value < a.least.value ? b.least : a.least));
    }

    public Optional<Span> of(Measure measure) {
        return Optional.ofNullable(spans.get(measure));
    }

    @Override
    public String toString() {
        StringBuilder out = new StringBuilder();
        spans.forEach((what, s) -> out.append(out.isEmpty() ? "" : ",")
                .append(what.name().toLowerCase(java.util.Locale.ROOT))
                .append('=')
                .append(s.most)
                .append('/')
                .append(s.least));
        return out.toString();
    }
}
