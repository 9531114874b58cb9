package dev.muster.controller.edge;

import dev.muster.accounting.db.AccountingException;
import dev.muster.accounting.table.PackedRows;
import dev.muster.config.key.Key;
import dev.muster.controller.engine.Blobs;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.engine.Since;
import dev.muster.controller.engine.Watch;
import dev.muster.controller.nodes.NodeLinks;
import dev.muster.controller.stats.RpcNames;
import dev.muster.controller.view.AllocationView;
import dev.muster.controller.view.JobName;
import dev.muster.controller.view.JobQuery;
import dev.muster.controller.view.JobRowWriter;
import dev.muster.controller.view.JobViews;
import dev.muster.controller.view.NodeViews;
import dev.muster.controller.view.PolicyViews;
import dev.muster.controller.view.Privacy;
import dev.muster.controller.view.StepViews;
import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.Identity;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.AccountingRows;
import dev.muster.model.api.ClusterMessages;
import dev.muster.model.api.ClusterMessages.Done;
import dev.muster.model.api.JobMessages;
import dev.muster.model.api.MessageRights;
import dev.muster.model.api.PolicyMessages;
import dev.muster.model.api.TriggerMessages;
import dev.muster.model.format.HostList;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobFlag;
import dev.muster.model.job.JobState;
import dev.muster.model.job.StepId;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/** The edge: one method per message. Decodes, resolves names and files, hands commands to the core, shapes replies. */
public final class ControllerApi {
    /** Jobs handled by one command of a mass operation. */
    static final int CHUNK = 250;
    /**
     * Parts of one request that are decided before the first of them is durable. Commands of other callers still come
     * between them.
     */
    private static final int CHUNKS_AHEAD = 8;

    private final ControllerServices services;
    private final CoreThread core;
    private final Identities identities;
    private final Blobs blobs;
    private final Watch watch;
    private final NodeLinks links;
    private final DaemonLog log;
    private final ClusterHandler nodes;
    private final ReservationHandler reservations;
    private final SubmitHandler submissions;
    private final JobUpdateHandler updates;
    private final Notices notices = new Notices();
    private final Since jobsSince = new Since();
    private final FollowHandler following;

    public ControllerApi(
            ControllerServices services,
            CoreThread core,
            Identities identities,
            Blobs blobs,
            Watch watch,
            NodeLinks links,
            DaemonLog log) {
        this.services = services;
        this.core = core;
        this.identities = identities;
        this.blobs = blobs;
        this.watch = watch;
        this.links = links;
        this.log = log;
        nodes = new ClusterHandler(services, core, identities, this::privacy, this::nodeViews, log);
        reservations = new ReservationHandler(services, core, identities);
        submissions = new SubmitHandler(services, core, identities, blobs, log);
        updates = new JobUpdateHandler(core, services.filter(), blobs);
        following = new FollowHandler(
                core::durable,
                services.news(),
                links,
                this::privacy,
                this::views,
                this::nodeViews,
                identities::userName);
    }

    SubmitHandler submissions() {
        return submissions;
    }

    public Reply handle(Caller caller, String message, byte[] body) {
        if (services.debugFlags().has("AuditRPCs")) {
            log.info("RPC " + message + " from uid " + caller.uid() + " (" + body.length + " bytes)");
        }
        return services.requests().serve(caller, message, () -> answer(caller, message, body));
    }

    private Reply answer(Caller caller, String message, byte[] body) {
        Optional<MessageRights.Rule> rule =
                MessageRights.rule(MessageRights.controller(), message, word(message, body));
        if (rule.isEmpty()) {
            return Reply.error(404, SlurmErrno.UNEXPECTED_MSG_ERROR, SlurmErrno.UNEXPECTED_MSG_ERROR.sentence());
        }
        return may(caller, rule.get().need())
                ? permitted(caller, message, body)
                : Reply.error(rule.get().denial());
    }

    /** The word of a message's body on which its right depends. */
    private static String word(String message, byte[] body) {
        return switch (message) {
            case "JobAction" -> Codec.decode(body, JobMessages.JobAction.class).action();
            case "QueryScript" ->
                Codec.decode(body, JobMessages.QueryScript.class).environment() ? "environment" : "";
            case "QueryDiagnostics" ->
                Codec.decode(body, ClusterMessages.QueryDiagnostics.class).reset() ? "reset" : "";
            default -> "";
        };
    }

    /**
     * Whether the caller's identity alone permits a message. Rules that need the job or node check it when they have
     * found it.
     */
    private boolean may(Caller caller, MessageRights.Need need) {
        return switch (need) {
            case ANYBODY,
                    SELF,
                    SELF_OR_OPERATOR,
                    OWNER_ALONE,
                    OWNER,
                    COORDINATOR,
                    OPERATOR_OR_NAMED,
                    SLURM_USER,
                    MAKER -> true;
            case OPERATOR -> Access.isOperator(core.durable(), caller.uid());
            case ADMINISTRATOR -> isAdmin(caller);
            case DAEMON -> Access.isSuperUser(core.durable(), caller.uid());
        };
    }

    private Reply permitted(Caller caller, String message, byte[] body) {
        return switch (message) {
            case "Ping" -> Reply.of(services.ping());
            case "Submit" -> submitted(caller, Codec.decodeKnown(body, JobMessages.Submit.class));
            case "SubmitHet" -> submissions.submitHet(caller, Codec.decodeKnown(body, JobMessages.SubmitHet.class));
            case "QueryJobs" -> jobs(caller, Codec.decode(body, JobMessages.QueryJobs.class));
            case "QuerySteps" -> steps(caller, Codec.decode(body, JobMessages.QuerySteps.class));
            case "QueryScript" -> script(caller, Codec.decode(body, JobMessages.QueryScript.class));
            case "Cancel" -> cancel(caller, Codec.decodeKnown(body, JobMessages.Cancel.class));
            case "JobAction" -> action(caller, Codec.decodeKnown(body, JobMessages.JobAction.class));
            case "TestJob" ->
                Replies.tested(core.execute(
                        new Command.TestJob(
                                caller.uid(),
                                Codec.decode(body, JobMessages.TestJob.class).jobId()),
                        caller.uid()));
            case "UpdateJob" -> updates.update(caller, Codec.decodeKnown(body, JobMessages.UpdateJob.class));
            case "AwaitAllocation" -> awaitAllocation(caller, Codec.decode(body, JobMessages.AwaitAllocation.class));
            case "AwaitChange" -> awaitChange(caller, Codec.decode(body, JobMessages.AwaitChange.class));
            case "AwaitSteps" -> awaitSteps(caller, Codec.decode(body, JobMessages.AwaitSteps.class));
            case "CreateStep", "CreateHetStep" ->
                new StepHandler(services, core, blobs, watch).answer(caller, message, body);
            case "CompleteAllocation" -> complete(caller, Codec.decode(body, JobMessages.CompleteAllocation.class));
            case "QueryNodes",
                    "QueryPartitions",
                    "QueryLicenses",
                    "UpdateNode",
                    "RebootNodes",
                    "CreateNodes",
                    "DeleteNodes",
                    "AssignNode",
                    "UpdatePartition",
                    "DeletePartition",
                    "CreatePartition" -> nodes.answer(caller, message, body);
            case "QueryTopology" ->
                Reply.of(new ClusterMessages.TopologyReply(
                        core.durable().settings().topologies()));
            case "QueryBurstBuffers" -> Reply.of(services.buffers().show(core.durable(), caller.uid()));
            case "QueryBurstStatus" ->
                services.buffers().status(caller, Codec.decode(body, ClusterMessages.QueryBurstStatus.class));
            case "QueryConfig" -> Reply.of(services.config());
            case "QueryDiagnostics" -> diagnostics(Codec.decode(body, ClusterMessages.QueryDiagnostics.class));
            case "QueryAccounting" -> accounting(caller, Codec.decode(body, AccountingRows.Query.class));
            case "FetchConfig" ->
                services.configService().answer(Codec.decode(body, ClusterMessages.FetchConfig.class));
            case "SignCertificate" ->
                services.certificates().sign(Codec.decode(body, ClusterMessages.SignCertificate.class));
            case "UpdateSetting" -> updateSetting(caller, Codec.decodeKnown(body, ClusterMessages.UpdateSetting.class));
            case "CreateReservation" ->
                reservations.create(caller, Codec.decodeKnown(body, ClusterMessages.CreateReservation.class));
            case "UpdateReservation" ->
                reservations.update(caller, Codec.decodeKnown(body, ClusterMessages.UpdateReservation.class));
            case "DeleteReservation" ->
                reservations.delete(caller, Codec.decodeKnown(body, ClusterMessages.DeleteReservation.class));
            case "QueryReservations" ->
                reservations.query(caller, Codec.decode(body, ClusterMessages.QueryReservations.class));
            case "QueryPriorities" ->
                Reply.of(new PolicyViews(core.durable(), services.clock().now())
                        .priorities(
                                privacy(caller),
                                Codec.decode(body, PolicyMessages.QueryPriorities.class)
                                        .jobs()));
            case "QueryAssocMgr" ->
                Reply.of(new PolicyViews(core.durable(), services.clock().now())
                        .assocMgr(
                                privacy(caller),
                                name -> identities
                                        .byName(name)
                                        .map(Identity::uid)
                                        .orElse(-1)));
            case "QueryShares" ->
                Reply.of(new PolicyViews(core.durable(), services.clock().now()).shares(privacy(caller)));
            case "SetTrigger" -> setTrigger(caller, Codec.decodeKnown(body, TriggerMessages.SetTrigger.class));
            case "ClearTriggers" -> {
                TriggerMessages.ClearTriggers m = Codec.decode(body, TriggerMessages.ClearTriggers.class);
                yield Replies.done(core.execute(
                        Replies.once(
                                caller,
                                m.requestId(),
                                0,
                                new Command.ClearTriggers(caller.uid(), m.id(), m.jobId(), m.userId())),
                        caller.uid()));
            }
            case "QueryTriggers" ->
                Reply.of(new TriggerMessages.TriggersReply(core.durable().triggers().byId().values().stream()
                        .map(t -> new TriggerMessages.TriggerInfo(
                                t.id(),
                                t.events(),
                                t.jobId(),
                                t.nodes(),
                                t.offsetS(),
                                t.uid(),
                                t.user(),
                                t.program(),
                                t.permanent()))
                        .toList()));
            case "SetCrontab", "QueryCrontab" ->
                new CrontabHandler(submissions, core, identities).answer(caller, message, body);
            case "Follow", "ReadOutput", "QueryUse" -> following.answer(caller, message, body);
            case "QueryWhy", "QueryPlan" -> planned(caller, message, body);
            case "CreateToken" ->
                services.tokens().answer(caller, Codec.decode(body, ClusterMessages.CreateToken.class));
            case "Reconfigure" -> told(services.reconfigure());
            case "Shutdown" -> {
                ClusterMessages.Shutdown m = Codec.decode(body, ClusterMessages.Shutdown.class);
                yield told(services.shutdown(m.controllerOnly()));
            }
            case "SetDebug" -> {
                ClusterMessages.SetDebug m = Codec.decode(body, ClusterMessages.SetDebug.class);
                services.requests().countAs(RpcNames.of(m));
                yield told(services.debugLevels().set(m));
            }
            default -> Reply.error(404, SlurmErrno.UNEXPECTED_MSG_ERROR, SlurmErrno.UNEXPECTED_MSG_ERROR.sentence());
        };
    }

    private Reply submitted(Caller caller, JobMessages.Submit m) {
        if (m.job().kind() != JobDesc.Kind.BATCH) {
            services.requests().countAs("allocate");
        }
        return submissions.submit(caller, m);
    }

    private Reply updateSetting(Caller caller, ClusterMessages.UpdateSetting m) {
        return Replies.done(core.execute(
                new Command.ChangeSetting(caller.uid(), m.key().toLowerCase(java.util.Locale.ROOT), m.value()),
                caller.uid()));
    }

    private Reply setTrigger(Caller caller, TriggerMessages.SetTrigger m) {
        String user = identities.byUid(caller.uid()).map(Identity::user).orElse("");
        if (user.isEmpty()) {
            return Reply.error(SlurmErrno.USER_ID_MISSING);
        }
        return Replies.done(core.execute(
                Replies.once(
                        caller,
                        m.requestId(),
                        0,
                        new Command.SetTrigger(
                                caller.uid(),
                                user,
                                m.events(),
                                m.jobId(),
                                m.nodes(),
                                m.offsetSeconds(),
                                m.program(),
                                m.permanent())),
                caller.uid()));
    }

    boolean isAdmin(Caller caller) {
        return Access.isAdmin(core.durable(), caller.uid());
    }

    /** @param error "", or why it was not done */
    private static Reply told(String error) {
        return error.isEmpty() ? Reply.of(Done.OK) : Reply.error(400, SlurmErrno.ERROR, error);
    }

    private Reply diagnostics(ClusterMessages.QueryDiagnostics q) {
        if (!q.reset()) {
            return Reply.of(services.diagnostics().reply());
        }
        services.statistics().reset();
        services.requests().reset();
        return Reply.of(Done.OK);
    }

    private Reply planned(Caller caller, String message, byte[] body) {
        return new PlanHandler(core.durable(), services.clock().now(), services.planner(), privacy(caller), views())
                .answer(message, body);
    }

    // ---- jobs

    private JobViews views() {
        return views(core.durable());
    }

    private JobViews views(State state) {
        return views(state, Set.of());
    }

    private JobViews views(State state, Set<String> fields) {
        return new JobViews(
                state,
                services.planner(),
                services.clock().now(),
                services.conf().text(Key.MAIL_DOMAIN),
                fields);
    }

    private Privacy privacy(Caller caller) {
        return new Privacy(
                services.conf().list(Key.PRIVATE_DATA),
                core.durable(),
                caller.uid(),
                identities.userName(caller.uid()),
                gid -> identities
                        .byUid(caller.uid())
                        .filter(i -> i.gid() == gid || i.gids().contains(gid))
                        .isPresent());
    }

    /** A query that names jobs or partitions shows hidden partitions too. */
    private static Predicate<Job> shown(Privacy privacy, JobMessages.QueryJobs q) {
        boolean all =
                q.allPartitions() || !q.jobs().isEmpty() || !q.partitions().isEmpty();
        Predicate<Job> visible = all ? privacy::shows : j -> privacy.shows(j) && privacy.showsPartition(j);
        return visible.and(j -> !isCancelledOutOfArray(j));
    }

    /** Whether a task was cancelled while it waited: as in Slurm, only accounting shows it. */
    private static boolean isCancelledOutOfArray(Job j) {
        return j.state() == JobState.CANCELLED
                && j.isArrayTask()
                && j.id() != j.array().jobId()
                && j.run().startTime() == 0
                && j.restarts() == 0;
    }

    private Reply jobs(Caller caller, JobMessages.QueryJobs q) {
        State state = core.durable();
        if (!q.nodes().isEmpty()
                && HostList.parse(String.join(",", q.nodes())) instanceof HostList.Parsed.Ok ok
                && !ok.list().names().stream().allMatch(state.nodes()::has)) {
            return Reply.error(SlurmErrno.INVALID_NODE_NAME);
        }
        JobQuery query = new JobQuery(state, q, services.owned(), shown(privacy(caller), q));
        if (q.jobs().size() == 1 && !query.knows(q.jobs().getFirst())) {
            return Reply.error(SlurmErrno.INVALID_JOB_ID);
        }
        Set<String> fields = Set.copyOf(q.fields());
        JobViews views = views(state, fields);
        long now = System.currentTimeMillis() / 1000;
        long lastPass = services.planner().lastPass();
        // the scheduler gives reasons and planned starts when it looks
        long jobsAsOf = Math.max(jobsSince.of(now, state.jobs()), Math.min(lastPass, now));
        Json.Writer out = new Json.Writer();
        out.raw("{\"now\":")
                .number(now)
                .raw(",\"lastUpdate\":")
                .number(jobsAsOf)
                .raw(",\"lastBackfill\":")
                .number(lastPass)
                .raw(",\"jobs\":[");
        JobRowWriter rows = new JobRowWriter(q, query.hits(), views);
        return q.lines() && rows.isLong()
                ? new Reply(200, out.raw('\n').toByteArray(), Optional.of(rows::lines))
                : new Reply(200, rows.together(out).raw("]}").toByteArray());
    }

    private Reply steps(Caller caller, JobMessages.QuerySteps q) {
        State state = core.durable();
        StepViews views = new StepViews(state);
        List<JobMessages.StepInfo> out = new ArrayList<>();
        List<Job> jobs = new ArrayList<>();
        if (q.jobIds().isEmpty()) {
            jobs.addAll(services.activeJobs(state));
        } else {
            for (int id : q.jobIds()) {
                jobs.addAll(state.tasksOf(id));
                state.jobs().find(id).ifPresent(j -> jobs.addAll(j.isHetLeader() ? state.members(j) : List.of(j)));
            }
        }
        Privacy privacy = privacy(caller);
        jobs.removeIf(j -> !privacy.shows(j) || q.shownPartitions() && !privacy.showsPartition(j));
        for (Job job : jobs) {
            for (Step step : job.run().steps()) {
                if (step.state() != Step.State.ENDED) {
                    out.add(views.info(job, step));
                }
            }
        }
        return Reply.of(new JobMessages.StepsReply(System.currentTimeMillis() / 1000, out));
    }

    private Reply script(Caller caller, JobMessages.QueryScript q) {
        Optional<Job> job = core.durable().jobs().find(q.jobId());
        if (job.isEmpty() || job.get().desc().payload().scriptHash().isEmpty()) {
            return Reply.error(SlurmErrno.INVALID_JOB_ID);
        }
        // variables may be secrets
        if (!Access.mayChange(core.durable(), caller.uid(), job.get())
                || q.environment()
                        && caller.uid() != job.get().desc().owner().uid()
                        && !Access.isSuperUser(core.durable(), caller.uid())) {
            return Reply.error(SlurmErrno.USER_ID_MISSING);
        }
        return Reply.of(new JobMessages.ScriptReply(blobs.read(
                q.environment()
                        ? job.get().desc().payload().envHash()
                        : job.get().desc().payload().scriptHash())));
    }

    private Reply cancel(Caller caller, JobMessages.Cancel m) {
        State durable = core.durable();
        CancelTargets targets = new CancelTargets(
                        durable,
                        services.owned(),
                        j -> Access.mayChange(durable, caller.uid(), j),
                        m.tellsOthers() ? privacy(caller)::shows : j -> false)
                .find(m);
        return chunked(
                caller,
                m.requestId(),
                targets.refs(),
                targets.errors(),
                chunk -> new Command.CancelJobs(
                        caller.uid(),
                        chunk,
                        m.signal(),
                        m.batchOnly(),
                        m.full(),
                        m.cronAllowed(),
                        m.hurry(),
                        m.adminComment(),
                        CancelTargets.basicStates(m.states()),
                        m.ctld()));
    }

    private Reply chunked(
            Caller caller,
            String requestId,
            List<Command.JobRef> refs,
            List<JobMessages.JobError> errors,
            java.util.function.Function<List<Command.JobRef>, Command> command) {
        List<String> done = new ArrayList<>();
        ArrayDeque<CompletableFuture<Decision>> underWay = new ArrayDeque<>();
        for (int i = 0; i < refs.size() || !underWay.isEmpty(); ) {
            // the first is awaited alone: what is refused as a whole is refused then
            while (i < refs.size() && underWay.size() < (i <= CHUNK ? 1 : CHUNKS_AHEAD)) {
                Command chunk = command.apply(List.copyOf(refs.subList(i, Math.min(refs.size(), i + CHUNK))));
                underWay.add(core.submit(Replies.once(caller, requestId, i, chunk), caller.uid()));
                i += CHUNK;
            }
            switch (underWay.remove().join()) {
                case Decision.Accepted a -> {
                    JobMessages.CancelReply reply = (JobMessages.CancelReply) a.reply();
                    done.addAll(reply.done());
                    errors.addAll(reply.errors());
                }
                case Decision.Rejected r -> {
                    return Replies.rejected(r);
                }
            }
        }
        return Reply.of(new JobMessages.CancelReply(done, errors));
    }

    /**
     * The jobs that a user of scontrol names, by number or by {@code name=}.
     *
     * @param errors gets an error for each name that is none
     */
    private List<Command.JobRef> named(Caller caller, List<String> names, List<JobMessages.JobError> errors) {
        List<Command.JobRef> refs = new ArrayList<>();
        for (String text : names) {
            if (text.startsWith("name=") || text.startsWith("Name=")) {
                new JobQuery(core.durable(), byName(caller, text.substring(5)), services.owned(), j -> true)
                        .hits()
                        .forEach(h -> refs.add(Command.JobRef.found(h.job(), h.tasks())));
                continue;
            }
            // no action of these is possible on a step
            JobName.parse(text, core.durable())
                    .filter(n -> n.step() == Command.JobRef.NO_STEP)
                    .ifPresentOrElse(
                            n -> refs.addAll(n.refs()),
                            () -> errors.add(new JobMessages.JobError(
                                    text, SlurmErrno.INVALID_JOB_ID.number(), SlurmErrno.INVALID_JOB_ID.sentence())));
        }
        return refs;
    }

    private JobMessages.QueryJobs byName(Caller caller, String name) {
        return new JobMessages.QueryJobs(
                List.of(),
                isAdmin(caller) ? List.of() : List.of(caller.uid()),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                List.of(name),
                List.of(),
                List.of(),
                List.of(),
                false,
                true,
                false,
                false,
                false,
                List.of(),
                false,
                false);
    }

    private Reply action(Caller caller, JobMessages.JobAction m) {
        services.requests().countAs(RpcNames.ofAction(m.action()));
        List<JobMessages.JobError> errors = new ArrayList<>();
        List<Command.JobRef> refs = named(caller, m.jobs(), errors);
        int uid = caller.uid();
        return switch (m.action()) {
            case "hold", "uhold" ->
                chunked(
                        caller,
                        m.requestId(),
                        updates.held(caller, m.requestId(), refs, true, errors),
                        errors,
                        c -> new Command.HoldJobs(uid, c, true, m.action().equals("uhold")));
            case "release" ->
                chunked(
                        caller,
                        m.requestId(),
                        updates.held(caller, m.requestId(), refs, false, errors),
                        errors,
                        c -> new Command.HoldJobs(uid, c, false, false));
            case "requeue" ->
                chunked(
                        caller,
                        m.requestId(),
                        refs,
                        errors,
                        c -> new Command.RequeueJobs(
                                uid,
                                c,
                                false,
                                isSpecialExit(m.argument()),
                                m.argument().equalsIgnoreCase("incomplete")));
            case "requeuehold" ->
                chunked(
                        caller,
                        m.requestId(),
                        refs,
                        errors,
                        c -> new Command.RequeueJobs(uid, c, true, isSpecialExit(m.argument())));
            case "notify" -> notifyJobs(caller, refs, errors, m.argument());
            case "top" -> chunked(caller, m.requestId(), refs, errors, c -> new Command.TopJobs(uid, c));
            case "suspend" -> chunked(caller, m.requestId(), refs, errors, c -> new Command.SuspendJobs(uid, c, true));
            case "resume" -> chunked(caller, m.requestId(), refs, errors, c -> new Command.SuspendJobs(uid, c, false));
            default ->
                Reply.error(400, SlurmErrno.NOT_SUPPORTED, m.action() + " is not supported by this version of Muster");
        };
    }

    private static boolean isSpecialExit(String state) {
        return List.of("specialexit", "se").contains(state.toLowerCase(java.util.Locale.ROOT));
    }

    private Reply notifyJobs(Caller caller, List<Command.JobRef> refs, List<JobMessages.JobError> errors, String text) {
        List<String> done = new ArrayList<>();
        for (Command.JobRef ref : refs) {
            switch (core.execute(new Command.NotifyJob(caller.uid(), ref, text), caller.uid())) {
                case Decision.Rejected r ->
                    errors.add(new JobMessages.JobError(ref.text(), r.errno().number(), r.sentence()));
                case Decision.Accepted a -> {
                    if (a.reply().equals("salloc") && !notices.say(ref.jobId(), text)) {
                        errors.add(new JobMessages.JobError(
                                ref.text(),
                                SlurmErrno.NODES_BUSY.number(),
                                "salloc has not read what it was told before"));
                    } else {
                        done.add(ref.text());
                    }
                    watch.happened(ref.jobId());
                }
            }
        }
        return Reply.of(new JobMessages.CancelReply(done, errors));
    }

    // ---- interactive jobs and steps

    private Reply awaitAllocation(Caller caller, JobMessages.AwaitAllocation m) {
        boolean waits = m.waitMs() > 0
                && core.durable().jobs().find(m.jobId()).filter(Job::isPending).isPresent();
        if (waits) {
            services.clients().awaits(m.jobId());
        }
        Reply reply = awaited(caller, m.jobId(), m.waitMs(), this::isSettled, false);
        return waits && reply.status() == 200
                ? reply.whenUndelivered(() -> services.clients().gone(m.jobId(), System.nanoTime() / 1_000_000_000L))
                : reply;
    }

    /** Started and ready with all its components, or over. */
    private boolean isSettled(Job job) {
        return job.state() != JobState.PENDING
                && (job.state().isTerminal()
                        || core.durable().members(job).stream().noneMatch(j -> j.has(JobFlag.CONFIGURING)));
    }

    /** The version of a job's state: what must differ for AwaitChange to answer. */
    private static long version(Job job, int stepId) {
        long version = job.state().ordinal() * 31L + job.flags() * 1009L + job.attempt() * 100_003L;
        if (StepId.isAsked(stepId)) {
            version = version * 31
                    + job.step(stepId)
                            .map(s -> s.state().ordinal() + 2L + s.ending().hashCode())
                            .orElse(1L);
        }
        return version & Long.MAX_VALUE;
    }

    private Reply awaitChange(Caller caller, JobMessages.AwaitChange m) {
        return awaited(
                caller, m.jobId(), m.waitMs(), j -> version(j, m.stepId()) != m.version() || notices.any(j.id()), true);
    }

    private Reply awaitSteps(Caller caller, JobMessages.AwaitSteps m) {
        return awaited(caller, m.jobId(), m.waitMs(), ControllerApi::isDrained, false);
    }

    /**
     * Whether no numbered step runs and none of {@code srun --async} waits; other steps that wait belong to an srun
     * that waits itself.
     */
    private static boolean isDrained(Job job) {
        return !job.state().isActive()
                || job.run().steps().stream()
                        .noneMatch(s -> s.id() >= 0
                                && (s.state() == Step.State.RUNNING
                                        || s.state() == Step.State.QUEUED
                                                && s.desc().async()));
    }

    private Reply awaited(Caller caller, int jobId, int waitMs, Predicate<Job> ready, boolean told) {
        Optional<Job> first = core.durable().jobs().find(jobId);
        if (first.isEmpty()) {
            return Reply.error(SlurmErrno.INVALID_JOB_ID);
        }
        if (!Access.mayChange(core.durable(), caller.uid(), first.get())) {
            return Reply.error(SlurmErrno.ACCESS_DENIED);
        }
        if (told) {
            services.clients().heard(jobId, System.nanoTime() / 1_000_000_000L);
        }
        Job job = watch.await(
                jobId,
                Math.min(waitMs, Replies.WAIT_MS_MAX),
                () -> core.durable().jobs().find(jobId).filter(ready).orElse(null));
        List<String> said = told ? notices.take(jobId) : List.of();
        return core.durable()
                .jobs()
                .find(jobId)
                .map(j -> {
                    Job shown = job == null ? j : job;
                    return Reply.of(told ? allocation(shown, said) : allocation(j, said, ready.test(j)));
                })
                .orElseGet(() -> Reply.error(SlurmErrno.INVALID_JOB_ID));
    }

    private JobMessages.Allocation allocation(Job job, List<String> said) {
        return allocation(job, said, job.state().isActive() && isSettled(job));
    }

    private JobMessages.Allocation allocation(Job job, List<String> said, boolean ready) {
        return AllocationView.of(
                core.durable(), links::address, job, views().reason(job).word(), ready, version(job, -1), said);
    }

    private Reply complete(Caller caller, JobMessages.CompleteAllocation m) {
        return Replies.done(
                core.execute(new Command.CompleteAllocation(caller.uid(), m.jobId(), m.exit()), caller.uid()));
    }

    // ---- nodes and accounting

    private NodeViews nodeViews(State state) {
        return new NodeViews(
                state, links::beat, links::address, identities::userName, System.currentTimeMillis() / 1000);
    }

    private Reply accounting(Caller caller, AccountingRows.Query q) {
        try {
            AccountingRows.Query asked = q.by(caller.uid());
            // slurmdbd has left out what it knows the asker may not see; what slurm.conf hides besides is taken out
            // here
            Optional<byte[]> written = privacy(caller).hides("jobs")
                    ? Optional.empty()
                    : services.accounting().written(asked, core.durableIndex());
            if (written.isPresent()) {
                return new Reply(200, written.get());
            }
            AccountingRows.Answer found = services.accounting().query(asked.unpacked(), core.durableIndex());
            AccountingRows.Answer shown = privacy(caller).shown(found).upTo(found.next());
            return asked.packed()
                    ? new Reply(200, PackedRows.of(asked, shown, PackedRows.Numbers.NONE))
                    : Reply.of(shown);
        } catch (AccountingException e) {
            if (e.errno() == 0) {
                throw e;
            }
            return Reply.error(400, e.errno(), e.getMessage());
        }
    }
}
