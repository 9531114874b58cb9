package dev.muster.controller.lua;

import static dev.muster.lua.SlurmWords.INFINITE;
import static dev.muster.lua.SlurmWords.NO_VAL;
import static dev.muster.lua.SlurmWords.NO_VAL16;
import static dev.muster.lua.SlurmWords.NO_VAL64;

import dev.muster.json.Bytes;
import java.util.List;

/**
 * The integer types of {@code job_desc} in C. A script's number loses its fraction; -1 and -2 become INFINITE and
 * NO_VAL of the type, and a NO_VAL of a wider type counts as this type's. Other numbers beyond the type have no meaning
 * that C defines.
 */
enum FieldInteger {
    UINT16(NO_VAL16 + 1, NO_VAL16),
    UINT32(INFINITE, NO_VAL),
    /** Memory and flags; {@code Long.MAX_VALUE} also stands for all numbers above it. */
    UINT64(Long.MAX_VALUE, Long.MAX_VALUE),
    /** Seconds since 1970, up to the end of the year 9999. */
    TIME(253_402_300_799L, NO_VAL);

    private static final int RADIX_HEX = 16;
    private static final String DECIMAL = "[-+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]{1,4})?";
    private static final String HEX = "[-+]?0[xX][0-9a-fA-F]{1,15}";
    private static final List<String> LONGS =
            List.of("bitflags", "pn_min_memory", "min_mem_per_node", "min_mem_per_cpu");
    private static final List<String> SHORTS = List.of("shared", "oversubscribe", "requeue", "reboot", "mail_type");

    private final long max;
    private final long unset;

    FieldInteger(long max, long unset) {
        this.max = max;
        this.unset = unset;
    }

    /** Returns the type of a field whose value is made of several components of the description. */
    static FieldInteger ofSpecial(String name) {
        if (name.equals("end_time")) {
            return TIME;
        }
        if (LONGS.contains(name)) {
            return UINT64;
        }
        return SHORTS.contains(name) ? UINT16 : UINT32;
    }

    /** Returns whether Lua takes a value as a number. */
    static boolean isNumber(Object value) {
        return value instanceof Number
                || value instanceof Bytes b
                        && (b.text().strip().matches(DECIMAL)
                                || b.text().strip().matches(HEX));
    }

    static double real(Object value) {
        if (value instanceof Number n) {
            return n.doubleValue();
        }
        String text = value.toString().strip();
        return text.matches(HEX) ? Long.parseLong(text.replaceFirst("0[xX]", ""), RADIX_HEX) : Double.parseDouble(text);
    }

    /** Returns the number as a script reads it again, also where {@link #holds} says no. */
    long stored(double real) {
        long whole = Double.isNaN(real) ? Long.MIN_VALUE : (long) real;
        boolean isWiderUnset = real == NO_VAL64 && this != TIME || this == UINT16 && whole == NO_VAL;
        if (isWiderUnset || whole == -2 && this != TIME) {
            return unset;
        }
        return whole == -1 && this != TIME ? max : whole;
    }

    boolean holds(long stored) {
        return stored >= 0 && stored <= max;
    }

    boolean isUnset(long stored) {
        return stored == unset;
    }
}
