package dev.muster.core.state;

import java.util.AbstractList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.RandomAccess;
import java.util.function.Function;
import java.util.function.IntConsumer;
import java.util.function.Predicate;

/**
 * A list of one value for each of many nodes, in order, in which a value is found by its node's name. A changed copy
 * shares nearly all with the list before: each of the nodes of a job reports for itself, and copying thousands of
 * values for each of thousands of reports would be most of the work.
 */
public final class ByNode<T> extends AbstractList<T> implements RandomAccess {
    /** Shorter lists are as quick as they are. */
    static final int LEAST = 32;

    private static final int CHUNK_BITS = 6;
    private static final int CHUNK = 1 << CHUNK_BITS;

    private final Object[][] chunks;
    private final int size;
    /** Index in the list by node name; all versions share it. */
    private final Map<String, Integer> places;
    /**
     * Number of values from the first on that are all over, as {@link #allOver} last found: what is known of one
     * version needs no second look in the next.
     */
    private int over;

    private ByNode(Object[][] chunks, int size, Map<String, Integer> places) {
        this.chunks = chunks;
        this.size = size;
        this.places = places;
    }

    /**
     * Returns the list in this form where it is long. A list that names a node twice stays as it is.
     *
     * @param node its name
     */
    static <T> List<T> of(List<T> list, Function<T, String> node) {
        if (list.size() < LEAST || list instanceof ByNode) {
            return list;
        }
        Object[][] chunks = new Object[(list.size() + CHUNK - 1) / CHUNK][];
        Map<String, Integer> places = new HashMap<>(list.size() * 2);
        int index = 0;
        for (T value : list) {
            if (places.put(node.apply(value), index) != null) {
                return list;
            }
            if (index % CHUNK == 0) {
                chunks[index / CHUNK] = new Object[Math.min(CHUNK, list.size() - index)];
            }
            chunks[index / CHUNK][index % CHUNK] = value;
            index++;
        }
        return new ByNode<>(chunks, list.size(), places);
    }

    /**
     * Returns the index of a node's value, the first if there are several; -1 if there is none.
     *
     * @param name of a value's node
     */
    static <T> int find(List<T> list, String node, Function<T, String> name) {
        if (list instanceof ByNode<T> all) {
            return all.places.getOrDefault(node, -1);
        }
        for (int i = 0; i < list.size(); i++) {
            if (name.apply(list.get(i)).equals(node)) {
                return i;
            }
        }
        return -1;
    }

    /** Returns a copy with another value of the same node at that index. */
    ByNode<T> with(int index, T value) {
        Object[][] all = chunks.clone();
        all[index >> CHUNK_BITS] = all[index >> CHUNK_BITS].clone();
        all[index >> CHUNK_BITS][index & CHUNK - 1] = value;
        ByNode<T> out = new ByNode<>(all, size, places);
        out.over = Math.min(over, index);
        return out;
    }

    /** Tests whether all values are over. Of a list and its changed copies always the same is asked. */
    static <T> boolean allOver(List<T> list, Predicate<T> isOver) {
        int from = list instanceof ByNode<T> known ? known.over : 0;
        while (from < list.size() && isOver.test(list.get(from))) {
            from++;
        }
        if (list instanceof ByNode<T> known) {
            known.over = from;
        }
        return from == list.size();
    }

    /** Tells the indices at which two lists of the same length hold other objects. */
    public static <T> void changed(List<T> earlier, List<T> later, IntConsumer place) {
        boolean both = earlier instanceof ByNode && later instanceof ByNode;
        for (int i = 0; i < earlier.size(); i++) {
            if (both
                    && (i & CHUNK - 1) == 0
                    && ((ByNode<T>) earlier).chunks[i >> CHUNK_BITS] == ((ByNode<T>) later).chunks[i >> CHUNK_BITS]) {
                i += CHUNK - 1;
            } else if (earlier.get(i) != later.get(i)) {
                place.accept(i);
            }
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public T get(int index) {
        java.util.Objects.checkIndex(index, size);
        return (T) chunks[index >> CHUNK_BITS][index & CHUNK - 1];
    }

    @Override
    public int size() {
        return size;
    }
}
