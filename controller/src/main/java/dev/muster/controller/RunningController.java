package dev.muster.controller;

import dev.muster.config.SlurmConf;
import dev.muster.controller.accounting.Accounting;
import dev.muster.controller.config.ConfigService;
import dev.muster.controller.edge.Certificates;
import dev.muster.controller.edge.ClientActivity;
import dev.muster.controller.edge.ControllerApi;
import dev.muster.controller.edge.ControllerServices;
import dev.muster.controller.edge.DebugLevels;
import dev.muster.controller.edge.Diagnostics;
import dev.muster.controller.edge.GroupLookup;
import dev.muster.controller.edge.SubmitFilter;
import dev.muster.controller.edge.TokenIssuer;
import dev.muster.controller.engine.ChangeLog;
import dev.muster.controller.engine.Clock;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.ha.Membership;
import dev.muster.controller.nodes.NodeLinks;
import dev.muster.controller.site.BurstBuffers;
import dev.muster.controller.stats.DebugFlags;
import dev.muster.controller.stats.Metrics;
import dev.muster.controller.stats.Statistics;
import dev.muster.controller.view.ConfigView;
import dev.muster.controller.view.JobViews;
import dev.muster.controller.view.NodeViews;
import dev.muster.controller.view.OwnedJobs;
import dev.muster.core.command.Decision;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.daemon.Requests;
import dev.muster.model.api.ClusterMessages;
import dev.muster.model.node.NodeMessages;
import dev.muster.scheduler.Scheduler;
import dev.muster.transport.Tokens;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** slurmctld once its core's thread runs: what the handlers of requests use, and the handlers. */
final class RunningController implements ControllerServices {
    /** Milliseconds until the answer to a shutdown request has left. */
    private static final int SHUTDOWN_DELAY_MS = 200;

    private final ControllerEnvironment environment;
    private final StateStore store;
    private final CoreRuntime runtime;
    private final Membership membership;
    private final SubmitFilter filter;
    private final GroupLookup groups;
    private final ConfigService configService = new ConfigService();
    private final ClientActivity clients = new ClientActivity();
    private final Certificates certificates;
    private final TokenIssuer tokens;
    private final Requests requests;
    private final Reconfiguration reconfiguration;
    private final ControllerApi api;

    /** @param tokens that the controller issues; empty where it takes none */
    RunningController(
            ControllerEnvironment environment,
            StateStore store,
            CoreRuntime runtime,
            Membership membership,
            Optional<Tokens> tokens) {
        this.environment = environment;
        this.store = store;
        this.runtime = runtime;
        this.membership = membership;
        DaemonLog log = environment.log();
        Identities identities = environment.identities();
        CoreThread thread = runtime.thread();
        filter = new SubmitFilter(
                log,
                thread::durable,
                (uid, p) -> identities
                        .byUid(uid)
                        .filter(i -> PartitionLimits.admitsGroups(p.info(), i, thread.durable()))
                        .isPresent());
        groups = new GroupLookup(
                thread::durable,
                identities::gidsNow,
                command -> thread.execute(command, -1),
                new File("/etc/group")::lastModified,
                e -> log.error("the groups of those whose jobs wait could not be looked up", e));
        certificates = new Certificates(
                environment::conf,
                thread::durable,
                command -> thread.execute(command, -1) instanceof Decision.Accepted,
                log);
        this.tokens =
                new TokenIssuer(tokens, environment::conf, identities, environment.slurmUid(environment.conf()), log);
        requests = new Requests(log, Set.of(), Set.of("Follow", "ReadOutput", "QueryUse"));
        reconfiguration = new Reconfiguration(environment, store, runtime, filter, groups, configService);
        api = new ControllerApi(this, thread, identities, store.blobs(), runtime.watch(), runtime.links(), log);
    }

    ControllerApi api() {
        return api;
    }

    CoreRuntime runtime() {
        return runtime;
    }

    Membership membership() {
        return membership;
    }

    Reconfiguration reconfiguration() {
        return reconfiguration;
    }

    /** Returns a page of metrics by its name; empty for an unknown name. */
    Optional<String> metrics(String page) {
        State state = runtime.thread().durable();
        NodeViews nodes = new NodeViews(
                state,
                links()::beat,
                links()::address,
                environment.identities()::userName,
                System.currentTimeMillis() / 1000);
        JobViews jobs = new JobViews(state, planner(), clock().now(), "");
        return new Metrics(state, nodes::info, jobs::reason)
                .page(page, partitionOrder(state), diagnostics().reply().values());
    }

    @Override
    public SlurmConf conf() {
        return environment.conf();
    }

    @Override
    public Scheduler planner() {
        return store.scheduler();
    }

    @Override
    public Accounting accounting() {
        return store.accounting();
    }

    @Override
    public OwnedJobs owned() {
        return store.owned();
    }

    @Override
    public Statistics statistics() {
        return store.statistics();
    }

    @Override
    public boolean isFull() {
        return store.isFull();
    }

    @Override
    public Clock clock() {
        return runtime.clock();
    }

    @Override
    public NodeLinks links() {
        return runtime.links();
    }

    @Override
    public BurstBuffers buffers() {
        return runtime.buffers();
    }

    @Override
    public ChangeLog news() {
        return runtime.news();
    }

    @Override
    public SubmitFilter filter() {
        return filter;
    }

    @Override
    public GroupLookup groupLook() {
        return groups;
    }

    @Override
    public ConfigService configService() {
        return configService;
    }

    @Override
    public ClientActivity clients() {
        return clients;
    }

    @Override
    public Certificates certificates() {
        return certificates;
    }

    @Override
    public TokenIssuer tokens() {
        return tokens;
    }

    @Override
    public Requests requests() {
        return requests;
    }

    @Override
    public DebugFlags debugFlags() {
        return environment.debugFlags();
    }

    @Override
    public DebugLevels debugLevels() {
        return new DebugLevels(environment.log(), environment.schedulerLog(), debugFlags(), runtime.thread(), links());
    }

    @Override
    public Diagnostics diagnostics() {
        return new Diagnostics(
                runtime.thread(), planner(), statistics(), requests, links(), accounting(), environment.identities());
    }

    @Override
    public ClusterMessages.ConfigReply config() {
        return new ConfigView(
                        environment.identities(),
                        debugFlags(),
                        environment.schedulerLog(),
                        environment.log(),
                        environment.bootTime())
                .reply(conf(), runtime.thread().durable());
    }

    @Override
    public ClusterMessages.PingReply ping() {
        return membership.ping(conf(), environment.bootTime());
    }

    @Override
    public String takeover(int index) {
        return membership.takeover(conf(), index, environment.log()::error);
    }

    @Override
    public String randomToken() {
        return environment.randomToken();
    }

    @Override
    public String reconfigure() {
        return reconfiguration.reread();
    }

    @Override
    public List<Job> activeJobs(State state) {
        TreeSet<Integer> ids = new TreeSet<>();
        state.nodes().values().forEach(n -> ids.addAll(n.jobs()));
        return ids.stream().map(state.jobs()::at).toList();
    }

    @Override
    public List<String> partitionOrder(State state) {
        List<String> out = new ArrayList<>();
        conf().partitions().forEach(p -> out.add(p.name()));
        state.partitions().keys().forEach(name -> {
            if (!out.contains(name)) {
                out.add(name);
            }
        });
        return out;
    }

    @Override
    public String shutdown(boolean controllerOnly) {
        environment.log().info("shutdown requested");
        if (!controllerOnly) {
            links().broadcast(new NodeMessages.StopDaemon());
        }
        Thread.ofPlatform().start(() -> {
            try {
                Thread.sleep(SHUTDOWN_DELAY_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            environment.shutdown();
        });
        return "";
    }
}
