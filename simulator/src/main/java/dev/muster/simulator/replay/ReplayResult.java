package dev.muster.simulator.replay;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a policy made of a trace. The bounded slowdown of a job is (wait + run) / max(run, 10 s), at least 1.
 *
 * @param meanOfUsers the mean over users of each one's mean bounded slowdown
 * @param utilisation CPU seconds of work per capacity from the first submission to the last end
 */
public record ReplayResult(
        int jobs,
        double mean,
        double p95,
        double p99,
        double max,
        double meanOfUsers,
        double meanWaitS,
        double maxWaitS,
        double utilisation,
        int deepest) {
    /** Seconds that a shorter job counts for. */
    static final long THRESHOLD_S = 10;

    /** @param startS of each job of the trace, in seconds of its time */
    public static ReplayResult of(Trace trace, long[] startS, int deepest) {
        List<Trace.Job> jobs = trace.jobs();
        double[] slow = new double[jobs.size()];
        Map<Integer, double[]> users = new HashMap<>();
        double waits = 0;
        long longest = 0;
        double work = 0;
        long end = 0;
        for (int i = 0; i < slow.length; i++) {
            Trace.Job job = jobs.get(i);
            long wait = startS[i] - job.submitS();
            slow[i] = Math.max(1.0, (wait + job.runS()) / (double) Math.max(job.runS(), THRESHOLD_S));
            double[] own = users.computeIfAbsent(job.user(), u -> new double[2]);
            own[0] += slow[i];
            own[1]++;
            waits += wait;
            longest = Math.max(longest, wait);
            work += (double) job.runS() * job.cpus();
            end = Math.max(end, startS[i] + job.runS());
        }
        double mean = Arrays.stream(slow).average().orElseThrow();
        double ofUsers =
                users.values().stream().mapToDouble(u -> u[0] / u[1]).average().orElseThrow();
        Arrays.sort(slow);
        return new ReplayResult(
                slow.length,
                mean,
                at(slow, 0.95),
                at(slow, 0.99),
                slow[slow.length - 1],
                ofUsers,
                waits / slow.length,
                longest,
                work / trace.cpus() / Math.max(1, end),
                deepest);
    }

    private static double at(double[] sorted, double share) {
        return sorted[Math.min(sorted.length - 1, (int) Math.ceil(share * sorted.length) - 1)];
    }

    static final String HEAD = String.format(
            Locale.ROOT,
            "%-14s %8s %10s %10s %10s %11s %10s %11s %11s %7s %7s",
            "policy",
            "jobs",
            "mean_bsld",
            "p95",
            "p99",
            "max",
            "user_mean",
            "mean_wait_s",
            "max_wait_s",
            "util",
            "deepest");

    String line(String name) {
        return String.format(
                Locale.ROOT,
                "%-14s %8d %10.3f %10.1f %10.1f %11.1f %10.2f %11.0f %11.0f %7.4f %7d",
                name,
                jobs,
                mean,
                p95,
                p99,
                max,
                meanOfUsers,
                meanWaitS,
                maxWaitS,
                utilisation,
                deepest);
    }
}
