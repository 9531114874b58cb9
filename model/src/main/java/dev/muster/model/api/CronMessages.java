package dev.muster.model.api;

import java.util.List;

/** Requests of scrontab, and their replies. */
public final class CronMessages {
    private CronMessages() {}

    /** @param userId owner of the crontab; operators may ask for that of another user */
    public record QueryCrontab(int userId) {}

    /** @param text "" where there is none */
    public record CrontabReply(String text) {}

    /**
     * Takes the place of the user's crontab; without text and entries there is none any more.
     *
     * @param userId owner of the crontab; administrators may set that of another user
     * @param entries in the order of the text
     */
    public record SetCrontab(int userId, String text, List<CronJob> entries) {}

    /**
     * A line that says when, with the job that it is about. A job without a directory runs in its owner's.
     *
     * @param when five fields, or a word as {@code @daily}
     * @param firstLine of the lines that belong to it, from 1
     */
    public record CronJob(JobMessages.Submit job, String when, int firstLine, int lastLine) {}

    /** @param jobs by entry */
    public record CrontabSet(List<Integer> jobs) {}
}
