package dev.muster.core.limits;

import dev.muster.core.options.AccountingEnforcement;
import dev.muster.core.state.Accounts;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.job.JobDesc;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Bounds how many waiting jobs grow older at once: GrpJobsAccrue and MaxJobsAccrue of associations, GrpJobsAccrue,
 * MaxJobsAccruePU and MaxJobsAccruePA of a job's QOS, which count in their place. The job submitted first comes first;
 * the pending tasks of an array are one job. Walks over all jobs, but only where there is such a limit.
 */
public final class AccrueRules {
    private final State state;
    private final DecisionTime now;
    private final Accounts accounts;
    /** Number of jobs whose age accrues, by the user, account or QOS that they count against. */
    private final Map<String, Integer> counts = new HashMap<>();

    public AccrueRules(State state, DecisionTime now) {
        this.state = state;
        this.now = now;
        this.accounts = state.accounts();
    }

    private record Limit(String together, long count) {}

    public void due(List<Change> changes, int limit) {
        if (!accounts.limitsAccrual()
                || !state.settings().options().accounting().enforcement().has(AccountingEnforcement.Word.LIMITS)) {
            return;
        }
        List<Job> growing = new ArrayList<>();
        List<Job> young = new ArrayList<>();
        for (Job job : state.jobs().values()) {
            if (job.isPending() && job.eligibleTime() > 0 && !job.isHeld()) {
                (job.accrueTime() == Job.KEPT_YOUNG ? young : growing).add(job);
            }
        }
        growing.sort(Comparator.comparingLong((Job j) -> j.accrueTime() > 0 ? j.accrueTime() : j.eligibleTime())
                .thenComparingInt(Job::id));
        young.sort(Comparator.comparingLong(Job::eligibleTime).thenComparingInt(Job::id));
        for (Job job : growing) {
            if (!takes(job.desc()) && changes.size() < limit) {
                changes.add(new Change.AccrualChanged(job.id(), Job.KEPT_YOUNG));
            }
        }
        for (Job job : young) {
            if (changes.size() < limit && takes(job.desc())) {
                changes.add(new Change.AccrualChanged(job.id(), now.seconds()));
            }
        }
    }

    /** Takes one more job if all limits leave room for it; then it is counted. */
    private boolean takes(JobDesc desc) {
        List<Limit> limits = limits(desc);
        if (limits.stream().anyMatch(l -> counts.getOrDefault(l.together, 0) >= l.count)) {
            return false;
        }
        limits.forEach(l -> counts.merge(l.together, 1, Integer::sum));
        return true;
    }

    private List<Limit> limits(JobDesc desc) {
        List<Limit> out = new ArrayList<>();
        Optional<QosPolicy> qos = accounts.qos(desc.charge().firstQos());
        qos.ifPresent(q -> {
            add(out, "qos " + q.id(), q.limits(), "GrpJobsAccrue");
            add(out, "qos " + q.id() + " user " + desc.owner().user(), q.limits(), "MaxJobsAccruePU");
            add(out, "qos " + q.id() + " account " + desc.charge().account(), q.limits(), "MaxJobsAccruePA");
        });
        boolean group = qos.filter(
                        q -> !q.limits().getOrDefault("GrpJobsAccrue", "").isEmpty())
                .isEmpty();
        boolean single = qos.filter(
                        q -> !q.limits().getOrDefault("MaxJobsAccruePU", "").isEmpty())
                .isEmpty();
        Optional<AssocPolicy> own =
                accounts.assoc(desc.owner().user(), desc.charge().account(), desc.firstPartition());
        if (single) {
            own.ifPresent(a -> add(out, "assoc " + a.id(), a.limits(), "MaxJobsAccrue"));
        }
        for (Optional<AssocPolicy> a = own; group && a.isPresent(); a = accounts.parent(a.get())) {
            add(out, "below " + a.get().id(), a.get().limits(), "GrpJobsAccrue");
        }
        return out;
    }

    private static void add(List<Limit> out, String together, Map<String, String> limits, String name) {
        String text = limits.getOrDefault(name, "");
        if (!text.isEmpty()) {
            out.add(new Limit(together, Long.parseLong(text)));
        }
    }
}
