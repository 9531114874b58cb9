package dev.muster.core.job;

import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.command.IdAllocator;
import dev.muster.core.command.Requests;
import dev.muster.core.state.Change;
import dev.muster.core.state.CronTime;
import dev.muster.core.state.Crontab;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.json.Bytes;
import dev.muster.model.SlurmErrno;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/** scrontab: jobs that are put back into the queue when they are done, to begin when their line is next due. */
public final class CronRules {
    static final int ENTRIES_MAX = 1000;
    static final int TEXT_CHARS_MAX = 1 << 18;

    private final State state;
    private final DecisionTime now;

    public CronRules(State state, DecisionTime now) {
        this.state = state;
        this.now = now;
    }

    static boolean isEnabled(State state) {
        return state.settings().options().users().crontabs();
    }

    /**
     * Replaces a user's crontab: waiting jobs of the old one are cancelled, running ones do not come again. The new
     * crontab is taken as a whole or not at all.
     */
    public Decision set(Command.SetCrontab c, SubmitRules rules) {
        if (!isEnabled(state)) {
            return new Decision.Rejected(SlurmErrno.DISABLED, "scrontab is disabled on this cluster");
        }
        if (c.uid() != c.owner() && !Access.isSuperUser(state, c.uid())) {
            return Decision.reject(SlurmErrno.ACCESS_DENIED);
        }
        if (c.entries().size() > ENTRIES_MAX || c.text().length() > TEXT_CHARS_MAX) {
            return new Decision.Rejected(SlurmErrno.NOT_SUPPORTED, "A crontab has at most " + ENTRIES_MAX + " entries");
        }
        IdAllocator ids = new IdAllocator(state);
        List<Change> changes = new ArrayList<>();
        Map<String, Bytes> blobs = new TreeMap<>();
        List<Crontab.Entry> entries = new ArrayList<>();
        for (Command.CronEntry e : c.entries()) {
            OptionalLong begin = CronTime.parse(e.when())
                    .map(t -> t.after(now.seconds(), c.zone()))
                    .orElse(OptionalLong.empty());
            if (begin.isEmpty()) {
                return refused(e, "invalid time specification: " + e.when());
            }
            JobDesc desc = beginning(e.job().desc(), begin.getAsLong());
            Command.SubmitJob job = new Command.SubmitJob(
                    e.job().uid(), desc, "", e.job().script(), e.job().environment(), false, false);
            switch (rules.vet(job)) {
                case SubmitRules.RefusedJob u -> {
                    return refused(e, u.why().sentence());
                }
                case SubmitRules.AcceptedJob f
                when f.array().size() > 0 || desc.owner().uid() != c.owner() -> {
                    return refused(e, SlurmErrno.NOT_SUPPORTED.sentence());
                }
                case SubmitRules.AcceptedJob f -> {
                    int id = ids.jobId();
                    blobs.put(f.desc().payload().scriptHash(), job.script());
                    blobs.put(f.desc().payload().envHash(), job.environment());
                    changes.add(new Change.JobSubmitted(rules.job(job, f, id, ids.sluid(), Job.Array.NONE)));
                    entries.add(new Crontab.Entry(id, e.when(), e.firstLine(), e.lastLine()));
                }
            }
        }
        List<Change> before = new ArrayList<>(ids.reservations());
        before.addAll(Requests.stored(state, blobs));
        removed(c, before);
        changes.addAll(0, before);
        changes.add(new Change.CrontabChanged(new Crontab(c.owner(), c.zone(), c.text(), List.copyOf(entries))));
        return Decision.of(changes, entries.stream().map(Crontab.Entry::jobId).toList());
    }

    private static Decision refused(Command.CronEntry e, String why) {
        return new Decision.Rejected(SlurmErrno.ERROR, "line " + e.lastLine() + ": " + why);
    }

    /**
     * Returns the description of a job for its next run: the first time that is due after the one it waits for, or
     * after now; empty for jobs that scrontab does not run.
     */
    static Optional<JobDesc> next(State state, Job job, DecisionTime now) {
        Optional<Crontab> tab = state.crontabs().find(job.desc().owner().uid());
        OptionalLong begin = tab.flatMap(t -> CronTime.parse(Crontab.when(state.crontabs(), job)))
                .map(t -> t.after(
                        Math.max(
                                now.seconds(),
                                job.isPending() ? job.desc().timing().beginTime() : 0),
                        tab.get().zone()))
                .orElse(OptionalLong.empty());
        return begin.isEmpty() ? Optional.empty() : Optional.of(beginning(job.desc(), begin.getAsLong()));
    }

    private void removed(Command.SetCrontab c, List<Change> changes) {
        for (Crontab.Entry e :
                state.crontabs().find(c.owner()).map(Crontab::entries).orElse(List.of())) {
            state.jobs()
                    .find(e.jobId())
                    .filter(j -> j.state() == JobState.PENDING)
                    .ifPresent(j -> changes.add(new Change.PendingJobEnded(
                            j.id(), JobState.CANCELLED, JobReason.NONE, JobRules.by(c.uid()), now.seconds())));
        }
    }

    private static JobDesc beginning(JobDesc d, long begin) {
        JobDesc.Timing t = d.timing();
        return d.withTiming(new JobDesc.Timing(
                t.timeLimitMin(),
                t.timeMinMin(),
                begin,
                t.deadline(),
                t.dependency(),
                t.array(),
                t.nice(),
                t.hold(),
                t.prioritySet(),
                t.priority(),
                t.requeue(),
                t.killOnInvalidDependency(),
                t.delayBootMin(),
                t.siteFactor(),
                t.expedite()));
    }

    /**
     * Puts back the jobs that are done.
     *
     * @return the jobs that were checked and stay
     */
    public Set<Integer> due(List<Change> changes) {
        Set<Integer> kept = new HashSet<>();
        for (Crontab tab : state.crontabs().values()) {
            Crontab left = tab;
            for (Crontab.Entry e : tab.entries()) {
                Optional<Job> job = state.jobs().find(e.jobId());
                boolean over = job.isEmpty() || job.get().state() == JobState.CANCELLED;
                if (over || job.get().state().isTerminal() && !again(job.get(), e, tab, changes, kept)) {
                    left = left.disabled(e);
                }
            }
            if (left != tab) {
                changes.add(new Change.CrontabChanged(left));
            }
        }
        return kept;
    }

    /** Puts the job back for its next run; false where it never comes again. */
    private boolean again(Job job, Crontab.Entry entry, Crontab tab, List<Change> changes, Set<Integer> kept) {
        kept.add(job.id());
        if (job.has(JobFlag.COMPLETING)) {
            return true;
        }
        OptionalLong begin = CronTime.parse(entry.when())
                .map(t -> t.after(now.seconds(), tab.zone()))
                .orElse(OptionalLong.empty());
        if (begin.isEmpty()) {
            return false;
        }
        changes.add(new Change.DescriptionChanged(job.id(), beginning(job.desc(), begin.getAsLong())));
        changes.add(new Change.JobRequeued(
                job.id(),
                false,
                JobReason.NONE,
                "",
                Math.max(1, SubmitRules.PRIORITY_TOP - job.sluid()),
                now.seconds(),
                false));
        return true;
    }
}
