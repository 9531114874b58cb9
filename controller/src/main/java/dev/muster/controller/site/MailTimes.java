package dev.muster.controller.site;

import dev.muster.controller.view.LaunchMessages;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Jobs that want a mail when a part of their time limit is reached. Only these are looked at. */
final class MailTimes {
    private record WatchedJob(int attempt, Set<Mail.Event> open) {}

    private final Map<Integer, WatchedJob> jobs = new ConcurrentHashMap<>();

    void started(Job job) {
        Set<Mail.Event> open = EnumSet.noneOf(Mail.Event.class);
        for (Mail.Event event : List.of(Mail.Event.TIME_50, Mail.Event.TIME_80, Mail.Event.TIME_90)) {
            if (event.isWanted(job)) {
                open.add(event);
            }
        }
        if (!open.isEmpty() && job.state().isActive()) {
            jobs.put(job.id(), new WatchedJob(job.attempt(), open));
        }
    }

    /**
     * Watches a job that ran before slurmctld started. Parts of the limit that it had reached by then were mailed:
     * cluster time stands still while slurmctld is down.
     */
    void resumed(Job job, long tickMs) {
        started(job);
        WatchedJob watched = jobs.get(job.id());
        if (watched != null) {
            watched.open.removeIf(event -> isReached(event, job, tickMs));
        }
    }

    /** Returns the mails that are due now; each once. */
    List<Mail> reached(State state, long tickMs) {
        List<Mail> out = new ArrayList<>();
        jobs.forEach((id, watched) -> {
            Job job = state.jobs()
                    .find(id)
                    .filter(j -> j.attempt() == watched.attempt && j.state().isActive())
                    .orElse(null);
            if (job == null) {
                jobs.remove(id, watched);
                return;
            }
            for (Mail.Event event : List.copyOf(watched.open)) {
                if (isReached(event, job, tickMs)) {
                    watched.open.remove(event);
                    Mail.ofRunning(event, job, ranSeconds(job, tickMs)).ifPresent(out::add);
                }
            }
        });
        return out;
    }

    private static boolean isReached(Mail.Event event, Job job, long tickMs) {
        int limitMin = job.run().limitMin();
        return limitMin > 0
                && LaunchMessages.secondsLeft(job, tickMs) >= 0
                && ranSeconds(job, tickMs) * 100 >= limitMin * 60L * percent(event);
    }

    private static long ranSeconds(Job job, long tickMs) {
        return job.run().limitMin() * 60L - LaunchMessages.secondsLeft(job, tickMs);
    }

    private static int percent(Mail.Event event) {
        return switch (event) {
            case TIME_50 -> 50;
            case TIME_80 -> 80;
            case TIME_90 -> 90;
            case BEGIN, END, FAIL, REQUEUE, INVALID_DEPEND, TIME_LIMIT -> 100;
        };
    }
}
