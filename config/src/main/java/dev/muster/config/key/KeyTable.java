package dev.muster.config.key;

import dev.muster.config.file.ConfLines;
import dev.muster.config.file.Pairs;
import java.io.File;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The keys of one of the small files beside slurm.conf, and the reading of it. The table is text: a name, a kind and a
 * default on each line ({@code -} for none).
 */
public final class KeyTable {
    private record Spec(String name, String kind, String fallback) {}

    private final Map<String, Spec> specs = new HashMap<>();
    private final String defunct;

    public KeyTable(String table, String defunct) {
        for (String line : table.split("\n")) {
            String[] word = line.strip().split(" +");
            specs.put(word[0].toLowerCase(Locale.ROOT), new Spec(word[0], word[1], word[2].equals("-") ? "" : word[2]));
        }
        this.defunct = " " + defunct + " ";
    }

    /** Values by lower-case name, complete with defaults; mistakes go to the list. An absent file is an empty one. */
    public Map<String, String> read(File file, List<ConfigError> errors) {
        return read(file, errors, new HashSet<>());
    }

    /**
     * Reads the table of keys and notes which keys the file has.
     *
     * @param names receives the names, in lower case, that the file has
     */
    public Map<String, String> read(File file, List<ConfigError> errors, Set<String> names) {
        Map<String, String> found = new HashMap<>();
        for (Map.Entry<String, Spec> e : specs.entrySet()) {
            found.put(e.getKey(), e.getValue().fallback);
        }
        if (!file.exists()) {
            return found;
        }
        Values values = new Values(errors);
        new ConfLines(
                        file,
                        new ConfLines.Sink() {
                            @Override
                            public void line(String text, String from, int line) {
                                values.at(from, line, text);
                                put(text, found, names, values);
                            }

                            @Override
                            public String clusterName() {
                                return "";
                            }
                        },
                        errors)
                .read(file);
        return found;
    }

    private void put(String text, Map<String, String> found, Set<String> names, Values values) {
        Pairs pairs = new Pairs(text);
        if (!pairs.next()) {
            values.error("Parsing error");
            return;
        }
        String lower = pairs.key().toLowerCase(Locale.ROOT);
        Spec spec = specs.get(lower);
        if (spec == null) {
            if (!defunct.contains(" " + lower + " ")) {
                values.error("_parse_next_key: Parsing error at unrecognized key: " + pairs.key());
            }
            return;
        }
        names.add(lower);
        found.put(lower, checked(spec, pairs.value(), values));
        if (!pairs.atEnd()) {
            pairs.next();
            values.text(pairs.rest()).error("Parsing error");
        }
    }

    private static String checked(Spec spec, String value, Values values) {
        switch (spec.kind) {
            case "number" -> values.number(spec.name, value, Values.U32_MAX);
            case "yesno" -> {
                return values.yesNo(spec.name, value) ? "yes" : "no";
            }
            case "percent" -> percent(spec.name, value, values);
            default -> {}
        }
        return value;
    }

    private static void percent(String name, String value, Values values) {
        try {
            Double.parseDouble(value);
        } catch (NumberFormatException e) {
            values.error(name + " value \"" + value + "\" is not a valid number");
        }
    }
}
