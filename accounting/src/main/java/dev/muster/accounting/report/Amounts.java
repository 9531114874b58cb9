package dev.muster.accounting.report;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** Resources by name, read from {@code cpu=4,mem=2G,gres/gpu=1}. Memory and burst buffers in MiB. */
public final class Amounts {
    private static final String UNITS = "KMGTP";

    private Amounts() {}

    /** Reads amounts; invalid ones are left out. */
    public static Map<String, Long> of(String text) {
        Map<String, Long> out = new LinkedHashMap<>();
        for (String item : text.split(",")) {
            int equalSign = item.indexOf('=');
            if (equalSign > 0) {
                long value = value(item.substring(0, equalSign), item.substring(equalSign + 1));
                if (value >= 0) {
                    out.put(item.substring(0, equalSign), value);
                }
            }
        }
        return out;
    }

    private static long value(String name, String text) {
        int unit = text.isEmpty() ? -1 : UNITS.indexOf(Character.toUpperCase(text.charAt(text.length() - 1)));
        try {
            double number = Double.parseDouble(unit < 0 ? text : text.substring(0, text.length() - 1));
            boolean megabytes = name.equals("mem") || name.startsWith("bb/");
            int powers;
            if (unit < 0) {
                powers = 0;
            } else if (megabytes) {
                powers = unit - 1;
            } else {
                powers = unit + 1;
            }

            return Math.round(number * Math.pow(1024, powers));
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /** Adds each amount {@code times} times. */
    static void add(Map<String, Long> to, Map<String, Long> amounts, long times) {
        amounts.forEach((name, n) -> to.merge(name, n * times, Long::sum));
    }

    static Map<String, Long> none() {
        return new TreeMap<>();
    }
}
