package dev.muster.controller.kafka;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.config.sister.KafkaConf;
import dev.muster.controller.outbox.Outbox;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * Opens connections to Kafka's brokers. The room kafka implements it; an installation may do without that room's jars.
 */
public interface KafkaConnector {
    /** A sender that connects when it first sends. */
    Outbox.Sender open(KafkaConf conf);

    /** Returns the installed implementation; empty where the jars of the room kafka are not installed. */
    static Optional<KafkaConnector> installed() {
        return ServiceLoader.load(KafkaConnector.class).findFirst();
    }

    /** Adds the errors of the file of JobCompLoc, or that JobCompType names a plugin which is not installed. */
    static void check(SlurmConf conf, List<ConfigError> errors) {
        KafkaConf.read(conf, errors);
        if (conf.text(Key.JOB_COMP_TYPE).equals("jobcomp/kafka") && installed().isEmpty()) {
            errors.add(new ConfigError(
                    conf.place(Key.JOB_COMP_TYPE),
                    0,
                    "cannot find jobcomp plugin for jobcomp/kafka: kafka.jar and kafka-clients are not installed",
                    ""));
        }
    }
}
