package dev.muster.model.job;

import dev.muster.json.Bytes;
import dev.muster.model.format.IndexSet;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Programs of a step's tasks by the file of {@code srun --multi-prog}. */
public final class MultiProgram {
    private MultiProgram() {}

    /**
     * The line of a --multi-prog file that names the rank: {@code 0,2-4 prog args}, {@code *} for the rest; %t and %o
     * filled in.
     *
     * @param appended arguments that follow the line's own arguments
     */
    public static List<Bytes> arguments(Bytes file, int rank, List<Bytes> appended) {
        for (String line : file.text().split("\n")) {
            String text = line.strip();
            if (text.isEmpty() || text.startsWith("#")) {
                continue;
            }
            String[] parts = text.split("\\s+", 2);
            IndexSet ranks = parts[0].equals("*") ? IndexSet.range(0, IndexSet.MAX_INDEX, 1) : ranks(parts[0]);
            if (ranks.contains(rank) && parts.length > 1) {
                int offset = 0;
                for (int r = ranks.first(); r >= 0 && r < rank; r = ranks.next(r + 1)) {
                    offset++;
                }
                List<Bytes> out = new ArrayList<>();
                for (String word : program(parts[1], rank, offset)) {
                    out.add(Bytes.of(word.getBytes(StandardCharsets.UTF_8)));
                }
                out.addAll(appended);
                return out;
            }
        }
        return List.of(Bytes.of("/bin/false"));
    }

    private static IndexSet ranks(String text) {
        List<IndexSet.Spec> spec = IndexSet.parseSpec(text, IndexSet.MAX_INDEX);
        return spec.isEmpty() ? IndexSet.empty() : spec.getFirst().indexes();
    }

    /** Splits a line into words. Single quotes protect blanks and %t; double quotes are ordinary characters. */
    private static List<String> program(String line, int rank, int offset) {
        List<String> out = new ArrayList<>();
        StringBuilder word = new StringBuilder();
        boolean inside = false;
        boolean quoted = false;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            char next = i + 1 < line.length() ? line.charAt(i + 1) : 0;
            if (!quoted && Character.isWhitespace(c)) {
                if (inside) {
                    out.add(word.toString());
                    word.setLength(0);
                }
                inside = false;
                continue;
            }
            inside = true;
            if (c == '\'') {
                quoted = !quoted;
            } else if (quoted) {
                word.append(c);
            } else if (c == '\\' && next != 0) {
                word.append(next);
                i++;
            } else if (c == '%') {
                // as in Slurm, any other character behind % is lost with it
                if (next == 't') {
                    word.append(rank);
                } else if (next == 'o') {
                    word.append(offset);
                }
                i++;
            } else {
                word.append(c);
            }
        }
        if (inside) {
            out.add(word.toString());
        }
        return out;
    }

    /** Words of a line; quotes and backslashes as in a shell. */
    public static List<String> words(String line) {
        List<String> out = new ArrayList<>();
        StringBuilder word = new StringBuilder();
        boolean inside = false;
        char quote = 0;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '\\' && i + 1 < line.length() && quote != '\'') {
                word.append(line.charAt(++i));
                inside = true;
            } else if (quote != 0) {
                if (c == quote) {
                    quote = 0;
                } else {
                    word.append(c);
                }
            } else if (c == '"' || c == '\'') {
                quote = c;
                inside = true;
            } else if (Character.isWhitespace(c)) {
                if (inside) {
                    out.add(word.toString());
                    word.setLength(0);
                    inside = false;
                }
            } else {
                word.append(c);
                inside = true;
            }
        }
        if (inside) {
            out.add(word.toString());
        }
        return out;
    }
}
