package dev.muster.controller.config;

import dev.muster.config.PartitionConf;
import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.core.state.State;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Checks that each QOS that a PartitionName line of slurm.conf names is in the database: at start, when the
 * configuration is read again, and when slurmdbd has sent its first policy.
 */
public final class PartitionQos {
    private static final String STORED = "accounting_storage/slurmdbd";

    private PartitionQos() {}

    /**
     * Returns the mistakes in the QOS of partitions, each with file and line. Until slurmdbd has sent its first policy
     * no QOS is known, and none is missed.
     */
    public static List<ConfigError> unknown(SlurmConf conf, State state) {
        List<ConfigError> found = new ArrayList<>();
        boolean stored =
                conf.text(dev.muster.config.key.Key.ACCOUNTING_STORAGE_TYPE).equals(STORED);
        if (stored && state.accounts().isEmpty()) {
            return found;
        }
        for (PartitionConf p : conf.partitions()) {
            check(p, "AllowQOS", p.allowQos(), state, found);
            check(p, "DenyQOS", p.denyQos(), state, found);
            check(p, "qos", p.qos().isEmpty() ? List.of() : List.of(p.qos()), state, found);
        }
        return found;
    }

    /** @throws IOException with the sentence about the first mistake, after all were logged */
    public static void require(SlurmConf conf, State state, Consumer<String> log) throws IOException {
        List<ConfigError> unknown = unknown(conf, state);
        unknown.forEach(e -> log.accept(e.message()));
        if (!unknown.isEmpty()) {
            throw new IOException(unknown.getFirst().sentence());
        }
    }

    private static void check(PartitionConf p, String key, List<String> names, State state, List<ConfigError> found) {
        if (!names.stream().allMatch(name -> state.accounts().qos(name).isPresent())) {
            String value = String.join(",", names);
            found.add(new ConfigError(
                    p.file(),
                    p.line(),
                    "Partition " + p.name() + " has an invalid " + key + " (" + value
                            + "), please check your configuration",
                    value));
        }
    }
}
