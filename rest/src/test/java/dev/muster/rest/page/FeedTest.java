package dev.muster.rest.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.command.Controller;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.SlurmException;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.rest.http.Http;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** One question at slurmctld, many readers, and bounded memory. */
class FeedTest {
    private final LinkedBlockingQueue<Object> answers = new LinkedBlockingQueue<>();
    private final List<String> asked = java.util.Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private volatile String sees = "all";
    private volatile String at = "e.1";

    /** A slurmctld whose answers come when the test says. */
    private Host host(String name) {
        Controller controller = (message, q) -> {
            if (q.number("waitMs") == 0) {
                asked.add(name + " " + q.text("since"));
                return new Json.Obj()
                        .put("revision", at)
                        .put("sees", sees)
                        .put("user", name)
                        .put(
                                "reset",
                                !q.text("since").isEmpty() && !q.text("since").startsWith("e."));
            }
            most.accumulateAndGet(waiting.incrementAndGet(), Math::max);
            try {
                Object next = answers.poll(20, TimeUnit.SECONDS);
                if (next instanceof SlurmException e) {
                    throw e;
                }
                return next == null ? new Json.Obj().put("revision", at).put("sees", sees) : (Json.Obj) next;
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            } finally {
                waiting.decrementAndGet();
            }
        };
        return host(controller);
    }

    private static Host host(Controller controller) {
        return (Host) Proxy.newProxyInstance(
                Host.class.getClassLoader(), new Class<?>[] {Host.class}, (p, m, args) -> switch (m.getName()) {
                    case "controller" -> controller;
                    case "hashCode" -> System.identityHashCode(p);
                    case "equals" -> p == args[0];
                    default -> throw new UnsupportedOperationException(m.getName());
                });
    }

    private Json.Obj news(int number) {
        at = "e." + number;
        return new Json.Obj()
                .put("revision", at)
                .put("sees", sees)
                .put("now", 5L)
                .put(
                        "jobs",
                        new ArrayList<Object>(List.of(
                                new Json.Obj().put("jobId", (long) number).put("state", "RUNNING"))));
    }

    private static final class Reader extends OutputStream {
        private final ByteArrayOutputStream all = new ByteArrayOutputStream();
        private volatile boolean closed;

        @Override
        public synchronized void write(int b) throws IOException {
            if (closed) {
                throw new IOException("gone");
            }
            all.write(b);
        }

        synchronized String text() {
            return all.toString(StandardCharsets.UTF_8);
        }
    }

    private static Reader read(Http.Written stream) {
        Reader out = new Reader();
        Thread.ofVirtual().start(() -> {
            try {
                stream.to(out);
            } catch (IOException e) {
                stream.close();
            }
        });
        return out;
    }

    private static void until(java.util.function.BooleanSupplier done) throws InterruptedException {
        for (int i = 0; i < 500 && !done.getAsBoolean(); i++) {
            Thread.sleep(20);
        }
        assertThat(done.getAsBoolean()).isTrue();
    }

    @Test
    void readersWithTheSameViewShareOneRequest() throws Exception {
        Feeds feeds = new Feeds();
        List<Reader> readers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            readers.add(read(feeds.stream(host("u" + i), "")));
        }
        until(() -> readers.stream().allMatch(r -> r.text().contains("event: hello")));
        answers.add(news(2));
        until(() -> readers.stream()
                .allMatch(r -> r.text().contains("id: e.2\nevent: jobs\ndata: {\"now\":5,\"jobs\":[{\"job_id\":2,")));
        assertThat(most.get()).isEqualTo(1);
        assertThat(feeds.size()).isEqualTo(1);
        answers.add(news(3));
        until(() -> readers.stream().allMatch(r -> r.text().contains("id: e.3")));
    }

    @Test
    void returningReaderGetsOnlyTheMissedEvents() throws Exception {
        Feeds feeds = new Feeds();
        Reader stays = read(feeds.stream(host("a"), ""));
        until(() -> stays.text().contains("hello"));
        for (int i = 2; i <= 4; i++) {
            answers.add(news(i));
            int n = i;
            until(() -> stays.text().contains("id: e." + n));
        }
        Reader back = read(feeds.stream(host("b"), "e.3"));
        until(() -> back.text().contains("id: e.4"));
        assertThat(back.text())
                .doesNotContain("hello")
                .doesNotContain("id: e.3")
                .doesNotContain("reset");
        Reader long_ = read(feeds.stream(host("c"), "other.1"));
        until(() -> long_.text().contains("event: reset"));
        assertThat(asked).contains("c other.1");
    }

    @Test
    void slowReaderIsToldToBeginAnew() throws Exception {
        Feed feed = new Feed("all", "e.1");
        Host host = host("a");
        Feed.Subscription joined = feed.join(host).orElseThrow();
        byte[] row = "x".repeat(900_000).getBytes(StandardCharsets.UTF_8);
        for (int i = 2; i < 14; i++) {
            Json.Obj n = news(i);
            n.objects("jobs").getFirst().put("name", new String(row, StandardCharsets.UTF_8));
            answers.add(n);
        }
        until(() -> answers.isEmpty());
        assertThat(feed.heldBytes()).isLessThanOrEqualTo(Feed.BYTES_MAX);
        assertThat(feed.take(joined.reader(), joined.number(), 0).lost()).isTrue();
        feed.leave(joined.reader());
    }

    @Test
    void feedWithoutReadersAsksNothing() throws Exception {
        Feeds feeds = new Feeds();
        Http.Written stream = feeds.stream(host("a"), "");
        Reader r = read(stream);
        until(() -> r.text().contains("hello") && waiting.get() == 1);
        r.closed = true;
        answers.add(news(2));
        until(() -> waiting.get() == 0);
        Thread.sleep(600);
        assertThat(waiting.get()).isZero();
        Reader again = read(feeds.stream(host("b"), ""));
        until(() -> again.text().contains("hello") && waiting.get() == 1);
    }

    @Test
    void streamEndsWhenItsUsersRightsChange() throws Exception {
        Feeds feeds = new Feeds();
        Reader r = new Reader();
        Thread t = Thread.ofVirtual().start(() -> {
            try {
                feeds.stream(host("a"), "").to(r);
            } catch (IOException | SlurmException e) {
                throw new IllegalStateException(e);
            }
        });
        until(() -> r.text().contains("hello"));
        sees = "uid 5";
        answers.add(news(2));
        t.join(5000);
        assertThat(t.isAlive()).isFalse();
        assertThat(r.text()).doesNotContain("id: e.2");
    }

    @Test
    void readerThatLeavesOrLosesRightsEndsNoOtherStream() throws Exception {
        Feeds feeds = new Feeds();
        Host tabs = host("a");
        Http.Written first = feeds.stream(tabs, "");
        Reader one = read(first);
        Reader two = read(feeds.stream(tabs, ""));
        until(() -> one.text().contains("hello") && two.text().contains("hello"));
        first.close();
        answers.add(news(2));
        until(() -> two.text().contains("id: e.2"));
        Reader other = read(feeds.stream(host("b"), ""));
        until(() -> other.text().contains("hello"));
        answers.add(news(3).put("sees", "uid 5")); // the one who is asked for is "a"
        answers.add(news(4));
        until(() -> other.text().contains("id: e.4"));
        assertThat(two.text()).doesNotContain("id: e.4");
    }

    @Test
    void slurmctldMayGoAndCome() throws Exception {
        Feeds feeds = new Feeds();
        Reader r = read(feeds.stream(host("a"), ""));
        until(() -> r.text().contains("hello"));
        answers.add(new SlurmException(SlurmErrno.CTLD_CONNECT.number(), "away"));
        until(() -> r.text().contains("event: away"));
        answers.add(news(7));
        until(() -> r.text().contains("event: back") && r.text().contains("id: e.7"));
    }

    /** A reset tells one client its user and rights: another client's stream does not show them. */
    @Test
    void resetEventHidesTheUserThatAsked() throws Exception {
        Feeds feeds = new Feeds();
        Reader one = read(feeds.stream(host("root"), ""));
        Reader other = read(feeds.stream(host("u"), ""));
        until(() -> one.text().contains("hello") && other.text().contains("\"user\":\"u\""));
        answers.add(news(9).put("reset", true).put("user", "root").put("operator", true));
        until(() -> other.text().contains("event: reset"));
        assertThat(other.text())
                .endsWith("id: e.9\nevent: reset\ndata: {\"revision\":\"e.9\",\"now\":5}\n\n")
                .doesNotContain("root");
    }

    /** A file may end within a character for as long as its job runs: its node answers at once each time. */
    @Test
    void aBegunCharacterIsWaitedForInPeace() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        Host node = host((message, q) -> {
            calls.incrementAndGet();
            return new Json.Obj()
                    .put("attempt", 1L)
                    .put("path", "/o")
                    .put("offset", 0L)
                    .put("size", 1L)
                    .put("state", "RUNNING")
                    .put("data", java.util.Base64.getEncoder().encodeToString(new byte[] {(byte) 0xe2}));
        });
        Reader r = read(new LogTail(node, 1, "stdout", 0, 0, "").start());
        until(() -> calls.get() > 0 && r.text().contains("event: file"));
        Thread.sleep(700);
        r.closed = true;
        assertThat(calls.get()).isLessThan(3);
    }

    /** A file that was replaced by a longer one is read from its beginning, also for a client that comes back. */
    @Test
    void aFileThatIsAnotherByNowIsReadAgain() throws Exception {
        Host node = host((message, q) -> {
            boolean first = q.text("file").isEmpty();
            boolean all = q.text("file").equals("2") && q.number("offset") == 4;
            return new Json.Obj()
                    .put("attempt", 1L)
                    .put("path", "/o")
                    .put("offset", all ? 4L : 0L)
                    .put("size", first ? 2L : 4L)
                    .put("state", "DONE")
                    .put("over", !first)
                    .put("file", first ? "1" : "2")
                    .put(
                            "data",
                            java.util.Base64.getEncoder()
                                    .encodeToString(
                                            all
                                                    ? new byte[0]
                                                    : (first ? "ab" : "cdef").getBytes(StandardCharsets.UTF_8)));
        });
        Reader r = read(new LogTail(node, 1, "stdout", 0, 0, "").start());
        until(() -> r.text().contains("event: end"));
        assertThat(r.text())
                .containsSubsequence(
                        "id: 1.2.1\n",
                        "\"text\":\"ab\"",
                        "event: again",
                        "event: file",
                        "id: 1.4.2\n",
                        "\"offset\":0,\"text\":\"cdef\"",
                        "event: end");
        Reader back = read(new LogTail(node, 1, "stdout", 2, 1, "1").start());
        until(() -> back.text().contains("event: end"));
        assertThat(back.text()).startsWith("event: again").contains("\"text\":\"cdef\"");
    }

    @Test
    void aCharacterIsNeverCutInTwo() {
        byte[] euro = "a€".getBytes(StandardCharsets.UTF_8);
        assertThat(LogTail.completeLength(euro, false)).isEqualTo(4);
        assertThat(LogTail.completeLength(java.util.Arrays.copyOf(euro, 3), false))
                .isEqualTo(1);
        assertThat(LogTail.completeLength(java.util.Arrays.copyOf(euro, 2), false))
                .isEqualTo(1);
        assertThat(LogTail.completeLength(java.util.Arrays.copyOf(euro, 2), true))
                .isEqualTo(2);
        assertThat(LogTail.completeLength(new byte[] {'a', (byte) 0x80, (byte) 0x80, (byte) 0x80, (byte) 0x80}, false))
                .isEqualTo(5);
    }
}
