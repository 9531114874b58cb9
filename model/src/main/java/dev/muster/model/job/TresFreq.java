package dev.muster.model.job;

import java.util.regex.Pattern;

/**
 * {@code --gpu-freq} as a job has it: {@code gpu:} with frequencies of the GPU and its memory, several such groups with
 * semicolons.
 */
public final class TresFreq {
    private static final String PART = "(((gpu|memory)=)?(low|medium|high|highm1|[0-9]{1,9})|verbose)";
    private static final String GROUP = "gpu:" + PART + "(," + PART + ")*";
    private static final Pattern ALL = Pattern.compile(GROUP + "(;" + GROUP + ")*");

    private TresFreq() {}

    /** Returns whether slurmctld accepts the text; "" is unset. */
    public static boolean isValid(String text) {
        return text.isEmpty() || ALL.matcher(text).matches();
    }
}
