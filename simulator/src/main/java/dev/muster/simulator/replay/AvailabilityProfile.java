package dev.muster.simulator.replay;

import java.util.Arrays;

/**
 * CPUs that come free, or with a negative number are taken, at times to come: ascending by time, one entry for each
 * time.
 */
final class AvailabilityProfile {
    private long[] atS = new long[64];
    private int[] cpus = new int[64];
    private int size;

    AvailabilityProfile copy() {
        AvailabilityProfile out = new AvailabilityProfile();
        out.atS = Arrays.copyOf(atS, atS.length);
        out.cpus = Arrays.copyOf(cpus, cpus.length);
        out.size = size;
        return out;
    }

    void add(long timeS, int count) {
        int at = Arrays.binarySearch(atS, 0, size, timeS);
        if (at >= 0) {
            cpus[at] += count;
            return;
        }
        at = -at - 1;
        if (size == atS.length) {
            atS = Arrays.copyOf(atS, size * 2);
            cpus = Arrays.copyOf(cpus, size * 2);
        }
        System.arraycopy(atS, at, atS, at + 1, size - at);
        System.arraycopy(cpus, at, cpus, at + 1, size - at);
        atS[at] = timeS;
        cpus[at] = count;
        size++;
    }

    /** What was added does not come after all. */
    void remove(long timeS, int count) {
        int at = Arrays.binarySearch(atS, 0, size, timeS);
        cpus[at] -= count;
        if (cpus[at] == 0) {
            size--;
            System.arraycopy(atS, at + 1, atS, at, size - at);
            System.arraycopy(cpus, at + 1, cpus, at, size - at);
        }
    }

    /** Returns the first time by which {@code count} more have come free. */
    long whenFree(int count) {
        int sum = 0;
        int i = 0;
        while (sum < count) {
            sum += cpus[i++];
        }
        return i == 0 ? Long.MIN_VALUE : atS[i - 1];
    }

    /** Returns the number that comes free until then, that time included. */
    int freedBy(long timeS) {
        int sum = 0;
        for (int i = 0; i < size && atS[i] <= timeS; i++) {
            sum += cpus[i];
        }
        return sum;
    }

    /**
     * The first time from now on at which that many CPUs stay free for that long.
     *
     * @param free now
     */
    long earliest(long nowS, int free, int count, long lengthS) {
        long from = nowS;
        int have = free;
        boolean fits = have >= count;
        for (int i = 0; i < size && !(fits && atS[i] >= from + lengthS); i++) {
            have += cpus[i];
            if (have < count) {
                fits = false;
            } else if (!fits) {
                fits = true;
                from = atS[i];
            }
        }
        return from;
    }
}
