package dev.muster.controller.config;

import dev.muster.config.IgnoredSettings;
import dev.muster.config.SlurmConf;
import dev.muster.core.limits.QosRules;
import dev.muster.core.state.State;
import dev.muster.daemon.DaemonLog;
import java.util.List;

/** Logs what slurm.conf says without effect, at start and at each reconfiguration. */
public final class ConfigWarnings {
    private ConfigWarnings() {}

    public static void tell(SlurmConf c, State state, DaemonLog log) {
        c.warnings().forEach(w -> log.error(w.message()));
        PowerOptions.errors(c).forEach(log::error);
        QosRules.ofSeveralPartitions(state)
                .forEach((qos, partitions) -> log.error("only one partition may have Relative QOS " + qos
                        + " as its QOS, not all of " + String.join(",", partitions) + ": its limits are parts of what "
                        + partitions.getFirst() + " has"));
        for (List<String> inert : List.of(
                IgnoredSettings.inertKeys(c),
                IgnoredSettings.inertWords(c),
                IgnoredSettings.unread(c),
                IneffectiveOptions.without(c))) {
            inert.forEach(sentence -> log.info("warning: " + sentence));
        }
    }
}
