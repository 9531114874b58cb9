package dev.muster.cli.option;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.model.format.IndexSet;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Reads a {@code --multi-prog} file: lines of ranks, program and arguments. */
public final class MultiProg {
    private MultiProg() {}

    private record Line(IndexSet ranks, String program, String text) {}

    private static List<Line> lines(String text) {
        List<Line> out = new ArrayList<>();
        for (String line : text.split("\n")) {
            List<String> words = Texts.words(line);
            if (words.isEmpty() || words.getFirst().startsWith("#")) {
                continue;
            }
            String first = words.getFirst();
            List<IndexSet.Spec> spec = first.equals("*") ? List.of() : IndexSet.parseSpec(first, IndexSet.MAX_INDEX);
            IndexSet ranks;
            if (first.equals("*")) {
                ranks = IndexSet.range(0, IndexSet.MAX_INDEX, 1);
            } else if (spec.isEmpty()) {
                ranks = IndexSet.empty();
            } else {
                ranks = spec.getFirst().indexes();
            }

            out.add(new Line(ranks, words.size() > 1 ? words.get(1) : "", line));
        }
        return out;
    }

    /** Every task must have a line, and no more than one. */
    public static void check(CommandContext context, JobOptions options, String path, String text, int tasks)
            throws UsageException {
        Set<Integer> seen = new HashSet<>();
        boolean rest = false;
        int number = 0;
        for (String line : text.split("\n")) {
            number++;
            List<String> words = Texts.words(line);
            if (words.isEmpty() || words.getFirst().startsWith("#")) {
                continue;
            }
            String spec = words.getFirst();
            String error;
            if (rest) {
                error = "Task range specification with asterisk must be last";
            } else if (spec.equals("*")) {
                error = "";
            } else {
                error = wrong(spec, tasks, seen);
            }

            rest |= spec.equals("*");
            if (!error.isEmpty() || words.size() < 2) {
                String last =
                        context.name() + ": error: Line " + number + " of configuration file " + path + " invalid";
                throw new UsageException(
                        options.exitError(1),
                        error.isEmpty() ? List.of(last) : List.of(context.name() + ": error: " + error, last));
            }
        }
        List<Line> lines = lines(text);
        for (int rank = 0; rank < tasks; rank++) {
            int task = rank;
            if (lines.stream().noneMatch(l -> l.ranks.contains(task) && !l.program.isEmpty())) {
                throw context.bad(
                        options.exitError(1), "Configuration file " + path + " invalid, no record for task id " + rank);
            }
        }
    }

    /** Returns the mistake in ranks like {@code 0,2-3}; "" for none, and marks them as seen. */
    private static String wrong(String spec, int tasks, Set<Integer> seen) {
        for (String piece : Texts.split(spec, ',')) {
            if (!piece.matches("[0-9]{1,9}(-.*)?")) {
                return "Invalid task range specification (" + piece + ")";
            }
            int dash = piece.indexOf('-');
            if (dash >= 0 && !piece.substring(dash + 1).matches("[0-9]{1,9}")) {
                return "Invalid task range specification";
            }
            int first = Integer.parseInt(dash < 0 ? piece : piece.substring(0, dash));
            int last = dash < 0 ? first : Integer.parseInt(piece.substring(dash + 1));
            if (first > last) {
                return "Invalid task range, " + first + "-" + last;
            }
            if (last >= tasks) {
                return "Invalid task id, " + last + " >= ntasks";
            }
            for (int rank = first; rank <= last; rank++) {
                if (!seen.add(rank)) {
                    return "Duplicate record for task " + rank;
                }
            }
        }
        return "";
    }

    public static String program(String text, int rank) {
        return lines(text).stream()
                .filter(l -> l.ranks.contains(rank))
                .map(Line::program)
                .findFirst()
                .orElse("");
    }

    /** Each program behind a shell that stops itself first. */
    public static String stopped(String text) {
        StringBuilder out = new StringBuilder();
        for (Line l : lines(text)) {
            String line = l.text.strip();
            int end = 0;
            while (end < line.length() && !Character.isWhitespace(line.charAt(end))) {
                end++;
            }
            out.append(line, 0, end)
                    .append(" /bin/sh -c 'kill -STOP $$; exec \"$@\"' sh")
                    .append(line, end, line.length())
                    .append('\n');
        }
        return out.toString();
    }
}
