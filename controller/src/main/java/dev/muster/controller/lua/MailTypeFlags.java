package dev.muster.controller.lua;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The bits of {@code mail_type}, as in the constants of the slurm table, for the words of {@code --mail-type}. */
public final class MailTypeFlags {
    private static final String ALL = "INVALID_DEPEND,BEGIN,END,FAIL,REQUEUE,STAGE_OUT";
    private static final List<String> WORDS = List.of(
            "BEGIN",
            "END",
            "FAIL",
            "REQUEUE",
            "TIME_LIMIT",
            "TIME_LIMIT_90",
            "TIME_LIMIT_80",
            "TIME_LIMIT_50",
            "STAGE_OUT",
            "ARRAY_TASKS",
            "INVALID_DEPEND");

    private MailTypeFlags() {}

    public static long of(String words) {
        long bits = 0;
        for (String word :
                words.toUpperCase(Locale.ROOT).replaceAll("\\bALL\\b", ALL).split(",")) {
            bits |= WORDS.contains(word) ? 1L << WORDS.indexOf(word) : 0;
        }
        return bits;
    }

    /** Returns the words with commas; "" for no bit. */
    public static String words(long bits) {
        List<String> out = new ArrayList<>();
        for (int i = 0; i < WORDS.size(); i++) {
            if ((bits & 1L << i) != 0) {
                out.add(WORDS.get(i));
            }
        }
        return String.join(",", out);
    }
}
