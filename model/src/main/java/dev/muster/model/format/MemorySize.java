package dev.muster.model.format;

import java.util.OptionalLong;

/** Sizes of memory and disk as Slurm reads and prints them. */
public final class MemorySize {
    private static final String UNITS = "KMGTPEZ";
    private static final int MAX_DIGITS = 15;

    private MemorySize() {}

    /**
     * Reads {@code 100}, {@code 5k}, {@code 1G}, {@code 2TB}: a whole number and an optional unit out of K, M, G, T; no
     * unit means megabytes. The answer is in MiB, kilobytes rounded up. Empty when it is none of these.
     */
    public static OptionalLong parseMb(String text) {
        int i = 0;
        while (i < text.length() && text.charAt(i) >= '0' && text.charAt(i) <= '9') {
            i++;
        }
        if (i == 0 || i > MAX_DIGITS) {
            return OptionalLong.empty();
        }
        long v = Long.parseLong(text, 0, i, 10);
        String unit = text.substring(i);
        if (unit.length() == 2 && (unit.charAt(1) == 'b' || unit.charAt(1) == 'B')) {
            unit = unit.substring(0, 1);
        }
        return switch (unit) {
            case "", "m", "M" -> OptionalLong.of(v);
            case "k", "K" -> OptionalLong.of((v + 1023) / 1024);
            case "g", "G" -> scaled(v, 1L << 10);
            case "t", "T" -> scaled(v, 1L << 20);
            default -> OptionalLong.empty();
        };
    }

    private static OptionalLong scaled(long v, long by) {
        return v > Long.MAX_VALUE / by ? OptionalLong.empty() : OptionalLong.of(v * by);
    }

    /** Prints as {@code squeue %m} and {@code scontrol} do: {@code 0}, {@code 1500M}, {@code 1.50G}, {@code 2T}. */
    public static String print(long mb) {
        return print(mb, 'M');
    }

    /** A number that starts in the given unit, moved up while that loses nothing (halves are shown as {@code .50}). */
    public static String print(long value, char unit) {
        if (value == 0) {
            return "0";
        }
        int u = UNITS.indexOf(unit);
        long whole = value;
        while (whole >= 1024 && whole % 512 == 0 && u < UNITS.length() - 1) {
            boolean half = whole % 1024 != 0;
            long next = whole / 1024;
            u++;
            if (half) {
                return next + ".50" + UNITS.charAt(u);
            }
            whole = next;
        }
        return Long.toString(whole) + UNITS.charAt(u);
    }

    /** Moved up to the largest unit, with two decimals when it is not whole: {@code 3.91G}. */
    public static String printRounded(long value, char unit) {
        if (value == 0) {
            return "0";
        }
        int u = UNITS.indexOf(unit);
        long scale = 1;
        while (value / scale >= 1024 && u < UNITS.length() - 1) {
            scale *= 1024;
            u++;
        }
        if (value % scale == 0) {
            return Long.toString(value / scale) + UNITS.charAt(u);
        }
        long whole = value / scale;
        // The plain product would overflow for exabytes: there the hundredth is cut instead of rounded.
        long remainder = value % scale;
        long hundredths =
                scale <= Long.MAX_VALUE / 200 ? (remainder * 200 + scale) / (2 * scale) : remainder / (scale / 100);
        if (hundredths >= 100) {
            whole++;
            hundredths -= 100;
        }
        StringBuilder text = new StringBuilder().append(whole).append('.');
        return Durations.two(text, hundredths).append(UNITS.charAt(u)).toString();
    }
}
