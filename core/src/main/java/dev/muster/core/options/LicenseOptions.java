package dev.muster.core.options;

import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;

/**
 * The cluster's own licenses.
 *
 * @param own Licenses: counts by name, in the order of the names; none by default
 * @param bareNames LicenseParameters=RemoteFuzzyMatch: the server of a license need not be named; no by default
 * @param excess allow_zero_lic: jobs may ask for more than there is, and wait; no by default
 */
public record LicenseOptions(Map<String, Integer> own, boolean bareNames, boolean excess) {
    /** slurm.conf's Licenses as written. */
    public static final String LICENSES = "licenses";
    /** {@code true} with LicenseParameters=RemoteFuzzyMatch. */
    public static final String BARE_LICENSES = "bare_licences";

    static LicenseOptions of(OptionParser text) {
        Map<String, Integer> own = new TreeMap<>();
        LicenseRequest.parse(text.text(LICENSES)).ifPresent(w -> w.items().forEach(i -> own.put(i.name(), i.count())));
        return new LicenseOptions(
                Collections.unmodifiableMap(own), text.has(BARE_LICENSES), text.has("allow_zero_lic"));
    }
}
