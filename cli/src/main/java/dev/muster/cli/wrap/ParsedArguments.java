package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.UsageException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The parsed command line of a wrapper.
 *
 * @param values by name, in the order they were met; switches have one empty value for each time
 */
record ParsedArguments(Map<String, List<String>> values, List<String> operands) {
    boolean has(String option) {
        return values.containsKey(option);
    }

    /** The last value given, "" if there is none. */
    String value(String option) {
        List<String> given = values.get(option);
        return given == null ? "" : given.getLast();
    }

    List<String> all(String option) {
        return values.getOrDefault(option, List.of());
    }

    /** @param ends options end at the first operand; else they may stand behind operands too */
    static ParsedArguments parse(Wrapper wrapper, CommandContext c, boolean ends) throws UsageException {
        Map<String, List<String>> values = new LinkedHashMap<>();
        List<String> before = new ArrayList<>();
        int at = 0;
        while (at < c.args().size()) {
            String word = c.args().get(at);
            if (word.length() < 2 || word.charAt(0) != '-') {
                if (ends) {
                    break;
                }
                before.add(word);
                at++;
                continue;
            }
            at++;
            if (word.equals("--")) {
                break;
            }
            String text = word.substring(word.startsWith("--") ? 2 : 1);
            int eq = text.indexOf('=');
            String name = eq < 0 ? text : text.substring(0, eq);
            GetOpt.Opt option = find(wrapper, c, name.equals("?") ? "help" : name);
            String value = eq < 0 ? "" : text.substring(eq + 1);
            if (option.arg() == GetOpt.Arg.NONE && eq >= 0) {
                throw wrapper.misused(c, "Option " + option.name() + " does not take an argument");
            }
            if (option.arg() == GetOpt.Arg.REQUIRED && eq < 0) {
                if (at == c.args().size()) {
                    throw wrapper.misused(c, "Option " + option.name() + " requires an argument");
                }
                value = c.args().get(at++);
            }
            values.computeIfAbsent(option.name(), n -> new ArrayList<>()).add(value);
        }
        before.addAll(c.args().subList(at, c.args().size()));
        return new ParsedArguments(values, before);
    }

    private static GetOpt.Opt find(Wrapper wrapper, CommandContext c, String name) throws UsageException {
        List<GetOpt.Opt> close = new ArrayList<>();
        for (GetOpt.Opt o : wrapper.options()) {
            if (o.name().equals(name)) {
                return o;
            }
            if (o.name().startsWith(name)) {
                close.add(o);
            }
        }
        if (close.size() == 1) {
            return close.getFirst();
        }
        throw wrapper.misused(
                c,
                close.isEmpty()
                        ? "Unknown option: " + name
                        : "Option " + name + " is ambiguous ("
                                + String.join(
                                        ", ",
                                        close.stream().map(GetOpt.Opt::name).toList()) + ")");
    }
}
