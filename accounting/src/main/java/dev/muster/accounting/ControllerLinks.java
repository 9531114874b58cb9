package dev.muster.accounting;

import dev.muster.accounting.book.Book;
import dev.muster.accounting.book.Effective;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.Sync;
import dev.muster.model.accounting.DbdMessages.SyncReply;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The controllers that are there. Each waits here in a request of its own; what it answers to, a newer policy or somebody who
 * waits for its rows, it has done when its next request comes.
 */
final class ControllerLinks {
    /** A controller that has not asked for so long is away. */
    private static final long AWAY_MS = 15_000;
    static final int WAIT_MS_MAX = 30_000;

    private static final class Link {
        private final Projection projection;
        private final String journal;
        private long seenMs = System.currentTimeMillis();
        private boolean waiting;
        private long version;
        private long barrierWanted;
        private long barrierDone;

        Link(Projection projection, String journal) {
            this.projection = projection;
            this.journal = journal;
        }
    }

    private final Map<String, Link> links = new HashMap<>();
    private final Supplier<Book> book;

    ControllerLinks(Supplier<Book> book) {
        this.book = book;
    }

    synchronized void registered(String cluster, String journal, Projection projection) {
        // the same controller again, with news of itself: what it waits for goes on
        links.compute(cluster, (name, known) -> known != null && known.journal.equals(journal) ? known : new Link(projection, journal));
        notifyAll();
    }

    /** The projection of a registered cluster's journal. */
    synchronized Optional<Projection> projection(String cluster, String journal) {
        return Optional.ofNullable(links.get(cluster)).filter(l -> l.journal.equals(journal)).map(l -> l.projection);
    }

    /** Answers a controller's request; empty if it has to register first. */
    synchronized Optional<SyncReply> sync(Sync q) {
        Link link = links.get(q.cluster());
        if (link == null || !link.journal.equals(q.journal())) {
            return Optional.empty();
        }
        link.version = q.version();
        link.barrierDone = Math.max(link.barrierDone, q.barrier());
        link.seenMs = System.currentTimeMillis();
        notifyAll();
        long deadlineMs = link.seenMs + Math.clamp(q.waitMs(), 0, WAIT_MS_MAX);
        link.waiting = true;
        try {
            while (links.get(q.cluster()) == link && book.get().version() == q.version() && link.barrierWanted <= q.barrier()) {
                long leftMs = deadlineMs - System.currentTimeMillis();
                if (leftMs <= 0) {
                    break;
                }
                wait(leftMs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            link.waiting = false;
            link.seenMs = System.currentTimeMillis();
        }
        Book now = book.get();
        boolean changed = now.version() != q.version();
        return Optional.of(new SyncReply(now.version(), link.barrierWanted, changed, changed ? Effective.policy(now, q.cluster()) : Policy.NONE));
    }

    /** Tells the controllers of a new book and waits until those that are there have it, at most so long. */
    synchronized void announce(long version, long waitMs) {
        notifyAll();
        List<Link> there = there();
        await(waitMs, () -> there.stream().allMatch(l -> l.version >= version));
    }

    /** Waits until all that happened in these clusters before the call is in the tables; empty means all. */
    synchronized void flush(List<String> clusters, long waitMs) {
        Map<Link, Long> wanted = new HashMap<>();
        for (Link link : there()) {
            wanted.put(link, ++link.barrierWanted);
        }
        notifyAll();
        await(waitMs, () -> wanted.entrySet().stream().allMatch(w -> w.getKey().barrierDone >= w.getValue()));
    }

    private List<Link> there() {
        long now = System.currentTimeMillis();
        return links.values().stream().filter(l -> l.waiting || now - l.seenMs < AWAY_MS / 10).toList();
    }

    private void await(long waitMs, Supplier<Boolean> done) {
        long deadlineMs = System.currentTimeMillis() + waitMs;
        try {
            while (!done.get()) {
                long leftMs = deadlineMs - System.currentTimeMillis();
                if (leftMs <= 0) {
                    return;
                }
                wait(leftMs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Clusters whose controller has not been heard of lately. */
    synchronized List<String> away() {
        long now = System.currentTimeMillis();
        return links.entrySet().stream().filter(e -> !e.getValue().waiting && now - e.getValue().seenMs > AWAY_MS).map(Map.Entry::getKey).toList();
    }

    synchronized void forget(String cluster) {
        links.remove(cluster);
        notifyAll();
    }
}
