package dev.muster.core.job;

import dev.muster.core.command.Decision;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import dev.muster.model.job.JobDesc;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The plugins of JobSubmitPlugins that there are: each changes a request or refuses it, in the order of the file. */
public final class JobSubmit {
    private static final int HOUR_S = 3600;
    /** Sampling interval that the plugin "defaults" gives to a job without one. */
    private static final String ACCOUNTING_SECONDS = "30";

    /**
     * Number of jobs that each user has submitted in this hour. Kept beside the state, and forgotten at a restart as
     * Slurm does.
     */
    public static final class Submissions {
        private final Map<Integer, Integer> jobs = new HashMap<>();
        private long since;

        public void reset() {
            jobs.clear();
        }

        public void follow(State after, Entry entry) {
            if (!after.settings().options().submission().plugins().contains("throttle")) {
                return;
            }
            long seconds = entry.timeMs() / 1000;
            for (Change change : entry.changes()) {
                if (change instanceof Change.JobSubmitted c) {
                    if (seconds - since >= HOUR_S) {
                        jobs.clear();
                        since = seconds;
                    }
                    jobs.merge(c.job().desc().owner().uid(), 1, Integer::sum);
                }
            }
        }

        int of(int uid, long seconds) {
            return seconds - since >= HOUR_S ? 0 : jobs.getOrDefault(uid, 0);
        }
    }

    sealed interface Outcome {}

    record Passed(JobDesc desc) implements Outcome {}

    record Stopped(Decision.Rejected why) implements Outcome {}

    private JobSubmit() {}

    static Outcome through(State state, JobDesc desc, Submissions submissions, DecisionTime now) {
        JobDesc job = desc;
        for (String plugin : state.settings().options().submission().plugins()) {
            Optional<Decision.Rejected> refused = refusal(state, job, plugin, submissions, now);
            if (refused.isPresent()) {
                return new Stopped(refused.get());
            }
            job = changed(state, job, plugin);
        }
        return new Passed(job);
    }

    /** Returns a request as the plugins before the given one make it; they are asked again when it is decided. */
    public static JobDesc before(State state, JobDesc desc, String plugin) {
        JobDesc job = desc;
        for (String name : state.settings().options().submission().plugins()) {
            if (name.equals(plugin)) {
                return job;
            }
            job = changed(state, job, name);
        }
        return job;
    }

    /** Returns the refusal of the plugin, without its changes. */
    private static Optional<Decision.Rejected> refusal(
            State state, JobDesc job, String plugin, Submissions submissions, DecisionTime now) {
        if (plugin.equals("require_timelimit") && job.timing().timeLimitMin() == 0) {
            return Optional.of(Decision.reject(SlurmErrno.MISSING_TIME_LIMIT));
        }
        if (plugin.equals("throttle") && isTooMany(state, job, submissions, now)) {
            return Optional.of(Decision.reject(SlurmErrno.ACCOUNTING_POLICY));
        }
        return Optional.empty();
    }

    private static JobDesc changed(State state, JobDesc job, String plugin) {
        return switch (plugin) {
            case "all_partitions" -> job.partition().isEmpty() ? job.withPartition(all(state)) : job;
            case "partition" ->
                job.partition().isEmpty()
                        ? fitting(state, job).map(job::withPartition).orElse(job)
                        : job;
            case "defaults" -> job.extras().acctgFreq().isEmpty() ? sampled(job) : job;
            default -> job;
        };
    }

    private static JobDesc sampled(JobDesc job) {
        return job.withExtras(job.extras().withAcctgFreq(ACCOUNTING_SECONDS));
    }

    /** Returns the partition of a job that names none, as far as can be told before it is decided. */
    public static String partitionOf(State state, JobDesc job) {
        if (!job.partition().isEmpty()) {
            return job.partition();
        }
        List<String> names = state.settings().options().submission().plugins();
        boolean all = names.contains("all_partitions");
        Optional<String> found;
        if (names.contains("partition") && (!all || names.indexOf("partition") < names.indexOf("all_partitions"))) {
            found = fitting(state, job);
        } else if (all) {
            found = Optional.of(all(state));
        } else {
            found = Optional.empty();
        }

        return found.orElseGet(() -> state.partitions().values().stream()
                .filter(p -> p.info().isDefault())
                .map(Partition::name)
                .findFirst()
                .orElse(""));
    }

    private static String all(State state) {
        return String.join(
                ",", state.partitions().values().stream().map(Partition::name).toList());
    }

    /** Returns the partition of the highest tier whose limits on nodes and users the job keeps. */
    private static Optional<String> fitting(State state, JobDesc job) {
        String best = "";
        int tier = Integer.MIN_VALUE;
        int nodes = job.request().nodesMin();
        for (Partition p : state.partitions().values()) {
            boolean fits = p.takesJobs()
                    && PartitionLimits.mayEnter(job, p)
                    && PartitionLimits.admitsAccount(p.info(), job.charge().account(), state)
                    && PartitionLimits.admitsGroups(p.info(), job.owner(), state)
                    && (!p.info().rootOnly() || job.owner().uid() == 0)
                    && (nodes == 0
                            || nodes >= p.info().minNodes()
                                    && (p.info().maxNodes() < 0
                                            || nodes <= p.info().maxNodes()));
            if (fits && p.info().priorityTier() > tier) {
                best = p.name();
                tier = p.info().priorityTier();
            }
        }
        return Optional.of(best).filter(b -> !b.isEmpty());
    }

    private static boolean isTooMany(State state, JobDesc job, Submissions submissions, DecisionTime now) {
        int max = state.settings().options().submission().jobsPerHourMax();
        return max > 0 && submissions.of(job.owner().uid(), now.seconds()) >= max;
    }

    /** Returns the line that the plugin logging writes about a request. */
    public static String logged(JobDesc d, int uid) {
        List<String> words = List.of(
                "account:" + orNull(d.charge().account()),
                "begin_time:" + d.timing().beginTime(),
                "dependency:" + orNull(d.timing().dependency()),
                "name:" + orNull(d.name()),
                "partition:" + orNull(d.partition()),
                "qos:" + orNull(d.charge().qos()),
                "submit_uid:" + uid,
                "time_limit:" + d.timing().timeLimitMin(),
                "user_id:" + d.owner().uid());
        return "job_submit/logging: job_submit: Job submit request: " + String.join(" ", words);
    }

    private static String orNull(String text) {
        return text.isEmpty() ? "(null)" : text;
    }
}
