package dev.muster.controller;

import dev.muster.config.key.Key;
import dev.muster.controller.accounting.Accounting;
import dev.muster.controller.edge.ClientActivity;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.engine.JournalLossCheck;
import dev.muster.controller.engine.TriggerEventRelay;
import dev.muster.controller.nodes.HealthChecks;
import dev.muster.controller.nodes.NodeLinks;
import dev.muster.controller.nodes.NodeTimeouts;
import dev.muster.core.command.Command;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Trigger;
import dev.muster.daemon.DaemonLog;
import java.util.function.BooleanSupplier;

/**
 * The checks that slurmctld makes each second beside its core: accounting that falls behind, commands that left their
 * allocation, memory and health of nodes, and nodes that do not respond.
 */
final class BackgroundChecks {
    private static final int PERIOD_MS = 1000;

    private final ControllerEnvironment environment;
    private final RunningController controller;
    private final JournalLossCheck lossCheck;
    private final TriggerEventRelay events;
    private final BooleanSupplier stopping;
    private final HealthChecks healthChecks = new HealthChecks();
    private boolean rowsFull;

    BackgroundChecks(
            ControllerEnvironment environment,
            RunningController controller,
            JournalLossCheck lossCheck,
            TriggerEventRelay events,
            BooleanSupplier stopping) {
        this.environment = environment;
        this.controller = controller;
        this.lossCheck = lossCheck;
        this.events = events;
        this.stopping = stopping;
    }

    /** Checks until the controller stops. */
    void run() {
        while (!stopping.getAsBoolean()) {
            try {
                Thread.sleep(PERIOD_MS);
            } catch (InterruptedException e) {
                return;
            }
            try {
                check(controller.runtime().thread().durable());
            } catch (RuntimeException e) {
                environment.log().error("the look at nodes failed and is repeated", e);
            }
        }
    }

    private void check(State state) {
        Accounting accounting = controller.accounting();
        lossCheck.check(accounting.highest());
        lossCheck.remember();
        controller.runtime().programs().tick(state, tickMs());
        boolean full = accounting.overloaded();
        if (full && !rowsFull) {
            events.happened(Trigger.ROWS_FULL);
        }
        rowsFull = full;
        endAbandoned(state);
        NodeLinks links = controller.links();
        links.memory().tick(state, controller.activeJobs(state), tickMs(), links::send);
        healthChecks.tick(environment.conf(), state.nodes().values(), nowS(), links::send);
        state.nodes()
                .values()
                .forEach(node -> checkResponse(node, state.settings().nodeTimeoutS()));
    }

    /** Ends the jobs of commands that are silent, and those whose command has not come for its allocation. */
    private void endAbandoned(State state) {
        CoreThread thread = controller.runtime().thread();
        ClientActivity clients = controller.clients();
        long nowS = nowS();
        clients.silent(controller.activeJobs(state), nowS, environment.conf().number(Key.INACTIVE_LIMIT))
                .forEach(thread::post);
        clients.unclaimed(
                        controller.activeJobs(state),
                        id -> state.jobs().find(id).filter(Job::isPending).isPresent(),
                        nowS)
                .forEach(c -> {
                    environment
                            .log()
                            .info("Killing interactive JobId=" + ((Command.EndUnclaimed) c).jobId()
                                    + ": Communication connection failure");
                    thread.post(c);
                });
    }

    /** Tells the core if the node has begun or ceased to respond. */
    private void checkResponse(Node node, int timeoutS) {
        NodeLinks links = controller.links();
        DaemonLog log = environment.log();
        NodeTimeouts.verdict(
                        node,
                        links.isConnected(node.name()),
                        links.silentSeconds(node.name(), environment.startedNs()),
                        timeoutS)
                .ifPresent(c -> {
                    boolean lost = c instanceof Command.NodeLost;
                    if (lost || c instanceof Command.NodeResponding r && !r.responding()) {
                        log.error("Nodes " + node.name() + " not responding" + (lost ? ", setting DOWN" : ""));
                    }
                    var _ = controller.runtime().thread().submit(c, -1).thenAccept(d -> {
                        if (lost) {
                            links.drop(node.name());
                        }
                    });
                });
    }

    private long tickMs() {
        return controller.clock().now().tickMs();
    }

    /** Returns seconds of a clock that does not go back. */
    private static long nowS() {
        return System.nanoTime() / 1_000_000_000L;
    }
}
