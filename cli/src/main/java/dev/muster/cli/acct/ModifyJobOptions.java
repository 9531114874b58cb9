package dev.muster.cli.acct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobIds;
import dev.muster.model.accounting.LimitField;
import dev.muster.model.format.Times;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks and converts the conditions and values of {@code sacctmgr modify job} before {@link EditCommand} sends them to
 * slurmdbd.
 */
final class ModifyJobOptions {
    private static final LimitField TRES =
            LimitField.find(LimitField.ASSOC, "GrpTRES").orElseThrow();

    private ModifyJobOptions() {}

    /** Converts a condition to slurmdbd's form: valid job ids, user names, seconds since 1970. */
    static String checked(CommandContext context, String key, String value) throws UsageException {
        return switch (key) {
            case "jobid" -> jobs(value);
            case "user" -> users(context, value);
            case "starttime", "endtime" ->
                switch (Times.parse(
                        value, context.host().nowMs() / 1000, context.host().zone(), true)) {
                    case Times.Parsed.Ok ok -> Long.toString(ok.epochSec());
                    case Times.Parsed.Invalid invalid ->
                        throw refused("Invalid time specification (pos=" + invalid.position() + "): " + value);
                };
            default -> value;
        };
    }

    private static String jobs(String value) throws UsageException {
        List<String> ids = new ArrayList<>();
        for (String id : value.split(",")) {
            if (!id.isEmpty() && JobIds.fault(id).isPresent()) {
                throw refused("sacctmgr: fatal: " + JobIds.objection(id));
            }
            // a step id stands for its job, as the change is to the job's record
            ids.add(id.indexOf('.') < 0 ? id : id.substring(0, id.indexOf('.')));
        }
        ids.removeIf(String::isEmpty);
        if (ids.isEmpty()) {
            throw refused("Invalid job id(s) " + value + " specified");
        }
        return String.join(",", ids);
    }

    private static String users(CommandContext context, String value) throws UsageException {
        List<String> names = new ArrayList<>();
        for (String word : value.split(",")) {
            boolean number = word.matches("\\d{1,9}");
            String name;
            if (number) {
                name = context.host().userName(Integer.parseInt(word));
            } else if (context.host().userId(word) < 0) {
                name = "";
            } else {
                name = word;
            }

            if (name.isEmpty()) {
                throw word.isEmpty()
                        ? new UsageException(1, List.of())
                        : refused("sacctmgr: error: Invalid user id: " + word);
            }
            names.add(name);
        }
        return String.join(",", names);
    }

    /** Parses DerivedExitCode; an empty or negative value clears it. */
    static String exitCode(String typed) throws UsageException {
        if (typed.isEmpty() || typed.matches("-\\d{1,18}")) {
            return "0";
        }
        if (!typed.matches("\\d{1,18}")) {
            throw new UsageException(
                    1,
                    List.of(
                            "sacctmgr: error: Invalid value for DerivedExitCode (" + typed + ")",
                            " You didn't give me anything to set"));
        }
        long number = Long.parseLong(typed);
        return Long.toString(number > 0xffff_fffdL ? 0 : number);
    }

    /** Parses resource counts into their canonical form. */
    static String tres(String typed) throws UsageException {
        if (typed.isBlank()) {
            throw new UsageException(1, List.of());
        }
        for (String item : typed.split(",")) {
            if (!item.isEmpty() && item.indexOf('=') < 0) {
                throw refused("sacctmgr: error: slurmdb_format_tres_str: no TRES id found for " + item);
            }
        }
        return TRES.canonical(typed)
                .orElseThrow(() -> refused("sacctmgr: error: Invalid value for TRES (" + typed + ")"));
    }

    private static UsageException refused(String sentence) {
        return new UsageException(1, List.of(sentence));
    }
}
