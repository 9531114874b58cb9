package dev.muster.accounting;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What was asked how often, since the start or since it was cleared. Times in microseconds. */
final class RpcStats {
    private static final int KINDS_MAX = 10_000;

    private static final class Count {
        private long calls;
        private long us;
    }

    private final Map<String, Count> counts = new HashMap<>();
    private long since = System.currentTimeMillis() / 1000;

    synchronized void count(String message, String user, int uid, long us) {
        add("type\n" + message, us);
        add("user\n" + user + "\n" + uid, us);
    }

    private void add(String key, long us) {
        if (counts.size() < KINDS_MAX || counts.containsKey(key)) {
            Count c = counts.computeIfAbsent(key, k -> new Count());
            c.calls++;
            c.us += us;
        }
    }

    synchronized void clear() {
        counts.clear();
        since = System.currentTimeMillis() / 1000;
    }

    /** The most frequent first. */
    synchronized List<Map<String, String>> rows() {
        List<Map<String, String>> out = new ArrayList<>();
        out.add(Map.of("Kind", "since", "Name", Long.toString(since)));
        counts.entrySet().stream().sorted((a, b) -> Long.compare(b.getValue().calls, a.getValue().calls)).forEach(e -> {
            String[] key = e.getKey().split("\n");
            Count c = e.getValue();
            out.add(Map.of("Kind", key[0], "Name", key[1], "Uid", key.length > 2 ? key[2] : "", "Count", Long.toString(c.calls),
                    "Average", Long.toString(c.us / c.calls), "Total", Long.toString(c.us)));
        });
        return out;
    }
}
