package dev.muster.controller.kafka;

import dev.muster.config.sister.KafkaConf;
import dev.muster.controller.outbox.Outbox;
import dev.muster.daemon.DaemonLog;
import java.nio.file.Path;
import java.util.function.Supplier;

/** jobcomp/kafka: what waits for brokers, as librdkafka's properties and JobCompParams say. */
public final class KafkaOutbox {
    private static final int BATCH_MAX = 500;
    private static final String FILE = "jobcomp_kafka";
    private static final int FLUSH_MS = 500;

    /** @param now as it is when asked: JobCompParams may change, what JobCompLoc says is as it was */
    private record Terms(Supplier<KafkaConf> now) implements Outbox.Terms {
        @Override
        public boolean again() {
            return now.get().params().containsKey("requeue_on_msg_timeout");
        }

        @Override
        public long flushMs() {
            String text = now.get().params().getOrDefault("flush_timeout", "");
            return text.isEmpty() ? FLUSH_MS : Long.parseLong(text);
        }
    }

    private KafkaOutbox() {}

    /**
     * @param now the configuration as it is when asked: JobCompParams may change, what JobCompLoc says is as it was
     * @param stateDir where messages are kept over a restart
     */
    public static Outbox open(KafkaConf conf, Supplier<KafkaConf> now, Path stateDir, DaemonLog log) {
        return new Outbox(
                "jobcomp/kafka",
                new Outbox.Pace(conf.lingerMs(), conf.messageMs(), conf.retryMs(), BATCH_MAX),
                new Terms(now),
                KafkaConnector.installed()
                        .orElseThrow(() -> new IllegalStateException("jobcomp/kafka is not installed"))
                        .open(conf),
                stateDir.resolve(FILE),
                log);
    }
}
