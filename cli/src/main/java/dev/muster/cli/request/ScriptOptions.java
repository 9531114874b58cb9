package dev.muster.cli.request;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the {@code #SBATCH} lines of a batch script. They end at the first line that is neither blank nor a comment.
 */
public final class ScriptOptions {
    private static final String MARK = "#SBATCH";

    private ScriptOptions() {}

    /** Returns the number of components in the script: one more than it has separators. */
    public static int components(String script) {
        int count = 1;
        for (String line : script.split("\n")) {
            if (line.startsWith(MARK)) {
                count += isSeparator(line.substring(MARK.length())) ? 1 : 0;
            } else if (!line.isBlank() && !line.stripLeading().startsWith("#")) {
                break;
            }
        }
        return count;
    }

    /** The words that separate components, in either case; the second is the deprecated one. */
    private static final List<String> SEPARATORS = List.of("hetjob", "packjob");

    /** Returns whether a line separates components: its first word does. */
    private static boolean isSeparator(String text) {
        return !text.isEmpty()
                && text.charAt(0) <= ' '
                && isSeparatorWord(text.strip().split("\\s", 2)[0]);
    }

    private static boolean isSeparatorWord(String word) {
        return SEPARATORS.stream().anyMatch(word::equalsIgnoreCase);
    }

    private static void warnOfPackjob(String word, JobOptions options) {
        if (word.equalsIgnoreCase(SEPARATORS.getLast())) {
            options.context()
                    .info("warning: The \"packjob\" component separator is deprecated. Please use \"hetjob\" instead.");
        }
    }

    private static final int BAD_DIRECTIVE = 255;

    /**
     * Reads the lines of one component as one command line: an option may have its argument in the next line.
     *
     * @param component index of the component, 0 for the first
     */
    public static void read(String script, JobOptions options, int component) throws UsageException {
        List<String> words = new ArrayList<>();
        int number = 0;
        int current = 0;
        for (int index = 0; index < script.length() && current <= component; ) {
            int end = script.indexOf('\n', index);
            String line = script.substring(index, end < 0 ? script.length() : end);
            String text = line.startsWith(MARK) ? line.substring(MARK.length()) : "";
            number++;
            index = end < 0 ? script.length() : end + 1;
            if (isSeparator(text)) {
                if (current == component) {
                    warnOfPackjob(text.strip().split("\\s", 2)[0], options);
                }
                current++;
            } else if (!line.startsWith(MARK)
                    && !line.isBlank()
                    && !line.stripLeading().startsWith("#")) {
                break;
            } else if (current == component && !text.isEmpty() && text.charAt(0) <= ' ') {
                words.addAll(words(text, number, options, true));
            }
        }
        List<String> operands =
                options.apply(GetOpt.parse(JobOption.table(options.command()), words, false), JobOptions.Origin.SCRIPT);
        if (!operands.isEmpty()) {
            throw options.context()
                    .bad(BAD_DIRECTIVE, "Invalid directive found in batch script: " + operands.getFirst());
        }
    }

    private static UsageException fatal(JobOptions options, int number, String sentence) {
        String script = options.scriptName().substring(options.scriptName().lastIndexOf('/') + 1);
        return new UsageException(
                CommandContext.FATAL_EXIT,
                List.of(options.context().name() + ": fatal: " + script + ": line " + number + ": " + sentence));
    }

    /**
     * Splits a line: blanks separate, quotes hold together, a backslash escapes, {@code #} outside quotes ends. As in
     * Slurm, empty words and a backslash at the end are dropped: the next line does not continue this one.
     */
    public static List<String> words(String line, int number, JobOptions options) throws UsageException {
        return words(line, number, options, false);
    }

    /** @param separates whether the word of a component separator ends the line; what stands behind it is ignored */
    private static List<String> words(String line, int number, JobOptions options, boolean separates)
            throws UsageException {
        List<String> out = new ArrayList<>();
        int i = 0;
        while (true) {
            int behindLast = i;
            while (i < line.length() && line.charAt(i) <= ' ') {
                i++;
            }
            if (i >= line.length() || line.charAt(i) == '#') {
                return out;
            }
            Word word = Word.at(line, i);
            // components are separated by lines of a script, not within one
            String error = "";
            if (word.openQuote != 0) {
                error = "Unmatched `" + word.openQuote + "`";
            } else if (word.typed.equals(":")) {
                error = "Unexpected `:`";
            }
            if (!error.isEmpty()) {
                throw fatal(options, number, error + " in [" + line.substring(out.isEmpty() ? i : behindLast) + "]");
            }
            if (separates && isSeparatorWord(word.typed)) {
                warnOfPackjob(word.text, options);
                return out;
            }
            if (!word.text.isEmpty()) {
                out.add(word.text);
            }
            i = word.end;
        }
    }

    /**
     * One word of a line.
     *
     * @param text without quotes and backslashes
     * @param openQuote the quote that nothing closes, 0 for none
     */
    private record Word(String typed, String text, int end, char openQuote) {
        static Word at(String line, int first) {
            StringBuilder text = new StringBuilder();
            char quote = 0;
            int i = first;
            for (; i < line.length(); i++) {
                char c = line.charAt(i);
                if (quote == 0 && (c <= ' ' || c == '#')) {
                    break;
                }
                if (c == '\\') {
                    i++;
                    text.append(i < line.length() ? line.substring(i, i + 1) : "");
                } else if (quote == 0 && (c == '"' || c == '\'')) {
                    quote = c;
                } else if (c == quote) {
                    quote = 0;
                } else {
                    text.append(c);
                }
            }
            return new Word(line.substring(first, Math.min(i, line.length())), text.toString(), i, quote);
        }
    }
}
