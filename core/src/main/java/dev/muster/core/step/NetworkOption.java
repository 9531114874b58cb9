package dev.muster.core.step;

import dev.muster.core.command.Decision;
import dev.muster.core.state.Settings;
import dev.muster.core.tres.ImexChannels;
import dev.muster.model.SlurmErrno;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * The words of {@code --network}, most of which configure the switches of one maker. A cluster without such a plugin
 * accepts and ignores all of them, as release 26.05 does: the same script then runs on clusters with and without these
 * switches.
 */
public final class NetworkOption {
    /** Words that ask for nothing that any cluster lacks. */
    private static final Set<String> IDLE = Set.of("ip", "no_vni");

    private static final Set<String> SLINGSHOT =
            Set.of("job_vni", "single_node_vni", "adjust_limits", "no_adjust_limits", "disable_rdzv_get");
    private static final List<String> RESOURCES = List.of("txqs", "tgqs", "eqs", "cts", "tles", "ptes", "les", "acs");
    private static final Set<String> CLASSES = Set.of("DEDICATED_ACCESS", "LOW_LATENCY", "BULK_DATA", "BEST_EFFORT");

    private NetworkOption() {}

    /**
     * Returns the error of the first word that cannot be honoured; empty if all can. Without SwitchType no plugin reads
     * the words, and all are accepted.
     */
    public static Optional<Decision.Rejected> refusal(String words, Settings settings) {
        boolean channels = ImexChannels.count(settings) > 0;
        if (!channels) {
            return Optional.empty();
        }
        for (String word : words.isEmpty() ? new String[0] : words.split(",")) {
            String w = word.strip().toLowerCase(Locale.ROOT);
            if (!IDLE.contains(w) && !w.equals(ImexChannels.EACH_SEGMENT)) {
                return Optional.of(new Decision.Rejected(SlurmErrno.NOT_SUPPORTED, objection(word.strip(), w)));
            }
        }
        return Optional.empty();
    }

    /** Tests whether a word, in lower case, is among the words. */
    public static boolean has(String words, String word) {
        return !words.isEmpty()
                && List.of(words.toLowerCase(Locale.ROOT).split("\\s*,\\s*")).contains(word);
    }

    private static String objection(String word, String w) {
        return isOfSlingshot(w)
                ? "--network=" + word + " needs an HPE Slingshot network, which this cluster does not have"
                : "Invalid --network specification: " + word;
    }

    private static boolean isOfSlingshot(String w) {
        int equals = w.indexOf('=');
        String name = equals < 0 ? w : w.substring(0, equals);
        String value = w.substring(equals + 1);
        boolean number = value.matches("[0-9]{1,9}");
        return SLINGSHOT.contains(w)
                || equals > 0 && number && (name.equals("depth") || name.equals("nic_distribution_count"))
                || equals > 0 && number && name.matches("(def|res|max)_.*") && RESOURCES.contains(name.substring(4))
                || name.equals("tcs")
                        && equals > 0
                        && List.of(value.toUpperCase(Locale.ROOT).split(":", -1)).stream()
                                .allMatch(c -> CLASSES.contains(c.startsWith("TC_") ? c.substring(3) : c));
    }
}
