package dev.muster.model;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What each task of a step runs by the file that {@code srun --multi-prog} was given. */
public final class MultiProgram {
    private MultiProgram() {}

    /** The line of a --multi-prog file that names the rank: {@code 0,2-4 prog args}, {@code *} for the rest; %t and %o filled in. */
    public static List<Bytes> arguments(Bytes file, int rank) {
        for (String line : file.text().split("\n")) {
            String text = line.strip();
            if (text.isEmpty() || text.startsWith("#")) {
                continue;
            }
            List<String> words = words(text);
            IndexSet ranks = words.getFirst().equals("*") ? IndexSet.range(0, IndexSet.MAX_INDEX, 1) : ranks(words.getFirst());
            if (ranks.contains(rank) && words.size() > 1) {
                int offset = 0;
                for (int r = ranks.first(); r >= 0 && r < rank; r = ranks.next(r + 1)) {
                    offset++;
                }
                List<Bytes> out = new ArrayList<>();
                for (String word : words.subList(1, words.size())) {
                    out.add(Bytes.of(word.replace("%t", Integer.toString(rank)).replace("%o", Integer.toString(offset))
                            .getBytes(StandardCharsets.UTF_8)));
                }
                return out;
            }
        }
        return List.of(Bytes.of("/bin/false"));
    }

    private static IndexSet ranks(String text) {
        List<IndexSet.Spec> spec = IndexSet.parseSpec(text, IndexSet.MAX_INDEX);
        return spec.isEmpty() ? IndexSet.empty() : spec.getFirst().indexes();
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
