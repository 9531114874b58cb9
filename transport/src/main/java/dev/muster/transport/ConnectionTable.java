package dev.muster.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The connections of one server: how many there may be, and which one is closed when there is no room. The number of
 * connections without an authenticated caller (strangers) is bounded, in all and per address; the oldest makes room for
 * the next, so that callers that authenticate at once are always served. Idle connections of authenticated callers make
 * room too. Busy ones and streams never do. Thread-safe; used by {@link Server} and {@link ServerConnection}.
 */
final class ConnectionTable {
    private static final int STRANGERS_MAX = 8192;
    private static final int TOTAL_MAX = 65_536;
    private static final int HEAP_BYTES_PER_STRANGER = 256 << 10;
    /** A caller has this long to authenticate before its connection may have to make room. */
    static final long GRACE_NS = 1_000_000_000L;

    private static final int DEFAULT_DESCRIPTORS = 1024;

    /** A connection as the table sees it. */
    interface Entry {
        String peer();

        long acceptedNs();

        void closeNow();
    }

    /**
     * @param total connections in all
     * @param strangers of them without an authenticated caller
     * @param perPeer of strangers from one address
     * @param perUser of an ordinary user
     */
    record Limits(int total, int strangers, int perPeer, int perUser) {
        /**
         * @param descriptors that the process may have open; a quarter of them is reserved for all else that it opens
         * @param heapBytes of the process: a connection costs some tens of kilobytes
         */
        static Limits of(int descriptors, long heapBytes) {
            int total = Math.clamp(descriptors - Math.max(64, descriptors / 4), 16, TOTAL_MAX);
            int strangers = Math.clamp(heapBytes / HEAP_BYTES_PER_STRANGER, 8, Math.min(STRANGERS_MAX, total / 2));
            return new Limits(total, strangers, Math.max(8, strangers / 2), Math.max(8, total / 2));
        }
    }

    private final Limits limits;
    private final int ownUid;
    private final Set<Entry> all = new LinkedHashSet<>();
    private final LinkedHashSet<Entry> strangers = new LinkedHashSet<>();
    private final Map<String, LinkedHashSet<Entry>> strangersByPeer = new HashMap<>();
    private final LinkedHashSet<Entry> idle = new LinkedHashSet<>();
    private final Map<Entry, Integer> users = new HashMap<>();
    private final Map<Integer, Integer> byUser = new HashMap<>();
    private long evicted;

    ConnectionTable(Limits limits, int ownUid) {
        this.limits = limits;
        this.ownUid = ownUid;
    }

    /** The soft limit of open files of this process. */
    static int descriptors() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/limits"))) {
                if (line.startsWith("Max open files")) {
                    String soft = line.substring(26).strip().split("\\s+")[0];
                    return soft.equals("unlimited")
                            ? TOTAL_MAX
                            : (int) Math.min(Integer.MAX_VALUE, Long.parseLong(soft));
                }
            }
        } catch (IOException | RuntimeException e) {
            return DEFAULT_DESCRIPTORS;
        }
        return DEFAULT_DESCRIPTORS;
    }

    /**
     * Adds a fresh connection if there is room or room can be made.
     *
     * @param nowNs as of nanoTime
     * @return false if it has to wait
     */
    boolean add(Entry fresh, long nowNs) {
        Optional<Entry> victim = Optional.empty();
        synchronized (this) {
            LinkedHashSet<Entry> ofPeer = strangersByPeer.computeIfAbsent(fresh.peer(), k -> new LinkedHashSet<>());
            if (ofPeer.size() >= limits.perPeer) {
                victim = oldest(ofPeer, nowNs);
            } else if (strangers.size() >= limits.strangers) {
                victim = oldest(strangers, nowNs);
            } else if (all.size() >= limits.total) {
                victim = oldest(strangers, nowNs).or(() -> idle.stream().findFirst());
            } else {
                insert(fresh, ofPeer);
                return true;
            }
            if (victim.isEmpty()) {
                if (ofPeer.isEmpty()) {
                    strangersByPeer.remove(fresh.peer());
                }
                return false;
            }
            remove(victim.get());
            evicted++;
            insert(fresh, strangersByPeer.computeIfAbsent(fresh.peer(), k -> new LinkedHashSet<>()));
        }
        victim.get().closeNow();
        return true;
    }

    private static Optional<Entry> oldest(LinkedHashSet<Entry> of, long nowNs) {
        return of.stream().findFirst().filter(e -> nowNs - e.acceptedNs() > GRACE_NS);
    }

    private void insert(Entry fresh, Set<Entry> ofPeer) {
        all.add(fresh);
        strangers.add(fresh);
        ofPeer.add(fresh);
    }

    /**
     * The connection's caller has been authenticated.
     *
     * @return false if that user has too many connections
     */
    boolean authenticated(Entry connection, int uid) {
        Optional<Entry> victim = Optional.empty();
        synchronized (this) {
            leaveStrangers(connection);
            Integer before = users.get(connection);
            if (before != null && before == uid || !all.contains(connection)) {
                return true;
            }
            boolean bounded = uid != 0 && uid != ownUid;
            if (bounded && byUser.getOrDefault(uid, 0) >= limits.perUser) {
                victim = idle.stream()
                        .filter(e -> users.getOrDefault(e, -1) == uid)
                        .findFirst();
                if (victim.isEmpty()) {
                    return false;
                }
                remove(victim.get());
            }
            leaveUser(connection);
            users.put(connection, uid);
            byUser.merge(uid, 1, Integer::sum);
        }
        victim.ifPresent(Entry::closeNow);
        return true;
    }

    /** The connection waits for the next request of its authenticated caller. */
    synchronized void idle(Entry connection) {
        if (users.containsKey(connection)) {
            idle.add(connection);
        }
    }

    synchronized void busy(Entry connection) {
        idle.remove(connection);
    }

    synchronized void remove(Entry connection) {
        all.remove(connection);
        idle.remove(connection);
        leaveStrangers(connection);
        leaveUser(connection);
    }

    private void leaveStrangers(Entry connection) {
        if (strangers.remove(connection)) {
            LinkedHashSet<Entry> ofPeer = strangersByPeer.get(connection.peer());
            if (ofPeer == null) {
                return;
            }
            ofPeer.remove(connection);
            if (ofPeer.isEmpty()) {
                strangersByPeer.remove(connection.peer());
            }
        }
    }

    private void leaveUser(Entry connection) {
        Integer uid = users.remove(connection);
        if (uid != null) {
            byUser.computeIfPresent(uid, (k, n) -> n == 1 ? null : n - 1);
        }
    }

    /** Makes room when the process has no descriptors left: the oldest strangers go, then idle connections. */
    void shed(int count) {
        List<Entry> victims = new ArrayList<>();
        synchronized (this) {
            strangers.stream().limit(count).forEach(victims::add);
            idle.stream().limit(count - victims.size()).forEach(victims::add);
            victims.forEach(this::remove);
        }
        victims.forEach(Entry::closeNow);
    }

    /** Hands over all connections, without the lock. */
    void each(Consumer<Entry> action) {
        all().forEach(action);
    }

    synchronized List<Entry> all() {
        return new ArrayList<>(all);
    }

    /** How many connections have had to make room. */
    synchronized long evicted() {
        return evicted;
    }

    synchronized int size() {
        return all.size();
    }

    synchronized int strangers() {
        return strangers.size();
    }
}
