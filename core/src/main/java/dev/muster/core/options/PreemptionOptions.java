package dev.muster.core.options;

import java.util.List;

/**
 * Preemption and gang scheduling.
 *
 * @param byQos PreemptType=preempt/qos
 * @param byPartition PreemptType=preempt/partition_prio
 * @param modes words of PreemptMode in upper case; OFF by default
 * @param modeText PreemptMode as written, in upper case; "" by default
 * @param exemptS PreemptExemptTime in seconds, -1 for none; -1 by default
 * @param exemptPriority min_exempt_priority: jobs of this priority and above are exempt, 0 to 9,999,999,999;
 *     {@link Long#MAX_VALUE} by default
 * @param youngestFirst preempt_youngest_first or youngest_first: the job that started last goes first
 * @param reclaimsLicenses reclaim_licenses: jobs may be preempted for licenses
 * @param sendsUserSignal send_user_signal: victims get the signal that they asked for
 * @param gangSliceS SchedulerTimeSlice in seconds, -1 without PreemptMode=GANG; -1 by default
 */
public record PreemptionOptions(
        boolean byQos,
        boolean byPartition,
        List<String> modes,
        String modeText,
        long exemptS,
        long exemptPriority,
        boolean youngestFirst,
        boolean reclaimsLicenses,
        boolean sendsUserSignal,
        long gangSliceS) {
    /** PreemptType. */
    public static final String TYPE = "preempt_type";
    /** PreemptMode in upper case, with commas. */
    public static final String MODE = "preempt_mode";
    /** PreemptExemptTime, seconds. */
    public static final String EXEMPT_S = "preempt_exempt_s";
    /** PreemptParameters in lower case, with commas. */
    public static final String PARAMETERS = "preempt_parameters";
    /** SchedulerTimeSlice, where PreemptMode has GANG. */
    public static final String GANG_SLICE_S = "gang_slice_s";

    static PreemptionOptions of(OptionParser text) {
        String type = text.text(TYPE);
        String exempt = text.text(EXEMPT_S, "-1");
        String priority = parameter(text, "min_exempt_priority");
        return new PreemptionOptions(
                type.equals("preempt/qos"),
                type.equals("preempt/partition_prio"),
                List.of(text.text(MODE, "OFF").split(",")),
                text.text(MODE),
                exemptS(exempt),
                priority.matches("[0-9]{1,10}") ? Long.parseLong(priority) : Long.MAX_VALUE,
                !parameter(text, "preempt_youngest_first").isEmpty()
                        || !parameter(text, "youngest_first").isEmpty(),
                !parameter(text, "reclaim_licenses").isEmpty(),
                !parameter(text, "send_user_signal").isEmpty(),
                text.has(GANG_SLICE_S) ? text.number(GANG_SLICE_S, 0) : -1);
    }

    /** Reads PreemptExemptTime in seconds, of slurm.conf or of a QOS; -1 for a text that is no number. */
    public static long exemptS(String text) {
        return text.matches("-?[0-9]{1,10}") ? Long.parseLong(text) : -1;
    }

    /** The value of a word of PreemptParameters, or of SchedulerParameters, the older place; "" if it is in neither. */
    private static String parameter(OptionParser text, String name) {
        if (text.has(name)) {
            String value = text.text(name);
            return value.isEmpty() ? "yes" : value;
        }
        for (String item : text.list(PARAMETERS)) {
            if (item.startsWith(name)) {
                return item.equals(name) ? "yes" : item.substring(name.length() + 1);
            }
        }
        return "";
    }

    /** Tests whether PreemptMode has GANG: jobs that have the same cores take turns. */
    public boolean takesTurns() {
        return gangSliceS >= 0;
    }
}
