package dev.muster.config.key;

import java.util.List;

/** SelectTypeParameters: which words go together, and with which SelectType. */
public final class SelectWords {
    /** Units of allocation: one of these may be given. */
    private static final List<String> UNITS =
            List.of("CR_CPU", "CR_CPU_MEMORY", "CR_CORE", "CR_CORE_MEMORY", "CR_SOCKET", "CR_SOCKET_MEMORY");

    private static final String MEMORY = "CR_MEMORY";
    private static final String LINEAR = "select/linear";
    private static final String NONE = "NONE";

    private SelectWords() {}

    private static int units(String words) {
        int found = 0;
        for (String word : Values.list(words)) {
            found += UNITS.contains(word) ? 1 : 0;
        }
        return found;
    }

    static String checked(String words, String given, Values values) {
        List<String> all = Values.list(words);
        boolean tasks =
                all.contains("CR_ONE_TASK_PER_CORE") && (all.contains("CR_CPU") || all.contains("CR_CPU_MEMORY"));
        if (tasks) {
            values.error("CR_ONE_TASK_PER_CORE is not compatible with CR_CPU*, please change to use CR_CORE* instead.");
        } else if (units(words) + (all.contains(MEMORY) ? 1 : 0) > 1) {
            values.error("Bad SelectTypeParameter: " + given);
        }
        return words;
    }

    /** The parameters with the plugin's default, cores and memory or none, where no unit is given. */
    public static String of(String selectType, String words, boolean given, Values values) {
        boolean linear = selectType.equals(LINEAR);
        if (!given) {
            return linear ? NONE : words;
        }
        if (linear && units(words) > 0) {
            values.error("Invalid SelectTypeParameters for select/linear: " + words
                    + ", it can't contain CR_(CPU|CORE|SOCKET).");
        } else if (!linear && units(words) == 0 && !words.isEmpty() && !words.equals(NONE)) {
            values.error("Invalid SelectTypeParameters: " + words + ", You need at least CR_(CPU|CORE|SOCKET)*");
        }
        return words;
    }
}
