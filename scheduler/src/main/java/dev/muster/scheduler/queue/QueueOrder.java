package dev.muster.scheduler.queue;

import dev.muster.core.state.Job;
import dev.muster.scheduler.node.NeedClass;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/**
 * The queue in its order, in blocks of columns: a job that is added or removed moves one block, and a pass reads a few
 * bytes of each job that it need not try.
 */
public final class QueueOrder {
    /** Jobs of a block, at most. */
    private static final int BLOCK = 512;
    /** Mark of a job whose rank is unknown. */
    public static final int UNKNOWN = -1;

    /** A job in the queue's order: the higher tier first, then higher priority, then the older one. */
    public record Place(int tier, long priority, int jobId, Job job) implements Comparable<Place> {
        @Override
        public int compareTo(Place other) {
            if (tier != other.tier) {
                return Integer.compare(other.tier, tier);
            }
            if (priority != other.priority) {
                return Long.compare(other.priority, priority);
            }
            return Integer.compare(jobId, other.jobId);
        }

        @Override
        public String toString() {
            return tier + ":" + priority + ":" + jobId;
        }
    }

    /** Some jobs of the queue that follow each other. */
    public static final class Block {
        public int size;
        public final Place[] places = new Place[BLOCK];
        /** {@link Lane} of each job, or UNKNOWN. */
        public final int[] lanes = new int[BLOCK];
        /** Number of the {@link NeedClass} of each job that has a lane, beside it because each pass reads it. */
        public final int[] needs = new int[BLOCK];
        /**
         * Number of each job's {@link JobClassIndex.Group}; below, one more than the number of its payer, 0 if there is
         * none.
         */
        public final int[] groups = new int[BLOCK];

        public final int[] payers = new int[BLOCK];
        /** Ordinal of the reason that each job was last told, or UNKNOWN. */
        public final short[] toldReasons = new short[BLOCK];
        /** The last verdict of a job that can be skipped while its verdict stays; UNKNOWN for others. */
        public final short[] passed = new short[BLOCK];

        private void insert(int index, Place place) {
            System.arraycopy(places, index, places, index + 1, size - index);
            System.arraycopy(lanes, index, lanes, index + 1, size - index);
            System.arraycopy(needs, index, needs, index + 1, size - index);
            System.arraycopy(groups, index, groups, index + 1, size - index);
            System.arraycopy(payers, index, payers, index + 1, size - index);
            System.arraycopy(toldReasons, index, toldReasons, index + 1, size - index);
            System.arraycopy(passed, index, passed, index + 1, size - index);
            places[index] = place;
            forget(index, index + 1);
            size++;
        }

        public Block copy() {
            Block out = new Block();
            out.size = size;
            System.arraycopy(places, 0, out.places, 0, size);
            System.arraycopy(lanes, 0, out.lanes, 0, size);
            System.arraycopy(needs, 0, out.needs, 0, size);
            System.arraycopy(groups, 0, out.groups, 0, size);
            System.arraycopy(payers, 0, out.payers, 0, size);
            System.arraycopy(toldReasons, 0, out.toldReasons, 0, size);
            System.arraycopy(passed, 0, out.passed, 0, size);
            return out;
        }

        private void delete(int index) {
            size--;
            System.arraycopy(places, index + 1, places, index, size - index);
            System.arraycopy(lanes, index + 1, lanes, index, size - index);
            System.arraycopy(needs, index + 1, needs, index, size - index);
            System.arraycopy(groups, index + 1, groups, index, size - index);
            System.arraycopy(payers, index + 1, payers, index, size - index);
            System.arraycopy(toldReasons, index + 1, toldReasons, index, size - index);
            System.arraycopy(passed, index + 1, passed, index, size - index);
            places[size] = null;
        }

        /** Forgets what is known of these entries, and of the jobs that had them before. */
        private void forget(int from, int to) {
            java.util.Arrays.fill(lanes, from, to, UNKNOWN);
            java.util.Arrays.fill(needs, from, to, 0);
            java.util.Arrays.fill(groups, from, to, 0);
            java.util.Arrays.fill(payers, from, to, 0);
            java.util.Arrays.fill(toldReasons, from, to, (short) UNKNOWN);
            java.util.Arrays.fill(passed, from, to, (short) UNKNOWN);
        }

        private int find(Place place) {
            return java.util.Arrays.binarySearch(places, 0, size, place);
        }

        private Block split() {
            Block right = new Block();
            int half = size / 2;
            right.size = size - half;
            System.arraycopy(places, half, right.places, 0, right.size);
            System.arraycopy(lanes, half, right.lanes, 0, right.size);
            System.arraycopy(needs, half, right.needs, 0, right.size);
            System.arraycopy(groups, half, right.groups, 0, right.size);
            System.arraycopy(payers, half, right.payers, 0, right.size);
            System.arraycopy(toldReasons, half, right.toldReasons, 0, right.size);
            System.arraycopy(passed, half, right.passed, 0, right.size);
            java.util.Arrays.fill(places, half, size, null);
            size = half;
            return right;
        }
    }

    private final List<Block> blocks = new ArrayList<>();
    private int size;

    public List<Block> blocks() {
        return blocks;
    }

    public int size() {
        return size;
    }

    public boolean isEmpty() {
        return size == 0;
    }

    void clear() {
        blocks.clear();
        size = 0;
    }

    /** Returns the last block that begins at or before the place; 0 if there is none. */
    private int blockOf(Place place) {
        int lo = 0;
        int hi = blocks.size() - 1;
        while (lo < hi) {
            int mid = (lo + hi + 1) >>> 1;
            if (blocks.get(mid).places[0].compareTo(place) <= 0) {
                lo = mid;
            } else {
                hi = mid - 1;
            }
        }
        return lo;
    }

    public void add(Place place) {
        if (blocks.isEmpty()) {
            blocks.add(new Block());
        }
        int b = blockOf(place);
        Block block = blocks.get(b);
        if (block.size == BLOCK) {
            blocks.add(b + 1, block.split());
            b = blocks.get(b + 1).places[0].compareTo(place) <= 0 ? b + 1 : b;
            block = blocks.get(b);
        }
        int index = block.find(place);
        block.insert(index < 0 ? -index - 1 : index, place);
        size++;
    }

    public void remove(Place place) {
        int b = blockOf(place);
        int index = blocks.isEmpty() ? -1 : blocks.get(b).find(place);
        if (index >= 0) {
            blocks.get(b).delete(index);
            size--;
            if (blocks.get(b).size == 0) {
                blocks.remove(b);
            }
        }
    }

    /** Fills the queue anew, in the order of the places. */
    public void fill(Collection<Place> places) {
        clear();
        Place[] sorted = places.toArray(new Place[0]);
        java.util.Arrays.parallelSort(sorted);
        Block block = new Block();
        for (Place place : sorted) {
            if (block.size >= BLOCK * 3 / 4) {
                blocks.add(block);
                block = new Block();
            }
            block.insert(block.size, place);
        }
        if (block.size > 0) {
            blocks.add(block);
        }
        size = sorted.length;
    }

    /** Forgets what was known of a job. */
    public void forget(Place place) {
        int b = blockOf(place);
        int index = blocks.isEmpty() ? -1 : blocks.get(b).find(place);
        if (index >= 0) {
            blocks.get(b).forget(index, index + 1);
        }
    }

    /** Lets the job be looked at in the next pass, whatever it was told. */
    void look(Place place) {
        int b = blockOf(place);
        int index = blocks.isEmpty() ? -1 : blocks.get(b).find(place);
        if (index >= 0) {
            blocks.get(b).passed[index] = (short) UNKNOWN;
        }
    }

    /** Forgets what was known of the jobs. */
    public void forget() {
        blocks.forEach(b -> b.forget(0, BLOCK));
    }

    public void forEach(Consumer<Place> each) {
        for (Block block : blocks) {
            for (int i = 0; i < block.size; i++) {
                each.accept(block.places[i]);
            }
        }
    }

    @Override
    public String toString() {
        List<Place> all = new ArrayList<>(size);
        forEach(all::add);
        return all.toString();
    }
}
