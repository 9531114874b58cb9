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
    static ParsedArguments parse(Wrapper wrapper, CommandContext context, boolean ends) throws UsageException {
        Map<String, List<String>> values = new LinkedHashMap<>();
        List<String> before = new ArrayList<>();
        int index = 0;
        while (index < context.args().size()) {
            String word = context.args().get(index);
            if (word.length() < 2 || word.charAt(0) != '-') {
                if (ends) {
                    break;
                }
                before.add(word);
                index++;
                continue;
            }
            index++;
            if (word.equals("--")) {
                break;
            }
            String text = word.substring(word.startsWith("--") ? 2 : 1);
            int equalSign = text.indexOf('=');
            String name = equalSign < 0 ? text : text.substring(0, equalSign);
            GetOpt.Opt option = find(wrapper, context, name.equals("?") ? "help" : name);
            String value = equalSign < 0 ? "" : text.substring(equalSign + 1);
            if (option.arg() == GetOpt.Arg.NONE && equalSign >= 0) {
                throw wrapper.misused(context, "Option " + option.name() + " does not take an argument");
            }
            if (option.arg() == GetOpt.Arg.REQUIRED && equalSign < 0) {
                if (index == context.args().size()) {
                    throw wrapper.misused(context, "Option " + option.name() + " requires an argument");
                }
                value = context.args().get(index++);
            }
            values.computeIfAbsent(option.name(), n -> new ArrayList<>()).add(value);
        }
        before.addAll(context.args().subList(index, context.args().size()));
        return new ParsedArguments(values, before);
    }

    private static GetOpt.Opt find(Wrapper wrapper, CommandContext context, String name) throws UsageException {
        List<GetOpt.Opt> close = new ArrayList<>();
        for (GetOpt.Opt option : wrapper.options()) {
            if (option.name().equals(name)) {
                return option;
            }
            if (option.name().startsWith(name)) {
                close.add(option);
            }
        }
        if (close.size() == 1) {
            return close.getFirst();
        }
        throw wrapper.misused(
                context,
                close.isEmpty()
                        ? "Unknown option: " + name
                        : "Option " + name + " is ambiguous ("
                                + String.join(
                                        ", ",
                                        close.stream().map(GetOpt.Opt::name).toList()) + ")");
    }
}
