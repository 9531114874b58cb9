package dev.muster.core;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.command.IdAllocator;
import dev.muster.core.command.Planner;
import dev.muster.core.command.Requests;
import dev.muster.core.index.DueIndex;
import dev.muster.core.job.BufferRules;
import dev.muster.core.job.CronRules;
import dev.muster.core.job.GroupRules;
import dev.muster.core.job.HetRules;
import dev.muster.core.job.JobRules;
import dev.muster.core.job.JobSubmit;
import dev.muster.core.job.JobTopRules;
import dev.muster.core.job.MemoryRules;
import dev.muster.core.job.NotifyRules;
import dev.muster.core.job.SubmitRules;
import dev.muster.core.job.UpdateRules;
import dev.muster.core.limits.AccountUse;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.limits.SoftLimit;
import dev.muster.core.limits.UsageRules;
import dev.muster.core.node.CompleteWait;
import dev.muster.core.node.DynamicRules;
import dev.muster.core.node.NodeRules;
import dev.muster.core.node.NodeUpdates;
import dev.muster.core.node.PowerRules;
import dev.muster.core.partition.PartitionRules;
import dev.muster.core.preempt.PreemptRules;
import dev.muster.core.reservation.ReservationRules;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.step.StepRules;
import dev.muster.core.timer.DeadlineRules;
import dev.muster.core.timer.SettingRules;
import dev.muster.core.timer.TriggerEvents;
import dev.muster.core.timer.TriggerRules;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.model.api.JobMessages.CancelReply;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;

/**
 * The deciding half of the controller. One thread calls it; it reads no clock, file or socket. {@code decide} looks and
 * answers, {@link State#apply} changes: nothing else does either.
 */
public final class Core {
    private final Planner planner;
    private final DueIndex dueIndex = new DueIndex();
    private final AccountUse use = new AccountUse();
    private State state = State.EMPTY;
    private final TriggerEvents happened = new TriggerEvents();
    private final JobSubmit.Submissions submissions = new JobSubmit.Submissions();
    private boolean isIndexed = true;
    private BiConsumer<Runnable, Runnable> both = Core::inTurn;

    public Core(Planner planner) {
        this.planner = planner;
    }

    public State state() {
        return state;
    }

    public Planner planner() {
        return planner;
    }

    /** Returns the index of what is due and when, built first where that was postponed. */
    public DueIndex due() {
        if (!isIndexed) {
            index();
        }
        return dueIndex;
    }

    /** Takes up a state rebuilt from a snapshot and journal. */
    public void reset(State from) {
        recovered(from);
        index();
    }

    /** Takes over a recovered state, as below; the two halves of the indexing run one after the other. */
    public void recovered(State from) {
        recovered(from, Core::inTurn);
    }

    private static void inTurn(Runnable first, Runnable second) {
        first.run();
        second.run();
    }

    /**
     * Takes over a recovered state where a configuration comes next: unlike {@link #reset}, it indexes jobs and nodes
     * only once, when the configuration has come.
     *
     * @param both runs the two halves of the indexing, beside each other if it likes, and returns when they are done
     */
    public void recovered(State from, BiConsumer<Runnable, Runnable> both) {
        this.both = both;
        state = from;
        happened.reset();
        submissions.reset();
        isIndexed = false;
    }

    private void index() {
        isIndexed = true;
        // the two have nothing in common but the state, which does not change
        both.accept(() -> planner.reset(state), () -> {
            dueIndex.reset(state);
            use.reset(state);
        });
        both = Core::inTurn;
    }

    /** Applies an entry: of this core's own decision, or from the journal. */
    public void apply(Entry entry) {
        State before = state;
        state = before.apply(entry);
        happened.follow(before, state, entry);
        submissions.follow(state, entry);
        if (isIndexed) {
            dueIndex.follow(before, state, entry);
            use.follow(before, state, entry);
            planner.follow(before, state, entry);
        } else if (entry.changes().stream().anyMatch(c -> c instanceof Change.ConfigApplied)) {
            index();
        }
    }

    /** Decides without changing anything. */
    public Decision decide(Command command, DecisionTime now) {
        if (!isIndexed && !(command instanceof Command.ApplyConfig || command instanceof Command.SkipReservedIds)) {
            index();
        }
        return Rights.refusal(state, command)
                .orElseGet(() ->
                        replaced(HetRules.together(state, decideAlone(command, now), now, endsParts(command)), now));
    }

    /**
     * Replaces the nodes that jobs take from a reservation with REPLACE in the entry that starts them, as Slurm does,
     * not at the next tick.
     */
    private Decision replaced(Decision decision, DecisionTime now) {
        if (!(decision instanceof Decision.Accepted a)
                || a.changes().stream().noneMatch(c -> c instanceof Change.JobStarted)) {
            return decision;
        }
        Set<String> reserved = new HashSet<>();
        state.reservations().values().stream()
                .filter(r -> r.has(ReservationFlag.REPLACE))
                .forEach(r -> reserved.addAll(r.nodes()));
        Set<String> taken = new HashSet<>();
        a.changes().stream()
                .filter(c -> c instanceof Change.JobStarted)
                .flatMap(c -> ((Change.JobStarted) c).allocation().nodeNames().stream())
                .filter(reserved::contains)
                .forEach(taken::add);
        if (taken.isEmpty()) {
            return decision;
        }
        List<Change> changes = new ArrayList<>(a.changes());
        State after = state.apply(new Entry(now.tickMs(), now.timeMs(), -1, "", a.changes()));
        changes.addAll(new ReservationRules(after, now, planner).taken(taken));
        return Decision.of(changes, a.reply(), a.direct());
    }

    private static boolean endsParts(Command command) {
        return switch (command) {
            case Command.Once o -> endsParts(o.command());
            case Command.CancelJobs c -> c.parts();
            default -> false;
        };
    }

    private Decision decideAlone(Command command, DecisionTime now) {
        return switch (command) {
            case Command.ApplyConfig c -> applyConfig(c, now);
            case Command.ApplyPolicy c -> Decision.of(new UsageRules(state, now).policy(c.policy()), "");
            case Command.SkipReservedIds c ->
                Decision.of(List.of(IdAllocator.above(state, c.knownJobId(), c.knownSluid())), "");
            case Command.SubmitJob c -> new SubmitRules(state, now, planner, use, submissions).decide(c);
            case Command.SetCrontab c ->
                new CronRules(state, now).set(c, new SubmitRules(state, now, planner, use, submissions));
            case Command.SubmitHet c -> HetRules.submit(c, state, now, planner, use, submissions);
            case Command.Once c -> once(c, now);
            case Command.CancelJobs c -> new JobRules(state, now).cancel(c);
            case Command.TestJob c -> new SubmitRules(state, now, planner, use, submissions).test(c);
            case Command.UpdateJob c -> new UpdateRules(state, now, planner).update(c);
            case Command.NotifyJob c -> NotifyRules.notify(state, c);
            case Command.HoldJobs c -> new JobRules(state, now).hold(c);
            case Command.RequeueJobs c -> new JobRules(state, now).requeue(c);
            case Command.TopJobs c -> JobTopRules.top(state, c, now);
            case Command.SuspendJobs c -> new JobRules(state, now).suspend(c);
            case Command.CompleteAllocation c -> new JobRules(state, now).complete(c);
            case Command.ControllerProlog c ->
                new TriggerRules(state).withBuffer(new NodeRules(state, now).controllerProlog(c), !c.isReady(), now);
            case Command.BufferStage c ->
                new TriggerRules(state).withBuffer(new BufferRules(state, now).done(c), !c.success(), now);
            case Command.SetPools c ->
                c.pools().equals(List.copyOf(state.buffers().pools().values()))
                        ? Decision.of(List.of(), "")
                        : Decision.of(List.of(new Change.PoolsChanged(List.copyOf(c.pools()))), "");
            case Command.EndInactive c -> new JobRules(state, now).inactive(c);
            case Command.EndUnclaimed c -> new JobRules(state, now).unclaimed(c);
            case Command.CreateStep c -> new StepRules(state, now, planner).create(c);
            case Command.CreateHetStep c -> new StepRules(state, now, planner).create(c);
            case Command.RegisterNode c -> new NodeRules(state, now).register(c.message());
            case Command.Report c -> new NodeRules(state, now).report(c);
            case Command.NodeLost c -> new NodeRules(state, now).lost(c.node());
            case Command.NodeResponding c -> new NodeRules(state, now).responding(c);
            case Command.CertificateSigned c -> new NodeRules(state, now).signed(c);
            case Command.UpdateNode c -> new NodeUpdates(state, now).update(c);
            case Command.RebootNodes c -> PowerRules.reboot(state, now, c);
            case Command.AddNodes c -> new DynamicRules(state).add(c);
            case Command.RemoveNodes c -> new DynamicRules(state).remove(c);
            case Command.AssignNode c -> new DynamicRules(state).assign(c);
            case Command.ChangeSetting c -> SettingRules.set(state, c);
            case Command.UpdatePartition c -> new PartitionRules(state).update(c);
            case Command.CreatePartition c -> new PartitionRules(state).create(c);
            case Command.DeletePartition c -> new PartitionRules(state).delete(c);
            case Command.CreateReservation c -> new ReservationRules(state, now, planner).create(c);
            case Command.UpdateReservation c -> new ReservationRules(state, now, planner).update(c);
            case Command.DeleteReservation c -> new ReservationRules(state, now, planner).delete(c);
            case Command.SetTrigger c -> new TriggerRules(state).set(c);
            case Command.ClearTriggers c -> new TriggerRules(state).clear(c);
            case Command.MemoryMeasured c -> MemoryRules.measured(state, c, now);
            case Command.RenewGroups c -> GroupRules.renew(state, c);
            case Command.Happened c -> new TriggerRules(state).happened(c.event(), now);
            case Command.Schedule c -> schedule(c, now);
            case Command.Tick c -> new DeadlineRules(state, now, dueIndex, planner).due(happened);
            case Command.Settle c -> new DeadlineRules(state, now, dueIndex, planner).urgent();
        };
    }

    /**
     * Decides a command at most once per request id. A command that changed nothing is not remembered: it may be tried
     * again.
     */
    private Decision once(Command.Once c, DecisionTime now) {
        Optional<Bytes> known = Requests.answered(state, c.requestId(), c.uid());
        if (known.isPresent()) {
            byte[] reply = known.get().toArray();
            return Decision.of(List.of(), reply.length == 0 ? "" : Codec.decode(reply, CancelReply.class));
        }
        Decision decision = decide(c.command(), now);
        if (c.requestId().isEmpty()
                || !(decision instanceof Decision.Accepted a)
                || a.changes().isEmpty() && a.direct().isEmpty()) {
            return decision;
        }
        List<Change> changes = new ArrayList<>(a.changes());
        changes.add(new Change.Answered(
                c.requestId(), c.uid(), a.reply() instanceof CancelReply r ? Bytes.of(Codec.encode(r)) : Bytes.EMPTY));
        return Decision.of(changes, a.reply(), a.direct());
    }

    private Decision applyConfig(Command.ApplyConfig c, DecisionTime now) {
        List<Change> changes = new ArrayList<>();
        changes.addAll(new PartitionRules(state).without(c.partitions(), now));
        changes.add(new DynamicRules(state).configured(c));
        changes.addAll(new UsageRules(state, now).configured(c.settings()));
        if (state.jobIdCeiling() <= c.settings().firstJobId()) {
            int first = Math.max(c.settings().firstJobId(), 1);
            changes.add(new Change.JobIdsReserved(
                    first,
                    first + IdAllocator.BLOCK,
                    Math.max(state.nextSluid(), 1),
                    Math.max(state.nextSluid(), 1) + IdAllocator.BLOCK));
        }
        return Decision.of(changes, "");
    }

    private Decision schedule(Command.Schedule c, DecisionTime now) {
        long settled = CompleteWait.ends(state, now);
        if (CompleteWait.holdsAll(state, now)) {
            dueIndex.lookAgain(settled);
            return Decision.of(List.of(), 0);
        }
        List<Change> changes = new ArrayList<>();
        IdAllocator ids = new IdAllocator(state);
        new BufferRules(state, now).stageIn(changes, ids);
        List<Decision.Direct> direct = new ArrayList<>();
        List<Planner.Start> starts = planner.starts(state, now, Math.min(c.maxStarts(), Decision.CHANGES_MAX / 4));
        dueIndex.lookAgain(Math.min(settled, planner.lookAgain()));
        PreemptRules preemption = new PreemptRules(state, now, changes, direct);
        planner.preemptions().forEach(preemption::preempt);
        planner.resumes().forEach(preemption::resume);
        Set<String> woken = new HashSet<>();
        for (Planner.Start start : starts) {
            startJob(start, ids, now, woken, changes, direct);
        }
        changes.addAll(0, ids.reservations());
        return Decision.of(changes, changes.size(), direct);
    }

    /**
     * Starts a job as the planner decided; a task that waits in an array's record becomes a job of its own first.
     *
     * @param woken nodes that a start of this decision has powered up
     */
    private void startJob(
            Planner.Start start,
            IdAllocator ids,
            DecisionTime now,
            Set<String> woken,
            List<Change> changes,
            List<Decision.Direct> direct) {
        Job job = state.jobs().at(start.jobId());
        int id = job.id();
        if (start.task() >= 0) {
            id = ids.forTask(job);
            changes.add(
                    new Change.ArrayTaskSplit(job.id(), start.task(), id, id == job.id() ? job.sluid() : ids.sluid()));
        }
        JobDesc desc = startedDesc(job, start);
        if (!desc.equals(job.desc())) {
            changes.add(new Change.DescriptionChanged(id, desc));
        }
        int started = id;
        boolean onNodes = state.settings().awaitProlog()
                && state.settings().options().prolog().holdsJobs();
        boolean onController = state.settings().options().prolog().onController()
                || state.buffers().byJob().has(job.id());
        PowerRules.wake(state, start.allocation(), desc.request().features(), woken, changes, direct);
        boolean asleep = start.allocation().awaitsNodes();
        boolean configuring = onNodes || onController || asleep;
        Allocation allocation = onController ? start.allocation().awaitingController(onNodes) : start.allocation();
        int attempt = job.attempt() + 1;
        int mayRunMin = SoftLimit.hard(desc, start.limitMin(), state);
        int limitMin = PartitionLimits.byDeadline(job.desc().timing(), mayRunMin, now.seconds());
        long limitTick = PartitionLimits.endTick(
                job.desc().timing(), mayRunMin, asleep ? PowerRules.startS(state, start.allocation()) : 0, now);
        planner.priority(job.id())
                .ifPresent(p -> changes.add(new Change.PriorityChanged(started, p, -1, JobReason.NONE, "")));
        changes.add(new Change.JobStarted(id, attempt, allocation, limitMin, limitTick, configuring));
        if (!configuring) {
            changes.addAll(StepRules.extern(id, start.allocation(), state.settings(), now));
            if (!job.isHet() || job.isHetLeader()) {
                changes.addAll(StepRules.script(id, job.desc(), start.allocation(), now));
            }
        }
    }

    /** Returns the job's description with the partition, QOS and reservation that the planner chose for the start. */
    private static JobDesc startedDesc(Job job, Planner.Start start) {
        JobDesc desc = job.desc().inPartition(start.partition());
        if (!start.qos().equals(desc.charge().qos())) {
            desc = desc.withCharge(desc.charge().withQos(start.qos()));
        }
        // a job that names several reservations goes on showing all; its nodes tell which one it runs in
        if (desc.charge().reservation().indexOf(',') < 0
                && !start.reservation().equals(desc.charge().reservation())) {
            desc = desc.withCharge(desc.charge().in(start.reservation()));
        }
        return desc;
    }
}
