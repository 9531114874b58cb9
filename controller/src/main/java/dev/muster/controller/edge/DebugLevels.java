package dev.muster.controller.edge;

import dev.muster.config.SlurmConf;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.nodes.NodeLinks;
import dev.muster.controller.stats.DebugFlags;
import dev.muster.controller.stats.SchedulerLog;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.ClusterMessages;
import dev.muster.model.format.HostList;
import dev.muster.model.node.NodeMessages;
import java.util.List;

/** Changes of log levels and debug flags by scontrol: of slurmctld, of the scheduler's log, and of slurmds. */
public final class DebugLevels {
    private final DaemonLog log;
    private final SchedulerLog scheduling;
    private final DebugFlags flags;
    private final CoreThread thread;
    private final NodeLinks links;

    public DebugLevels(DaemonLog log, SchedulerLog scheduling, DebugFlags flags, CoreThread thread, NodeLinks links) {
        this.log = log;
        this.scheduling = scheduling;
        this.flags = flags;
        this.thread = thread;
        this.links = links;
    }

    /**
     * Sets a level by name, or adds and removes flags, until the configuration is read again.
     *
     * @return "" or the error's sentence
     */
    public String set(ClusterMessages.SetDebug m) {
        if (!m.scheduler().isEmpty()) {
            boolean hasLog = scheduling.set(m.scheduler().equals("1"));
            log.info("sched: Set scheduler log level to " + m.scheduler());
            return hasLog ? "" : SlurmErrno.DISABLED.sentence();
        }
        if (!m.flags().isEmpty()) {
            flags.change(m.flags());
            log.info("Set debug flags to " + (flags.on().isEmpty() ? "none" : String.join(",", flags.on())));
            return "";
        }
        int level = SlurmConf.debugLevel(m.level());
        if (level < 0) {
            return "invalid debug level: " + m.level();
        }
        if (!m.nodes().isEmpty()) {
            return setOfNodes(m.nodes(), m.level());
        }
        log.level(level);
        log.info("Set debug level to '" + m.level() + "'");
        return "";
    }

    private String setOfNodes(String nodes, String level) {
        List<String> names = HostList.parse(nodes) instanceof HostList.Parsed.Ok ok
                ? ok.list().names()
                : List.of();
        State state = thread.durable();
        if (names.isEmpty() || !names.stream().allMatch(state.nodes()::has)) {
            return SlurmErrno.INVALID_NODE_NAME.sentence();
        }
        names.forEach(name -> links.send(name, new NodeMessages.SetDebug(level)));
        return "";
    }
}
