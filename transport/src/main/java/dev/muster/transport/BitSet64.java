package dev.muster.transport;

/** Numbers that have been seen: as a set of them, in an eighth of its memory. Not thread-safe. */
final class BitSet64 {
    private static final int FIRST = 1 << 10;

    /** Open addressing, at most three fifths full; 0 is an empty place. */
    private long[] table = new long[FIRST];

    private boolean hasZero;
    private int size;

    int size() {
        return size;
    }

    boolean has(long mark) {
        return mark == 0 ? hasZero : table[place(table, mark)] == mark;
    }

    /** Returns false if it was there. */
    boolean add(long mark) {
        if (mark == 0) {
            size += hasZero ? 0 : 1;
            boolean isNew = !hasZero;
            hasZero = true;
            return isNew;
        }
        int place = place(table, mark);
        if (table[place] == mark) {
            return false;
        }
        table[place] = mark;
        if (++size > table.length / 5 * 3) {
            long[] larger = new long[2 * table.length];
            for (long each : table) {
                if (each != 0) {
                    larger[place(larger, each)] = each;
                }
            }
            table = larger;
        }
        return true;
    }

    /**
     * Place of a mark in the table, or the place for it. Marks are the first bits of a MAC, which need no further hash.
     */
    private static int place(long[] table, long mark) {
        int index = (int) (mark ^ mark >>> 32) & table.length - 1;
        while (table[index] != 0 && table[index] != mark) {
            index = index + 1 & table.length - 1;
        }
        return index;
    }
}
