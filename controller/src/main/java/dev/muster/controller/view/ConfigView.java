package dev.muster.controller.view;

import dev.muster.config.LiveValues;
import dev.muster.config.ShowConfig;
import dev.muster.config.SlurmConf;
import dev.muster.controller.stats.DebugFlags;
import dev.muster.controller.stats.SchedulerLog;
import dev.muster.core.node.PowerSavingTimes;
import dev.muster.core.options.PowerSavingOptions;
import dev.muster.core.options.UsageDecayOptions;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.model.Release;
import dev.muster.model.api.ClusterMessages;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The configuration as {@code scontrol show config} tells it: slurm.conf with what was changed since. */
public final class ConfigView {
    private static final Map<String, String> CHANGEABLE = Map.of(
            "SuspendExcNodes",
            PowerSavingOptions.KEPT_NODES,
            "SuspendExcParts",
            PowerSavingOptions.KEPT_PARTITIONS,
            "SuspendExcStates",
            PowerSavingOptions.KEPT_STATES,
            "FairShareDampeningFactor",
            UsageDecayOptions.DAMPENING);

    private final Identities identities;
    private final DebugFlags flags;
    private final SchedulerLog scheduling;
    private final DaemonLog log;
    private final long bootTime;

    /** @param bootTime of slurmctld, seconds since 1970 */
    public ConfigView(Identities identities, DebugFlags flags, SchedulerLog scheduling, DaemonLog log, long bootTime) {
        this.identities = identities;
        this.flags = flags;
        this.scheduling = scheduling;
        this.log = log;
        this.bootTime = bootTime;
    }

    /** @param conf as it was read last */
    public ClusterMessages.ConfigReply reply(SlurmConf conf, State state) {
        String boot = DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss")
                .withZone(ZoneId.systemDefault())
                .format(Instant.ofEpochSecond(bootTime));
        List<String> lines = ShowConfig.of(
                conf,
                new LiveValues(
                        boot,
                        state.nextJobId(),
                        Release.VERSION,
                        name -> identities
                                .byName(name)
                                .map(i -> i.user() + "(" + i.uid() + ")")
                                .orElse(name)));
        List<String> live = lines.stream()
                .map(line -> {
                    if (line.startsWith("DebugFlags ")) {
                        return with(line, String.join(",", flags.on()));
                    }
                    if (line.startsWith("SlurmSchedLogLevel ")) {
                        return with(line, scheduling.isOn() ? "1" : "0");
                    }
                    if (line.startsWith("SlurmctldDebug ")) {
                        return with(line, SlurmConf.debugName(log.level()));
                    }
                    return line;
                })
                .toList();
        return new ClusterMessages.ConfigReply(
                System.currentTimeMillis() / 1000,
                live.stream().map(line -> changed(state, line)).toList(),
                new TreeMap<>());
    }

    /** Returns the changes by scontrol since slurm.conf was read. */
    private static String changed(State state, String line) {
        String option = CHANGEABLE.getOrDefault(line.split(" ", 2)[0], "");
        Map<String, String> options = state.settings().options().texts();
        boolean known = options.containsKey(option)
                || option.startsWith("power:") && PowerSavingTimes.of(state).isPresent();
        return option.isEmpty() || !known ? line : with(line, options.getOrDefault(option, ""));
    }

    private static String with(String line, String value) {
        return line.substring(0, line.indexOf('=') + 2) + (value.isEmpty() ? "(null)" : value);
    }
}
