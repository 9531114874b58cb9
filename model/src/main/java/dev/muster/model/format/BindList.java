package dev.muster.model.format;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The lists of --cpu-bind and --mem-bind: {@code 0,2*3} of numbers, {@code 0x3,f0} of masks; {@code *N} repeats an
 * item.
 */
public final class BindList {
    private static final int REPEATED_MAX = 65_536;
    private static final int DIGITS_MAX = 2_048;

    private BindList() {}

    /**
     * @param kind {@code map_cpu:}, or "" for a word that is none; text: from that word on; the answer is "" for a good
     *     one
     */
    public static String mistake(String option, String kind, String text) {
        String list = text.substring(text.indexOf(':') + 1);
        if (kind.isEmpty()) {
            return "unrecognized " + option + " argument \"" + text + "\"";
        }
        if (text.indexOf(':') < 0 || list.isEmpty()) {
            return "missing list for \"" + option + "=" + kind + "<list>\"";
        }
        for (String item : list.split(",", -1)) {
            String[] parts = item.split("\\*", 2);
            String digits = kind.startsWith("mask") ? parts[0].replaceFirst("^0[xX]", "") : parts[0];
            String error = offending(digits, kind.startsWith("mask") ? 16 : 10);
            if (!error.isEmpty() || digits.isEmpty() || digits.length() > (kind.startsWith("mask") ? DIGITS_MAX : 5)) {
                return "Failed to validate number: " + parts[0]
                        + (error.isEmpty() ? "" : ", the offending character is " + error);
            }
            if (parts.length > 1 && !parts[1].matches("[0-9]{1,5}")) {
                return "Failed to validate number: " + parts[1];
            }
        }
        return "";
    }

    private static String offending(String digits, int radix) {
        return digits.chars()
                .filter(c -> Character.digit(c, radix) < 0)
                .mapToObj(Character::toString)
                .findFirst()
                .orElse("");
    }

    /** Each as often as it is to be used; masks without 0x. */
    public static List<String> items(String list, boolean masks) {
        List<String> out = new ArrayList<>();
        for (String item : list.split(",")) {
            String[] parts = item.split("\\*", 2);
            String value = masks ? parts[0].replaceFirst("^0[xX]", "") : parts[0];
            int times = parts.length > 1 ? Math.min(Integer.parseInt(parts[1]), REPEATED_MAX - out.size()) : 1;
            out.addAll(Collections.nCopies(Math.max(0, times), value));
        }
        return List.copyOf(out);
    }

    /** Returns the numbers of a mask's bits, of a number itself. */
    public static List<Integer> members(String item, boolean mask) {
        if (!mask) {
            return List.of(Integer.parseInt(item));
        }
        BigInteger bits = new BigInteger(item, 16);
        List<Integer> out = new ArrayList<>();
        for (int i = 0; i < bits.bitLength(); i++) {
            if (bits.testBit(i)) {
                out.add(i);
            }
        }
        return out;
    }
}
