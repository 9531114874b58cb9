package dev.muster.cli.submit;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.request.ScriptOptions;
import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads a crontab: comments, {@code #SCRON} lines with options of the entry that follows, variables, and entries. */
final class CrontabText {
    private static final String MARK = "#SCRON";
    private static final int FIELDS = 5;

    private final CommandContext context;
    private final Map<String, String> variables = new TreeMap<>();
    private final List<Object> entries = new ArrayList<>();
    private @Nullable JobOptions options;
    private int first;

    CrontabText(CommandContext context) {
        this.context = context;
    }

    /**
     * The entries as the controller takes them.
     *
     * @param uid owner of the crontab
     */
    List<Object> entries(String text, int uid) throws UsageException {
        String[] lines = text.split("\n", -1);
        for (int i = 0; i < lines.length; i++) {
            String line = lines[i].strip();
            if (lines[i].startsWith(MARK)) {
                option(lines[i].substring(MARK.length()), i + 1);
            } else if (line.matches("[A-Za-z_][A-Za-z0-9_]*\\s*=.*")) {
                int equals = line.indexOf('=');
                variables.put(
                        line.substring(0, equals).strip(),
                        unquoted(line.substring(equals + 1).strip()));
            } else if (!line.isEmpty() && !line.startsWith("#")) {
                entry(line, i + 1, uid);
            }
        }
        return entries;
    }

    private static String unquoted(String value) {
        boolean quoted = value.length() > 1
                && (value.charAt(0) == '"' || value.charAt(0) == '\'')
                && value.endsWith(value.substring(0, 1));
        return quoted ? value.substring(1, value.length() - 1) : value;
    }

    private void option(String text, int number) throws UsageException {
        JobOptions entryOptions = begin(number);
        entryOptions.apply(
                GetOpt.parse(JobOption.table('B'), ScriptOptions.words(text, number, entryOptions), false),
                JobOptions.Origin.SCRIPT);
    }

    private JobOptions begin(int number) {
        if (options == null) {
            options = new JobOptions(context, 'B');
            first = number;
        }
        return options;
    }

    private void entry(String line, int number, int uid) throws UsageException {
        JobOptions entryOptions = begin(number);
        String[] words = line.split("\\s+", line.startsWith("@") ? 2 : FIELDS + 1);
        if (words.length != (line.startsWith("@") ? 2 : FIELDS + 1)) {
            throw context.bad(1, "line " + number + ": there is no command: " + line);
        }
        String command = expanded(words[words.length - 1]);
        if (!entryOptions.has(JobOption.EXPORT)) {
            entryOptions.set(JobOption.EXPORT, "NONE", JobOptions.Origin.DEFAULT);
        }
        if (!entryOptions.has(JobOption.JOB_NAME)) {
            entryOptions.set(JobOption.JOB_NAME, Texts.baseName(command.split("\\s+")[0]), JobOptions.Origin.DEFAULT);
        }
        String script = "#!/bin/sh\n# This job was submitted through scrontab.\n" + command + "\n";
        Json.Obj job = Sbatch.request(context, List.of(entryOptions), 0, entryOptions, List.of(), script);
        if (!entryOptions.has(JobOption.CHDIR)) {
            job.obj("job").obj("files").put("workDir", "");
        }
        if (uid != context.host().uid()) {
            job.obj("job").put("owner", new Json.Obj().put("uid", (long) uid));
        }
        String when = String.join(" ", List.of(words).subList(0, words.length - 1));
        entries.add(new Json.Obj()
                .put("job", job)
                .put("when", when)
                .put("firstLine", (long) first)
                .put("lastLine", (long) number));
        options = null;
    }

    /** {@code $NAME} of variables that the crontab has; all else is the shell's. */
    private String expanded(String command) {
        StringBuilder out = new StringBuilder();
        int index = 0;
        while (index < command.length()) {
            int end = index + 1;
            if (command.charAt(index) == '$') {
                while (end < command.length()
                        && (Character.isLetterOrDigit(command.charAt(end)) || command.charAt(end) == '_')) {
                    end++;
                }
            }
            String part = command.substring(index, end);
            out.append(part.charAt(0) == '$' ? variables.getOrDefault(part.substring(1), part) : part);
            index = end;
        }
        return out.toString();
    }
}
