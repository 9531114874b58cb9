package dev.muster.core.job;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.command.IdAllocator;
import dev.muster.core.command.Planner;
import dev.muster.core.command.Requests;
import dev.muster.core.index.AffectedEntities;
import dev.muster.core.limits.AccountRules;
import dev.muster.core.limits.AccountUse;
import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.step.StepRules;
import dev.muster.core.tres.Licenses;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages.SubmitReply;
import dev.muster.model.format.HostList;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Heterogeneous jobs: several jobs, its components, that enter the queue, start and end as one. The first, the leader,
 * stands for the whole: its script runs, its number is the one that people use.
 */
public final class HetRules {
    /** Components of a heterogeneous job at most: Slurm's limit. */
    static final int COMPONENTS_MAX = 128;

    private HetRules() {}

    // ---- submission

    public static Decision submit(
            Command.SubmitHet c,
            State state,
            DecisionTime now,
            Planner planner,
            AccountUse use,
            JobSubmit.Submissions submissions) {
        Optional<Bytes> known = Requests.answered(state, c.requestId(), c.uid());
        if (known.isPresent()) {
            return Decision.of(List.of(), Codec.decode(known.get().toArray(), SubmitReply.class));
        }
        if (c.parts().isEmpty() || c.parts().size() > COMPONENTS_MAX) {
            return Decision.reject(SlurmErrno.NOT_SUPPORTED);
        }
        SubmitRules rules = new SubmitRules(state, now, planner, use, submissions);
        List<SubmitRules.AcceptedJob> fits = new ArrayList<>();
        for (Command.SubmitJob part : c.parts()) {
            switch (rules.vet(part)) {
                case SubmitRules.RefusedJob u -> {
                    return u.why().of(fits.size());
                }
                case SubmitRules.AcceptedJob f -> {
                    if (f.array().size() > 0) {
                        return Decision.reject(SlurmErrno.INVALID_ARRAY);
                    }
                    fits.add(f);
                }
            }
        }
        if (new AccountRules(state)
                .refusesTogether(
                        fits.stream().map(SubmitRules.AcceptedJob::desc).toList())) {
            return Decision.reject(SlurmErrno.ACCOUNTING_POLICY);
        }
        if (tooManyLicenses(state, fits)) {
            return Decision.reject(SlurmErrno.INVALID_LICENSES);
        }
        Optional<Planner.Estimate> estimate =
                c.testOnly() || c.immediate() ? together(state, now, planner, fits) : Optional.empty();
        if (c.testOnly()) {
            return estimate.<Decision>map(e -> Decision.of(
                            List.of(),
                            new SubmitReply(
                                    state.nextJobId(),
                                    List.of(),
                                    e.start(),
                                    HostList.of(e.nodes()).compressed(),
                                    e.cpus(),
                                    e.partition())))
                    .orElseGet(() -> Decision.reject(SlurmErrno.REQUESTED_PART_CONFIG_UNAVAILABLE));
        }
        if (c.immediate() && (estimate.isEmpty() || estimate.get().start() > now.seconds())) {
            return Decision.reject(SlurmErrno.CAN_NOT_START_IMMEDIATELY);
        }
        return accept(c, fits, state, rules);
    }

    /**
     * Tests whether the components together ask for more licenses than the cluster has: the job would wait for ever.
     */
    private static boolean tooManyLicenses(State state, List<SubmitRules.AcceptedJob> fits) {
        Map<String, Integer> sums = new TreeMap<>();
        for (SubmitRules.AcceptedJob fit : fits) {
            LicenseRequest.parse(fit.desc().request().licenses())
                    .filter(w -> !w.any())
                    .ifPresent(w -> w.items().forEach(i -> sums.merge(i.name(), i.count(), Integer::sum)));
        }
        return !sums.isEmpty()
                && Licenses.isWrong(
                        state,
                        String.join(
                                ",",
                                sums.entrySet().stream()
                                        .map(e -> e.getKey() + ":" + e.getValue())
                                        .toList()));
    }

    private static Decision accept(
            Command.SubmitHet c, List<SubmitRules.AcceptedJob> fits, State state, SubmitRules rules) {
        IdAllocator ids = new IdAllocator(state);
        List<Integer> members = fits.stream().map(f -> ids.jobId()).toList();
        List<Change> changes = new ArrayList<>();
        Map<String, Bytes> blobs = new TreeMap<>();
        for (int i = 0; i < fits.size(); i++) {
            Command.SubmitJob part = c.parts().get(i);
            JobDesc desc = fits.get(i).desc();
            blobs.put(desc.payload().scriptHash(), part.script());
            blobs.put(desc.payload().envHash(), part.environment());
            changes.add(
                    new Change.JobSubmitted(rules.job(part, fits.get(i), members.get(i), ids.sluid(), Job.Array.NONE)
                            .with(new Job.Het(members.getFirst(), i, members))));
        }
        List<Change> before = new ArrayList<>(ids.reservations());
        before.addAll(Requests.stored(state, blobs));
        changes.addAll(0, before);
        SubmitReply reply = new SubmitReply(members.getFirst(), List.of(), 0, "", 0, "");
        Requests.remember(changes, c.requestId(), c.uid(), Bytes.of(Codec.encode(reply)));
        return Decision.of(changes, reply);
    }

    /**
     * Estimates when the last of the components could start, each looked at by itself; where and with how much all of
     * them.
     */
    private static Optional<Planner.Estimate> together(
            State state, DecisionTime now, Planner planner, List<SubmitRules.AcceptedJob> fits) {
        long start = 0;
        int cpus = 0;
        TreeSet<String> nodes = new TreeSet<>();
        String partition = "";
        for (SubmitRules.AcceptedJob fit : fits) {
            Optional<Planner.Estimate> one = planner.estimate(state, now, fit.desc());
            if (one.isEmpty()) {
                return one;
            }
            start = Math.max(start, one.get().start());
            cpus += one.get().cpus();
            nodes.addAll(one.get().nodes());
            partition = partition.isEmpty() ? one.get().partition() : partition;
        }
        return Optional.of(new Planner.Estimate(start, List.copyOf(nodes), cpus, partition));
    }

    // ---- start

    /** First steps of a job whose nodes are ready; of a component: the leader's script waits for the nodes of all. */
    public static List<Change> ready(State state, Job job, DecisionTime now) {
        List<Change> out = new ArrayList<>(StepRules.extern(job.id(), job.run().allocation(), state.settings(), now));
        if (!job.isHet()) {
            out.addAll(StepRules.script(job.id(), job.desc(), job.run().allocation(), now));
            return out;
        }
        boolean allReady = job.het().members().stream()
                .allMatch(id -> id == job.id()
                        || state.jobs()
                                .find(id)
                                .filter(j -> j.state() == JobState.RUNNING && !j.has(JobFlag.CONFIGURING))
                                .isPresent());
        if (allReady) {
            state.jobs()
                    .find(job.het().jobId())
                    .ifPresent(leader -> out.addAll(StepRules.script(
                            leader.id(), leader.desc(), leader.run().allocation(), now)));
        }
        return out;
    }

    // ---- end

    /**
     * Extends a decision to the other components: what ends the leader ends all components, and what requeues one
     * requeues all. A component that ends by itself, for example by its own time limit, leaves the others alone once
     * the script has begun.
     *
     * @param parts whether a pending component ends alone; the others stay pending and can no longer start
     */
    public static Decision together(State state, Decision decision, DecisionTime now, boolean parts) {
        if (!(decision instanceof Decision.Accepted a) || a.changes().stream().noneMatch(c -> ends(state, c, parts))) {
            return decision;
        }
        TreeSet<Integer> done = new TreeSet<>();
        a.changes().stream().filter(c -> ends(state, c, parts)).forEach(c -> done.addAll(AffectedEntities.jobs(c)));
        List<Change> changes = new ArrayList<>(a.changes());
        for (Change change : a.changes()) {
            if (ends(state, change, parts)) {
                for (Job other : state.members(
                        state.jobs().at(AffectedEntities.jobs(change).getFirst()))) {
                    if (done.add(other.id())) {
                        changes.addAll(alike(state, change, other, now));
                    }
                }
            }
        }
        return Decision.of(changes, a.reply(), a.direct());
    }

    private static boolean ends(State state, Change change, boolean parts) {
        return switch (change) {
            case Change.JobEnded c -> endsAll(state, c.jobId());
            case Change.PendingJobEnded c -> parts ? endsAll(state, c.jobId()) : isHet(state, c.jobId());
            case Change.JobRequeued c -> isHet(state, c.jobId());
            default -> false;
        };
    }

    private static boolean isHet(State state, int jobId) {
        return state.jobs().find(jobId).filter(Job::isHet).isPresent();
    }

    private static boolean endsAll(State state, int jobId) {
        Optional<Job> job = state.jobs().find(jobId).filter(Job::isHet);
        return job.isPresent()
                && (job.get().isHetLeader()
                        || state.members(job.get()).stream().anyMatch(j -> j.has(JobFlag.CONFIGURING)));
    }

    private static List<Change> alike(State state, Change change, Job other, DecisionTime now) {
        boolean pending = other.state() == JobState.PENDING;
        return switch (change) {
            case Change.JobEnded c
            when other.state().isActive() ->
                List.of(new Change.JobEnded(other.id(), c.state(), c.reason(), c.reasonText(), c.exit(), c.endTime()));
            case Change.JobEnded c
            when pending ->
                List.of(new Change.PendingJobEnded(other.id(), c.state(), c.reason(), c.reasonText(), c.endTime()));
            case Change.PendingJobEnded c
            when pending ->
                List.of(new Change.PendingJobEnded(other.id(), c.state(), c.reason(), c.reasonText(), c.endTime()));
            case Change.PendingJobEnded c
            when other.state().isActive() ->
                List.of(new Change.JobEnded(
                        other.id(),
                        c.state(),
                        c.reason(),
                        c.reasonText(),
                        other.run().exit(),
                        c.endTime()));
            case Change.JobRequeued c
            when !pending ->
                c.held()
                        ? List.of(requeued(c, other, now))
                        : List.of(RequeueExit.later(state, other, now).getFirst(), requeued(c, other, now));
            default -> List.of();
        };
    }

    private static Change requeued(Change.JobRequeued c, Job other, DecisionTime now) {
        return new Change.JobRequeued(
                other.id(),
                c.held(),
                c.reason(),
                c.reasonText(),
                Math.max(1, SubmitRules.PRIORITY_TOP - other.sluid()),
                now.seconds(),
                c.special());
    }
}
