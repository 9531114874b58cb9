package dev.muster.rest.operation;

import dev.muster.json.Json;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The time since when lists have not changed, for update_time: the moment at which this daemon first saw their content.
 * It may be later than the change, never earlier, so that a client does not miss a change. Thread-safe.
 */
final class Freshness {
    private static final int KEPT_MAX = 1024;

    private record Observation(int size, int hash, long second) {}

    private final Map<String, Observation> lists = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Observation> eldest) {
            return size() > KEPT_MAX;
        }
    };

    /**
     * @param list name of the list, with the caller, as its rights limit the list
     * @param now seconds
     * @return since when it has this content
     */
    synchronized long since(String list, @Nullable Object content, long now) {
        byte[] bytes = Json.print(content);
        Observation before = lists.get(list);
        int hash = Arrays.hashCode(bytes);
        if (before == null || before.size != bytes.length || before.hash != hash) {
            before = new Observation(bytes.length, hash, now);
            lists.put(list, before);
        }
        return before.second;
    }
}
