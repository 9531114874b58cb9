package dev.muster.core.options;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Multi-category security: which labels jobs get, and which of them share nodes.
 *
 * @param kind MCSPlugin: none, user, group, account or label; none by default
 * @param enforced MCSParameters=enforced: every job gets a label, not only those that ask for one; no by default
 * @param select which labelled jobs share nodes with their own label alone; ASKED by default
 * @param privateData MCSParameters=privatedata; no by default
 * @param groups names and numbers of the groups whose names are labels, in their order; none by default
 */
public record McsOptions(
        String kind, boolean enforced, Select select, boolean privateData, Map<String, Integer> groups) {
    /** MCSPlugin. */
    public static final String PLUGIN = "mcs_plugin";
    /** MCSParameters. */
    public static final String PARAMETERS = "mcs_parameters";
    /** {@code name:gid,…} of the groups that MCSParameters names. */
    public static final String GROUPS = "mcs_groups";

    /** The labelled jobs that share nodes with their own label alone. */
    public enum Select {
        ALWAYS,
        NEVER,
        ASKED
    }

    static McsOptions of(OptionParser text) {
        List<String> words = List.of(text.text(PARAMETERS).split(":", 2)[0].split(","));
        Map<String, Integer> groups = new LinkedHashMap<>();
        for (String pair : text.list(GROUPS)) {
            int colon = pair.lastIndexOf(':');
            long gid = colon > 0 ? OptionParser.parsed(pair.substring(colon + 1), -1) : -1;
            if (gid >= 0) {
                groups.put(pair.substring(0, colon), (int) gid);
            }
        }
        String plugin = text.text(PLUGIN);
        Select select = words.contains("noselect") ? Select.NEVER : Select.ASKED;
        return new McsOptions(
                plugin.startsWith("mcs/") ? plugin.substring(4) : "none",
                words.contains("enforced"),
                words.contains("select") ? Select.ALWAYS : select,
                words.contains("privatedata"),
                Collections.unmodifiableMap(groups));
    }
}
