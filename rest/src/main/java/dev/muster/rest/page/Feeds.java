package dev.muster.rest.page;

import dev.muster.cli.command.Host;
import dev.muster.cli.command.SlurmException;
import dev.muster.json.Json;
import dev.muster.rest.http.Http;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The feeds by what their readers are shown, and a reader's stream. Thread-safe. */
final class Feeds {
    /** A line that means nothing, so that both sides know of each other. */
    private static final byte[] STILL = ": \n\n".getBytes(StandardCharsets.US_ASCII);

    private static final int STILL_MS = 15_000;
    /** Period after which a reader's token is checked again. */
    private static final long AGAIN_NS = 120_000_000_000L;

    private final Map<String, Feed> feeds = new HashMap<>();

    /** The user of a caller and the present revision of the cluster; refused for an invalid token. */
    static Json.Obj look(Host host) throws SlurmException {
        return host.controller().call("Follow", Feed.question("", 0));
    }

    private Feed feed(String sees, String revision) {
        return feeds.computeIfAbsent(sees, s -> new Feed(s, revision));
    }

    private record FeedSubscription(Feed feed, Feed.Subscription joined) {}

    private synchronized FeedSubscription seat(Host host, Json.Obj look) {
        String sees = look.text("sees");
        Feed feed = feed(sees, look.text("revision"));
        Optional<Feed.Subscription> joined = feed.join(host);
        if (joined.isEmpty()) {
            feeds.remove(sees);
            feed = feed(sees, look.text("revision"));
            joined = feed.join(host);
        }
        return new FeedSubscription(feed, joined.orElseThrow());
    }

    /** How many requests wait at slurmctld at most. */
    synchronized int size() {
        return feeds.size();
    }

    /**
     * @param host asks as the reader
     * @param seen Last-Event-ID, "" to begin
     */
    Http.Written stream(Host host, String seen) throws SlurmException {
        Json.Obj look = look(host);
        FeedSubscription seat = seat(host, look);
        return new Http.Written() {
            @Override
            public void to(OutputStream out) throws IOException {
                try {
                    out.write(STILL);
                    write(out, host, seat, look, seen);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                } catch (SlurmException e) {
                    out.write(Feed.event("", "refused", new Json.Obj().put("error", e.getMessage())));
                    out.flush();
                }
            }

            @Override
            public void close() {
                seat.feed.leave(seat.joined.reader());
            }
        };
    }

    private void write(OutputStream out, Host host, FeedSubscription seat, Json.Obj look, String seen)
            throws IOException, InterruptedException, SlurmException {
        long number = begin(out, host, seat, look, seen);
        long looked = System.nanoTime();
        while (true) {
            out.flush();
            Feed.Delivery taken = seat.feed.take(seat.joined.reader(), number, STILL_MS);
            if (taken.over()) {
                return; // the other side comes back with its last event's id
            }
            if (taken.lost()) {
                number = seat.feed.newest();
                out.write(Feed.reset(look(host)));
                continue;
            }
            for (Feed.Batch batch : taken.batches()) {
                out.write(batch.events());
                number = batch.number();
            }
            if (taken.batches().isEmpty()) {
                out.write(STILL);
            }
            if (System.nanoTime() - looked > AGAIN_NS) {
                looked = System.nanoTime();
                if (!stillSees(host, look.text("sees"))) {
                    return;
                }
            }
        }
    }

    private static boolean stillSees(Host host, String sees) throws SlurmException {
        try {
            return look(host).text("sees").equals(sees);
        } catch (SlurmException e) {
            if (Feed.isConnection(e)) {
                return true; // slurmctld is away, which says nothing of the reader
            }
            throw e;
        }
    }

    /**
     * Sends the events that the reader lacks, or the event that makes it begin anew.
     *
     * @return number of the next event to send
     */
    private static long begin(OutputStream out, Host host, FeedSubscription seat, Json.Obj look, String seen)
            throws IOException, SlurmException {
        if (seen.isEmpty()) {
            out.write(Feed.event(
                    seat.joined.revision(), "hello", Feed.head(look).put("revision", seat.joined.revision())));
            return seat.joined.number();
        }
        Optional<Long> there = seat.feed.after(seen);
        if (there.isPresent()) {
            return there.get();
        }
        // what the feed has from here on may come twice, which says nothing new
        Json.Obj since = host.controller().call("Follow", Feed.question(seen, 0));
        out.write(since.flag("reset") ? Feed.reset(since) : Feed.events(since));
        return seat.joined.number();
    }
}
