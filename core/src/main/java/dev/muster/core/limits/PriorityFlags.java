package dev.muster.core.limits;

import dev.muster.core.state.Settings;
import java.util.List;
import java.util.Locale;

/** What PriorityFlags asks for. */
public final class PriorityFlags {
    private PriorityFlags() {}

    /** Words of PriorityFlags, in upper case. */
    public static List<String> of(Settings settings) {
        return List.of(settings.options()
                .getOrDefault("priority_flags", "")
                .toUpperCase(Locale.ROOT)
                .split(","));
    }

    /** CALCULATE_RUNNING: also of jobs that run. */
    public static boolean ofRunning(Settings settings) {
        return of(settings).contains("CALCULATE_RUNNING");
    }

    /** From their submission on, eligible or not. */
    public static boolean growAlways(Settings settings) {
        return of(settings).contains("ACCRUE_ALWAYS");
    }

    /** PriorityFlags: DEPTH_OBLIVIOUS means NO_FAIR_TREE as well. */
    public static FairShare.Rule rule(Settings settings) {
        List<String> flags = of(settings);
        if (flags.contains("DEPTH_OBLIVIOUS")) {
            return FairShare.Rule.DEPTH_OBLIVIOUS;
        }
        if (flags.contains("NO_FAIR_TREE")) {
            return FairShare.Rule.CLASSIC;
        }
        return FairShare.Rule.TREE;
    }
}
