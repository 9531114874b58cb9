package dev.muster.model.format;

import java.util.List;
import java.util.Locale;

/** Log levels of daemons, from quiet on; each level includes the ones before it. */
public final class LogLevels {
    public static final List<String> WORDS =
            List.of("quiet", "fatal", "error", "info", "verbose", "debug", "debug2", "debug3", "debug4", "debug5");

    private LogLevels() {}

    /** @param text a word in any case, or a number from 0 on; -1 for what is neither */
    public static int of(String text) {
        String word = text.strip().toLowerCase(Locale.ROOT);
        return word.length() == 1 && word.charAt(0) >= '0' && word.charAt(0) <= '9'
                ? word.charAt(0) - '0'
                : WORDS.indexOf(word);
    }

    /** @param level 0 to 9; what is beyond is the nearest of them */
    public static String word(int level) {
        return WORDS.get(Math.clamp(level, 0, WORDS.size() - 1));
    }
}
