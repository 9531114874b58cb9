package dev.muster.accounting.dbd;

import dev.muster.accounting.book.AssocTree;
import dev.muster.accounting.book.EffectiveLimits;
import dev.muster.accounting.book.Registration;
import dev.muster.accounting.table.Projection;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.Sync;
import dev.muster.model.accounting.DbdMessages.SyncReply;
import dev.muster.transport.MonotonicClock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The connected controllers. Each waits here in a request of its own, for a newer policy or a query that needs its
 * rows. Its next request tells that it has done so.
 */
final class ControllerLinks {
    /** Time after the last request from which a controller counts as away. */
    private static final long AWAY_MS = 15_000;
    /** Nor one that only tells where it is, each ten seconds. */
    private static final long EXTERNAL_AWAY_MS = 35_000;

    static final int WAIT_MS_MAX = 30_000;

    private static final class Link {
        private final Projection projection;
        private final String journal;
        private long seenMs = MonotonicClock.ms();
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
    private final Supplier<AssocTree> book;
    private final long bornMs = MonotonicClock.ms();
    /** Clusters with a controller that was connected when slurmdbd stopped: it holds rows and will soon be back. */
    private final Set<String> expected = new HashSet<>();
    /** Clusters that keep their rows elsewhere, and when they were heard of. */
    private final Map<String, Long> external = new HashMap<>();

    ControllerLinks(Supplier<AssocTree> book) {
        this.book = book;
        book.get().clusters().stream().filter(c -> c.controlPort() != 0).forEach(c -> {
            if (Registration.isExternal(c)) {
                external.put(c.name(), bornMs);
            } else {
                expected.add(c.name());
            }
        });
    }

    /** Notes that a controller which keeps its rows elsewhere has reported its address. */
    synchronized void heardFrom(String cluster) {
        external.put(cluster, MonotonicClock.ms());
    }

    synchronized void registered(String cluster, String journal, Projection projection) {
        expected.remove(cluster);
        external.remove(cluster);
        // the same controller with a new registration: its waiting request stays
        links.compute(
                cluster,
                (name, known) ->
                        known != null && known.journal.equals(journal) ? known : new Link(projection, journal));
        notifyAll();
    }

    /** The projection of a registered cluster's journal. */
    synchronized Optional<Projection> projection(String cluster, String journal) {
        return Optional.ofNullable(links.get(cluster))
                .filter(l -> l.journal.equals(journal))
                .map(l -> l.projection);
    }

    /** Answers a controller's request; empty if it has to register first. */
    synchronized Optional<SyncReply> sync(Sync q) {
        Link link = links.get(q.cluster());
        if (link == null || !link.journal.equals(q.journal())) {
            return Optional.empty();
        }
        link.version = q.version();
        link.barrierDone = Math.max(link.barrierDone, q.barrier());
        link.seenMs = MonotonicClock.ms();
        notifyAll();
        long deadlineMs = link.seenMs + Math.clamp(q.waitMs(), 0, WAIT_MS_MAX);
        link.waiting = true;
        try {
            while (links.get(q.cluster()) == link
                    && book.get().version() == q.version()
                    && link.barrierWanted <= q.barrier()) {
                long leftMs = deadlineMs - MonotonicClock.ms();
                if (leftMs <= 0) {
                    break;
                }
                wait(leftMs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            link.waiting = false;
            link.seenMs = MonotonicClock.ms();
        }
        AssocTree now = book.get();
        boolean changed = now.version() != q.version();
        return Optional.of(new SyncReply(
                now.version(),
                link.barrierWanted,
                changed,
                changed ? EffectiveLimits.policy(now, q.cluster()) : Policy.NONE));
    }

    /** Tells the controllers of a new book and waits until the connected ones have it, for at most {@code waitMs}. */
    synchronized void announce(long version, long waitMs) {
        notifyAll();
        List<Link> there = reachableLinks();
        await(waitMs, () -> there.stream().allMatch(l -> l.version >= version));
    }

    /**
     * Waits until all that happened in these clusters before the call is in the tables, for at most {@code waitMs}; an
     * empty list means all clusters. It also waits for controllers that were connected when slurmdbd stopped.
     *
     * @return whether it is all there
     */
    synchronized boolean flush(List<String> clusters, long waitMs) {
        long deadlineMs = MonotonicClock.ms() + waitMs;
        boolean back = await(
                Math.min(waitMs, bornMs + AWAY_MS - MonotonicClock.ms()),
                () -> expected.stream().noneMatch(c -> clusters.isEmpty() || clusters.contains(c)));
        Map<Link, Long> wanted = new HashMap<>();
        links.forEach((cluster, link) -> {
            if ((clusters.isEmpty() || clusters.contains(cluster)) && heardWithin(link, AWAY_MS)) {
                wanted.put(link, ++link.barrierWanted);
            }
        });
        notifyAll();
        return await(
                        deadlineMs - MonotonicClock.ms(),
                        () -> wanted.entrySet().stream().allMatch(w -> w.getKey().barrierDone >= w.getValue()))
                && back;
    }

    private List<Link> reachableLinks() {
        return links.values().stream().filter(l -> heardWithin(l, AWAY_MS / 10)).toList();
    }

    private static boolean heardWithin(Link link, long ms) {
        return link.waiting || MonotonicClock.ms() - link.seenMs < ms;
    }

    private boolean await(long waitMs, Supplier<Boolean> done) {
        long deadlineMs = MonotonicClock.ms() + waitMs;
        try {
            while (!done.get()) {
                long leftMs = deadlineMs - MonotonicClock.ms();
                if (leftMs <= 0) {
                    return false;
                }
                wait(leftMs);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Clusters with a controller that has sent no request lately. */
    synchronized List<String> away() {
        List<String> out = new ArrayList<>();
        links.forEach((cluster, link) -> {
            if (!heardWithin(link, AWAY_MS)) {
                out.add(cluster);
            }
        });
        if (MonotonicClock.ms() - bornMs > AWAY_MS) {
            out.addAll(expected);
        }
        external.forEach((cluster, seenMs) -> {
            if (MonotonicClock.ms() - seenMs > EXTERNAL_AWAY_MS) {
                out.add(cluster);
            }
        });
        return out;
    }

    synchronized void forget(String cluster) {
        links.remove(cluster);
        expected.remove(cluster);
        external.remove(cluster);
        notifyAll();
    }

    /** Forgets all controllers: their waiting requests end, and the next ones are for another slurmdbd. */
    synchronized void close() {
        links.clear();
        expected.clear();
        external.clear();
        notifyAll();
    }
}
