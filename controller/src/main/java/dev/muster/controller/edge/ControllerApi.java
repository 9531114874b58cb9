package dev.muster.controller.edge;

import dev.muster.accounting.db.AccountingException;
import dev.muster.accounting.table.PackedRows;
import dev.muster.config.key.Key;
import dev.muster.controller.engine.BlobStore;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.engine.JobWatch;
import dev.muster.controller.engine.ListChangeTimes;
import dev.muster.controller.nodes.NodeLinks;
import dev.muster.controller.stats.RpcNames;
import dev.muster.controller.view.AllocationView;
import dev.muster.controller.view.JobName;
import dev.muster.controller.view.JobQuery;
import dev.muster.controller.view.JobRowWriter;
import dev.muster.controller.view.JobViews;
import dev.muster.controller.view.NodeViews;
import dev.muster.controller.view.PolicyViews;
import dev.muster.controller.view.PrivateDataFilter;
import dev.muster.controller.view.StepViews;
import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.json.Json;
import dev.muster.model.Identity;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.AccountingRows;
import dev.muster.model.api.ClusterMessages;
import dev.muster.model.api.ClusterMessages.Done;
import dev.muster.model.api.JobMessages;
import dev.muster.model.api.MessageRights;
import dev.muster.model.api.PlanMessages;
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

/**
 * The edge: one handler per message, in {@link MessageHandlers}. Decodes, resolves names and files, hands commands to
 * the core, shapes replies.
 */
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
    private final BlobStore blobs;
    private final JobWatch watch;
    private final NodeLinks links;
    private final DaemonLog log;
    private final SubmitHandler submissions;
    private final JobUpdateHandler updates;
    private final AllocationNotices notices = new AllocationNotices();
    private final ListChangeTimes jobsSince = new ListChangeTimes();
    private final MessageHandlers messages = new MessageHandlers();

    public ControllerApi(
            ControllerServices services,
            CoreThread core,
            Identities identities,
            BlobStore blobs,
            JobWatch watch,
            NodeLinks links,
            DaemonLog log) {
        this.services = services;
        this.core = core;
        this.identities = identities;
        this.blobs = blobs;
        this.watch = watch;
        this.links = links;
        this.log = log;
        submissions = new SubmitHandler(services, core, identities, blobs, log);
        updates = new JobUpdateHandler(core, services.filter(), blobs);
        registerJobs();
        registerCluster();
        registerPolicy();
        new StepHandler(services, core, blobs, watch).register(messages);
        new ClusterHandler(services, core, identities, this::privacy, this::nodeViews, log).register(messages);
        new ReservationHandler(services, core, identities).register(messages);
        new CrontabHandler(submissions, core, identities).register(messages);
        new FollowHandler(
                        core::durable,
                        services.news(),
                        links,
                        this::privacy,
                        this::views,
                        this::nodeViews,
                        identities::userName)
                .register(messages);
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

    private Reply answer(Caller caller, String name, byte[] body) {
        Optional<MessageHandlers.Message<?>> message = messages.find(name);
        Optional<MessageRights.Rule> rule = message.flatMap(m -> m.right(body));
        if (rule.isEmpty()) {
            return Reply.error(404, SlurmErrno.UNEXPECTED_MSG_ERROR, SlurmErrno.UNEXPECTED_MSG_ERROR.sentence());
        }
        return may(caller, rule.get().need())
                ? message.get().answer(caller, body)
                : Reply.error(rule.get().denial());
    }

    /** Returns the keys of {@link MessageRights} for all messages that have a handler. */
    public Set<String> answered() {
        return messages.names();
    }

    /**
     * Tests whether the caller's identity alone permits a message. Rules that need the job or node check it when they
     * have found it.
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

    private void registerJobs() {
        messages.onKnown("Submit", JobMessages.Submit.class, this::submitted)
                .onKnown("SubmitHet", JobMessages.SubmitHet.class, submissions::submitHet)
                .on("QueryJobs", JobMessages.QueryJobs.class, this::jobs)
                .on("QuerySteps", JobMessages.QuerySteps.class, this::steps)
                .byWord(
                        "QueryScript",
                        JobMessages.QueryScript.class,
                        false,
                        q -> q.environment() ? "environment" : "",
                        this::script)
                .onKnown("Cancel", JobMessages.Cancel.class, this::cancel)
                .byWord("JobAction", JobMessages.JobAction.class, true, JobMessages.JobAction::action, this::action)
                .on("TestJob", JobMessages.TestJob.class, this::test)
                .onKnown("UpdateJob", JobMessages.UpdateJob.class, updates::update)
                .on("AwaitAllocation", JobMessages.AwaitAllocation.class, this::awaitAllocation)
                .on("AwaitChange", JobMessages.AwaitChange.class, this::awaitChange)
                .on("AwaitSteps", JobMessages.AwaitSteps.class, this::awaitSteps)
                .on("CompleteAllocation", JobMessages.CompleteAllocation.class, this::complete)
                .on(
                        "QueryWhy",
                        PlanMessages.QueryWhy.class,
                        (caller, q) -> plans(caller).why(q))
                .on(
                        "QueryPlan",
                        PlanMessages.QueryPlan.class,
                        (caller, q) -> plans(caller).plan(q));
    }

    private void registerCluster() {
        messages.plain("Ping", _ -> Reply.of(services.ping()))
                .plain(
                        "QueryTopology",
                        _ -> Reply.of(new ClusterMessages.TopologyReply(
                                core.durable().settings().topologies())))
                .plain(
                        "QueryBurstBuffers",
                        caller -> Reply.of(services.buffers().show(core.durable(), caller.uid())))
                .on(
                        "QueryBurstStatus",
                        ClusterMessages.QueryBurstStatus.class,
                        (caller, q) -> services.buffers().status(caller, q))
                .plain("QueryConfig", _ -> Reply.of(services.config()))
                .byWord(
                        "QueryDiagnostics",
                        ClusterMessages.QueryDiagnostics.class,
                        false,
                        q -> q.reset() ? "reset" : "",
                        (_, q) -> diagnostics(q))
                .on("QueryAccounting", AccountingRows.Query.class, this::accounting)
                .on(
                        "FetchConfig",
                        ClusterMessages.FetchConfig.class,
                        (_, m) -> services.configService().answer(m))
                .on(
                        "SignCertificate",
                        ClusterMessages.SignCertificate.class,
                        (_, m) -> services.certificates().sign(m))
                .onKnown("UpdateSetting", ClusterMessages.UpdateSetting.class, this::updateSetting)
                .on(
                        "CreateToken",
                        ClusterMessages.CreateToken.class,
                        (caller, m) -> services.tokens().answer(caller, m))
                .plain("Reconfigure", _ -> told(services.reconfigure()))
                .on("Shutdown", ClusterMessages.Shutdown.class, (_, m) -> told(services.shutdown(m.controllerOnly())))
                .on("Takeover", ClusterMessages.Takeover.class, (_, m) -> told(services.takeover(m.index())))
                .on("SetDebug", ClusterMessages.SetDebug.class, this::setDebug);
    }

    private void registerPolicy() {
        messages.on(
                        "QueryPriorities",
                        PolicyMessages.QueryPriorities.class,
                        (caller, q) -> Reply.of(policy().priorities(privacy(caller), q.jobs())))
                .plain(
                        "QueryAssocMgr",
                        caller -> Reply.of(policy().assocMgr(
                                        privacy(caller),
                                        name -> identities
                                                .byName(name)
                                                .map(Identity::uid)
                                                .orElse(-1))))
                .plain("QueryShares", caller -> Reply.of(policy().shares(privacy(caller))))
                .onKnown("SetTrigger", TriggerMessages.SetTrigger.class, this::setTrigger)
                .on("ClearTriggers", TriggerMessages.ClearTriggers.class, this::clearTriggers)
                .plain("QueryTriggers", _ -> triggers());
    }

    private PolicyViews policy() {
        return new PolicyViews(core.durable(), services.clock().now());
    }

    private PlanHandler plans(Caller caller) {
        return new PlanHandler(core.durable(), services.clock().now(), services.planner(), privacy(caller), views());
    }

    private Reply test(Caller caller, JobMessages.TestJob m) {
        return Replies.tested(core.execute(new Command.TestJob(caller.uid(), m.jobId()), caller.uid()));
    }

    private Reply setDebug(Caller caller, ClusterMessages.SetDebug m) {
        services.requests().countAs(RpcNames.of(m));
        return told(services.debugLevels().set(m));
    }

    private Reply clearTriggers(Caller caller, TriggerMessages.ClearTriggers m) {
        return Replies.done(core.execute(
                Replies.once(
                        caller,
                        m.requestId(),
                        0,
                        new Command.ClearTriggers(caller.uid(), m.id(), m.jobId(), m.userId())),
                caller.uid()));
    }

    private Reply triggers() {
        return Reply.of(new TriggerMessages.TriggersReply(core.durable().triggers().byId().values().stream()
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

    private PrivateDataFilter privacy(Caller caller) {
        return new PrivateDataFilter(
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
    private static Predicate<Job> shown(PrivateDataFilter privacy, JobMessages.QueryJobs q) {
        boolean all =
                q.allPartitions() || !q.jobs().isEmpty() || !q.partitions().isEmpty();
        Predicate<Job> visible = all ? privacy::shows : j -> privacy.shows(j) && privacy.showsPartition(j);
        return visible.and(j -> !isCancelledOutOfArray(j));
    }

    /** Tests whether a task was cancelled while it waited: as in Slurm, only accounting shows it. */
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
        PrivateDataFilter privacy = privacy(caller);
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
     * Returns the jobs that a user of scontrol names, by number or by {@code name=}.
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

    /** Tests whether the job is over, or started and ready with all its components. */
    private boolean isSettled(Job job) {
        return job.state() != JobState.PENDING
                && (job.state().isTerminal()
                        || core.durable().members(job).stream().noneMatch(j -> j.has(JobFlag.CONFIGURING)));
    }

    /** Returns the version of a job's state: what must differ for AwaitChange to answer. */
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
     * Tests whether no numbered step runs and none of {@code srun --async} waits; other steps that wait belong to an
     * srun that waits itself.
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
