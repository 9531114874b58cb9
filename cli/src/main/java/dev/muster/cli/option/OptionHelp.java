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
    public Entry of(GetOpt.Opt option) {
        return switch (option.name()) {
            case "help" -> new Entry("", "show this help message");
            case "usage" -> new Entry("", "display brief usage message");
            case "version" -> new Entry("", "output version information and exit");
            default -> {
                Entry entry = entries.get(command + ":" + option.name());
                yield entry != null ? entry : entries.getOrDefault(option.name(), new Entry("", ""));
            }
        };
    }

    public String value(GetOpt.Opt option) {
        String value = of(option).value;
        return value.isEmpty() ? "value" : value;
    }

    public static void help(CommandContext context, List<GetOpt.Opt> table, String operands) {
        OptionHelp texts = new OptionHelp(context.name());
        context.out().println(("Usage: " + context.name() + " [OPTIONS] " + operands).stripTrailing());
        for (GetOpt.Opt option : table) {
            if (!ABOUT_HELP.contains(option.name()) && !option.name().isEmpty()) {
                texts.line(context, option);
            }
        }
        context.out().println("\nHelp options:");
        for (GetOpt.Opt option : table) {
            if (ABOUT_HELP.contains(option.name())) {
                texts.line(context, option);
            }
        }
    }

    private void line(CommandContext context, GetOpt.Opt option) {
        String value = switch (option.arg()) {
            case NONE -> "";
            case OPTIONAL -> "[=" + value(option) + "]";
            case REQUIRED -> "=" + value(option);
        };
        String left = (option.letter() == 0 ? "      --" : "  -" + option.letter() + ", --") + option.name() + value;
        context.out()
                .println((left + " ".repeat(Math.max(1, COLUMN - left.length())) + of(option).meaning).stripTrailing());
    }

    /** {@code Usage: name [-abc] [-A account] [--long=value] operands}. */
    public static void usage(CommandContext context, List<GetOpt.Opt> table, String operands) {
        if (context.name().equals("sattach")) { // the original lists no options here
            context.out().println("Usage: sattach [options] " + operands);
            return;
        }
        OptionHelp texts = new OptionHelp(context.name());
        StringBuilder switches = new StringBuilder();
        List<String> words = new ArrayList<>();
        for (GetOpt.Opt option : table) {
            if (option.arg() == GetOpt.Arg.NONE && option.letter() != 0) {
                switches.append(option.letter());
            } else if (!option.name().isEmpty()) {
                String name = option.letter() != 0 && option.arg() == GetOpt.Arg.REQUIRED
                        ? "-" + option.letter() + " "
                        : "--" + option.name();
                String value = option.arg() == GetOpt.Arg.NONE
                        ? ""
                        : texts.value(option).replaceAll("[\\[\\]]", "");
                words.add("[" + name + (value.isEmpty() || name.endsWith(" ") ? value : "=" + value) + "]");
            }
        }
        if (!switches.isEmpty()) {
            words.addFirst("[-" + switches + "]");
        }
        if (!operands.isEmpty()) {
            words.add(operands);
        }
        StringBuilder line = new StringBuilder("Usage: " + context.name());
        for (String word : words) {
            if (line.length() + word.length() + 1 > WIDTH) {
                context.out().println(line.toString());
                line = new StringBuilder(" ".repeat(7));
            }
            line.append(' ').append(word);
        }
        context.out().println(line.toString());
    }
}
