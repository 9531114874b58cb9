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
    private int at;

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
        for (String e : entries) {
            int a = e.indexOf(':');
            char letter = e.charAt(a + 1) == ':' ? 0 : e.charAt(a + 1);
            Arg kind = switch (e.charAt(e.length() - 1)) {
                case 'n' -> Arg.NONE;
                case 'r' -> Arg.REQUIRED;
                default -> Arg.OPTIONAL;
            };
            out.add(new Opt(e.substring(0, a), letter, kind));
        }
        return out;
    }

    private String run() {
        while (at < args.size()) {
            String a = args.get(at++);
            if (a.equals("--")) {
                operands.addAll(args.subList(at, args.size()));
                return "";
            }
            if (a.length() < 2 || a.charAt(0) != '-') {
                operands.add(a);
                if (stopAtOperand) {
                    operands.addAll(args.subList(at, args.size()));
                    return "";
                }
                continue;
            }
            String error = a.startsWith("--") ? longOption(a) : letters(a);
            if (!error.isEmpty()) {
                return error;
            }
        }
        return "";
    }

    private String longOption(String text) {
        int eq = text.indexOf('=');
        String name = eq < 0 ? text.substring(2) : text.substring(2, eq);
        List<Opt> candidates = longOptions(name);
        if (candidates.isEmpty()) {
            return "unrecognized option '" + text + "'";
        }
        if (candidates.size() > 1) {
            return ambiguous(text, candidates);
        }
        Opt found = candidates.getFirst();
        String value = eq < 0 ? "" : text.substring(eq + 1);
        if (eq >= 0 && found.arg() == Arg.NONE) {
            return "option '--" + found.name() + "' doesn't allow an argument";
        }
        if (eq < 0 && found.arg() == Arg.REQUIRED) {
            if (at == args.size()) {
                return "option '--" + found.name() + "' requires an argument";
            }
            value = args.get(at++);
        }
        hits.add(new Hit(found, value, eq >= 0 || found.arg() == Arg.REQUIRED));
        return "";
    }

    /** The option of that name, or else all whose names begin with it. */
    private List<Opt> longOptions(String name) {
        List<Opt> candidates = new ArrayList<>();
        for (Opt o : table) {
            if (o.name().equals(name)) {
                return List.of(o);
            }
            if (o.name().startsWith(name)) {
                candidates.add(o);
            }
        }
        return candidates;
    }

    private static String ambiguous(String text, List<Opt> candidates) {
        StringBuilder b = new StringBuilder("option '").append(text).append("' is ambiguous; possibilities:");
        for (Opt o : candidates) {
            b.append(" '--").append(o.name()).append('\'');
        }
        return b.toString();
    }

    private String letters(String text) {
        for (int i = 1; i < text.length(); i++) {
            Opt o = byLetter(text.charAt(i));
            if (o == null) {
                return "invalid option -- '" + text.charAt(i) + "'";
            }
            if (o.arg() == Arg.NONE) {
                hits.add(new Hit(o, "", false));
                continue;
            }
            if (i + 1 < text.length()) {
                hits.add(new Hit(o, text.substring(i + 1), true));
            } else if (o.arg() == Arg.OPTIONAL) {
                hits.add(new Hit(o, "", false));
            } else if (at < args.size()) {
                hits.add(new Hit(o, args.get(at++), true));
            } else {
                return "option requires an argument -- '" + text.charAt(i) + "'";
            }
            return "";
        }
        return "";
    }

    private @Nullable Opt byLetter(char c) {
        for (Opt o : table) {
            if (o.letter() == c) {
                return o;
            }
        }
        return null;
    }
}
