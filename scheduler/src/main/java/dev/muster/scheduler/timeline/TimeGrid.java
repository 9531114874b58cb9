package dev.muster.scheduler.timeline;

import java.util.TreeSet;

/**
 * The slots of a plan, by the seconds from now at which they begin; each lasts until the next. They are fine near now
 * and coarse later; where few jobs run, the exact times of their ends are slots too, so that nothing is rounded.
 *
 * @param starts ascending, the first 0, all below 2^31
 */
public record TimeGrid(int[] starts) {
    /** Seconds up to which steps are fine enough to go by: seven days. */
    public static final int HORIZON_S = 7 * 86400;

    private static final int MONTH_S = 30 * 86400;
    /** Seconds after which a job without a limit counts as ended in estimated starts, as in Slurm. */
    public static final int YEAR_S = 365 * 86400;
    /** Steps in seconds and where they end. */
    private static final int[][] STEPS = {
        {60, 600}, {300, 3600}, {900, 6 * 3600}, {3600, 86400}, {7200, 3 * 86400}, {4 * 3600, HORIZON_S}
    };
    /** Steps behind the fine slots: in a pass, which makes few reservations there, and in a plan of the whole queue. */
    private static final int[][] PASS_STEPS = {{4 * 86400, MONTH_S}, {28 * 86400, YEAR_S}};

    private static final int[][] PLAN_STEPS = {
        {86400, MONTH_S}, {7 * 86400, YEAR_S}, {30 * 86400, 2 * YEAR_S}, {YEAR_S, 20 * YEAR_S}
    };
    /** Number of slots in the seven days. */
    public static final int NEAR_COUNT = telescoping(1, new int[0][]).length;

    static final TimeGrid TELESCOPING = new TimeGrid(telescoping(1, PASS_STEPS));
    private static final TimeGrid FEW = new TimeGrid(telescoping(1, PLAN_STEPS));
    /** Number of nodes up to which passes keep places behind the seven days as exactly as plans do. */
    private static final int FEW_NODES = 600;
    /** Slots times nodes of a plan with exact times: more, and only the telescoping ones are used. */
    public static final int CELLS_MAX = 1 << 19;

    /** Slots of a plan, at most. */
    private static final int SLOTS_MAX = 2000;
    /** Slots times nodes of a plan of everything: with few nodes its steps are finer. */
    private static final int PLAN_CELLS_MAX = 1 << 20;

    private static final int[] FINER = {20, 10, 6, 4, 3, 2};
    private static final int LATER_FINER = 4;
    /** Tests whether passes over that many nodes would spend too long on plans. */
    public static boolean isLarge(int nodes) {
        return (long) nodes * NEAR_COUNT > CELLS_MAX;
    }

    public static final int STEP_MIN_S = 60;

    /** Returns the finest grid that the number of nodes allows. */
    public static TimeGrid fine(int nodes) {
        return fine(nodes, FINER[0]);
    }

    /** Returns the grid for a window that begins later, where minutes do not matter. */
    public static TimeGrid later(int nodes) {
        return fine(nodes, LATER_FINER);
    }

    private static TimeGrid fine(int nodes, int maxFiner) {
        for (int f : FINER) {
            if (f > maxFiner) {
                continue;
            }
            TimeGrid t = new TimeGrid(telescoping(f, PLAN_STEPS));
            int near = t.slotAt(HORIZON_S);
            if (near <= SLOTS_MAX && (long) near * nodes <= PLAN_CELLS_MAX) {
                return t;
            }
        }
        return FEW;
    }

    private static int[] telescoping(int finer, int[][] laterSteps) {
        java.util.ArrayList<Integer> out = new java.util.ArrayList<>();
        int startS = 0;
        for (int[] step : STEPS) {
            while (startS < step[1]) {
                out.add(startS);
                startS += Math.max(STEP_MIN_S, step[0] / finer);
            }
        }
        for (int[] step : laterSteps) {
            while (startS < step[1]) {
                out.add(startS);
                startS += step[0];
            }
        }
        return out.stream().mapToInt(i -> i).toArray();
    }

    /** Adds these ends, in seconds from now, if there are few enough of them for the number of nodes. */
    static TimeGrid with(Iterable<Long> ends, int nodes) {
        TreeSet<Integer> all = new TreeSet<>();
        TimeGrid base = nodes <= FEW_NODES ? FEW : TELESCOPING;
        for (long end : ends) {
            if (end > 0 && end < Integer.MAX_VALUE / 2) {
                all.add((int) end);
                if ((long) (all.size() + NEAR_COUNT) * nodes > CELLS_MAX) {
                    return base;
                }
            }
        }
        for (int s : base.starts) {
            all.add(s);
        }
        return new TimeGrid(all.stream().mapToInt(i -> i).toArray());
    }

    public int count() {
        return starts.length;
    }

    /** Returns when the last slot begins, in seconds from now. */
    int reachS() {
        return starts[starts.length - 1];
    }

    /** Returns the first slot that begins at or after these seconds from now; the number of slots if there is none. */
    public int slotAt(long seconds) {
        int lo = 0;
        int hi = starts.length;
        while (lo < hi) {
            int mid = (lo + hi) >>> 1;
            if (starts[mid] >= seconds) {
                hi = mid;
            } else {
                lo = mid + 1;
            }
        }
        return lo;
    }

    /** Returns one past the last slot that a job starting in a slot with this limit touches. */
    public int endSlot(int slot, int limitMin) {
        return limitMin < 0 ? starts.length : Math.max(slot + 1, slotAt(starts[slot] + limitMin * 60L));
    }
}
