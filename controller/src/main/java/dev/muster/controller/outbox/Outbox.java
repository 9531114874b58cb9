package dev.muster.controller.outbox;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.MonotonicClock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Records of jobs on their way to a server, in order for each topic. They wait while the server is away, as long as
 * their pace says, and over an orderly stop of slurmctld in a file beside its state. Records that cannot be delivered
 * are dropped and logged. Each record arrives at least once.
 */
public final class Outbox implements AutoCloseable {
    /** Messages that wait; more are dropped. */
    static final int WAITING_MAX = 100_000;

    private static final int BATCH_BYTES_MAX = 900_000;

    /** The way to the server. Used by one thread. */
    public interface Sender extends AutoCloseable {
        /**
         * Messages of a topic, in order; they have arrived when this returns.
         *
         * @throws RefusedException for one of them; any other failure is one that may pass
         */
        void send(String topic, List<byte[]> values) throws IOException, InterruptedException;

        @Override
        void close();
    }

    /** Trying it again would not help. */
    public static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1L;

        public RefusedException(String message, @Nullable Throwable why) {
            super(message, why);
        }
    }

    /**
     * @param lingerMs how long messages are collected before they are sent
     * @param messageMs how long delivery of a message is tried; 0 without end
     * @param retryMs between two tries
     * @param batchMax messages that are sent together
     */
    public record Pace(int lingerMs, int messageMs, int retryMs, int batchMax) {}

    /** Settings that may change while it runs. */
    public interface Terms {
        /** Tests whether a message that waited too long begins anew, instead of being dropped. */
        boolean again();

        /** Returns the milliseconds that waiting records are given to arrive at the end; -1 without end. */
        long flushMs();
    }

    /** @param sinceMs when it was made, for {@link Pace#messageMs} */
    private record Message(String topic, String text, String about, long sinceMs) {}

    private record Saved(List<Message> messages) {}

    private final String name;
    private final Pace pace;
    private final Terms terms;
    private final Sender way;
    private final Path file;
    private final DaemonLog log;
    private final Deque<Message> waiting = new ArrayDeque<>();
    private final Thread sender;
    private boolean stopping;
    private boolean complained;

    /**
     * @param name what the log calls it: {@code jobcomp/kafka}
     * @param file where messages are kept over a restart
     */
    public Outbox(String name, Pace pace, Terms terms, Sender way, Path file, DaemonLog log) {
        this.name = name;
        this.pace = pace;
        this.terms = terms;
        this.way = way;
        this.file = file;
        this.log = log;
        load();
        sender = Thread.ofPlatform()
                .daemon()
                .name(name.substring(name.indexOf('/') + 1))
                .start(this::run);
    }

    private void load() {
        try {
            if (Files.exists(file)) {
                waiting.addAll(
                        Codec.decode(Files.readAllBytes(file), Saved.class).messages());
                Files.delete(file);
            }
        } catch (IOException | Json.MalformedException e) {
            log.error(file + " cannot be read: " + ErrorSentence.reason(e));
        }
    }

    /** @param about for the log, {@code JobId=5} */
    public synchronized void add(String topic, String text, String about) {
        if (waiting.size() >= WAITING_MAX) {
            log.error(name + ": the record of " + about + " is dropped: too many wait");
            return;
        }
        waiting.add(new Message(topic, text, about, MonotonicClock.ms()));
        notifyAll();
    }

    private void run() {
        try (way) {
            while (true) {
                List<Message> next = next();
                if (next.isEmpty()) {
                    return;
                }
                send(next);
            }
        } catch (InterruptedException e) {
            // close() saves the records that wait
        }
    }

    /** Returns the oldest messages of one topic, which stay where they are until they have arrived; none at the end. */
    private synchronized List<Message> next() throws InterruptedException {
        while (waiting.isEmpty()) {
            if (stopping) {
                return List.of();
            }
            wait();
        }
        long endMs = MonotonicClock.ms() + pace.lingerMs;
        for (long leftMs = pace.lingerMs;
                leftMs > 0 && !stopping && waiting.size() < pace.batchMax;
                leftMs = endMs - MonotonicClock.ms()) {
            wait(leftMs);
        }
        List<Message> out = new ArrayList<>();
        String topic = waiting.getFirst().topic;
        int bytes = 0;
        for (Message m : waiting) {
            bytes += m.text.length() * 3;
            if (out.size() == pace.batchMax || !out.isEmpty() && (bytes > BATCH_BYTES_MAX || !m.topic.equals(topic))) {
                break;
            }
            out.add(m);
        }
        return out;
    }

    private void send(List<Message> messages) throws InterruptedException {
        try {
            way.send(
                    messages.getFirst().topic,
                    messages.stream()
                            .map(m -> m.text.getBytes(StandardCharsets.UTF_8))
                            .toList());
            arrived(messages);
        } catch (RefusedException e) {
            if (messages.size() > 1) {
                // one of them is to blame
                for (Message m : messages) {
                    send(List.of(m));
                }
            } else {
                drop(messages.getFirst(), String.valueOf(e.getMessage()));
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
        log.error(name + ": the record of " + m.about + " is dropped: " + why);
        notifyAll();
    }

    /** Keeps the records after a failed delivery; those that have waited too long are dropped, or begin anew. */
    private synchronized void later(IOException why) throws InterruptedException {
        if (!complained) {
            complained = true;
            log.error(name + ": " + waiting.size() + " records wait: " + ErrorSentence.of(why));
        }
        long nowMs = MonotonicClock.ms();
        boolean resends = terms.again();
        List<Message> renewed = new ArrayList<>();
        for (Iterator<Message> all = waiting.iterator(); pace.messageMs > 0 && all.hasNext(); ) {
            Message m = all.next();
            if (nowMs - m.sinceMs >= pace.messageMs) {
                all.remove();
                if (resends) {
                    renewed.add(new Message(m.topic, m.text, m.about, nowMs));
                } else {
                    log.error(name + ": the record of " + m.about + " is dropped: " + ErrorSentence.of(why));
                }
            }
        }
        waiting.addAll(renewed);
        long pauseMs = Math.max(1, pace.retryMs);
        if (stopping) {
            Thread.sleep(pauseMs);
        }
        // each new message notifies: it must not become a try of its own
        long endMs = MonotonicClock.ms() + pauseMs;
        for (long leftMs = pauseMs; leftMs > 0 && !stopping; leftMs = endMs - MonotonicClock.ms()) {
            wait(leftMs);
        }
    }

    /** Gives what waits some time to arrive, and saves the rest for the next slurmctld. */
    @Override
    public void close() {
        long flushMs = terms.flushMs();
        synchronized (this) {
            stopping = true;
            notifyAll();
        }
        try {
            if (flushMs != 0) {
                sender.join(Math.max(0, flushMs));
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
            Path next = file.resolveSibling(file.getFileName() + ".new");
            Files.deleteIfExists(next);
            Files.createFile(next, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.write(next, Codec.encode(new Saved(List.copyOf(waiting))));
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            log.error(file + " cannot be written: " + ErrorSentence.reason(e) + ": " + waiting.size()
                    + " records of jobs are lost");
        }
    }
}
