package dev.muster.core.options;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Options of accounting: what it keeps and what it enforces.
 *
 * @param enforcement AccountingStorageEnforce; nothing by default
 * @param tracksWckeys TrackWCKey; no by default
 * @param stored words of AccountingStoreFlags in lower case; none by default
 * @param stepRecordsMax max_step_records: numbered steps of a job that are kept, 0 to {@link Integer#MAX_VALUE}; all by
 *     default
 * @param gres generic resources of AccountingStorageTRES, without {@code gres/}
 * @param gresTypes those among them that name a type, {@code gpu:a100}
 * @param licenses of AccountingStorageTRES, without {@code license/}
 * @param buffers burst buffers of AccountingStorageTRES, without {@code bb/}
 */
public record AccountingOptions(
        AccountingEnforcement enforcement,
        boolean tracksWckeys,
        Set<String> stored,
        int stepRecordsMax,
        List<String> gres,
        Set<String> gresTypes,
        List<String> licenses,
        List<String> buffers) {
    /** AccountingStorageEnforce: words in lower case, with commas. */
    public static final String ENFORCE = "accounting_enforce";
    /** {@code true} with TrackWCKey. */
    public static final String TRACK_WCKEY = "track_wckey";
    /** Words of AccountingStoreFlags in lower case, with commas. */
    public static final String ACCOUNTING_STORE = "accounting_store";
    /** Option that says how many of a job's numbered steps accounting keeps. */
    public static final String STEP_RECORDS_MAX = "step_records_max";
    /** Names of licenses of AccountingStorageTRES, with commas. */
    public static final String TRACKED_LICENSES = "tracked_licences";
    /** Burst buffers of AccountingStorageTRES without {@code bb/}, with commas. */
    public static final String TRACKED_BUFFERS = "tracked_buffers";
    /** Generic resources of AccountingStorageTRES without {@code gres/}, with commas. */
    public static final String TRACKED_GRES = "tracked_gres";

    static AccountingOptions of(OptionParser text) {
        List<String> gres = text.list(TRACKED_GRES);
        return new AccountingOptions(
                AccountingEnforcement.of(text.list(ENFORCE)),
                text.has(TRACK_WCKEY),
                Set.copyOf(text.list(ACCOUNTING_STORE)),
                text.count(STEP_RECORDS_MAX, Integer.MAX_VALUE),
                gres,
                types(gres),
                text.list(TRACKED_LICENSES),
                text.list(TRACKED_BUFFERS));
    }

    /** Returns the resources that name a type, in the order of the configuration. */
    private static Set<String> types(List<String> gres) {
        Set<String> out = new LinkedHashSet<>(gres);
        out.removeIf(name -> name.indexOf(':') <= 0);
        return Collections.unmodifiableSet(out);
    }
}
