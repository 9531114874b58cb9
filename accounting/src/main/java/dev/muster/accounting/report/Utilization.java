package dev.muster.accounting.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The use of a cluster's time, by resource and hour. Pending jobs count as planned up to the idle resources of the
 * hour, and as overcommitted beyond them. All five parts of an hour add up to the resources of the cluster.
 */
public final class Utilization {
    /** An hour, in seconds: reports begin and end with whole ones. */
    public static final long HOUR = 3600;
    /** Spans longer than this are cut at the old end (some 30 years): an hour is a row in memory. */
    static final int HOURS_MAX = 262_800;

    /**
     * Amounts times seconds.
     *
     * @param count of the resource, on average over the time that the cluster was there
     */
    public record Part(
            long count,
            long allocated,
            long down,
            long plannedDown,
            long idle,
            long planned,
            long overcommitted,
            long reported) {
        private Part plus(Part o) {
            return new Part(
                    count + o.count,
                    allocated + o.allocated,
                    down + o.down,
                    plannedDown + o.plannedDown,
                    idle + o.idle,
                    planned + o.planned,
                    overcommitted + o.overcommitted,
                    reported + o.reported);
        }

        /** The sum over several clusters. */
        public static Part sum(Part a, Part b) {
            return a.plus(b);
        }
    }

    private static final Part NOTHING = new Part(0, 0, 0, 0, 0, 0, 0, 0);

    private static final class Hour {
        final Map<String, Long> reported = Amounts.none();
        final Map<String, Long> down = Amounts.none();
        final Map<String, Long> plannedDown = Amounts.none();
        final Map<String, Long> allocated = Amounts.none();
        long planned;
        long seconds;
    }

    private final long from;
    private final long now;
    private final List<Hour> hours = new ArrayList<>();

    private Utilization(long from, long to, long now) {
        this.from = from;
        this.now = now;
        for (long at = from; at < to; at += HOUR) {
            hours.add(new Hour());
        }
    }

    /** Utilization of one cluster by resource, without resources that it never reported. */
    public static Map<String, Part> of(List<NodeTime> times, List<JobUse> jobs, long from, long to, long now) {
        long first = times.stream()
                .filter(t -> t.node().isEmpty())
                .mapToLong(NodeTime::start)
                .min()
                .orElse(to);
        long begin = Math.max(from, first - Math.floorMod(first, HOUR));
        long end = Math.min(to, now - Math.floorMod(now, HOUR) + HOUR);
        Utilization u = new Utilization(Math.max(begin, end - HOURS_MAX * HOUR), end, now);
        times.forEach(u::add);
        jobs.forEach(u::add);
        return u.parts();
    }

    private int first(long start) {
        return (int) Math.max(0, (start - from) / HOUR);
    }

    private long start(int hour) {
        return from + hour * HOUR;
    }

    private void add(NodeTime time) {
        for (int h = first(time.start()); h < hours.size() && (time.end() == 0 || start(h) < time.end()); h++) {
            Hour hour = hours.get(h);
            long seconds = time.overlap(start(h), start(h) + HOUR, now);
            if (time.node().isEmpty()) {
                hour.seconds += seconds;
            }
            Amounts.add(counter(hour, time), time.tres(), seconds);
        }
    }

    /** The counter of an hour to which a node's or, without a node, the cluster's time belongs. */
    private static Map<String, Long> counter(Hour hour, NodeTime time) {
        if (time.node().isEmpty()) {
            return hour.reported;
        }
        if (time.state().equals(NodeTime.RESERVED)) {
            return hour.allocated;
        }
        return time.planned() ? hour.plannedDown : hour.down;
    }

    private void add(JobUse use) {
        long since = use.eligible() > 0 ? use.eligible() : use.start();
        if (since == 0) {
            return;
        }
        long last = use.end() == 0 ? now : use.end();
        for (int h = first(since); h < hours.size() && start(h) < last; h++) {
            Hour hour = hours.get(h);
            long a = start(h);
            use.used(a, a + HOUR, now).forEach((name, n) -> hour.allocated.merge(name, n, Long::sum));
            hour.planned += use.waited(a, a + HOUR, now) * use.planned();
        }
    }

    private Map<String, Part> parts() {
        Map<String, Part> out = new TreeMap<>();
        long seconds = hours.stream().mapToLong(h -> h.seconds).sum();
        for (Hour hour : hours) {
            hour.reported.forEach((name, total) -> out.merge(name, part(hour, name, total), Part::plus));
        }
        out.replaceAll((name, p) -> new Part(
                seconds == 0 ? 0 : Math.round((double) p.reported / seconds),
                p.allocated,
                p.down,
                p.plannedDown,
                p.idle,
                p.planned,
                p.overcommitted,
                p.reported));
        return out;
    }

    /** Nothing is more than there was: what jobs had comes first, then what was down. */
    private static Part part(Hour hour, String name, long total) {
        if (name.equals("energy")) {
            long used = hour.allocated.getOrDefault(name, 0L);
            return new Part(0, used, 0, 0, 0, 0, 0, used);
        }
        if (total == 0) {
            return NOTHING;
        }
        long allocated = Math.min(total, hour.allocated.getOrDefault(name, 0L));
        long down = Math.min(total - allocated, hour.down.getOrDefault(name, 0L));
        long plannedDown = Math.min(total - allocated - down, hour.plannedDown.getOrDefault(name, 0L));
        long idle = total - allocated - down - plannedDown;
        long wanted = name.equals("cpu") ? hour.planned : 0;
        long planned = Math.min(idle, wanted);
        return new Part(0, allocated, down, plannedDown, idle - planned, planned, wanted - planned, total);
    }
}
