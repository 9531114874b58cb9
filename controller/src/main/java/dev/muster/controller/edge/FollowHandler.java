package dev.muster.controller.edge;

import dev.muster.controller.engine.ChangeLog;
import dev.muster.controller.nodes.NodeLinks;
import dev.muster.controller.view.JobPaths;
import dev.muster.controller.view.JobViews;
import dev.muster.controller.view.NodeViews;
import dev.muster.controller.view.PrivateDataFilter;
import dev.muster.core.command.Access;
import dev.muster.core.options.StepOptions;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages.NodeInfo;
import dev.muster.model.api.FollowMessages;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** Answers requests that follow changes: watches of jobs and nodes, output of batch jobs, and usage. */
public final class FollowHandler {
    /** Below the time after which a connection counts as idle. */
    static final int WAIT_MS_MAX = 30_000;
    /** Beyond the node's own time for an answer. */
    private static final int NODE_MS = 10_000;
    /** Most nodes that are asked for the usage of one job. */
    private static final int USE_NODES_MAX = 64;

    private final Supplier<State> durable;
    private final ChangeLog news;
    private final NodeLinks links;
    private final Function<Caller, PrivateDataFilter> privacyOf;
    private final Function<State, JobViews> jobs;
    private final Function<State, NodeViews> nodes;
    private final IntFunction<String> userName;

    public FollowHandler(
            Supplier<State> durable,
            ChangeLog news,
            NodeLinks links,
            Function<Caller, PrivateDataFilter> privacyOf,
            Function<State, JobViews> jobs,
            Function<State, NodeViews> nodes,
            IntFunction<String> userName) {
        this.durable = durable;
        this.news = news;
        this.links = links;
        this.privacyOf = privacyOf;
        this.jobs = jobs;
        this.nodes = nodes;
        this.userName = userName;
    }

    void register(MessageHandlers messages) {
        messages.on("Follow", FollowMessages.Follow.class, this::follow)
                .on("ReadOutput", FollowMessages.ReadOutput.class, this::output)
                .on("QueryUse", FollowMessages.QueryUse.class, this::use);
    }

    public Reply follow(Caller caller, FollowMessages.Follow q) {
        boolean first = q.since().isEmpty();
        ChangeLog.Since since =
                news.since(first ? news.revision() : q.since(), first ? 0 : Math.clamp(q.waitMs(), 0, WAIT_MS_MAX));
        State state = durable.get();
        PrivateDataFilter privacy = privacyOf.apply(caller);
        List<Integer> removedJobs = new ArrayList<>();
        List<Job> changed = new ArrayList<>();
        for (int id : since.jobs()) {
            state.jobs().find(id).filter(privacy::shows).ifPresent(changed::add);
        }
        since.gone().stream()
                .filter(g -> privacy.showsJob(g.ownerUid(), g.account())
                        && !state.jobs().has(g.jobId()))
                .forEach(g -> removedJobs.add(g.jobId()));
        List<NodeInfo> rows = new ArrayList<>();
        List<String> goneNodes = new ArrayList<>();
        if ((!privacy.hides("nodes") || privacy.picksNodes()) && !since.nodes().isEmpty()) {
            NodeViews views = nodes.apply(state);
            for (String name : since.nodes()) {
                Optional<Node> node =
                        state.nodes().find(name).filter(n -> !n.has(Node.Flag.FUTURE) && privacy.shows(n));
                node.ifPresentOrElse(n -> rows.add(views.info(n)), () -> goneNodes.add(name));
            }
        }
        FollowMessages.Followed head = new FollowMessages.Followed(
                since.revision(),
                System.currentTimeMillis() / 1000,
                privacy.sees(),
                caller.uid(),
                userName.apply(caller.uid()),
                Access.isOperator(state, caller.uid()),
                Access.isAdmin(state, caller.uid()),
                !since.known(),
                List.copyOf(since.lists()),
                List.of(),
                removedJobs,
                rows,
                goneNodes,
                Access.coordinated(state, caller.uid()));
        return new Reply(
                200,
                written(
                        head,
                        changed,
                        jobs.apply(state),
                        q.jobFields().isEmpty() ? Set.of() : new TreeSet<>(q.jobFields())));
    }

    private static byte[] written(FollowMessages.Followed head, List<Job> changed, JobViews views, Set<String> fields) {
        Json.Writer out = new Json.Writer();
        byte[] all = Codec.encode(head);
        // it always has a revision: the list follows a field
        out.raw(java.util.Arrays.copyOf(all, all.length - 1)).raw(",\"jobs\":[");
        String separator = "";
        for (Job job : changed) {
            out.raw(separator);
            separator = ",";
            if (fields.isEmpty()) {
                Codec.write(out, views.info(job, -1, true));
            } else {
                Codec.writeFields(out, views.info(job, -1, fields.contains("details")), fields);
            }
        }
        return out.raw("]}").toByteArray();
    }

    // ---- what jobs use

    public Reply use(Caller caller, FollowMessages.QueryUse q) {
        State state = durable.get();
        Optional<Job> found = state.jobs().find(q.jobId()).filter(privacyOf.apply(caller)::shows);
        if (found.isEmpty()) {
            return Reply.error(SlurmErrno.INVALID_JOB_ID);
        }
        Job job = found.get();
        if (!Access.mayChange(state, caller.uid(), job)) {
            return Reply.error(SlurmErrno.ACCESS_DENIED);
        }
        List<FollowMessages.NodeUse> uses = java.util.Collections.synchronizedList(new ArrayList<>());
        List<String> without = java.util.Collections.synchronizedList(new ArrayList<>());
        List<String> names =
                job.run().allocation().nodes().stream().map(n -> n.node()).toList();
        try (var all = java.util.concurrent.Executors.newVirtualThreadPerTaskExecutor()) {
            for (String name : names.subList(0, Math.min(USE_NODES_MAX, names.size()))) {
                all.execute(() -> {
                    NodeMessages.UseRead read = links.use(name, job, NODE_MS);
                    read.steps()
                            .forEach(s -> uses.add(new FollowMessages.NodeUse(
                                    name,
                                    StepId.name(s.stepId()),
                                    s.points().stream()
                                            .filter(p -> p.time() >= job.run().startTime())
                                            .toList())));
                    if (!read.error().isEmpty()) {
                        without.add(name + ": " + read.error());
                    }
                });
            }
        }
        if (names.size() > USE_NODES_MAX) {
            without.add((names.size() - USE_NODES_MAX) + " more nodes are not asked");
        }
        uses.sort(java.util.Comparator.comparing(FollowMessages.NodeUse::node)
                .thenComparing(FollowMessages.NodeUse::step));
        int usual = state.settings().options().steps().sampleS();
        int own = StepOptions.sampleS(job.desc().extras().acctgFreq());
        // where nothing is gathered a job's own frequency changes nothing
        int every;
        if (usual < 0) {
            every = 0;
        } else if (own >= 0) {
            every = own;
        } else {
            every = usual;
        }

        return Reply.of(
                new FollowMessages.Use(job.id(), job.attempt(), job.state().name(), every, uses, without));
    }

    // ---- what jobs write

    Reply output(Caller caller, FollowMessages.ReadOutput q) {
        State state = durable.get();
        Optional<Job> found = state.jobs().find(q.jobId()).filter(privacyOf.apply(caller)::shows);
        if (found.isEmpty()) {
            return Reply.error(SlurmErrno.INVALID_JOB_ID);
        }
        Job job = found.get();
        if (caller.uid() != job.desc().owner().uid() && !Access.isSuperUser(state, caller.uid())) {
            return Reply.error(SlurmErrno.ACCESS_DENIED);
        }
        boolean error = q.stream().equals(FollowMessages.STDERR);
        if (job.desc().kind() != JobDesc.Kind.BATCH || !error && !q.stream().equals(FollowMessages.STDOUT)) {
            return Reply.error(
                    400,
                    SlurmErrno.ERROR,
                    error || q.stream().equals(FollowMessages.STDOUT)
                            ? "Only batch jobs have files of their own for what they write"
                            : "There is no stream \"" + q.stream() + "\"");
        }
        Bytes path = error ? JobPaths.stderr(job) : JobPaths.stdout(job);
        if (job.run().allocation().isEmpty()) {
            return Reply.of(noFile(job, path));
        }
        int waitMs = job.state().isTerminal() ? 0 : Math.clamp(q.waitMs(), 0, WAIT_MS_MAX);
        String node = job.run().allocation().ofScript().node();
        NodeMessages.FileRead read = links.read(
                node,
                id -> new NodeMessages.ReadFile(
                        id,
                        job.desc().owner(),
                        job.id(),
                        path,
                        q.offset(),
                        Math.clamp(q.maxBytes(), 1, FollowMessages.OUTPUT_BYTES_MAX),
                        waitMs,
                        q.file()),
                waitMs + NODE_MS);
        if (!read.error().isEmpty()) {
            return Reply.error(
                    400, SlurmErrno.ERROR, "Node " + node + " cannot read " + path.text() + ": " + read.error());
        }
        // as it stood before the file was read: what it wrote before its end is in the file then
        return Reply.of(new FollowMessages.Output(
                job.attempt(),
                path.text(),
                read.offset(),
                read.size(),
                read.data(),
                job.state().isTerminal(),
                durable.get()
                        .jobs()
                        .find(job.id())
                        .map(j -> j.state().name())
                        .orElse(job.state().name()),
                read.file()));
    }

    private static FollowMessages.Output noFile(Job job, Bytes path) {
        return new FollowMessages.Output(
                job.attempt(),
                path.text(),
                0,
                -1,
                Bytes.EMPTY,
                job.state().isTerminal(),
                job.state().name(),
                "");
    }
}
