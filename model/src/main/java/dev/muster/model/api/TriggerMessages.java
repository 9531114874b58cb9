package dev.muster.model.api;

import java.util.List;

/** Requests of strigger, and their replies. */
public final class TriggerMessages {
    private TriggerMessages() {}

    /**
     * Has a program run when something happens.
     *
     * @param events long names of strigger's options
     * @param jobId 0 for none
     * @param nodes hostlist, "" for all
     * @param offsetSeconds after the event, negative before it
     */
    public record SetTrigger(
            String requestId,
            List<String> events,
            int jobId,
            String nodes,
            int offsetSeconds,
            String program,
            boolean permanent) {}

    /**
     * Forgets triggers.
     *
     * @param id 0 for any
     * @param jobId 0 for any
     * @param userId -1 for any
     */
    public record ClearTriggers(String requestId, int id, int jobId, int userId) {}

    public record QueryTriggers() {}

    public record TriggersReply(List<TriggerInfo> triggers) {}

    public record TriggerInfo(
            int id,
            List<String> events,
            int jobId,
            String nodes,
            int offsetSeconds,
            int userId,
            String userName,
            String program,
            boolean permanent) {}
}
