package dev.muster.controller.config;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.config.sister.BurstBufferConf;
import dev.muster.config.sister.CgroupConf;
import dev.muster.config.sister.HelpersConf;
import dev.muster.config.sister.ResourcesYaml;
import dev.muster.config.sister.Topologies;
import dev.muster.controller.kafka.KafkaConnector;
import dev.muster.core.state.State;
import java.util.ArrayList;
import java.util.List;

/** Errors for which {@code scontrol reconfigure} leaves the configuration as it is. */
public final class ReconfigureCheck {
    /** Errors in one answer; the log has all. */
    private static final int ERRORS_SHOWN_MAX = 50;

    private ReconfigureCheck() {}

    /**
     * Errors beyond those of slurm.conf's own lines.
     *
     * @param next the file as it is now
     * @param running the configuration in force
     */
    public static List<ConfigError> of(SlurmConf next, SlurmConf running, State state) {
        List<ConfigError> errors = new ArrayList<>();
        CgroupConf.check(next.sister("cgroup.conf"), errors);
        HelpersConf.read(next, errors);
        Topologies.read(next, errors);
        ResourcesYaml.read(next, errors);
        BurstBufferConf.read(next, errors);
        KafkaConnector.check(next, errors);
        errors.addAll(PartitionQos.unknown(next, state));
        if (!next.clusterName().equals(running.clusterName())) {
            errors.add(new ConfigError(
                    next.place(Key.CLUSTER_NAME),
                    0,
                    "CLUSTER NAME MISMATCH. slurmctld has been started with "
                            + "\"ClusterName=" + running.clusterName() + "\", but read \""
                            + next.clusterName()
                            + "\": restart slurmctld to change the name",
                    ""));
        }
        return errors;
    }

    /** Returns the errors' messages, each in a line, at most {@link #ERRORS_SHOWN_MAX}. */
    public static String text(List<ConfigError> errors) {
        List<String> shown = new ArrayList<>(errors.stream()
                .limit(ERRORS_SHOWN_MAX)
                .map(ConfigError::message)
                .toList());
        if (errors.size() > shown.size()) {
            shown.add("and " + (errors.size() - shown.size()) + " more mistakes: see slurmctld's log");
        }
        return String.join("\n", shown);
    }
}
