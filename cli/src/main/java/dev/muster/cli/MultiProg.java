package dev.muster.cli;

import dev.muster.model.IndexSet;
import java.util.ArrayList;
import java.util.List;

/** A {@code --multi-prog} file: lines of ranks, program and arguments. */
final class MultiProg {
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
            IndexSet ranks = first.equals("*") ? IndexSet.range(0, IndexSet.MAX_INDEX, 1)
                    : spec.isEmpty() ? IndexSet.empty() : spec.getFirst().indexes();
            out.add(new Line(ranks, words.size() > 1 ? words.get(1) : "", line));
        }
        return out;
    }

    /** Every task must have a line. */
    static void check(CommandContext c, JobOptions o, String path, String text, int tasks) throws UsageException {
        List<Line> lines = lines(text);
        for (int rank = 0; rank < tasks; rank++) {
            int task = rank;
            if (lines.stream().noneMatch(l -> l.ranks.contains(task) && !l.program.isEmpty())) {
                throw c.bad(o.exitError(1), "Configuration file " + path + " invalid, no record for task id " + rank);
            }
        }
    }

    static String program(String text, int rank) {
        return lines(text).stream().filter(l -> l.ranks.contains(rank)).map(Line::program).findFirst().orElse("");
    }

    /** Each program behind a shell that stops itself first. */
    static String stopped(String text) {
        StringBuilder out = new StringBuilder();
        for (Line l : lines(text)) {
            String line = l.text.strip();
            int end = 0;
            while (end < line.length() && !Character.isWhitespace(line.charAt(end))) {
                end++;
            }
            out.append(line, 0, end).append(" /bin/sh -c 'kill -STOP $$; exec \"$@\"' sh").append(line, end, line.length()).append('\n');
        }
        return out.toString();
    }
}
