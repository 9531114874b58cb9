package dev.muster.cli.step;

import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Destinations of srun's streams: {@code -i -o -e} as typed, turned into patterns that nodes open and plain files that
 * srun itself reads or writes.
 */
public final class StepFiles {
    private StepFiles() {}

    /**
     * {@code none}, {@code all}, a task number: words of the step's own, no file. As in Slurm, {@code all} is whatever
     * begins with it.
     */
    static boolean isMode(String text) {
        return text.isEmpty() || isNone(text) || isAll(text) || Texts.isNumber(text);
    }

    static boolean isNone(String text) {
        return text.equalsIgnoreCase("none");
    }

    static boolean isAll(String text) {
        return text.regionMatches(true, 0, "all", 0, 3);
    }

    /** The number of a task that the step has not is the name of a file. */
    static void numbers(JobOptions options) throws UsageException {
        if (!options.has(JobOption.NTASKS)) {
            return;
        }
        for (JobOption stream : List.of(JobOption.INPUT, JobOption.OUTPUT, JobOption.ERROR)) {
            String text = options.text(stream);
            if (Texts.isNumber(text)
                    && (text.length() > 9 || Integer.parseInt(text) >= options.number(JobOption.NTASKS))) {
                options.set(stream, "./" + text, JobOptions.Origin.COMMAND_LINE);
            }
        }
    }

    /** Each task or node has a file of its own: the node opens it. */
    static boolean isPerTask(String pattern) {
        if (pattern.indexOf('\\') >= 0) {
            return false;
        }
        for (int i = 0; i + 1 < pattern.length(); i++) {
            if (pattern.charAt(i) == '%') {
                int index = i + 1;
                while (index < pattern.length() - 1 && pattern.charAt(index) >= '0' && pattern.charAt(index) <= '9') {
                    index++;
                }
                if ("tnNh".indexOf(pattern.charAt(index)) >= 0) {
                    return true;
                }
                i = index;
            }
        }
        return false;
    }

    /**
     * The names that srun itself knows.
     *
     * @param step "" while it is not known
     */
    public record Names(int jobId, String step, String jobName, String user, String arrayJobId, String arrayTaskId) {}

    /** Fills in the codes that do not depend on the task; the others stay for the node. */
    public static String expand(String pattern, Names names) {
        if (pattern.indexOf('\\') >= 0) {
            return pattern.replace("\\", "");
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < pattern.length(); i++) {
            char c = pattern.charAt(i);
            if (c != '%' || i + 1 == pattern.length()) {
                text.append(c);
                continue;
            }
            int index = i + 1;
            int width = 0;
            while (index < pattern.length() - 1 && pattern.charAt(index) >= '0' && pattern.charAt(index) <= '9') {
                width = Math.min(10, width * 10 + pattern.charAt(index++) - '0');
            }
            String value = value(pattern.charAt(index), names);
            if (value == null) {
                text.append(pattern, i, index + 1);
            } else {
                if (Texts.isNumber(value)) {
                    text.repeat('0', Math.max(0, width - value.length()));
                }
                text.append(value);
            }
            i = index;
        }
        return text.toString();
    }

    private static @Nullable String value(char code, Names names) {
        return switch (code) {
            case 'j' -> Integer.toString(names.jobId);
            case 'A' -> names.arrayJobId.isEmpty() ? Integer.toString(names.jobId) : names.arrayJobId;
            case 'a' -> names.arrayTaskId.isEmpty() ? "0" : names.arrayTaskId;
            case 'b' -> names.arrayTaskId.isEmpty() ? "0" : names.arrayTaskId.substring(names.arrayTaskId.length() - 1);
            case 'x' -> names.jobName;
            case 'u' -> names.user;
            case 's' -> names.step.isEmpty() ? null : names.step;
            case 'J' -> names.step.isEmpty() ? null : names.jobId + "." + names.step;
            case '%' -> "%";
            default -> null;
        };
    }
}
