package dev.muster.core.options;

import java.time.DateTimeException;
import java.time.ZoneId;

/**
 * Options that decide how usage is counted and forgotten.
 *
 * @param dampening FairShareDampeningFactor, 1 to 65,535; 1 by default
 * @param halfLifeS PriorityDecayHalfLife in seconds, 0 for no decay; 604,800 by default
 * @param resetPeriod PriorityUsageResetPeriod in upper case; NONE by default
 * @param zone whose midnight ends a period; UTC by default
 */
public record UsageDecayOptions(int dampening, long halfLifeS, String resetPeriod, ZoneId zone) {
    /** FairShareDampeningFactor. */
    public static final String DAMPENING = "priority_dampening";
    /** Seconds. */
    public static final String HALF_LIFE_S = "priority_half_life";
    /** PriorityUsageResetPeriod in upper case. */
    public static final String RESET_PERIOD = "priority_reset_period";
    /** The id of slurmctld's time zone. */
    public static final String ZONE = "zone";

    static UsageDecayOptions of(OptionParser text) {
        return new UsageDecayOptions(
                text.count(DAMPENING, 1),
                text.number(HALF_LIFE_S, 604_800),
                text.text(RESET_PERIOD, "NONE"),
                zone(text.text(ZONE, "UTC")));
    }

    private static ZoneId zone(String id) {
        try {
            return ZoneId.of(id);
        } catch (DateTimeException e) {
            return ZoneId.of("UTC");
        }
    }
}
