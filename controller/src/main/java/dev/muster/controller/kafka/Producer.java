package dev.muster.controller.kafka;

import dev.muster.config.KafkaConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.model.Codec;
import dev.muster.model.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.function.Supplier;

/**
 * Messages on their way to Kafka, in order for each topic. They wait while no broker is there, as long as message.timeout.ms says, and over an
 * orderly end of slurmctld in a file beside its state. What cannot be delivered is dropped with a word in the log. Each arrives at least once.
 */
public final class Producer implements AutoCloseable {
    /** Messages that wait; more are dropped. */
    static final int WAITING_MAX = 100_000;
    private static final int BATCH_MAX = 500;
    private static final int BATCH_BYTES_MAX = 900_000;
    private static final String FILE = "jobcomp_kafka";
    private static final int FLUSH_MS = 500;

    /** @param sinceMs when it was made, for message.timeout.ms */
    private record Message(String topic, String text, String about, long sinceMs) {}

    private record Saved(List<Message> messages) {}

    private final KafkaConf conf;
    /** As JobCompParams is now. */
    private final Supplier<KafkaConf> now;
    private final Path file;
    private final DaemonLog log;
    private final Deque<Message> waiting = new ArrayDeque<>();
    private final Thread sender;
    private boolean stopping;
    private boolean complained;

    /**
     * @param now      the configuration as it is when asked: JobCompParams may change, what JobCompLoc says is as it was
     * @param stateDir where messages are kept over a restart
     */
    public Producer(KafkaConf conf, Supplier<KafkaConf> now, Path stateDir, DaemonLog log) {
        this.conf = conf;
        this.now = now;
        this.file = stateDir.resolve(FILE);
        this.log = log;
        load();
        sender = Thread.ofPlatform().daemon().name("kafka").start(this::run);
    }

    private void load() {
        try {
            if (Files.exists(file)) {
                waiting.addAll(Codec.decode(Files.readAllBytes(file), Saved.class).messages());
                Files.delete(file);
            }
        } catch (IOException | Json.MalformedException e) {
            log.error(file + " cannot be read: " + e.getMessage());
        }
    }

    /** @param about for the log, {@code JobId=5} */
    public synchronized void add(String topic, String text, String about) {
        if (waiting.size() >= WAITING_MAX) {
            log.error("jobcomp/kafka: the record of " + about + " is dropped: too many wait");
            return;
        }
        waiting.add(new Message(topic, text, about, System.currentTimeMillis()));
        notifyAll();
    }

    private void run() {
        try (Brokers brokers = new Brokers(conf)) {
            while (true) {
                List<Message> next = next();
                if (next.isEmpty()) {
                    return;
                }
                send(brokers, next);
            }
        } catch (InterruptedException e) {
            // what waits is saved by whoever ends this
        }
    }

    /** The oldest messages of one topic, which stay where they are until they have arrived; none at the end. */
    private synchronized List<Message> next() throws InterruptedException {
        while (waiting.isEmpty()) {
            if (stopping) {
                return List.of();
            }
            wait();
        }
        if (!stopping && waiting.size() < BATCH_MAX && conf.lingerMs() > 0) {
            wait(conf.lingerMs());
        }
        List<Message> out = new ArrayList<>();
        String topic = waiting.getFirst().topic;
        int bytes = 0;
        for (Message m : waiting) {
            bytes += m.text.length() * 3;
            if (out.size() == BATCH_MAX || !out.isEmpty() && (bytes > BATCH_BYTES_MAX || !m.topic.equals(topic))) {
                break;
            }
            out.add(m);
        }
        return out;
    }

    private void send(Brokers brokers, List<Message> messages) throws InterruptedException {
        try {
            brokers.send(messages.getFirst().topic, messages.stream().map(m -> m.text.getBytes(StandardCharsets.UTF_8)).toList());
            arrived(messages);
        } catch (Brokers.RefusedException e) {
            if (messages.size() > 1) {
                // one of them is to blame
                for (Message m : messages) {
                    send(brokers, List.of(m));
                }
            } else {
                drop(messages.getFirst(), e.getMessage());
            }
        } catch (IOException e) {
            later(e);
        }
    }

    private synchronized void arrived(List<Message> messages) {
        messages.forEach(waiting::remove);
        complained = false;
        notifyAll();
    }

    private synchronized void drop(Message m, String why) {
        waiting.remove(m);
        log.error("jobcomp/kafka: the record of " + m.about + " is dropped: " + why);
        notifyAll();
    }

    /** Nobody took them now; those that have waited too long are dropped, or begin anew. */
    private synchronized void later(IOException why) throws InterruptedException {
        if (!complained) {
            complained = true;
            log.error("jobcomp/kafka: " + waiting.size() + " records wait: " + why.getMessage());
        }
        long nowMs = System.currentTimeMillis();
        boolean again = now.get().params().containsKey("requeue_on_msg_timeout");
        List<Message> renewed = new ArrayList<>();
        for (Iterator<Message> all = waiting.iterator(); conf.messageMs() > 0 && all.hasNext();) {
            Message m = all.next();
            if (nowMs - m.sinceMs >= conf.messageMs()) {
                all.remove();
                if (again) {
                    renewed.add(new Message(m.topic, m.text, m.about, nowMs));
                } else {
                    log.error("jobcomp/kafka: the record of " + m.about + " is dropped: " + why.getMessage());
                }
            }
        }
        waiting.addAll(renewed);
        if (!stopping) {
            wait(Math.max(1, conf.retryMs()));
        } else {
            Thread.sleep(Math.max(1, conf.retryMs()));
        }
    }

    /** Gives what waits some time to arrive (flush_timeout), and saves the rest for the next slurmctld. */
    @Override
    public void close() {
        String text = now.get().params().getOrDefault("flush_timeout", "");
        long flushMs = text.equals("-1") ? 0 : text.isEmpty() ? FLUSH_MS : Long.parseLong(text);
        synchronized (this) {
            stopping = true;
            notifyAll();
        }
        try {
            if (text.equals("-1") || flushMs > 0) {
                sender.join(flushMs);
            }
            sender.interrupt();
            sender.join(1_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        save();
    }

    private synchronized void save() {
        if (waiting.isEmpty()) {
            return;
        }
        try {
            Path next = file.resolveSibling(FILE + ".new");
            Files.write(next, Codec.encode(new Saved(List.copyOf(waiting))));
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            log.error(file + " cannot be written: " + e.getMessage() + ": " + waiting.size() + " records of jobs are lost");
        }
    }
}
