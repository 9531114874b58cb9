package dev.muster.cli.command;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parses options by the rules of GNU {@code getopt_long}: unique abbreviations, {@code --x=v} and {@code --x v},
 * clustered letters, glued optional arguments, operands anywhere or ending the options. Errors are its sentences.
 */
public final class GetOpt {
    public enum Arg {
        NONE,
        REQUIRED,
        OPTIONAL
    }

    /**
     * @param name long name or ""
     * @param letter short letter or 0
     */
    public record Opt(String name, char letter, Arg arg) {
        public static Opt of(String name, char letter, Arg arg) {
            return new Opt(name, letter, arg);
        }
    }

    /**
     * @param value "" when there was none
     * @param given an argument was there (it may be empty)
     */
    public record Hit(Opt opt, String value, boolean given) {}

    /** @param error sentence to print after the program's name, "" if all is well */
    public record Parsed(List<Hit> hits, List<String> operands, String error) {}

    private final List<Opt> table;
    private final List<String> args;
    private final boolean stopAtOperand;
    private final List<Hit> hits = new ArrayList<>();
    private final List<String> operands = new ArrayList<>();
    private int position;

    private GetOpt(List<Opt> table, List<String> args, boolean stopAtOperand) {
        this.table = table;
        this.args = args;
        this.stopAtOperand = stopAtOperand;
    }

    /**
     * @param stopAtOperand everything from the first operand on is operands ({@code sbatch}'s script and its arguments)
     */
    public static Parsed parse(List<Opt> table, List<String> args, boolean stopAtOperand) {
        GetOpt g = new GetOpt(table, args, stopAtOperand);
        String error = g.run();
        return new Parsed(g.hits, g.operands, error);
    }

    /**
     * Builds a table from {@code "name:letter:kind"} entries: kind {@code n}one, {@code r}equired, {@code o}ptional.
     */
    public static List<Opt> table(String... entries) {
        List<Opt> out = new ArrayList<>(entries.length);
        for (String entry : entries) {
            int argument = entry.indexOf(':');
            char letter = entry.charAt(argument + 1) == ':' ? 0 : entry.charAt(argument + 1);
            Arg kind = switch (entry.charAt(entry.length() - 1)) {
                case 'n' -> Arg.NONE;
                case 'r' -> Arg.REQUIRED;
                default -> Arg.OPTIONAL;
            };
            out.add(new Opt(entry.substring(0, argument), letter, kind));
        }
        return out;
    }

    private String run() {
        while (position < args.size()) {
            String argument = args.get(position++);
            if (argument.equals("--")) {
                operands.addAll(args.subList(position, args.size()));
                return "";
            }
            if (argument.length() < 2 || argument.charAt(0) != '-') {
                operands.add(argument);
                if (stopAtOperand) {
                    operands.addAll(args.subList(position, args.size()));
                    return "";
                }
                continue;
            }
            String error = argument.startsWith("--") ? longOption(argument) : letters(argument);
            if (!error.isEmpty()) {
                return error;
            }
        }
        return "";
    }

    private String longOption(String text) {
        int equalSign = text.indexOf('=');
        String name = equalSign < 0 ? text.substring(2) : text.substring(2, equalSign);
        List<Opt> candidates = longOptions(name);
        if (candidates.isEmpty()) {
            return "unrecognized option '" + text + "'";
        }
        if (candidates.size() > 1) {
            return ambiguous(text, candidates);
        }
        Opt found = candidates.getFirst();
        String value = equalSign < 0 ? "" : text.substring(equalSign + 1);
        if (equalSign >= 0 && found.arg() == Arg.NONE) {
            return "option '--" + found.name() + "' doesn't allow an argument";
        }
        if (equalSign < 0 && found.arg() == Arg.REQUIRED) {
            if (position == args.size()) {
                return "option '--" + found.name() + "' requires an argument";
            }
            value = args.get(position++);
        }
        hits.add(new Hit(found, value, equalSign >= 0 || found.arg() == Arg.REQUIRED));
        return "";
    }

    /** The option of that name, or else all whose names begin with it. */
    private List<Opt> longOptions(String name) {
        List<Opt> candidates = new ArrayList<>();
        for (Opt option : table) {
            if (option.name().equals(name)) {
                return List.of(option);
            }
            if (option.name().startsWith(name)) {
                candidates.add(option);
            }
        }
        return candidates;
    }

    private static String ambiguous(String text, List<Opt> candidates) {
        StringBuilder out = new StringBuilder("option '").append(text).append("' is ambiguous; possibilities:");
        for (Opt option : candidates) {
            out.append(" '--").append(option.name()).append('\'');
        }
        return out.toString();
    }

    private String letters(String text) {
        for (int i = 1; i < text.length(); i++) {
            Opt option = byLetter(text.charAt(i));
            if (option == null) {
                return "invalid option -- '" + text.charAt(i) + "'";
            }
            if (option.arg() == Arg.NONE) {
                hits.add(new Hit(option, "", false));
                continue;
            }
            if (i + 1 < text.length()) {
                hits.add(new Hit(option, text.substring(i + 1), true));
            } else if (option.arg() == Arg.OPTIONAL) {
                hits.add(new Hit(option, "", false));
            } else if (position < args.size()) {
                hits.add(new Hit(option, args.get(position++), true));
            } else {
                return "option requires an argument -- '" + text.charAt(i) + "'";
            }
            return "";
        }
        return "";
    }

    private @Nullable Opt byLetter(char c) {
        for (Opt option : table) {
            if (option.letter() == c) {
                return option;
            }
        }
        return null;
    }
}
