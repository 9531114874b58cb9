package dev.muster.core.options;

import java.util.Set;

/**
 * Options that decide how nodes and cores are selected.
 *
 * @param given whether slurm.conf has been read; no by default
 * @param words of SelectTypeParameters in upper case, and LINEAR for select/linear; none by default
 * @param specCoresFirst spec_cores_first: specialized cores are the first of each socket, not the last; no by default
 */
public record SelectTypeOptions(boolean given, Set<String> words, boolean specCoresFirst) {
    /** Words of SelectTypeParameters, and LINEAR for select/linear, with commas. */
    public static final String SELECT = "select";
    /** A word of SchedulerParameters. */
    public static final String SPEC_CORES_FIRST = "spec_cores_first";

    static SelectTypeOptions of(OptionParser text) {
        return new SelectTypeOptions(text.has(SELECT), Set.copyOf(text.list(SELECT)), text.has(SPEC_CORES_FIRST));
    }
}
