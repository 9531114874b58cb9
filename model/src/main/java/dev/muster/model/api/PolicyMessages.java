package dev.muster.model.api;

import java.util.List;
import java.util.Map;

/** Requests about the priorities of jobs and the shares, use and limits of accounts and users. */
public final class PolicyMessages {
    private PolicyMessages() {}

    /** @param jobs numbers of jobs; empty for all pending ones */
    public record QueryPriorities(List<Integer> jobs) {}

    /**
     * @param type PriorityType
     * @param weights site, age, assoc, fairshare, size, partition, qos
     * @param tres PriorityWeightTRES as written
     */
    public record PrioritiesReply(String type, Map<String, Long> weights, String tres, List<PriorityRow> rows) {}

    /**
     * A waiting job in one of its partitions. Factors are from 0 to 1 unless PriorityFlags say otherwise.
     *
     * @param tres factors by name
     * @param tresWeighted what they add to the priority
     */
    public record PriorityRow(
            int jobId,
            int arrayJobId,
            int arrayTaskId,
            String arrayTasks,
            long sluid,
            String user,
            int userId,
            String account,
            String qosName,
            String partitionName,
            long priority,
            int nice,
            long site,
            double age,
            double assoc,
            double fairShare,
            double size,
            double partition,
            double qos,
            Map<String, Double> tres,
            Map<String, Long> tresWeighted) {}

    public record QueryShares() {}

    /**
     * @param tree fair tree, else the classic rule
     * @param tracked names of resources that the site has beside those of every cluster
     */
    public record SharesReply(String type, boolean tree, List<String> tracked, List<ShareRow> rows) {}

    /**
     * An association, accounts before what is below them.
     *
     * @param depth 0 for the root
     * @param rawShares a number or {@code parent}
     * @param rawUsage billed resource seconds
     * @param level share over usage among siblings; -1 for infinitely much
     * @param tresRunMins what running jobs may still use, by name
     * @param tresSeconds what has been charged, by name
     */
    public record ShareRow(
            int id,
            int depth,
            String account,
            String user,
            String partition,
            String rawShares,
            double normShares,
            long rawUsage,
            double normUsage,
            double effectiveUsage,
            double fairShare,
            double level,
            String grpTresMins,
            Map<String, Long> tresRunMins,
            Map<String, Long> tresSeconds) {}

    public record QueryAssocMgr() {}

    public record AssocMgrReply(
            String cluster, List<LimitRow> assocs, List<LimitRow> qos, List<UserRow> users, List<String> tracked) {}

    public record UserRow(String user, int userId, String defaultAccount, String defaultWckey, String adminLevel) {}

    /**
     * An association or QOS with its limits and what counts against them now.
     *
     * @param name of a QOS; "" for an association
     * @param share of an association, what sshare shows of it
     * @param limits as set, by the words of sacctmgr
     * @param tres held by running jobs
     * @param runMins what they may still use
     * @param accruing jobs that wait and grow older
     * @param usedMins of each resource in minutes, as charged up to now
     * @param wallMin wall-clock minutes of its jobs, as charged up to now
     * @param accounts of a QOS, those with jobs under it
     * @param users of a QOS, those with jobs under it
     */
    public record LimitRow(
            int id,
            String name,
            int userId,
            boolean isDefault,
            String parent,
            ShareRow share,
            double usage,
            Map<String, String> limits,
            int running,
            int submitted,
            Map<String, Long> tres,
            Map<String, Long> runMins,
            int accruing,
            Map<String, Long> usedMins,
            double wallMin,
            List<LimitPart> accounts,
            List<LimitPart> users) {}

    /** The use of a QOS by one account, or by one user, by number. */
    public record LimitPart(String name, int running, int submitted, int accruing, Map<String, Long> tres) {}
}
