package dev.muster.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** {@code --help} and {@code --usage} of a table of options; what each means stands in {@code help.txt}. */
final class OptionHelp {
    private static final int COLUMN = 30;
    private static final int WIDTH = 80;
    private static final List<String> ABOUT_HELP = List.of("help", "usage", "version", "helpstate", "helpformat");

    /** @param value "" if the option takes none */
    private record Entry(String value, String meaning) {}

    private OptionHelp() {}

    private static Map<String, Entry> entries() {
        Map<String, Entry> out = new HashMap<>();
        try (InputStream in = OptionHelp.class.getResourceAsStream("help.txt")) {
            if (in == null) {
                return out;
            }
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                int first = line.indexOf('|');
                int last = line.lastIndexOf('|');
                if (first > 0 && last > first) {
                    out.put(line.substring(0, first), new Entry(line.substring(first + 1, last), line.substring(last + 1)));
                }
            }
        } catch (IOException e) {
            // without the texts the names are still told
        }
        return out;
    }

    private static String value(GetOpt.Opt o, Map<String, Entry> entries) {
        Entry e = entries.get(o.name());
        return e == null || e.value.isEmpty() ? "value" : e.value;
    }

    static void help(CommandContext c, List<GetOpt.Opt> table, String operands) {
        Map<String, Entry> entries = entries();
        c.out().println(("Usage: " + c.name() + " [OPTIONS] " + operands).stripTrailing());
        for (GetOpt.Opt o : table) {
            if (!ABOUT_HELP.contains(o.name()) && !o.name().isEmpty()) {
                line(c, o, entries);
            }
        }
        c.out().println("\nHelp options:");
        for (GetOpt.Opt o : table) {
            if (ABOUT_HELP.contains(o.name())) {
                line(c, o, entries);
            }
        }
    }

    private static void line(CommandContext c, GetOpt.Opt o, Map<String, Entry> entries) {
        String value = switch (o.arg()) {
            case NONE -> "";
            case OPTIONAL -> "[=" + value(o, entries) + "]";
            case REQUIRED -> "=" + value(o, entries);
        };
        String left = (o.letter() == 0 ? "      --" : "  -" + o.letter() + ", --") + o.name() + value;
        String meaning = switch (o.name()) {
            case "help" -> "show this help message";
            case "usage" -> "display brief usage message";
            case "version" -> "output version information and exit";
            default -> entries.containsKey(o.name()) ? entries.get(o.name()).meaning : "";
        };
        c.out().println((left + " ".repeat(Math.max(1, COLUMN - left.length())) + meaning).stripTrailing());
    }

    /** {@code Usage: name [-abc] [-A account] [--long=value] operands}. */
    static void usage(CommandContext c, List<GetOpt.Opt> table, String operands) {
        Map<String, Entry> entries = entries();
        StringBuilder switches = new StringBuilder();
        List<String> words = new ArrayList<>();
        for (GetOpt.Opt o : table) {
            if (o.arg() == GetOpt.Arg.NONE && o.letter() != 0) {
                switches.append(o.letter());
            } else if (!o.name().isEmpty()) {
                String name = o.letter() != 0 && o.arg() == GetOpt.Arg.REQUIRED ? "-" + o.letter() + " " : "--" + o.name();
                String value = o.arg() == GetOpt.Arg.NONE ? "" : value(o, entries).replaceAll("[\\[\\]]", "");
                words.add("[" + name + (value.isEmpty() || name.endsWith(" ") ? value : "=" + value) + "]");
            }
        }
        if (!switches.isEmpty()) {
            words.addFirst("[-" + switches + "]");
        }
        if (!operands.isEmpty()) {
            words.add(operands);
        }
        StringBuilder line = new StringBuilder("Usage: " + c.name());
        for (String word : words) {
            if (line.length() + word.length() + 1 > WIDTH) {
                c.out().println(line.toString());
                line = new StringBuilder(" ".repeat(7));
            }
            line.append(' ').append(word);
        }
        c.out().println(line.toString());
    }
}
