package dev.muster.config.key;

import static java.util.Objects.requireNonNull;

import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Reads single values in Slurm's way. A wrong one is recorded with its place and gives the fallback. */
public final class Values {
    /** INFINITE or UNLIMITED where a number is asked for. */
    public static final long UNLIMITED = -1;

    public static final long U16_MAX = 0xFFFFL;
    public static final long U32_MAX = 0xFFFF_FFFFL;
    private static final int MAX_DIGITS = 18;

    private final List<ConfigError> errors;
    private final List<ConfigError> warnings;
    private String file = "";
    private int line;
    private String text = "";

    public Values(List<ConfigError> errors) {
        this(errors, new ArrayList<>());
    }

    public Values(List<ConfigError> errors, List<ConfigError> warnings) {
        this.errors = errors;
        this.warnings = warnings;
    }

    public Values at(String newFile, int newLine, String newText) {
        file = newFile;
        line = newLine;
        text = newText;
        return this;
    }

    public Values text(String newText) {
        text = newText;
        return this;
    }

    public String file() {
        return file;
    }

    public int line() {
        return line;
    }

    public void error(String sentence) {
        errors.add(new ConfigError(file, line, sentence, text));
    }

    public void warning(String sentence) {
        warnings.add(new ConfigError(file, line, sentence, text));
    }

    public long number(String key, String value, long max) {
        if (value.equalsIgnoreCase("INFINITE") || value.equalsIgnoreCase("UNLIMITED")) {
            return UNLIMITED;
        }
        boolean negative = value.startsWith("-");
        int from = negative ? 1 : 0;
        for (int i = from; i < value.length(); i++) {
            if (value.charAt(i) < '0' || value.charAt(i) > '9') {
                error(key + " value \"" + value + "\" is not a valid number");
                return 0;
            }
        }
        if (value.length() == from) {
            error(key + " value \"" + value + "\" is not a valid number");
            return 0;
        }
        if (negative) {
            error(key + " value (" + value + ") is less than zero");
            return 0;
        }
        long parsed = value.length() > MAX_DIGITS ? Long.MAX_VALUE : Long.parseLong(value);
        if (parsed > max) {
            error(key + " value (" + value + ") is greater than " + max);
            return 0;
        }
        return parsed;
    }

    public boolean yesNo(String key, String value) {
        if (value.equalsIgnoreCase("yes")
                || value.equalsIgnoreCase("up")
                || value.equalsIgnoreCase("true")
                || value.equals("1")) {
            return true;
        }
        if (!value.equalsIgnoreCase("no")
                && !value.equalsIgnoreCase("down")
                && !value.equalsIgnoreCase("false")
                && !value.equals("0")) {
            error("\"" + value + "\" is not a valid option for \"" + key + "\"");
        }
        return false;
    }

    /**
     * The value that was read for a key of a file's table: the file's, or the default. Every key of the table has one.
     */
    public static String of(Map<String, String> read, String key) {
        return requireNonNull(read.get(key), key);
    }

    /** Splits at commas; empty parts vanish. */
    public static List<String> list(String value) {
        if (value.isEmpty()) {
            return List.of();
        }
        List<String> parts = new ArrayList<>();
        int from = 0;
        while (from <= value.length()) {
            int comma = value.indexOf(',', from);
            int end = comma < 0 ? value.length() : comma;
            if (end > from) {
                parts.add(value.substring(from, end));
            }
            from = end + 1;
        }
        return List.copyOf(parts);
    }

    /** A list of {@code name} or {@code name=value} parts by lower-case name; a bare name has the value "". */
    public static Map<String, String> parameters(String value) {
        Map<String, String> found = new LinkedHashMap<>();
        for (String part : list(value)) {
            int equals = part.indexOf('=');
            String name = equals < 0 ? part : part.substring(0, equals);
            found.put(name.strip().toLowerCase(Locale.ROOT), equals < 0 ? "" : part.substring(equals + 1));
        }
        return found;
    }

    /** The names of a host list; none, with an error, if it is none. */
    public HostList hosts(String list, String key) {
        if (HostList.parse(list) instanceof HostList.Parsed.Ok ok) {
            return ok.list();
        }
        error("Invalid " + key + " expression: " + list);
        return HostList.empty();
    }

    /** A count with an optional K, M, G, T or P of 1024; -1 when it is none. */
    public static long count(String text) {
        int end = 0;
        while (end < text.length() && text.charAt(end) >= '0' && text.charAt(end) <= '9') {
            end++;
        }
        if (end == 0 || end > 15 || text.length() > end + 1) {
            return -1;
        }
        long number = Long.parseLong(text, 0, end, 10);
        if (end == text.length()) {
            return number;
        }
        int unit = "kmgtp".indexOf(Character.toLowerCase(text.charAt(end)));
        return unit < 0 ? -1 : number << 10 * (unit + 1);
    }
}
