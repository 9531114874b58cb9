package dev.muster.core.timer;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Trigger;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import dev.muster.model.job.JobState;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;

/** strigger: sets and clears triggers, and decides when their programs run. */
public final class TriggerRules {
    /** Triggers at most: more than a cluster needs; a program that sets two for each one that fires ends here. */
    static final int MOST = 1000;

    static final int OFFSET_MAX_S = 32_000;
    static final int PROGRAM_CHARS_MAX = 1024;

    private final State state;

    public TriggerRules(State state) {
        this.state = state;
    }

    /** Checks a trigger: its job must exist and not have ended, and its nodes must exist. */
    private Optional<SlurmErrno> targetRefusal(Command.SetTrigger c) {
        Optional<Job> job = state.jobs().find(c.jobId());
        boolean ofJob = c.events().stream().anyMatch(Trigger.OF_JOBS::contains);
        if (ofJob && c.jobId() == 0 || c.jobId() != 0 && job.isEmpty()) {
            return Optional.of(SlurmErrno.INVALID_JOB_ID);
        }
        if (c.jobId() != 0 && job.get().state().isTerminal()) {
            return Optional.of(SlurmErrno.ALREADY_DONE);
        }
        boolean known = c.nodes().isEmpty()
                || HostList.parse(c.nodes()) instanceof HostList.Parsed.Ok ok
                        && ok.list().names().stream().allMatch(state.nodes()::has);
        return known ? Optional.empty() : Optional.of(SlurmErrno.INVALID_NODE_NAME);
    }

    /** Slurm's rule: a slurmctld that is not root's can only run programs as its own user. */
    public Decision set(Command.SetTrigger c) {
        if (!state.settings().options().users().anyTriggers()) {
            return Decision.reject(SlurmErrno.DISABLED);
        }
        int owner = state.settings().slurmUid();
        boolean anyUser = owner == 0 && state.settings().options().users().triggers();
        if (c.uid() != owner && !anyUser) {
            return Decision.reject(SlurmErrno.ACCESS_DENIED);
        }
        for (String event : c.events()) {
            String never = objection(event);
            if (!never.isEmpty()) {
                return new Decision.Rejected(SlurmErrno.NOT_SUPPORTED, "--" + event + never);
            }
        }
        boolean wrong = c.events().isEmpty()
                || !c.program().startsWith("/")
                || c.program().length() > PROGRAM_CHARS_MAX
                || Math.abs((long) c.offsetS()) > OFFSET_MAX_S;
        if (wrong) {
            return Decision.reject(SlurmErrno.ERROR);
        }
        Optional<SlurmErrno> target = targetRefusal(c);
        if (target.isPresent()) {
            return Decision.reject(target.get());
        }
        if (state.triggers().byId().size() >= MOST) {
            return new Decision.Rejected(SlurmErrno.NOT_SUPPORTED, "There are " + MOST + " triggers already");
        }
        int id = state.triggers().lastId() + 1;
        return Decision.of(
                List.of(new Change.TriggerSet(new Trigger(
                        id,
                        List.copyOf(c.events()),
                        c.jobId(),
                        c.nodes(),
                        c.offsetS(),
                        c.uid(),
                        c.user(),
                        c.program(),
                        c.permanent(),
                        0,
                        ""))),
                "");
    }

    /** Returns why an event cannot happen here; "" for one that can. */
    private String objection(String event) {
        boolean known = Trigger.OF_NODES.contains(event)
                || Trigger.OF_JOBS.contains(event)
                || event.equals(Trigger.RECONFIG)
                || Trigger.OF_DAEMONS.contains(event);
        boolean needsBuffers = event.equals(Trigger.BURST_BUFFER)
                && state.settings().options().buffers().kind().isEmpty();
        if (known) {
            return needsBuffers ? " needs BurstBufferType" : "";
        }
        if (Trigger.OF_BACKUPS.contains(event)) {
            boolean hasBackup = state.settings().options().controllers().hasBackup();
            return hasBackup ? "" : " needs a backup controller: there is none here";
        }
        return " is not supported by this version of Muster";
    }

    /**
     * Fires the triggers of an event at a daemon, at once or after their offset; what happens to the daemon meanwhile
     * is not waited for.
     */
    public Decision happened(String event, DecisionTime now) {
        List<Change> out = new ArrayList<>();
        for (Trigger t : state.triggers().byId().values()) {
            if (t.is(event) && t.dueTime() == 0) {
                out.add(
                        t.offsetS() > 0
                                ? new Change.TriggerSet(t.due(now.seconds() + t.offsetS(), event))
                                : new Change.TriggerFired(t.id(), event));
            }
        }
        return Decision.of(out, "");
    }

    /** Returns the decision, with what the triggers of a burst buffer's failure add where it failed. */
    public Decision withBuffer(Decision decision, boolean failed, DecisionTime now) {
        if (!failed || !(decision instanceof Decision.Accepted a) || a.changes().isEmpty()) {
            return decision;
        }
        List<Change> out = new ArrayList<>(a.changes());
        out.addAll(((Decision.Accepted) happened(Trigger.BURST_BUFFER, now)).changes());
        return Decision.of(out, a.reply(), a.direct());
    }

    /** Removes the triggers that match id, job and owner; 0 or -1 matches any. Only root and their owner may. */
    public Decision clear(Command.ClearTriggers c) {
        List<Change> out = new ArrayList<>();
        boolean denied = false;
        for (Trigger t : state.triggers().byId().values()) {
            boolean meant = (c.id() == 0 || t.id() == c.id())
                    && (c.jobId() == 0 || t.jobId() == c.jobId())
                    && (c.owner() < 0 || t.uid() == c.owner());
            boolean may = c.uid() == 0 || c.uid() == t.uid();
            denied |= meant && !may;
            if (meant && may) {
                out.add(new Change.TriggerCleared(t.id()));
            }
        }
        if (!out.isEmpty()) {
            return Decision.of(out, "");
        }
        if (denied) {
            return Decision.reject(SlurmErrno.ACCESS_DENIED);
        }
        return new Decision.Rejected(SlurmErrno.ERROR, "No such process");
    }

    void due(TriggerEvents happened, DecisionTime now, List<Change> changes) {
        for (Trigger t : state.triggers().byId().values()) {
            if (t.dueTime() > 0) {
                if (now.seconds() >= t.dueTime()) {
                    changes.add(new Change.TriggerFired(t.id(), t.cause()));
                }
                continue;
            }
            String cause = cause(t, happened, now);
            if (cause.isEmpty()) {
                if (t.jobId() != 0 && TriggerEvents.isOver(state.jobs().find(t.jobId()))) {
                    changes.add(new Change.TriggerCleared(t.id()));
                }
            } else if (t.offsetS() > 0 && !t.is("time") && !t.is("idle")) {
                changes.add(new Change.TriggerSet(t.due(now.seconds() + t.offsetS(), cause)));
            } else {
                changes.add(new Change.TriggerFired(t.id(), cause));
            }
        }
        happened.clear();
    }

    private String cause(Trigger t, TriggerEvents happened, DecisionTime now) {
        Optional<Job> job = state.jobs().find(t.jobId());
        if (t.is("fini") && TriggerEvents.isOver(job)
                || t.is("time") && job.filter(j -> isTime(t, j, now)).isPresent()) {
            return Integer.toString(t.jobId());
        }
        if (t.is(Trigger.RECONFIG) && happened.wasReconfigured()) {
            return Trigger.RECONFIG;
        }
        if (!t.isOfNodes()) {
            return "";
        }
        NavigableSet<String> meant = meant(t, job);
        NavigableSet<String> hit = new TreeSet<>();
        for (String event : t.events()) {
            hit.addAll(event.equals("idle") ? idle(t, meant, happened, now) : happened.of(event));
        }
        hit.retainAll(meant);
        return hit.isEmpty() ? "" : HostList.of(List.copyOf(hit)).compressed();
    }

    private NavigableSet<String> idle(Trigger t, NavigableSet<String> meant, TriggerEvents happened, DecisionTime now) {
        NavigableSet<String> out = new TreeSet<>();
        for (String name : meant) {
            Optional<Node> node = state.nodes().find(name);
            if (node.isPresent()) {
                long since = happened.idleSince(node.get(), now.seconds());
                if (node.get().jobs().isEmpty() && node.get().isUsable() && now.seconds() - since >= t.offsetS()) {
                    out.add(name);
                }
            }
        }
        return out;
    }

    private static boolean isTime(Trigger t, Job job, DecisionTime now) {
        return job.state() == JobState.RUNNING
                && job.run().limitTickMs() >= 0
                && now.tickMs() >= job.run().limitTickMs() + t.offsetS() * 1000L;
    }

    private NavigableSet<String> meant(Trigger t, Optional<Job> job) {
        if (t.jobId() != 0) {
            return job.map(j -> new TreeSet<>(j.run().allocation().nodeNames())).orElseGet(TreeSet::new);
        }
        return t.nodes().isEmpty() || !(HostList.parse(t.nodes()) instanceof HostList.Parsed.Ok ok)
                ? new TreeSet<>(state.nodes().keys())
                : new TreeSet<>(ok.list().names());
    }
}
