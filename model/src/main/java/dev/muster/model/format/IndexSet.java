package dev.muster.model.format;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An immutable set of array indexes 0 to {@link #MAX_INDEX}. Kept in blocks of bits that copies share, so that taking
 * one index out of an array of four million copies two kilobytes. Equal sets have equal form.
 */
public final class IndexSet {
    /** The largest index that Slurm's MaxArraySize allows (4,000,001 values). */
    public static final int MAX_INDEX = 4_000_000;

    /** So few members are listed rather than told by their step. */
    private static final int LISTED = 6;

    private static final int BLOCK_BITS = 16_384;
    private static final int BLOCK_WORDS = BLOCK_BITS / 64;
    private static final long[] NONE = {};
    private static final long[] FULL = full();
    private static final IndexSet EMPTY = new IndexSet(new long[0][], 0);

    /** Set and limit of running tasks ({@code %2}); limit 0 is none. */
    public record Spec(IndexSet indexes, int limit) {
        /** Prints as squeue does: {@code 1-3,7%2}; cut after maxLength characters with {@code ...} (0: never). */
        public String print(int maxLength) {
            String text = indexes.print(maxLength);
            return limit > 0 ? text + "%" + limit : text;
        }
    }

    private final long[][] blocks;
    private final int count;

    private IndexSet(long[][] blocks, int count) {
        this.blocks = blocks;
        this.count = count;
    }

    private static long[] full() {
        long[] b = new long[BLOCK_WORDS];
        Arrays.fill(b, -1L);
        return b;
    }

    public static IndexSet empty() {
        return EMPTY;
    }

    public static IndexSet of(int... indexes) {
        Builder builder = new Builder();
        for (int i : indexes) {
            builder.add(i);
        }
        return builder.build();
    }

    public static IndexSet range(int from, int to, int step) {
        if (step == 1 && from >= 0 && from <= to && to < BLOCK_BITS) {
            long[] words = new long[to / 64 + 1];
            Arrays.fill(words, from / 64, words.length, -1L);
            words[from / 64] &= -1L << from;
            words[words.length - 1] &= -1L >>> 63 - to % 64;
            return new IndexSet(new long[][] {words}, to - from + 1);
        }
        Builder builder = new Builder();
        builder.addRange(from, to, step);
        return builder.build();
    }

    /**
     * Reads {@code 0-15:4,20%2}, brackets allowed around the indexes; empty items and blanks around items count for
     * nothing. Empty list when it is not an index set of at least one index up to maxIndex, else the one answer.
     */
    public static List<Spec> parseSpec(String text, int maxIndex) {
        String rest = text.strip();
        int limit = 0;
        int percent = rest.indexOf('%');
        if (percent >= 0) {
            long v = percent + 1 == rest.length()
                    ? 0
                    : Digits.parsePlain(rest.substring(percent + 1)); // an omitted limit means unlimited
            if (v < 0 || v > Integer.MAX_VALUE) {
                return List.of();
            }
            limit = (int) v;
            rest = rest.substring(0, percent);
        }
        if (rest.startsWith("[") && rest.endsWith("]")) {
            rest = rest.substring(1, rest.length() - 1);
        }
        Builder builder = new Builder();
        int index = 0;
        while (index <= rest.length()) {
            int comma = rest.indexOf(',', index);
            int end = comma < 0 ? rest.length() : comma;
            String item = rest.substring(index, end).strip();
            if (!item.isEmpty() && !addItem(builder, item, Math.min(maxIndex, MAX_INDEX))) {
                return List.of();
            }
            index = end + 1;
        }
        IndexSet indexes = builder.build();
        return indexes.isEmpty() ? List.of() : List.of(new Spec(indexes, limit));
    }

    /**
     * Reads the tasks of {@code --array}, as leniently as Slurm: brackets and a sign count for nothing, an omitted
     * number is 0. The first {@code %} begins the limit, which the item's end closes; a limit that is no positive
     * number means unlimited.
     */
    public static List<Spec> parseArray(String text, int maxIndex) {
        int percent = text.indexOf('%');
        Matcher limit = ARRAY_LIMIT.matcher(percent < 0 ? "" : text.substring(percent + 1));
        Builder builder = new Builder();
        for (String item : text.split(",")) {
            Matcher matcher = ARRAY_ITEM.matcher(item);
            if (item.isEmpty()) {
                continue;
            }
            if (!matcher.matches()) {
                return List.of();
            }
            String to = matcher.group("to");
            String plain = orZero(matcher.group("from"))
                    + (to == null ? "" : "-" + orZero(to))
                    + (matcher.group("step") == null ? "" : ":" + matcher.group("step"));
            if (!addItem(builder, plain, Math.min(maxIndex, MAX_INDEX))) {
                return List.of();
            }
        }
        IndexSet indexes = builder.build();
        if (indexes.isEmpty()) {
            return List.of();
        }
        return List.of(new Spec(indexes, limit.lookingAt() ? Math.max(0, (int) Long.parseLong(limit.group(1))) : 0));
    }

    private static String orZero(String number) {
        return number.isEmpty() ? "0" : number;
    }

    private static final Pattern ARRAY_LIMIT = Pattern.compile("\\s*\\+?([0-9]{1,18})");
    /** An omitted first number is 0 only if nothing but a dash follows. */
    private static final Pattern ARRAY_ITEM = Pattern.compile("[\\s\\[]*\\+?(?<from>[0-9]+|(?=-?(%.*)?$))"
            + "(-\\s*\\+?(?<to>[0-9]*)(:\\s*\\+?(?<step>[0-9]*))?)?]?(%.*)?");

    private static boolean addItem(Builder builder, String item, int maxIndex) {
        int dash = item.indexOf('-');
        if (dash < 0) {
            long v = Digits.parsePlain(item);
            return v >= 0 && v <= maxIndex && builder.addRange((int) v, (int) v, 1);
        }
        int colon = item.indexOf(':', dash);
        long from = Digits.parsePlain(item.substring(0, dash));
        long to = Digits.parsePlain(item.substring(dash + 1, colon < 0 ? item.length() : colon));
        long step = colon < 0 ? 1 : Digits.parsePlain(item.substring(colon + 1));
        if (from < 0 || to < from || to > maxIndex || step < 1 || step > Integer.MAX_VALUE) {
            return false;
        }
        return builder.addRange((int) from, (int) to, (int) step);
    }

    public boolean isEmpty() {
        return count == 0;
    }

    public int count() {
        return count;
    }

    public boolean contains(int index) {
        if (index < 0 || index / BLOCK_BITS >= blocks.length) {
            return false;
        }
        long[] b = blocks[index / BLOCK_BITS];
        int w = index % BLOCK_BITS / 64;
        return w < b.length && (b[w] & 1L << index) != 0;
    }

    /** The smallest member that is at least from, or -1: the way to walk the set. */
    public int next(int from) {
        int i = Math.max(from, 0);
        int block = i / BLOCK_BITS;
        int word = i % BLOCK_BITS / 64;
        long mask = -1L << i;
        for (; block < blocks.length; block++, word = 0) {
            long[] b = blocks[block];
            for (; word < b.length; word++) {
                long v = b[word] & mask;
                mask = -1L;
                if (v != 0) {
                    return block * BLOCK_BITS + word * 64 + Long.numberOfTrailingZeros(v);
                }
            }
            mask = -1L;
        }
        return -1;
    }

    public int first() {
        return next(0);
    }

    public int last() {
        if (count == 0) {
            return -1;
        }
        long[] b = blocks[blocks.length - 1];
        return (blocks.length - 1) * BLOCK_BITS + b.length * 64 - 1 - Long.numberOfLeadingZeros(b[b.length - 1]);
    }

    public IndexSet without(int index) {
        if (!contains(index)) {
            return this;
        }
        int position = index / BLOCK_BITS;
        long[] b = blocks[position].clone();
        b[index % BLOCK_BITS / 64] &= ~(1L << index);
        long[][] copy = blocks.clone();
        copy[position] = trimmed(b);
        return new IndexSet(trimmed(copy), count - 1);
    }

    public IndexSet with(int index) {
        if (contains(index)) {
            return this;
        }
        if (isSmall() && index >= 0 && index < BLOCK_BITS) {
            long[] out = Arrays.copyOf(words(), Math.max(words().length, index / 64 + 1));
            out[index / 64] |= 1L << index;
            return new IndexSet(new long[][] {out}, count + 1);
        }
        Builder builder = new Builder(this);
        builder.add(index);
        return builder.build();
    }

    /** The cores of a node, most often: worth more than the general way, which makes room for a whole block. */
    private boolean isSmall() {
        return blocks.length <= 1;
    }

    private long[] words() {
        return blocks.length == 0 ? NONE : blocks[0];
    }

    /** Makes a set of words that no other set shares. */
    private static IndexSet small(long[] words) {
        int n = 0;
        for (long w : words) {
            n += Long.bitCount(w);
        }
        return n == 0 ? EMPTY : new IndexSet(new long[][] {trimmed(words)}, n);
    }

    public IndexSet minus(IndexSet other) {
        if (isSmall() && other.isSmall()) {
            long[] out = words().clone();
            long[] its = other.words();
            for (int i = 0; i < Math.min(out.length, its.length); i++) {
                out[i] &= ~its[i];
            }
            return small(out);
        }
        Builder builder = new Builder(this);
        for (int i = other.first(); i >= 0; i = other.next(i + 1)) {
            builder.remove(i);
        }
        return builder.build();
    }

    public IndexSet union(IndexSet other) {
        if (isEmpty() || other.isEmpty()) {
            return isEmpty() ? other : this;
        }
        if (isSmall() && other.isSmall()) {
            long[] out = Arrays.copyOf(words(), Math.max(words().length, other.words().length));
            for (int i = 0; i < other.words().length; i++) {
                out[i] |= other.words()[i];
            }
            return small(out);
        }
        Builder builder = new Builder(this);
        for (int i = other.first(); i >= 0; i = other.next(i + 1)) {
            builder.add(i);
        }
        return builder.build();
    }

    public IndexSet intersect(IndexSet other) {
        if (isSmall() && other.isSmall()) {
            long[] out = Arrays.copyOf(words(), Math.min(words().length, other.words().length));
            for (int i = 0; i < out.length; i++) {
                out[i] &= other.words()[i];
            }
            return small(out);
        }
        Builder builder = new Builder();
        for (int i = first(); i >= 0; i = next(i + 1)) {
            if (other.contains(i)) {
                builder.add(i);
            }
        }
        return builder.build();
    }

    /**
     * Counts the groups of {@code size} neighbours, counted from 0, that have an index of the set.
     *
     * @param size at least 1
     */
    public int groups(int size) {
        int groups = 0;
        for (int i = first(); i >= 0; i = next((i / size + 1) * size)) {
            groups++;
        }
        return groups;
    }

    /**
     * Ranges and single values, never a step ({@code 0,8,16-17}): how CPUs, cores and devices are written.
     * {@link #parse} reads it.
     */
    public String ranges() {
        return print(0);
    }

    /**
     * Ranges and single values as squeue shows them: {@code 1-3,7}; cut after maxLength with {@code ...} (0: never).
     */
    public String print(int maxLength) {
        StringBuilder text = new StringBuilder();
        int i = first();
        while (i >= 0 && (maxLength == 0 || text.length() <= maxLength)) {
            int end = lastOfRun(i);
            if (!text.isEmpty()) {
                text.append(',');
            }
            text.append(i);
            if (end > i) {
                text.append('-').append(end);
            }
            i = next(end + 1);
        }
        if (maxLength > 0 && text.length() > maxLength) {
            text.setLength(maxLength);
            text.append("...");
        }
        return text.toString();
    }

    private int lastOfRun(int from) {
        int block = from / BLOCK_BITS;
        int word = from % BLOCK_BITS / 64;
        int bit = from % 64;
        while (block < blocks.length) {
            long[] b = blocks[block];
            if (word >= b.length) {
                break;
            }
            int ones = Long.numberOfTrailingZeros(~(b[word] >>> bit));
            if (ones < 64 - bit) {
                return block * BLOCK_BITS + word * 64 + bit + ones - 1;
            }
            bit = 0;
            if (++word == BLOCK_WORDS) {
                word = 0;
                block++;
            }
        }
        return block * BLOCK_BITS + word * 64 + bit - 1;
    }

    /** The shortest exact text, with steps ({@code 0-100000:2,7}): what is stored. {@link #parseSpec} reads it. */
    public String compact() {
        StringBuilder text = new StringBuilder();
        int i = first();
        while (i >= 0) {
            int second = next(i + 1);
            int end = i;
            int step = second < 0 ? 1 : second - i;
            if (second >= 0 && step == 1) {
                end = lastOfRun(i);
            } else if (second >= 0) {
                end = second;
                for (int n = next(end + 1); n - end == step; n = next(end + 1)) {
                    end = n;
                }
                // Two values with a gap are no progression worth naming.
                end = (end - i) / step < 2 ? i : end;
            }
            if (!text.isEmpty()) {
                text.append(',');
            }
            text.append(i);
            if (end > i) {
                text.append('-').append(end);
                if (step > 1) {
                    text.append(':').append(step);
                }
            }
            i = next(end + 1);
        }
        return text.toString();
    }

    /**
     * Returns the part of a compact text that is shown: a step is named where the whole set goes by it and has more
     * members than {@link #LISTED}.
     */
    public static String shown(String compact) {
        int colon = compact.indexOf(':');
        if (colon < 0) {
            return compact;
        }
        IndexSet set = parse(compact);
        boolean one = compact.indexOf(',') < 0 && compact.lastIndexOf(':') == colon;
        return one && set.count > LISTED ? compact : set.print(0);
    }

    private static long[] trimmed(long[] words) {
        int n = words.length;
        while (n > 0 && words[n - 1] == 0) {
            n--;
        }
        if (n == 0) {
            return NONE;
        }
        if (n == words.length) {
            return words;
        }
        return Arrays.copyOf(words, n);
    }

    private static long[][] trimmed(long[][] words) {
        int n = words.length;
        while (n > 0 && words[n - 1].length == 0) {
            n--;
        }
        return n == words.length ? words : Arrays.copyOf(words, n);
    }

    /**
     * The inverse of {@link #compact}.
     *
     * @throws IllegalArgumentException if the text is not one
     */
    public static IndexSet parse(String text) {
        if (text.isEmpty()) {
            return EMPTY;
        }
        List<Spec> spec = parseSpec(text, MAX_INDEX);
        if (spec.isEmpty() || spec.getFirst().limit() > 0) {
            throw new IllegalArgumentException("not an index set: " + text);
        }
        return spec.getFirst().indexes();
    }

    @Override
    public boolean equals(Object o) {
        return o instanceof IndexSet s && count == s.count && Arrays.deepEquals(blocks, s.blocks);
    }

    @Override
    public int hashCode() {
        return 31 * count + Arrays.deepHashCode(blocks);
    }

    @Override
    public String toString() {
        return compact();
    }

    /** Mutable while a set is put together. */
    private static final class Builder {
        private long[][] blocks;
        private boolean[] owned;

        Builder() {
            this(EMPTY);
        }

        Builder(IndexSet from) {
            blocks = from.blocks.clone();
            owned = new boolean[blocks.length];
        }

        /** @param word that is to be there */
        private long[] block(int index, int word) {
            if (index >= blocks.length) {
                int old = blocks.length;
                blocks = Arrays.copyOf(blocks, Math.max(index + 1, Math.min(old * 2, MAX_INDEX / BLOCK_BITS + 1)));
                owned = Arrays.copyOf(owned, blocks.length);
                Arrays.fill(blocks, old, blocks.length, NONE);
            }
            if (!owned[index] || blocks[index].length <= word) {
                int room = blocks[index].length <= word
                        ? Math.min(BLOCK_WORDS, Math.max(word + 1, 2 * blocks[index].length))
                        : blocks[index].length;
                blocks[index] = Arrays.copyOf(blocks[index], room);
                owned[index] = true;
            }
            return blocks[index];
        }

        void add(int index) {
            if (index < 0 || index > MAX_INDEX) {
                throw new IllegalArgumentException("array index out of range: " + index);
            }
            int word = index % BLOCK_BITS / 64;
            block(index / BLOCK_BITS, word)[word] |= 1L << index;
        }

        boolean addRange(int from, int to, int step) {
            long i = from;
            while (i <= to) {
                if (step == 1 && i % BLOCK_BITS == 0 && to - i >= BLOCK_BITS - 1) {
                    int index = (int) (i / BLOCK_BITS);
                    block(index, 0);
                    blocks[index] = FULL;
                    owned[index] = false;
                    i += BLOCK_BITS;
                } else {
                    add((int) i);
                    i += step;
                }
            }
            return true;
        }

        void remove(int index) {
            int word = index % BLOCK_BITS / 64;
            if (index / BLOCK_BITS < blocks.length) {
                block(index / BLOCK_BITS, word)[word] &= ~(1L << index);
            }
        }

        IndexSet build() {
            int n = 0;
            long[][] out = blocks.clone();
            for (int i = 0; i < out.length; i++) {
                out[i] = trimmed(out[i]);
                for (long w : out[i]) {
                    n += Long.bitCount(w);
                }
            }
            return n == 0 ? EMPTY : new IndexSet(trimmed(out), n);
        }
    }
}
