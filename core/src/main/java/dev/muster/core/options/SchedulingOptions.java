package dev.muster.core.options;

/**
 * Options that decide when jobs start.
 *
 * @param inOrder SchedulerType=sched/builtin: jobs of a partition start in the order of the queue; no by default
 * @param limitStops assoc_limit_stop: a job that a limit stops holds back the jobs behind it; no by default
 * @param serialAtEnd pack_serial_at_end: jobs of one CPU take the last nodes; no by default
 * @param softTimeMin time_min_as_soft_limit: jobs are planned with their --time-min; no by default
 * @param switchWaitMaxS max_switch_wait: seconds that a job waits for few switches, 0 to 999,999,999; 300 by default
 * @param delaysBoot delay_boot is set; no by default
 * @param bootDelayS delay_boot: seconds that a job waits for nodes with its features before others are rebooted; 0 by
 *     default
 * @param completeWaitS CompleteWait: seconds that waiting jobs leave to completing ones; 0 by default
 * @param completesByPartition reduce_completing_frag: only partitions with nodes of completing jobs wait; no by default
 * @param reservationOverRunS ResvOverRun: seconds that jobs may run on after the end of their reservation, -1 without
 *     limit; 0 by default
 */
public record SchedulingOptions(
        boolean inOrder,
        boolean limitStops,
        boolean serialAtEnd,
        boolean softTimeMin,
        long switchWaitMaxS,
        boolean delaysBoot,
        long bootDelayS,
        int completeWaitS,
        boolean completesByPartition,
        long reservationOverRunS) {
    /** {@code true} with SchedulerType=sched/builtin. */
    public static final String IN_ORDER = "in_order";
    /** CompleteWait, seconds. */
    public static final String COMPLETE_WAIT = "complete_wait";
    /** ResvOverRun, seconds; -1 without limit. */
    public static final String RESV_OVER_RUN = "resv_over_run";

    private static final String DELAY_BOOT = "delay_boot";

    static SchedulingOptions of(OptionParser text) {
        return new SchedulingOptions(
                text.has(IN_ORDER),
                text.has("assoc_limit_stop"),
                text.has("pack_serial_at_end"),
                text.has("time_min_as_soft_limit"),
                text.digits("max_switch_wait", 9, 300),
                text.has(DELAY_BOOT),
                // in minutes, as --delay-boot is
                60 * text.digits(DELAY_BOOT, 7, 0),
                text.count(COMPLETE_WAIT, 0),
                text.has("reduce_completing_frag"),
                text.number(RESV_OVER_RUN, 0));
    }
}
