package dev.muster.core.node;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.command.Planner;
import dev.muster.core.index.DueIndex;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.options.PowerSavingOptions;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.HostList;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Stops idle nodes, starts nodes that jobs need, and reboots nodes on request. */
public final class PowerRules {
    /** Reason of a node that is DOWN because it was started or rebooted and did not come. */
    static final String NOT_RESUMED = "ResumeTimeout reached";

    private static final String REQUESTED = "reboot requested";
    /** Health checks look for it. */
    private static final String REQUESTED_ASAP = "Reboot ASAP";

    private static final String ISSUED = " : reboot issued";
    private static final String REBOOTED = " : reboot complete";

    private final State state;
    private final DecisionTime now;
    private final PowerSavingTimes power;
    /** Kept here because {@link PowerSavingTimes#stopsIdle} looks at all nodes. */
    private final boolean stopsIdle;

    public PowerRules(State state, DecisionTime now) {
        this.state = state;
        this.now = now;
        this.power = new PowerSavingTimes(state);
        this.stopsIdle = power.stopsIdle();
    }

    // ---- what time brings about

    public void due(List<Change> changes, List<Decision.Direct> direct, Planner planner, DueIndex dueIndex) {
        // where no node is ordered, and none ever will be by itself, there is nothing to look for
        if (!dueIndex.somePowered() && !stopsIdle) {
            return;
        }
        PowerPass pass = new PowerPass(planner, dueIndex, changes, direct);
        for (Node node : state.nodes().values()) {
            if (node.isAsleep()) {
                forgetDead(node, changes);
            }
            pass.next(node).ifPresent(n -> emit(node, n, changes));
        }
    }

    /** One pass over all nodes, with the numbers of nodes that it may still start and stop. */
    private final class PowerPass {
        private final WakeAhead ahead;
        private final List<Change> changes;
        private final List<Decision.Direct> direct;
        private final Set<String> kept;
        private final Map<String, Set<String>> marked;
        private int starts;
        private int stops;
        /** Nodes that may be started ahead of planned jobs. */
        private int startsAhead = PowerSavingTimes.left(state);

        PowerPass(Planner planner, DueIndex dueIndex, List<Change> changes, List<Decision.Direct> direct) {
            this.ahead = new WakeAhead(state, now, power, planner, dueIndex.planned());
            this.changes = changes;
            this.direct = direct;
            PowerSavingOptions.Limits limits =
                    state.settings().options().power().limits();
            if (dueIndex.looksAtPower(now.seconds(), limits.restS())) {
                starts = remainingRate(limits.startsPerMinute(), true);
                stops = remainingRate(limits.stopsPerMinute(), false);
            }
            this.kept = stopsIdle ? power.kept() : Set.of();
            this.marked = stopsIdle ? marked(planner) : Map.of();
        }

        /** Returns the node with its next power state; empty if the state stays. */
        Optional<Node> next(Node node) {
            if (node.has(Node.Flag.REBOOT_REQUESTED) && isFree(node)) {
                return Optional.of(reboot(node, direct));
            }
            if (node.has(Node.Flag.POWERING_DOWN)) {
                return isOff(node) ? Optional.of(stopped(node)) : Optional.empty();
            }
            if (node.has(Node.Flag.POWERED_DOWN)
                    && (node.has(Node.Flag.POWER_UP) || ahead.isTimeFor(node) && startsAhead-- > 0)) {
                return starts-- > 0 ? Optional.of(start(node)) : Optional.empty();
            }
            if (isFree(node) && (isToldToStop(node) || isIdleTooLong(node, kept, marked, ahead))) {
                return stops-- > 0 ? Optional.of(stop(node, direct)) : Optional.empty();
            }
            if (isLate(node)) {
                notResumed(node, changes, direct);
            }
            return Optional.empty();
        }
    }

    private static void emit(Node before, Node after, List<Change> changes) {
        if (!after.spec().equals(before.spec())) {
            changes.add(new Change.NodeSpecChanged(after.name(), after.spec()));
        }
        changes.add(changed(after));
    }

    /** Tests whether SuspendTimeout has passed since the node was told to power down. */
    private boolean isOff(Node node) {
        return now.seconds() >= node.powerTime() + power.of(node).stopS();
    }

    /** Returns the node as it is once its reboot is issued; a node that reboots itself is told to. */
    private Node reboot(Node node, List<Decision.Direct> direct) {
        if (!PowerSavingTimes.isOfController(state.settings(), node)) {
            direct.add(new Decision.Direct(
                    node.name(), new NodeMessages.Reboot(List.of(), PowerSavingTimes.ofNode(state.settings(), node))));
        }
        return node.with(Node.Flag.REBOOT_REQUESTED, false)
                .with(Node.Flag.REBOOT_ISSUED, true)
                .with(Node.Flag.DOWN, true)
                .withReason(node.reason() + ISSUED, node.reasonUid(), now.seconds());
    }

    private static Node start(Node node) {
        return node.with(Node.Flag.POWER_UP, false)
                .with(Node.Flag.POWERED_DOWN, false)
                .with(Node.Flag.POWERING_UP, true);
    }

    private static boolean isToldToStop(Node node) {
        return node.has(Node.Flag.POWER_DOWN) && !node.has(Node.Flag.POWERING_UP);
    }

    /** Returns the node as it is once it powers down; a node that stops itself is told to. */
    private Node stop(Node node, List<Decision.Direct> direct) {
        Node off = node.with(Node.Flag.POWER_DOWN, false)
                .with(Node.Flag.POWERED_DOWN, false)
                .with(Node.Flag.NOT_RESPONDING, false)
                .with(Node.Flag.POWERING_DOWN, true);
        String program = PowerSavingTimes.stopsAtNode(state.settings(), node);
        if (!program.isEmpty()) {
            direct.add(new Decision.Direct(node.name(), new NodeMessages.Reboot(List.of(), program)));
        }
        return power.isFreshWhenStopped() ? fresh(off) : off;
    }

    /** Takes the node down after ResumeTimeout; only a node that was powered up, not rebooted, counts as off again. */
    private void notResumed(Node node, List<Change> changes, List<Decision.Direct> direct) {
        new NodeLoss(state, now, changes, direct).notResumed(node, NOT_RESUMED);
        boolean poweredUp = node.has(Node.Flag.POWERING_UP)
                && node.wanted().isEmpty()
                && state.settings().options().power().starts();
        if (poweredUp) {
            changes.add(absent(node));
        }
    }

    static Change changed(Node n) {
        return new Change.NodeStateChanged(n.name(), n.flags(), n.reason(), n.reasonUid(), n.reasonTime());
    }

    /** Returns how many more nodes may be started, or stopped, in this minute. */
    private int remainingRate(int perMinute, boolean up) {
        if (perMinute <= 0) {
            return Integer.MAX_VALUE;
        }
        long recent = state.nodes().values().stream()
                .filter(n -> n.powerTime() > now.seconds() - 60
                        && (n.has(Node.Flag.POWERING_DOWN) || n.has(Node.Flag.POWERED_DOWN)) != up)
                .count();
        return (int) Math.max(0, perMinute - recent);
    }

    private boolean isFree(Node node) {
        return node.jobs().isEmpty();
    }

    /**
     * Returns the nodes by those states that follow from reservations and plans, as far as SuspendExcStates names them.
     */
    private Map<String, Set<String>> marked(Planner planner) {
        Map<String, Set<String>> out = new HashMap<>();
        if (power.keepsState("RESERVED") || power.keepsState("MAINTENANCE")) {
            state.reservations().values().stream()
                    .filter(r -> r.isActive(now.seconds()))
                    .forEach(r -> out.computeIfAbsent(
                                    r.has(ReservationFlag.MAINT) ? "MAINTENANCE" : "RESERVED", s -> new HashSet<>())
                            .addAll(r.nodes()));
        }
        if (power.keepsState("PLANNED")) {
            out.put("PLANNED", new HashSet<>());
            planner.upcoming(state, Long.MAX_VALUE)
                    .forEach(p -> out.get("PLANNED").addAll(p.nodes()));
        }
        return out;
    }

    private boolean isIdleTooLong(Node node, Set<String> kept, Map<String, Set<String>> marked, WakeAhead ahead) {
        if (!stopsIdle
                || node.isSilentByOrder()
                || node.has(Node.Flag.FUTURE)
                || node.has(Node.Flag.UNKNOWN)
                || node.has(Node.Flag.REBOOT_REQUESTED)
                || kept.contains(node.name())
                || !node.jobs().isEmpty()) {
            return false;
        }
        PowerSavingOptions.Times times = power.of(node);
        boolean worked = node.lastBusy() > Math.max(node.startTime(), node.powerTime());
        long since = Math.max(
                Math.max(node.lastBusy(), ahead.lastPlanned(node)), Math.max(node.startTime(), node.powerTime()));
        boolean late = times.atOnce() && worked
                || times.idleS() >= 0 && now.seconds() - since >= times.idleS() && !ahead.isSoonFor(node);
        return late && !power.keptByState(node, marked);
    }

    private boolean isLate(Node node) {
        return power.of(node).startS() < PowerSavingTimes.FOREVER_S
                && (node.has(Node.Flag.POWERING_UP) && !node.has(Node.Flag.DOWN) || node.has(Node.Flag.REBOOT_ISSUED))
                && now.seconds()
                        >= node.powerTime()
                                + Math.max(
                                        power.of(node).startS(), node.wanted().isEmpty() ? 0 : bootS());
    }

    /** Returns BootTime of helpers.conf, in seconds. */
    private int bootS() {
        return state.settings().options().nodes().features().bootS();
    }

    /** Returns the node with nothing that keeps it from work. */
    private static Node fresh(Node node) {
        return node.with(Node.Flag.DOWN, false)
                .with(Node.Flag.DRAIN, false)
                .with(Node.Flag.FAIL, false)
                .with(Node.Flag.DRAINED_FOR_THIS, false)
                .withReason("", 0, 0);
    }

    /** Sets a node DOWN that missed ResumeTimeout. SuspendProgram is not called for it. */
    private Change absent(Node node) {
        Node down = node.with(Node.Flag.POWERING_UP, false)
                .with(Node.Flag.UNKNOWN, false)
                .with(Node.Flag.DOWN, true)
                .with(Node.Flag.NOT_RESPONDING, !node.has(Node.Flag.CLOUD))
                .with(Node.Flag.POWERED_DOWN, true);
        return changed(down.withReason(NOT_RESUMED, state.settings().slurmUid(), now.seconds()));
    }

    /**
     * Marks a node as without power. What drained it for the power-down goes, and a node of a cloud has its own name
     * for address again: the next machine of that name has another address.
     */
    static Node stopped(Node node) {
        Node off = node.with(Node.Flag.POWERING_DOWN, false)
                .with(Node.Flag.POWERED_DOWN, true)
                .with(Node.Flag.NOT_RESPONDING, false);
        Node out = !node.has(Node.Flag.CLOUD)
                ? off
                : off.withSpec(NodeSpecs.withAddress(node.spec(), node.name(), node.name()));
        return node.has(Node.Flag.DRAINED_FOR_THIS)
                ? out.with(Node.Flag.DRAINED_FOR_THIS, false)
                        .with(Node.Flag.DRAIN, false)
                        .withReason("", 0, 0)
                : out;
    }

    /** Releases the node from jobs that were over before it came up: they have left nothing there. */
    private void forgetDead(Node node, List<Change> changes) {
        for (int id : node.jobs()) {
            Job job = state.jobs().at(id);
            Optional<Allocation.Share> share = job.run().allocation().on(node.name());
            if (share.isPresent()
                    && share.get().bootId().isEmpty()
                    && !share.get().released()
                    && (job.has(JobFlag.COMPLETING) || job.run().allocation().isLeaving(node.name()))) {
                changes.add(new Change.NodeReleased(id, job.attempt(), node.name()));
            }
        }
    }

    // ---- what a job brings about

    /** Nodes of an allocation that have to be started for it, or rebooted for features that they do not have. */
    public static void wake(
            State state,
            Allocation allocation,
            String features,
            Set<String> woken,
            List<Change> changes,
            List<Decision.Direct> direct) {
        for (Allocation.Share share : allocation.nodes()) {
            Node node = state.nodes().at(share.node());
            if (share.bootId().isEmpty()
                    && node.has(Node.Flag.POWERED_DOWN)
                    && !node.has(Node.Flag.POWER_UP)
                    && woken.add(node.name())) {
                changes.add(changed(node.with(Node.Flag.POWER_UP, true)));
            } else if (share.bootId().isEmpty() && !node.isAsleep() && woken.add(node.name())) {
                List<String> wanted = ChangingFeatures.names(features).stream()
                        .filter(node.changeable()::contains)
                        .toList();
                changes.add(new Change.NodeFeaturesChanged(node.name(), node.changeable(), node.active(), wanted));
                changes.add(changed(node.with(Node.Flag.POWERING_UP, true)));
                // one that has all of it is rebooted whatever its helpers say
                if (!PowerSavingTimes.isOfController(state.settings(), node)) {
                    direct.add(new Decision.Direct(
                            node.name(),
                            new NodeMessages.Reboot(node.active().containsAll(wanted) ? List.of() : wanted, "")));
                }
            }
        }
    }

    /** Returns how long the slowest of these nodes may take to come up, in seconds. */
    public static int startS(State state, Allocation allocation) {
        PowerSavingTimes power = new PowerSavingTimes(state);
        int longest = 0;
        for (Allocation.Share share : allocation.nodes()) {
            if (share.bootId().isEmpty()) {
                longest = Math.max(
                        longest, power.of(state.nodes().at(share.node())).startS());
            }
        }
        return Math.max(longest, state.settings().options().nodes().features().bootS());
    }

    // ---- what a registration brings about

    /**
     * Begins the time of jobs that waited for this node, when it is the last that they, or others of their kind, wait
     * for.
     */
    static void begin(State state, Node node, DecisionTime now, List<Change> changes) {
        Set<Integer> done = new HashSet<>();
        for (int id : node.jobs()) {
            List<Job> all = state.members(state.jobs().at(id));
            boolean more = all.stream()
                    .flatMap(j -> j.run().allocation().nodes().stream())
                    .anyMatch(s -> s.bootId().isEmpty() && !s.node().equals(node.name()));
            boolean waited = all.stream().anyMatch(j -> j.run().allocation().awaitsNodes());
            for (Job job : all) {
                if (waited && !more && job.state() == JobState.RUNNING && done.add(job.id())) {
                    changes.add(new Change.LimitChanged(
                            job.id(),
                            job.run().limitMin(),
                            PartitionLimits.endTick(
                                    job.desc().timing(), job.run().limitMin(), 0, now),
                            true));
                }
            }
        }
    }

    /**
     * Tests whether the node's slurmd has started, or has changed its features, since the node was last powered up or
     * rebooted.
     */
    private static boolean isRestarted(Node node, NodeMessages.Register m) {
        return node.bootId().isEmpty()
                || !m.bootId().equals(node.bootId())
                || m.startTime() >= node.powerTime() && node.powerTime() > 0
                || m.startTime() != node.startTime() && node.powerTime() == 0
                || m.changed() >= node.powerTime() && m.changed() > 0;
    }

    /**
     * Returns the node with its power state after a registration. The state does not change where slurmd has neither
     * been started nor has changed its features since the node was told to start.
     */
    static Node registered(Node node, NodeMessages.Register m, int slurmUid, long seconds) {
        if (!isRestarted(node, m) || node.has(Node.Flag.POWERING_DOWN)) {
            return node;
        }
        Node after = node.with(Node.Flag.POWERED_DOWN, false)
                .with(Node.Flag.POWERING_UP, false)
                .with(Node.Flag.POWER_UP, false);
        if (!node.has(Node.Flag.REBOOT_ISSUED)) {
            return after;
        }
        after = after.with(Node.Flag.REBOOT_ISSUED, false)
                .with(Node.Flag.NEXT_DOWN, false)
                .with(Node.Flag.NEXT_RESUME, false)
                .with(Node.Flag.DRAINED_FOR_THIS, false);
        if (node.has(Node.Flag.NEXT_DOWN)) {
            // scontrol(1): the reboot's end also ends the drain where nextstate is named
            return after.with(Node.Flag.DRAIN, false).withReason(node.reason() + REBOOTED, slurmUid, seconds);
        }
        boolean drained =
                node.has(Node.Flag.DRAIN) && !node.has(Node.Flag.NEXT_RESUME) && !node.has(Node.Flag.DRAINED_FOR_THIS);
        after = after.with(Node.Flag.DOWN, false)
                .with(Node.Flag.DRAIN, drained)
                .with(Node.Flag.FAIL, node.has(Node.Flag.FAIL) && !node.has(Node.Flag.NEXT_RESUME));
        return drained ? after : after.withReason("", 0, 0);
    }

    // ---- what people ask for

    static boolean isPowerWord(String word) {
        return word.toUpperCase(java.util.Locale.ROOT).startsWith("POWER_");
    }

    static boolean isUp(String word) {
        return word.toUpperCase(java.util.Locale.ROOT).startsWith("POWER_UP");
    }

    /** {@code state=power_down} and its kin; empty for a word that is none. */
    static Optional<Node> asked(Node node, String word) {
        return switch (word.toUpperCase(java.util.Locale.ROOT)) {
            case "POWER_UP" ->
                Optional.of(
                        !node.has(Node.Flag.POWERED_DOWN) && !node.has(Node.Flag.POWERING_DOWN)
                                ? node.with(Node.Flag.POWER_DOWN, false)
                                : node.with(Node.Flag.POWER_DOWN, false).with(Node.Flag.POWER_UP, true));
            case "POWER_UP_FORCE" -> Optional.of(upAtAnyRate(node));
            case "POWER_DOWN" -> Optional.of(down(node));
            case "POWER_DOWN_ASAP" ->
                Optional.of(
                        down(node).has(Node.Flag.POWER_DOWN) && !node.has(Node.Flag.DRAIN)
                                ? down(node).with(Node.Flag.DRAIN, true).with(Node.Flag.DRAINED_FOR_THIS, true)
                                : down(node));
            case "POWER_DOWN_FORCE" ->
                Optional.of((node.jobs().isEmpty() ? down(node) : downUnderJobs(node))
                        .with(Node.Flag.DOWN, false)
                        .with(Node.Flag.POWERING_UP, false)
                        .with(Node.Flag.DRAIN, false)
                        .with(Node.Flag.FAIL, false));
            default -> Optional.empty();
        };
    }

    /**
     * Started whatever is known of its power: also one that is just being stopped, or is thought to have power. With
     * jobs on it, it has.
     */
    private static Node upAtAnyRate(Node node) {
        Node wanted = node.with(Node.Flag.POWER_DOWN, false);
        return !node.jobs().isEmpty() || node.has(Node.Flag.POWERING_UP)
                ? wanted
                : wanted.with(Node.Flag.POWERING_DOWN, false)
                        .with(Node.Flag.POWERED_DOWN, true)
                        .with(Node.Flag.POWER_UP, true);
    }

    /** Refuses a request that would start more nodes than max_powered_nodes allows. */
    static Optional<Decision> tooMany(State state, Command.UpdateNode c) {
        boolean up = c.changes().entrySet().stream()
                .anyMatch(e -> "state".startsWith(e.getKey()) && e.getValue().equalsIgnoreCase("power_up"));
        long more = !up
                ? 0
                : c.nodes().stream()
                        .map(state.nodes()::find)
                        .flatMap(Optional::stream)
                        .filter(n -> n.has(Node.Flag.POWERED_DOWN) && !n.has(Node.Flag.POWER_UP))
                        .count();
        return more == 0 || more <= PowerSavingTimes.left(state)
                ? Optional.empty()
                : Optional.of(new Decision.Rejected(SlurmErrno.NOT_SUPPORTED, "Max powered up nodes reached"));
    }

    /** Marks a node that waits for its start for power-down. Its jobs are requeued. */
    private static Node downUnderJobs(Node node) {
        return node.with(Node.Flag.POWER_UP, false)
                .with(Node.Flag.POWERED_DOWN, false)
                .with(Node.Flag.POWER_DOWN, !node.has(Node.Flag.POWERING_DOWN));
    }

    /** SuspendProgram is run for a node that is without power already as well: a machine may be left of it. */
    private static Node down(Node node) {
        Node still = node.with(Node.Flag.POWER_UP, false);
        boolean awaited = node.has(Node.Flag.POWERED_DOWN) && !node.jobs().isEmpty();
        return awaited || node.has(Node.Flag.POWERING_DOWN) ? still : still.with(Node.Flag.POWER_DOWN, true);
    }

    public static Decision reboot(State state, DecisionTime now, Command.RebootNodes c) {
        Optional<Decision.Rejected> wrong = PowerSavingTimes.wrongAction(state.settings(), c.action(), false);
        if (wrong.isPresent()) {
            return wrong.get();
        }
        List<Change> changes = new ArrayList<>();
        List<Decision.Direct> direct = new ArrayList<>();
        List<String> skipped = new ArrayList<>();
        for (String name : c.nodes()) {
            Optional<Node> found = state.nodes().find(name);
            if (found.isEmpty()) {
                return Decision.reject(SlurmErrno.INVALID_NODE_NAME);
            }
            Node node = found.get();
            if (node.has(Node.Flag.REBOOT_REQUESTED) && !c.force() || node.has(Node.Flag.REBOOT_ISSUED)) {
                skipped.add(name);
                continue;
            }
            boolean absent = node.isSilentByOrder()
                    || node.has(Node.Flag.FUTURE)
                    || node.bootId().isEmpty();
            if (absent) {
                continue;
            }
            if (c.force()) {
                new NodeLoss(state, now, changes, direct).freed(node);
            }
            if (!c.action().equals(node.powerAction())) {
                changes.add(new Change.NodePowerActionChosen(name, c.action()));
            }
            changes.add(changed(requested(node, c, now)));
        }
        String message = skipped.isEmpty()
                ? ""
                : "Skipping reboot of nodes " + HostList.of(skipped).compressed() + " due to current node state.";
        return changes.isEmpty() && skipped.isEmpty()
                ? Decision.reject(SlurmErrno.INVALID_NODE_STATE)
                : Decision.of(changes, message, direct);
    }

    /** Returns the node without the reboot that was asked for or has begun: it is to be in service as it is. */
    static Node withoutReboot(Node node) {
        Node after = node.with(Node.Flag.REBOOT_REQUESTED, false)
                .with(Node.Flag.REBOOT_ISSUED, false)
                .with(Node.Flag.NEXT_DOWN, false)
                .with(Node.Flag.NEXT_RESUME, false);
        return node.has(Node.Flag.REBOOT_REQUESTED) || node.has(Node.Flag.REBOOT_ISSUED)
                ? after.with(Node.Flag.DRAINED_FOR_THIS, false)
                : after;
    }

    private static Node requested(Node node, Command.RebootNodes c, DecisionTime now) {
        Node after = node.with(Node.Flag.REBOOT_REQUESTED, true)
                .with(
                        Node.Flag.NEXT_DOWN,
                        c.nextState().equals("DOWN") || c.nextState().isEmpty() && node.has(Node.Flag.DOWN))
                .with(Node.Flag.NEXT_RESUME, c.nextState().equals("RESUME"));
        if ((c.asap() || c.force()) && !node.has(Node.Flag.DRAIN)) {
            after = after.with(Node.Flag.DRAIN, true).with(Node.Flag.DRAINED_FOR_THIS, true);
        }
        String standard = c.asap() ? REQUESTED_ASAP : REQUESTED;
        String before = node.reason().isEmpty() ? standard : node.reason();
        return after.withReason(c.reason().isEmpty() ? before : c.reason(), c.uid(), now.seconds());
    }

    /** Returns the node without its reboot, which does not come; what it drained is in service again. */
    static Node cancelled(Node node) {
        Node after = node.with(Node.Flag.REBOOT_REQUESTED, false)
                .with(Node.Flag.NEXT_DOWN, false)
                .with(Node.Flag.NEXT_RESUME, false);
        after = node.has(Node.Flag.DRAINED_FOR_THIS)
                ? after.with(Node.Flag.DRAINED_FOR_THIS, false).with(Node.Flag.DRAIN, false)
                : after;
        return after.has(Node.Flag.DRAIN) || after.has(Node.Flag.DOWN) ? after : after.withReason("", 0, 0);
    }
}
