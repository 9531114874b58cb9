package dev.muster.kafka;

import dev.muster.config.sister.KafkaConf;
import dev.muster.controller.kafka.KafkaSenders;
import dev.muster.controller.outbox.Outbox;

/** Opens a {@link Brokers} for slurmctld, which finds this class by {@code META-INF/services}. */
public final class BrokerConnections implements KafkaSenders {
    @Override
    public Outbox.Sender open(KafkaConf conf) {
        return new Brokers(conf);
    }
}
