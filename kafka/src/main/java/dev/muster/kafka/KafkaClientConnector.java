package dev.muster.kafka;

import dev.muster.config.sister.KafkaConf;
import dev.muster.controller.kafka.KafkaConnector;
import dev.muster.controller.outbox.Outbox;

/** Opens a {@link KafkaSender} for slurmctld, which finds this class by {@code META-INF/services}. */
public final class KafkaClientConnector implements KafkaConnector {
    @Override
    public Outbox.Sender open(KafkaConf conf) {
        return new KafkaSender(conf);
    }
}
