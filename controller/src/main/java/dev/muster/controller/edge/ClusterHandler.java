package dev.muster.controller.edge;

import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.controller.config.ConfigBridge;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.engine.ListChangeTimes;
import dev.muster.controller.view.HostFunctions;
import dev.muster.controller.view.NodeViews;
import dev.muster.controller.view.PrivateDataFilter;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.partition.PartitionEdit;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.core.tres.Licenses;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages;
import dev.muster.model.api.ClusterMessages.Done;
import dev.muster.model.format.HostList;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

/** Answers queries and changes of nodes, partitions and licenses. */
final class ClusterHandler {
    private final ControllerServices services;
    private final CoreThread core;
    private final Identities identities;
    private final Function<Caller, PrivateDataFilter> privacyOf;
    private final Function<State, NodeViews> viewsOf;
    private final DaemonLog log;
    private final ListChangeTimes nodesSince = new ListChangeTimes();
    private final ListChangeTimes partitionsSince = new ListChangeTimes();

    ClusterHandler(
            ControllerServices services,
            CoreThread core,
            Identities identities,
            Function<Caller, PrivateDataFilter> privacyOf,
            Function<State, NodeViews> viewsOf,
            DaemonLog log) {
        this.services = services;
        this.core = core;
        this.identities = identities;
        this.privacyOf = privacyOf;
        this.viewsOf = viewsOf;
        this.log = log;
    }

    void register(MessageHandlers messages) {
        messages.on("QueryNodes", ClusterMessages.QueryNodes.class, this::nodes)
                .on(
                        "QueryPartitions",
                        ClusterMessages.QueryPartitions.class,
                        (caller, q) -> partitions(privacyOf.apply(caller), q))
                .on("QueryLicenses", ClusterMessages.QueryLicenses.class, (_, q) -> licenses(q))
                .onKnown("UpdateNode", ClusterMessages.UpdateNode.class, this::updateNode)
                .onKnown("RebootNodes", ClusterMessages.RebootNodes.class, this::reboot)
                .on("CreateNodes", ClusterMessages.CreateNodes.class, this::createNodes)
                .on("DeleteNodes", ClusterMessages.DeleteNodes.class, this::deleteNodes)
                .on("AssignNode", ClusterMessages.AssignNode.class, this::assignNode)
                .onKnown("UpdatePartition", ClusterMessages.UpdatePartition.class, this::updatePartition)
                .on("DeletePartition", ClusterMessages.DeletePartition.class, this::deletePartition)
                .onKnown("CreatePartition", ClusterMessages.CreatePartition.class, this::createPartition);
    }

    private Reply deletePartition(Caller caller, ClusterMessages.DeletePartition m) {
        return Replies.done(core.execute(new Command.DeletePartition(caller.uid(), m.partition()), caller.uid()));
    }

    private Reply nodes(Caller caller, ClusterMessages.QueryNodes q) {
        State state = core.durable();
        PrivateDataFilter privacy = privacyOf.apply(caller);
        boolean onlyOwn = !privacy.showsNodes(state, q.nodes());
        if (onlyOwn
                && (!PrivateDataFilter.ofPlaces(q.fields())
                        || state.nodes().values().stream().noneMatch(privacy::isOn))) {
            return Reply.error(SlurmErrno.ACCESS_DENIED);
        }
        NodeViews views = viewsOf.apply(state);
        if (q.shownPartitions()) {
            views.hide(p -> !privacy.shows(p));
        }
        List<ClusterMessages.NodeInfo> out = new ArrayList<>();
        Predicate<Node> shown = n -> onlyOwn ? privacy.isOn(n) : !privacy.picksNodes() || privacy.shows(n);
        if (q.nodes().isEmpty()) {
            state.nodes().values().stream()
                    .filter(n -> (q.all() || !n.has(Node.Flag.FUTURE)) && shown.test(n))
                    .sorted(Comparator.comparingInt(n -> n.spec().order()))
                    .forEach(n -> out.add(views.info(n)));
        } else {
            if (!(HostList.parse(HostFunctions.expanded(String.join(",", q.nodes()), state))
                    instanceof HostList.Parsed.Ok ok)) {
                return Reply.error(SlurmErrno.INVALID_NODE_NAME);
            }
            ok.list()
                    .names()
                    .forEach(name -> state.nodes().find(name).filter(shown).ifPresent(n -> out.add(views.info(n))));
        }
        long now = System.currentTimeMillis() / 1000;
        // what is allocated is said by the jobs
        return Reply.of(new ClusterMessages.NodesReply(now, nodesSince.of(now, state.nodes(), state.jobs()), out));
    }

    private Reply partitions(PrivateDataFilter privacy, ClusterMessages.QueryPartitions q) {
        State state = core.durable();
        if (privacy.hides("partitions")) {
            return Reply.error(SlurmErrno.ACCESS_DENIED);
        }
        NodeViews views = viewsOf.apply(state);
        List<ClusterMessages.PartitionInfo> out = new ArrayList<>();
        for (String name : services.partitionOrder(state)) {
            state.partitions()
                    .find(name)
                    .filter(p -> q.all() || privacy.shows(p))
                    .ifPresent(p -> out.add(views.info(p)));
        }
        long now = System.currentTimeMillis() / 1000;
        return Reply.of(new ClusterMessages.PartitionsReply(
                now, partitionsSince.of(now, state.partitions(), state.nodes()), out));
    }

    private Reply licenses(ClusterMessages.QueryLicenses q) {
        State state = core.durable();
        Map<String, Integer> used = new HashMap<>();
        services.activeJobs(state)
                .forEach(j -> Licenses.held(j).forEach(i -> used.merge(i.name(), i.count(), Integer::sum)));
        Map<String, Integer> kept = new TreeMap<>();
        long now = System.currentTimeMillis() / 1000;
        state.reservations().values().stream()
                .filter(r -> r.isActive(now))
                .forEach(r -> r.licenses().forEach(i -> kept.merge(i.name(), i.count(), Integer::sum)));
        List<ClusterMessages.LicenseInfo> out = new ArrayList<>();
        for (Licenses.Pool p : Licenses.pools(state)) {
            if (q.name().isEmpty() || q.name().equals(p.title())) {
                int free = p.capacity() - used.getOrDefault(p.name(), 0);
                out.add(new ClusterMessages.LicenseInfo(
                        p.title(),
                        p.total(),
                        used.getOrDefault(p.name(), 0) + p.base(),
                        kept.getOrDefault(p.name(), 0),
                        p.remote().isPresent(),
                        p.total() < 0 ? -1 : Math.max(0, free),
                        HostList.of(p.nodes()).compressed(),
                        p.remote().map(r -> r.consumed()).orElse(0L),
                        p.missing(),
                        p.remote().map(r -> r.updated()).orElse(0L)));
            }
        }
        return Reply.of(new ClusterMessages.LicensesReply(
                out, state.settings().options().licenses().bareNames()));
    }

    private Optional<List<String>> nodesNamed(String text) {
        if (text.equalsIgnoreCase("ALL")) {
            return Optional.of(List.copyOf(core.durable().nodes().keys()));
        }
        if (HostList.parse(HostFunctions.expanded(text, core.durable())) instanceof HostList.Parsed.Ok ok) {
            return Optional.of(ok.list().names()).filter(n -> !n.isEmpty());
        }
        return Optional.empty();
    }

    private Reply reboot(Caller caller, ClusterMessages.RebootNodes m) {
        if (m.action().isEmpty() && services.conf().text(Key.REBOOT_PROGRAM).isEmpty()) {
            return Reply.error(400, SlurmErrno.ERROR, "RebootProgram isn't defined");
        }
        Optional<List<String>> names = nodesNamed(m.nodes());
        if (names.isEmpty()) {
            return Reply.error(SlurmErrno.INVALID_NODE_NAME);
        }
        Decision decision = core.execute(
                new Command.RebootNodes(
                        caller.uid(), names.get(), m.asap(), m.nextState(), m.reason(), m.force(), m.action()),
                caller.uid());
        return decision instanceof Decision.Accepted a && a.reply() instanceof String skipped && !skipped.isEmpty()
                ? Reply.of(new Done(List.of(skipped)))
                : Replies.done(decision);
    }

    private Reply updateNode(Caller caller, ClusterMessages.UpdateNode m) {
        Optional<List<String>> named = nodesNamed(m.nodes());
        if (named.isEmpty()) {
            return Reply.error(SlurmErrno.INVALID_NODE_NAME);
        }
        List<String> names = named.get();
        Map<String, String> changes = new TreeMap<>();
        m.changes().forEach((k, v) -> changes.put(k.toLowerCase(Locale.ROOT), v));
        Decision decision = core.execute(new Command.UpdateNode(caller.uid(), names, changes), caller.uid());
        return decision instanceof Decision.Accepted a && !"".equals(a.reply())
                ? Reply.error(SlurmErrno.NODE_STATE_TRANSITION)
                : Replies.done(decision);
    }

    private Reply createNodes(Caller caller, ClusterMessages.CreateNodes m) {
        List<ConfigError> errors = new ArrayList<>();
        List<Node.Spec> specs = ConfigBridge.nodes(m.line(), services.conf(), errors);
        if (!errors.isEmpty()) {
            errors.forEach(e -> log.error(e.sentence()));
            return Reply.error(400, SlurmErrno.ERROR, SlurmErrno.ERROR.sentence());
        }
        return Replies.done(core.execute(new Command.AddNodes(caller.uid(), specs, false), caller.uid()));
    }

    private Reply deleteNodes(Caller caller, ClusterMessages.DeleteNodes m) {
        return HostList.parse(m.nodes()) instanceof HostList.Parsed.Ok ok
                ? Replies.done(core.execute(
                        new Command.RemoveNodes(caller.uid(), ok.list().names()), caller.uid()))
                : Reply.error(SlurmErrno.INVALID_NODE_NAME);
    }

    private Reply assignNode(Caller caller, ClusterMessages.AssignNode m) {
        return switch (core.execute(
                new Command.AssignNode(caller.uid(), m.hostname(), m.address(), m.port(), m.feature(), m.hardware()),
                caller.uid())) {
            case Decision.Accepted a -> Reply.of(new ClusterMessages.AssignedNode(String.valueOf(a.reply())));
            case Decision.Rejected r -> Replies.rejected(r);
        };
    }

    private Reply updatePartition(Caller caller, ClusterMessages.UpdatePartition m) {
        Map<String, String> changes = new TreeMap<>();
        m.changes().forEach((k, v) -> changes.put(k.toLowerCase(Locale.ROOT), v));
        Map<String, Integer> gids = allowedGids(changes);
        Reply reply = Replies.done(core.execute(
                new Command.UpdatePartition(
                        caller.uid(), m.partition(), HostFunctions.expanded(changes, core.durable()), gids),
                caller.uid()));
        if (changes.keySet().stream().anyMatch("allowgroups"::startsWith)) {
            services.groupLook().soon();
        }
        return reply;
    }

    private Reply createPartition(Caller caller, ClusterMessages.CreatePartition m) {
        return switch (newPartition(m)) {
            case PartitionEdit.Edited e ->
                Replies.done(core.execute(new Command.CreatePartition(caller.uid(), e.partition()), caller.uid()));
            case PartitionEdit.Refused r -> Reply.error(400, r.errno(), r.sentence());
        };
    }

    private PartitionEdit.Outcome newPartition(ClusterMessages.CreatePartition m) {
        Partition empty = new Partition(
                Codec.bind(
                        new Json.Obj()
                                .put("name", m.partition())
                                .put("state", "UP")
                                .put("maxTimeMin", -1L)
                                .put("maxNodes", -1L)
                                .put("minNodes", 1L)
                                .put("allowGroups", "ALL")
                                .put("allowAccounts", "ALL")
                                .put("allowQos", "ALL")
                                .put("overSubscribe", "NO")
                                .put("overTimeLimitMin", -1L)
                                .put("priorityTier", 1L)
                                .put("priorityJobFactor", 1L),
                        ClusterMessages.PartitionInfo.class),
                List.of());
        Map<String, String> values = new TreeMap<>();
        m.values().forEach((k, v) -> values.put(k.toLowerCase(Locale.ROOT), v));
        return PartitionEdit.edit(empty, values, allowedGids(values), core.durable());
    }

    /** Returns the numbers of the groups of AllowGroups, which may be abbreviated. */
    private Map<String, Integer> allowedGids(Map<String, String> changes) {
        List<String> named = new ArrayList<>();
        changes.forEach((k, v) -> named.addAll("allowgroups".startsWith(k) ? List.of(v.split(",")) : List.of()));
        return ConfigBridge.gids(identities, named);
    }
}
