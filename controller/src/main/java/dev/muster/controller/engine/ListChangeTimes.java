package dev.muster.controller.engine;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.stream.Stream;

/**
 * The time since when a list has not changed, for clients that have an older copy: the moment at which a query first
 * saw the tables that the list is made of. It may be later than the change, never earlier. Thread-safe.
 */
public final class ListChangeTimes {
    private List<WeakReference<Object>> seen = List.of();
    private long second;

    /**
     * @param now seconds
     * @param tables of one state, which are others when anything in them is another
     */
    public synchronized long of(long now, Object... tables) {
        boolean same = seen.size() == tables.length;
        for (int i = 0; same && i < tables.length; i++) {
            same = seen.get(i).get() == tables[i];
        }
        if (!same) {
            seen = Stream.of(tables).map(WeakReference::new).toList();
            second = now;
        }
        return second;
    }
}
