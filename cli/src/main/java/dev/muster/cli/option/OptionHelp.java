package dev.muster.cli.option;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Prints {@code --help} and {@code --usage} from a table of options. {@code help.txt} has the meanings:
 * {@code command:option|value|meaning}, or without the command for all other commands.
 */
public final class OptionHelp {
    private static final int COLUMN = 30;
    private static final int WIDTH = 80;
    private static final List<String> ABOUT_HELP = List.of("help", "usage", "version", "helpstate", "helpformat");

    /** @param value "" if the option takes none */
    public record Entry(String value, String meaning) {}

    private final String command;
    private final Map<String, Entry> entries;

    public OptionHelp(String command) {
        this.command = command;
        this.entries = entries();
    }

    public static Map<String, Entry> entries() {
        Map<String, Entry> out = new HashMap<>();
        try (InputStream in = OptionHelp.class.getResourceAsStream("help.txt")) {
            if (in == null) {
                return out;
            }
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                int first = line.indexOf('|');
                // several words for a value are divided in the same way
                int last = line.lastIndexOf('|');
                if (first > 0 && last > first) {
                    out.put(
                            line.substring(0, first),
                            new Entry(line.substring(first + 1, last), line.substring(last + 1)));
                }
            }
        } catch (IOException e) {
            // without the texts the names are still told
        }
        return out;
    }

    /** Returns the meaning of an option to the command; empty texts without one. */
    public Entry of(GetOpt.Opt o) {
        return switch (o.name()) {
            case "help" -> new Entry("", "show this help message");
            case "usage" -> new Entry("", "display brief usage message");
            case "version" -> new Entry("", "output version information and exit");
            default -> {
                Entry own = entries.get(command + ":" + o.name());
                yield own != null ? own : entries.getOrDefault(o.name(), new Entry("", ""));
            }
        };
    }

    public String value(GetOpt.Opt o) {
        String value = of(o).value;
        return value.isEmpty() ? "value" : value;
    }

    public static void help(CommandContext c, List<GetOpt.Opt> table, String operands) {
        OptionHelp texts = new OptionHelp(c.name());
        c.out().println(("Usage: " + c.name() + " [OPTIONS] " + operands).stripTrailing());
        for (GetOpt.Opt o : table) {
            if (!ABOUT_HELP.contains(o.name()) && !o.name().isEmpty()) {
                texts.line(c, o);
            }
        }
        c.out().println("\nHelp options:");
        for (GetOpt.Opt o : table) {
            if (ABOUT_HELP.contains(o.name())) {
                texts.line(c, o);
            }
        }
    }

    private void line(CommandContext c, GetOpt.Opt o) {
        String value = switch (o.arg()) {
            case NONE -> "";
            case OPTIONAL -> "[=" + value(o) + "]";
            case REQUIRED -> "=" + value(o);
        };
        String left = (o.letter() == 0 ? "      --" : "  -" + o.letter() + ", --") + o.name() + value;
        c.out().println((left + " ".repeat(Math.max(1, COLUMN - left.length())) + of(o).meaning).stripTrailing());
    }

    /** {@code Usage: name [-abc] [-A account] [--long=value] operands}. */
    public static void usage(CommandContext c, List<GetOpt.Opt> table, String operands) {
        if (c.name().equals("sattach")) { // the original lists no options here
            c.out().println("Usage: sattach [options] " + operands);
            return;
        }
        OptionHelp texts = new OptionHelp(c.name());
        StringBuilder switches = new StringBuilder();
        List<String> words = new ArrayList<>();
        for (GetOpt.Opt o : table) {
            if (o.arg() == GetOpt.Arg.NONE && o.letter() != 0) {
                switches.append(o.letter());
            } else if (!o.name().isEmpty()) {
                String name =
                        o.letter() != 0 && o.arg() == GetOpt.Arg.REQUIRED ? "-" + o.letter() + " " : "--" + o.name();
                String value = o.arg() == GetOpt.Arg.NONE ? "" : texts.value(o).replaceAll("[\\[\\]]", "");
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
