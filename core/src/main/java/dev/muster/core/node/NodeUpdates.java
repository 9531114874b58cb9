package dev.muster.core.node;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Change;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.step.TaskBinding;
import dev.muster.core.tres.Keyword;
import dev.muster.core.tres.Tres;
import dev.muster.model.SlurmErrno;
import dev.muster.model.cluster.NodeTopology;
import dev.muster.model.cluster.Topology;
import dev.muster.model.format.HostList;
import dev.muster.model.job.CpuBind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Applies administrators' changes of nodes: {@code scontrol update NodeName=}. */
public final class NodeUpdates {
    private static final String FEATURES_REPORTED =
            "The features of a node with changeable ones are those that its helpers report";
    private final State state;
    private final DecisionTime now;
    private final List<Change> changes = new ArrayList<>();
    private final List<Decision.Direct> direct = new ArrayList<>();
    private final NodeLoss loss;
    /** CpuBind of nodes that get another one. */
    private final Map<String, String> bindings = new LinkedHashMap<>();
    /** Topologies with the nodes that are moved. */
    private Optional<List<Topology>> topologies = Optional.empty();

    public NodeUpdates(State state, DecisionTime now) {
        this.state = state;
        this.now = now;
        this.loss = new NodeLoss(state, now, changes, direct);
    }

    public Decision update(Command.UpdateNode c) {
        Optional<Decision> tooMany = PowerRules.tooMany(state, c);
        if (tooMany.isPresent()) {
            return tooMany.get();
        }
        // a state that one of the nodes cannot take is reported; the other nodes change all the same
        Optional<Decision.Rejected> wrongState = Optional.empty();
        for (int i = 0; i < c.nodes().size(); i++) {
            Optional<Node> node = state.nodes().find(c.nodes().get(i));
            if (node.isEmpty()) {
                return Decision.reject(SlurmErrno.INVALID_NODE_NAME);
            }
            Optional<Map<String, String>> own = own(c, i);
            if (own.isEmpty()) {
                return Decision.reject(SlurmErrno.INVALID_NODE_NAME);
            }
            Optional<Decision.Rejected> refused =
                    update(node.get(), new Command.UpdateNode(c.uid(), c.nodes(), own.get()));
            if (refused.isPresent() && refused.get().errno() != SlurmErrno.NODE_STATE_TRANSITION) {
                return refused.get();
            }
            wrongState = wrongState.or(() -> refused);
        }
        if (wrongState.isPresent() && changes.isEmpty()) {
            return wrongState.get();
        }
        if (!bindings.isEmpty() || topologies.isPresent()) {
            changes.add(new Change.OptionsChanged(
                    TaskBinding.changed(state.settings(), bindings), topologies.orElse(List.of())));
        }
        return Decision.of(changes, wrongState.isPresent() ? SlurmErrno.NODE_STATE_TRANSITION.sentence() : "", direct);
    }

    /**
     * Returns the changes of one of several nodes: where a value names as many things as there are nodes, each has its
     * own.
     *
     * @return empty where there are values for some of them only, or a node would have no address
     */
    private static Optional<Map<String, String>> own(Command.UpdateNode c, int index) {
        boolean nowhere = Keyword.whole(c.changes(), NODE_WORDS).entrySet().stream()
                .anyMatch(e -> e.getValue().isEmpty() && PLACES.contains(e.getKey()));
        if (nowhere) {
            return Optional.empty();
        }
        if (c.nodes().size() < 2) {
            return Optional.of(c.changes());
        }
        Map<String, String> out = new java.util.TreeMap<>();
        for (Map.Entry<String, String> e :
                Keyword.whole(c.changes(), NODE_WORDS).entrySet()) {
            // an empty value resets each node's
            List<String> values = !e.getValue().isEmpty()
                            && EACH.contains(e.getKey())
                            && HostList.parse(e.getValue()) instanceof HostList.Parsed.Ok ok
                    ? ok.list().names()
                    : List.of(e.getValue());
            boolean shared = values.size() == 1 && !PLACES.contains(e.getKey());
            if (!shared && values.size() != c.nodes().size()) {
                return Optional.empty();
            }
            out.put(e.getKey(), values.size() == 1 ? e.getValue() : values.get(index));
        }
        return Optional.of(out);
    }

    private static final List<String> NODE_WORDS = List.of(
            "reason",
            "comment",
            "extra",
            "weight",
            "gres",
            "nodeaddr",
            "nodehostname",
            "features",
            "availablefeatures",
            "activefeatures",
            "state",
            "poweraction",
            "certtoken",
            "instanceid",
            "instancetype",
            "resumeafter",
            "cpubind",
            "topology");
    private static final String ASAP = "POWER_DOWN_ASAP";
    private static final List<Node.Flag> REASONED = List.of(
            Node.Flag.DOWN,
            Node.Flag.DRAIN,
            Node.Flag.FAIL,
            Node.Flag.INVALID_REG,
            Node.Flag.REBOOT_REQUESTED,
            Node.Flag.REBOOT_ISSUED,
            Node.Flag.POWERING_UP,
            Node.Flag.POWERING_DOWN,
            Node.Flag.POWERED_DOWN);
    /** Words with a value of its own for each of several nodes. */
    private static final List<String> PLACES = List.of("nodeaddr", "nodehostname");
    /** Words that may have a value for each of several nodes, or one for all. */
    private static final List<String> EACH = List.of("nodeaddr", "nodehostname", "instanceid", "instancetype");

    private sealed interface ChangedSpec {
        record Changed(Node.Spec spec) implements ChangedSpec {}

        record Refused(Decision.Rejected why) implements ChangedSpec {}
    }

    /** Changes one of the values that a node also has in slurm.conf. */
    private ChangedSpec changedSpec(Node node, String key, String value, Command.UpdateNode c) {
        switch (key) {
            case "weight" -> {
                try {
                    return new ChangedSpec.Changed(NodeSpecs.withWeight(node.spec(), Integer.parseUnsignedInt(value)));
                } catch (NumberFormatException e) {
                    return new ChangedSpec.Refused(
                            new Decision.Rejected(SlurmErrno.ERROR, "Invalid weight value: " + value));
                }
            }
            case "gres" -> {
                return gres(node, value)
                        .<ChangedSpec>map(g -> new ChangedSpec.Changed(NodeSpecs.withGres(node.spec(), g)))
                        .orElseGet(() -> new ChangedSpec.Refused(Decision.reject(SlurmErrno.INVALID_GRES)));
            }
            case "nodeaddr" -> {
                return new ChangedSpec.Changed(
                        NodeSpecs.withAddress(node.spec(), node.spec().hostname(), value));
            }
            case "nodehostname" -> {
                return new ChangedSpec.Changed(
                        NodeSpecs.withAddress(node.spec(), value, node.spec().address()));
            }
            default -> {
                if (!node.changeable().isEmpty()) {
                    return new ChangedSpec.Refused(new Decision.Rejected(SlurmErrno.NOT_SUPPORTED, FEATURES_REPORTED));
                }
                return featured(node.spec(), Keyword.whole(c.changes(), NODE_WORDS))
                        .<ChangedSpec>map(ChangedSpec.Changed::new)
                        .orElseGet(
                                () -> new ChangedSpec.Refused(Decision.reject(SlurmErrno.ACTIVE_FEATURE_NOT_SUBSET)));
            }
        }
    }

    private Optional<Decision.Rejected> update(Node node, Command.UpdateNode c) {
        Node after =
                isReasoned(c) ? node.withReason(c.changes().getOrDefault("reason", ""), c.uid(), now.seconds()) : node;
        for (Map.Entry<String, String> change :
                Keyword.whole(c.changes(), NODE_WORDS).entrySet()) {
            String value = change.getValue();
            switch (change.getKey()) {
                case "reason", "poweraction", "resumeafter" -> {} // they come with the state
                case "certtoken", "instanceid", "instancetype" ->
                    after = after.withMarks(marked(after.marks(), change.getKey(), value));
                case "comment" -> after = after.withTexts(value, after.extra(), after.resumeAfter());
                case "extra" -> after = after.withTexts(after.comment(), value, after.resumeAfter());
                case "weight",
                        "gres",
                        "nodeaddr",
                        "nodehostname",
                        "features",
                        "availablefeatures",
                        "activefeatures" -> {
                    switch (changedSpec(after, change.getKey(), value, c)) {
                        case ChangedSpec.Refused r -> {
                            return Optional.of(r.why());
                        }
                        case ChangedSpec.Changed s -> after = after.withSpec(s.spec());
                    }
                }
                case "cpubind" -> {
                    if (CpuBind.defaultMode(value).isEmpty()) {
                        return Optional.of(new Decision.Rejected(SlurmErrno.ERROR, "Invalid CpuBind value " + value));
                    }
                    bindings.put(node.name(), CpuBind.defaultMode(value).get());
                }
                case "topology" -> {
                    Optional<Decision.Rejected> nowhere = topologyChanged(node.name(), value);
                    if (nowhere.isPresent()) {
                        return nowhere;
                    }
                    after = after.withSpec(NodeSpecs.withTopology(after.spec(), value));
                }
                case "state" -> {
                    Outcome changed = changedState(after, value, c);
                    if (changed.after().isEmpty()) {
                        return changed.refused();
                    }
                    after = changed.after().get();
                }
                default -> {
                    return Optional.of(new Decision.Rejected(
                            SlurmErrno.NOT_SUPPORTED,
                            "Updating " + change.getKey() + " of a node is not supported by this version of Muster"));
                }
            }
        }
        after = isReasoned(c) && !keepsReason(after) ? after.withReason("", 0, 0) : after;
        Outcome resumed =
                resumeAfter(after, Keyword.whole(c.changes(), NODE_WORDS).getOrDefault("resumeafter", ""));
        resumed.after().ifPresent(n -> emit(node, n, c.uid()));
        return resumed.refused();
    }

    /** Notes the node's new place, or says why it has none. */
    private Optional<Decision.Rejected> topologyChanged(String node, String words) {
        return switch (NodeTopology.place(topologies.orElse(state.settings().topologies()), node, words)) {
            case NodeTopology.Placed p -> {
                topologies = Optional.of(p.topologies());
                yield Optional.empty();
            }
            case NodeTopology.Wrong w ->
                Optional.of(new Decision.Rejected(SlurmErrno.REQUESTED_TOPO_CONFIG_UNAVAILABLE, w.sentence()));
        };
    }

    /** The changed node or the refusal: one of both. */
    private record Outcome(Optional<Node> after, Optional<Decision.Rejected> refused) {
        static Outcome refuse(SlurmErrno errno) {
            return new Outcome(Optional.empty(), Optional.of(Decision.reject(errno)));
        }
    }

    private Outcome changedState(Node node, String word, Command.UpdateNode c) {
        boolean power = PowerRules.isPowerWord(word);
        String action = c.changes().getOrDefault("poweraction", "");
        Optional<Decision.Rejected> wrong =
                PowerSavingTimes.wrongAction(state.settings(), action, PowerRules.isUp(word));
        if (wrong.isPresent()) {
            return new Outcome(Optional.empty(), wrong);
        }
        if (power && action.isEmpty() && !PowerSavingTimes.isOn(state.settings())) {
            return Outcome.refuse(SlurmErrno.POWER_ACTION);
        }
        Optional<Node> changed = power ? power(node.withPowerAction(action), word, c.uid()) : state(node, word, c);
        return changed.isPresent()
                ? new Outcome(changed, Optional.empty())
                : Outcome.refuse(SlurmErrno.NODE_STATE_TRANSITION);
    }

    /** Sets the time at which a node that is down or drained is put back into service. */
    private Outcome resumeAfter(Node node, String resume) {
        boolean out = node.has(Node.Flag.DOWN) || node.has(Node.Flag.DRAIN);
        if (!resume.isEmpty() && !resume.matches("-1|[0-9]{1,9}")) {
            return new Outcome(
                    Optional.empty(),
                    Optional.of(new Decision.Rejected(SlurmErrno.ERROR, "Invalid resumeafter value: " + resume)));
        }
        if (!resume.isEmpty() && !resume.equals("-1") && !out) {
            return Outcome.refuse(SlurmErrno.INVALID_NODE_STATE);
        }
        long resumeAt = 0;
        if (resume.isEmpty() && out) {
            resumeAt = node.resumeAfter();
        } else if (!resume.isEmpty() && !resume.equals("-1")) {
            resumeAt = now.seconds() + Long.parseLong(resume);
        }

        return new Outcome(Optional.of(node.withTexts(node.comment(), node.extra(), resumeAt)), Optional.empty());
    }

    /**
     * AvailableFeatures are the features that a node can have, and ActiveFeatures those that it has; the default is all
     * available ones. An active feature must stay available.
     *
     * @return empty if an active feature would not be available
     */
    private static Optional<Node.Spec> featured(Node.Spec s, Map<String, String> changes) {
        Optional<List<String>> can = Optional.ofNullable(
                        changes.getOrDefault("availablefeatures", changes.get("features")))
                .map(NodeUpdates::words);
        Optional<List<String>> named =
                Optional.ofNullable(changes.get("activefeatures")).map(NodeUpdates::words);
        List<String> available = can.orElse(s.features());
        List<String> active = named.orElseGet(() ->
                s.features().stream().filter(f -> !s.inactive().contains(f)).toList());
        if (!available.containsAll(active)) {
            return Optional.empty();
        }
        return Optional.of(NodeSpecs.withFeatures(
                s,
                available,
                named.isEmpty()
                        ? List.of()
                        : available.stream().filter(f -> !active.contains(f)).toList()));
    }

    private static List<String> words(String value) {
        return value.isEmpty() || value.equals("(null)") ? List.of() : List.of(value.split(","));
    }

    private static Node.CloudIdentity marked(Node.CloudIdentity k, String word, String value) {
        return switch (word) {
            case "instanceid" ->
                new Node.CloudIdentity(value, k.instanceType(), k.certToken(), k.certRenewal(), k.certTime());
            case "instancetype" ->
                new Node.CloudIdentity(k.instanceId(), value, k.certToken(), k.certRenewal(), k.certTime());
            default ->
                new Node.CloudIdentity(
                        k.instanceId(),
                        k.instanceType(),
                        value.isEmpty() ? "" : Node.CloudIdentity.hash(value),
                        "",
                        k.certTime());
        };
    }

    /** Resumes a node when its ResumeAfter is over; a node that is in service again stays as it is. */
    public List<Change> resumed(Node node) {
        Command.UpdateNode nothing =
                new Command.UpdateNode(state.settings().slurmUid(), List.of(node.name()), Map.of());
        boolean out = node.has(Node.Flag.DOWN)
                || node.has(Node.Flag.DRAIN)
                || node.has(Node.Flag.REBOOT_REQUESTED)
                || node.has(Node.Flag.REBOOT_ISSUED);
        Node after = out ? state(node, "RESUME", nothing).orElse(node) : node;
        emit(
                node,
                after.withTexts(node.comment(), node.extra(), 0),
                state.settings().slurmUid());
        return changes;
    }

    private void emit(Node before, Node after, int uid) {
        if (!after.spec().equals(before.spec())) {
            changes.add(new Change.NodeSpecChanged(after.name(), after.spec()));
        }
        if (!after.marks().equals(before.marks())) {
            changes.add(new Change.NodeMarked(after.name(), after.marks()));
        }
        if (!after.comment().equals(before.comment())
                || !after.extra().equals(before.extra())
                || after.resumeAfter() != before.resumeAfter()) {
            changes.add(new Change.NodeTextsChanged(after.name(), after.comment(), after.extra(), after.resumeAfter()));
        }
        if (!after.powerAction().equals(before.powerAction())) {
            changes.add(new Change.NodePowerActionChosen(after.name(), after.powerAction()));
        }
        if (after.has(Node.Flag.DOWN) && !before.has(Node.Flag.DOWN)) {
            loss.down(after, after.reason(), uid);
        } else if (after.flags() != before.flags()
                || !after.reason().equals(before.reason())
                || after.reasonTime() != before.reasonTime()) {
            changes.add(new Change.NodeStateChanged(
                    after.name(), after.flags(), after.reason(), after.reasonUid(), after.reasonTime()));
        }
    }

    private Optional<Node> power(Node node, String word, int uid) {
        Optional<Node> after = PowerRules.asked(node, word);
        if (after.isPresent()
                && after.get().has(Node.Flag.DRAIN)
                && !node.has(Node.Flag.DRAIN)
                && node.reason().isEmpty()) {
            return after.map(n -> n.withReason(ASAP, uid, now.seconds()));
        }
        if (word.equalsIgnoreCase("power_down_force") && after.isPresent()) {
            loss.freed(node);
        }
        return after;
    }

    private static Optional<Node> state(Node node, String word, Command.UpdateNode c) {
        return switch (word.toUpperCase(java.util.Locale.ROOT)) {
            case "DOWN" -> Optional.of(node.with(Node.Flag.DOWN, true));
            // scontrol asks for a reason, the REST API does not
            case "DRAIN" -> Optional.of(node.with(Node.Flag.DRAIN, true).with(Node.Flag.FAIL, false));
            case "UNDRAIN" -> Optional.of(cleared(node.with(Node.Flag.DRAIN, false), c));
            // one instead of the other
            case "FAIL" -> Optional.of(node.with(Node.Flag.FAIL, true).with(Node.Flag.DRAIN, false));
            case "RESUME" -> {
                boolean stopping = node.has(Node.Flag.POWERING_DOWN);
                // without power the node does not respond, and need not
                Node after = stopping || node.has(Node.Flag.POWERED_DOWN) ? PowerRules.stopped(node) : node;
                if (resumable(after)) {
                    yield state(PowerRules.withoutReboot(after), "IDLE", c);
                }
                if (stopping) {
                    yield Optional.of(after);
                }
                yield Optional.empty();
            }
            // it would be kept from knowing when the reboot is over
            case "IDLE" ->
                isAskedIdle(c) && (node.has(Node.Flag.REBOOT_ISSUED) || node.has(Node.Flag.FUTURE) || isBusy(node))
                        ? Optional.empty()
                        : Optional.of(cleared(
                                inService(node)
                                        .with(Node.Flag.DOWN, false)
                                        .with(Node.Flag.DRAIN, false)
                                        .with(Node.Flag.FAIL, false)
                                        .with(Node.Flag.INVALID_REG, false),
                                c));
            case "CANCEL_REBOOT" ->
                node.has(Node.Flag.REBOOT_REQUESTED) ? Optional.of(PowerRules.cancelled(node)) : Optional.empty();
            // the node has no slurmd that could answer
            case "NORESP", "NO_RESPOND" ->
                node.has(Node.Flag.EXTERNAL)
                        ? Optional.empty()
                        : Optional.of(node.with(Node.Flag.NOT_RESPONDING, true));
            case "FUTURE" ->
                node.jobs().isEmpty() && !node.has(Node.Flag.EXTERNAL)
                        ? Optional.of(node.with(Node.Flag.FUTURE, true))
                        : Optional.empty();
            default -> Optional.empty();
        };
    }

    /**
     * New counts of what the node has already. Devices that gres.conf names files for are as many as there are files,
     * and what jobs hold must stay.
     */
    private Optional<List<Node.Gres>> gres(Node node, String text) {
        Map<String, Integer> next = new java.util.TreeMap<>();
        List<Node.Gres> out = new ArrayList<>();
        if (!text.isEmpty() && !Tres.isValid(text)) {
            return Optional.empty();
        }
        for (Tres.Item item : Tres.gres(text)) {
            Optional<Node.Gres> known = node.spec().gres().stream()
                    .filter(g -> g.name().equals(item.name()) && g.type().equals(item.type()))
                    .findFirst();
            if (known.isEmpty() || !known.get().file().isEmpty() && known.get().count() != item.count()) {
                return Optional.empty();
            }
            int first = next.merge(item.name(), item.count(), Integer::sum) - item.count();
            out.add(new Node.Gres(
                    item.name(),
                    item.type(),
                    first,
                    item.count(),
                    known.get().file(),
                    known.get().flags(),
                    known.get().near(),
                    known.get().links(),
                    known.get().parts()));
        }
        boolean fixedGone = node.spec().gres().stream().anyMatch(g -> !g.file().isEmpty() && !out.contains(g));
        return fixedGone || inUseBeyond(node, next) ? Optional.empty() : Optional.of(List.copyOf(out));
    }

    private boolean inUseBeyond(Node node, Map<String, Integer> counts) {
        return node.jobs().stream()
                .map(state.jobs()::at)
                .flatMap(j -> j.run().allocation().on(node.name()).stream())
                .filter(s -> !s.released())
                .flatMap(s -> s.gres().entrySet().stream())
                .anyMatch(e -> e.getValue().last() >= counts.getOrDefault(e.getKey(), 0));
    }

    /** Tests whether something keeps the node out of service. */
    private static boolean resumable(Node node) {
        return node.bootId().isEmpty()
                || node.has(Node.Flag.DOWN)
                || node.has(Node.Flag.DRAIN)
                || node.has(Node.Flag.FAIL)
                || node.has(Node.Flag.FUTURE)
                || node.has(Node.Flag.INVALID_REG)
                || node.has(Node.Flag.UNKNOWN)
                || node.has(Node.Flag.POWERED_DOWN)
                || node.has(Node.Flag.REBOOT_ISSUED)
                || node.has(Node.Flag.REBOOT_REQUESTED);
    }

    /** A FUTURE node is one of the cluster's from now on, and may be there already. */
    private static Node inService(Node node) {
        return node.has(Node.Flag.FUTURE)
                ? node.with(Node.Flag.FUTURE, false)
                        .with(Node.Flag.UNKNOWN, node.bootId().isEmpty())
                : node;
    }

    private static boolean isAskedIdle(Command.UpdateNode c) {
        return c.changes().getOrDefault("state", "").equalsIgnoreCase("IDLE");
    }

    /** Returns whether jobs run on the node. RESUME returns such a node to service; IDLE is refused. */
    private static boolean isBusy(Node node) {
        return !node.jobs().isEmpty() && !node.has(Node.Flag.DOWN);
    }

    /** Tests whether the update gives a reason; an empty one keeps the old one. */
    private static boolean isReasoned(Command.UpdateNode c) {
        return !c.changes().getOrDefault("reason", "").isBlank();
    }

    /**
     * Tests whether the node keeps its reason, as nodes out of service do, which {@code sinfo -R} lists; a node in
     * service loses it.
     */
    private static boolean keepsReason(Node node) {
        return REASONED.stream().anyMatch(node::has);
    }

    private static Node cleared(Node node, Command.UpdateNode c) {
        return isReasoned(c) || node.has(Node.Flag.DOWN) ? node : node.withReason("", 0, 0);
    }
}
