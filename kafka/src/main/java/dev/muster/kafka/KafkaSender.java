package dev.muster.kafka;

import dev.muster.config.sister.KafkaConf;
import dev.muster.controller.outbox.Outbox;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** The way to brokers, by Kafka's own library. Belongs to one thread. */
final class KafkaSender implements Outbox.Sender {
    private final KafkaConf conf;
    private @Nullable KafkaProducer<byte[], byte[]> producer;

    KafkaSender(KafkaConf conf) {
        this.conf = conf;
    }

    /** They are durable at the brokers, as acks says, when this returns. */
    @Override
    public void send(String topic, List<byte[]> values) throws IOException, InterruptedException {
        try {
            List<Future<?>> sent = new ArrayList<>();
            for (byte[] value : values) {
                sent.add(producer().send(new ProducerRecord<>(topic, value)));
            }
            producer().flush();
            for (Future<?> one : sent) {
                one.get();
            }
        } catch (InterruptException e) {
            Thread.interrupted(); // it is told by the exception
            throw new InterruptedException();
        } catch (ExecutionException e) {
            throw failure(e.getCause() == null ? e : e.getCause());
        } catch (KafkaException e) {
            throw failure(e);
        }
    }

    private static IOException failure(Throwable why) {
        String sentence = Objects.requireNonNullElse(why.getMessage(), why.toString());
        return why instanceof RetriableException || why instanceof AuthenticationException
                ? new IOException(sentence, why)
                : new Outbox.RefusedException(sentence, why);
    }

    private KafkaProducer<byte[], byte[]> producer() throws IOException {
        if (producer == null) {
            Map<String, Object> properties = new HashMap<>(conf.client());
            inline(properties, "ssl.truststore.certificates");
            inline(properties, "ssl.keystore.certificate.chain");
            inline(properties, "ssl.keystore.key");
            try {
                producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
            } catch (KafkaException e) {
                // no name is known to the DNS, a certificate cannot be read: none of the messages is to blame, and it
                // may be mended
                Throwable why = e.getCause() == null ? e : e.getCause();
                throw new IOException(why.getMessage(), e);
            }
        }
        return producer;
    }

    /** A file's name gives way to what is in it. */
    private static void inline(Map<String, Object> properties, String name) throws IOException {
        if (properties.get(name) instanceof String file) {
            properties.put(name, Files.readString(Path.of(file)));
        }
    }

    @Override
    public void close() {
        if (producer != null) {
            producer.close(Duration.ZERO);
        }
    }
}
