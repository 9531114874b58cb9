package dev.muster.core.limits;

import dev.muster.core.options.PriorityOptions.Flag;
import dev.muster.core.state.Settings;

/** Tests for the flags of PriorityFlags. */
public final class PriorityFlags {
    private PriorityFlags() {}

    private static boolean has(Settings settings, Flag flag) {
        return settings.options().priority().has(flag);
    }

    /** CALCULATE_RUNNING: also of jobs that run. */
    public static boolean ofRunning(Settings settings) {
        return has(settings, Flag.CALCULATE_RUNNING);
    }

    /** Tests whether jobs grow older from their submission on, eligible or not. */
    public static boolean growAlways(Settings settings) {
        return has(settings, Flag.ACCRUE_ALWAYS);
    }

    /** PriorityFlags: DEPTH_OBLIVIOUS means NO_FAIR_TREE as well. */
    public static FairShare.Rule rule(Settings settings) {
        if (has(settings, Flag.DEPTH_OBLIVIOUS)) {
            return FairShare.Rule.DEPTH_OBLIVIOUS;
        }
        if (has(settings, Flag.NO_FAIR_TREE)) {
            return FairShare.Rule.CLASSIC;
        }
        return FairShare.Rule.TREE;
    }
}
