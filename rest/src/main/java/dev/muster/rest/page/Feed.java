package dev.muster.rest.page;

import dev.muster.cli.command.Host;
import dev.muster.cli.command.SlurmException;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.rest.contract.RestException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Events of the cluster for readers with the same view. One request waits at slurmctld in the name of one of the
 * readers, however many there are. Readers take events from one bounded list, each at its own pace; a reader that is
 * too slow for the list has to begin anew. Without readers no request waits. Thread-safe.
 */
public final class Feed {
    static final int BATCHES_MAX = 2048;
    /** Most bytes of events in a feed that all readers share. */
    static final int BYTES_MAX = 8 << 20;
    /**
     * Bytes kept in a feed of one user. PrivateData makes such feeds necessary, and there may be as many of them as
     * streams.
     */
    static final int OWN_BYTES_MAX = 256 << 10;

    private static final String SHARED = "all";
    private static final int WAIT_MS = 25_000;
    /** Least time between two answers: events within it come with the next one. */
    private static final int PACE_MS = 400;

    private static final int AWAY_MS = 2_000;

    /**
     * Events in the form in which readers get them.
     *
     * @param revision after them, "" where there is none
     */
    record Batch(long number, String revision, byte[] events) {}

    /** One stream; a user may have several. */
    static final class Reader {
        private final Host host;

        private Reader(Host host) {
            this.host = host;
        }
    }

    /**
     * Batches that a reader gets at once.
     *
     * @param lost it has fallen behind
     * @param over the feed has ended, or the reader has left it
     */
    record Delivery(List<Batch> batches, boolean lost, boolean over) {}

    private final String sees;
    private final ArrayDeque<Batch> history = new ArrayDeque<>();
    private final Set<Reader> readers = new LinkedHashSet<>();
    private long bytes;
    private long newest;
    private String revision;
    private boolean running;
    private boolean over;
    private boolean away;

    /**
     * @param sees as slurmctld says
     * @param revision with which it begins
     */
    Feed(String sees, String revision) {
        this.sees = sees;
        this.revision = revision;
    }

    /**
     * Where a new reader begins.
     *
     * @param number for {@link #take}
     */
    record Subscription(Reader reader, long number, String revision) {}

    /** Empty where the feed has ended. */
    synchronized Optional<Subscription> join(Host host) {
        if (over) {
            return Optional.empty();
        }
        Reader reader = new Reader(host);
        readers.add(reader);
        if (!running) {
            running = true;
            Thread.ofVirtual().name("feed " + sees).start(this::run);
        }
        return Optional.of(new Subscription(reader, newest, revision));
    }

    /** The batch that ended with this revision, if it is still here. */
    synchronized Optional<Long> after(String seen) {
        for (Iterator<Batch> i = history.descendingIterator(); i.hasNext(); ) {
            Batch batch = i.next();
            if (batch.revision.equals(seen)) {
                return Optional.of(batch.number);
            }
        }
        return Optional.empty();
    }

    /** The revision at which a reader that has fallen behind begins anew. */
    synchronized long newest() {
        return newest;
    }

    synchronized void leave(Reader reader) {
        readers.remove(reader);
        notifyAll();
    }

    /** Returns the events after a number, and waits for them. */
    synchronized Delivery take(Reader reader, long number, long waitMs) throws InterruptedException {
        long until = System.nanoTime() + waitMs * 1_000_000;
        while (number == newest && !over && readers.contains(reader)) {
            long remaining = (until - System.nanoTime()) / 1_000_000;
            if (remaining <= 0) {
                break;
            }
            wait(remaining);
        }
        List<Batch> out = new ArrayList<>();
        for (Batch batch : history) {
            if (batch.number > number) {
                out.add(batch);
            }
        }
        boolean lost = number < newest && (out.isEmpty() || out.getFirst().number != number + 1);
        return new Delivery(lost ? List.of() : out, lost, over || !readers.contains(reader));
    }

    synchronized int heldBytes() {
        return (int) bytes;
    }

    // ---- the waiting request

    private synchronized Optional<Reader> asker() {
        if (readers.isEmpty()) {
            running = false;
            // without readers the feed ends: the next reader begins another one
            over = true;
            history.clear();
            bytes = 0;
            return Optional.empty();
        }
        return Optional.of(readers.iterator().next());
    }

    private void run() {
        for (Optional<Reader> asker = asker(); asker.isPresent(); asker = asker()) {
            try {
                Json.Obj reply = asker.get().host.controller().call("Follow", question(revision, WAIT_MS));
                if (!reply.text("sees").equals(sees)) {
                    leave(asker.get()); // its rights have changed: its stream ends, and it authenticates anew
                    continue;
                }
                accept(reply);
                pause(PACE_MS);
            } catch (SlurmException e) {
                if (RestException.of(e, "").status() == 401) {
                    leave(asker.get()); // his token has ended
                } else if (e.errno() == SlurmErrno.PROTOCOL_SOCKET_IMPL_TIMEOUT.number() || isConnection(e)) {
                    missed();
                } else {
                    pause(AWAY_MS);
                }
            }
        }
        end();
    }

    public static boolean isConnection(SlurmException e) {
        return e.errno() == SlurmErrno.CTLD_CONNECT.number() || e.errno() == SlurmErrno.CTLD_RECV.number();
    }

    static Json.Obj question(String since, int waitMs) {
        return new Json.Obj().put("since", since).put("waitMs", (long) waitMs).put("jobFields", OwnRows.JOBS.wanted());
    }

    private void missed() {
        synchronized (this) {
            if (!away) {
                away = true;
                add("", event("", "away", new Json.Obj()));
            }
        }
        pause(AWAY_MS);
    }

    private void accept(Json.Obj reply) {
        synchronized (this) {
            if (away) {
                away = false;
                add("", event("", "back", new Json.Obj()));
            }
            revision = reply.text("revision");
            if (reply.flag("reset")) {
                add(revision, reset(reply));
            } else {
                byte[] events = events(reply);
                if (events.length > 0) {
                    add(revision, events);
                }
            }
        }
    }

    private void add(String at, byte[] events) {
        newest++;
        history.add(new Batch(newest, at, events));
        bytes += events.length;
        while (history.size() > BATCHES_MAX
                || bytes > (sees.equals(SHARED) ? BYTES_MAX : OWN_BYTES_MAX) && history.size() > 1) {
            bytes -= history.removeFirst().events.length;
        }
        notifyAll();
    }

    private synchronized void end() {
        over = true;
        notifyAll();
    }

    private void pause(int ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- events

    /** The lists are to be read anew. The event does not name the caller: all readers of a feed get the same. */
    static byte[] reset(Json.Obj reply) {
        return event(
                reply.text("revision"),
                "reset",
                new Json.Obj().put("revision", reply.text("revision")).put("now", reply.number("now")));
    }

    /** The user of a reader, and the present revision of the cluster. */
    static Json.Obj head(Json.Obj reply) {
        return new Json.Obj()
                .put("revision", reply.text("revision"))
                .put("now", reply.number("now"))
                .put("user", reply.text("user"))
                .put("operator", reply.flag("operator"))
                .put("administrator", reply.flag("administrator"))
                .put("coordinates", reply.list("coordinates"));
    }

    /** Only the last event has the revision: a reader that loses the connection between two of them gets all again. */
    static byte[] events(Json.Obj reply) {
        List<String[]> all = new ArrayList<>();
        long now = reply.number("now");
        if (!reply.objects("jobs").isEmpty() || !reply.list("gone").isEmpty()) {
            List<Object> rows = new ArrayList<>();
            reply.objects("jobs").forEach(r -> rows.add(OwnRows.JOBS.row(r)));
            all.add(new String[] {
                "jobs", text(new Json.Obj().put("now", now).put("jobs", rows).put("gone", reply.list("gone")))
            });
        }
        if (!reply.objects("nodes").isEmpty() || !reply.list("goneNodes").isEmpty()) {
            List<Object> rows = new ArrayList<>();
            reply.objects("nodes").forEach(r -> rows.add(OwnRows.NODES.row(r)));
            all.add(new String[] {
                "nodes", text(new Json.Obj().put("now", now).put("nodes", rows).put("gone", reply.list("goneNodes")))
            });
        }
        for (String list : reply.texts("lists")) {
            all.add(new String[] {list, text(new Json.Obj().put("now", now))});
        }
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < all.size(); i++) {
            out.append(i == all.size() - 1 ? "id: " + reply.text("revision") + "\n" : "")
                    .append("event: ")
                    .append(all.get(i)[0])
                    .append("\ndata: ")
                    .append(all.get(i)[1])
                    .append("\n\n");
        }
        return out.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static String text(Json.Obj tree) {
        return new String(Json.print(tree), StandardCharsets.UTF_8);
    }

    /**
     * JSON has no line's end in it.
     *
     * @param id "" for none
     */
    static byte[] event(String id, String name, Json.Obj data) {
        return ((id.isEmpty() ? "" : "id: " + id + "\n") + "event: " + name + "\ndata: " + text(data) + "\n\n")
                .getBytes(StandardCharsets.UTF_8);
    }
}
