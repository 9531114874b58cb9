package dev.muster.core.state;

import java.util.ArrayList;
import java.util.List;

/**
 * A user's crontab as given to scrontab.
 *
 * @param zone the controller's time zone when it was given: times of the day are those of this zone
 * @param text as written, lines of cancelled jobs made comments
 * @param entries those that are not cancelled
 */
public record Crontab(int uid, String zone, String text, List<Entry> entries) {
    static final String DISABLED = "#DISABLED: ";

    /**
     * A line that says when, and the job that runs again and again because of it.
     *
     * @param when five fields, see {@link CronTime}
     * @param firstLine of its lines in the text, with those of its options; counted from 1
     */
    public record Entry(int jobId, String when, int firstLine, int lastLine) {}

    /** Returns the crontab without this entry: its lines are comments from now on. */
    public Crontab disabled(Entry entry) {
        List<String> lines = new ArrayList<>(List.of(text.split("\n", -1)));
        for (int i = Math.max(1, entry.firstLine); i <= Math.min(entry.lastLine, lines.size()); i++) {
            lines.set(i - 1, DISABLED + lines.get(i - 1));
        }
        return new Crontab(
                uid,
                zone,
                String.join("\n", lines),
                entries.stream().filter(e -> !e.equals(entry)).toList());
    }

    /** Tests whether the crontab of the job's owner runs the job. */
    public static boolean runs(Table<Integer, Crontab> crontabs, Job job) {
        return crontabs.find(job.desc().owner().uid())
                .filter(c -> c.entries().stream().anyMatch(e -> e.jobId() == job.id()))
                .isPresent();
    }

    /** Returns the five fields that say when scrontab runs the job; "" for jobs that it does not run. */
    public static String when(Table<Integer, Crontab> crontabs, Job job) {
        return crontabs.find(job.desc().owner().uid()).stream()
                .flatMap(c -> c.entries().stream())
                .filter(e -> e.jobId() == job.id())
                .map(Entry::when)
                .findFirst()
                .orElse("");
    }
}
