package dev.muster.accounting.archive;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Reads the statements that Slurm's archives of older days, and site scripts that fill in past jobs, are made of:
 * {@code insert into} with named columns, {@code truncate table "CLUSTER_…"} and {@code delete from … where}. They are
 * read here and acted on as rows; no database is given any of this text.
 */
public final class ArchiveSql {
    /** Bytes of a file. */
    public static final int BYTES_MAX = 256 << 20;

    /** A statement of a file, in its order. */
    public sealed interface Statement {
        /** Rows of values by column. */
        record Insert(String table, List<Map<String, String>> rows) implements Statement {}

        /** Everything of one cluster's table. */
        record Truncate(String cluster, String table) implements Statement {}

        /** Rows in which all these columns have these values. */
        record Delete(String table, Map<String, String> where) implements Statement {}
    }

    /** The text is none of that. */
    public static final class UnreadableException extends RuntimeException {
        private static final long serialVersionUID = 1;

        UnreadableException(String message) {
            super(message);
        }
    }

    /** Refuses a file that can be read and holds what slurmdbd cannot do. */
    public static UnreadableException refused(String sentence) {
        return new UnreadableException(sentence);
    }

    /** Tables of the original, by the end of their names. */
    private static final List<String> TABLES = List.of(
            "assoc_usage_day_table",
            "assoc_usage_hour_table",
            "assoc_usage_month_table",
            "wckey_usage_day_table",
            "wckey_usage_hour_table",
            "wckey_usage_month_table",
            "usage_day_table",
            "usage_hour_table",
            "usage_month_table",
            "event_table",
            "job_table",
            "resv_table",
            "step_table",
            "suspend_table");

    private final String text;
    private int index;

    private ArchiveSql(String text) {
        this.text = text;
    }

    /** @throws UnreadableException naming the place, if some of it is not understood */
    public static List<Statement> read(String text) {
        ArchiveSql reader = new ArchiveSql(text);
        List<Statement> out = new ArrayList<>();
        while (reader.skipToNext()) {
            out.add(reader.statement());
        }
        return out;
    }

    private UnreadableException unreadable(String wanted) {
        int line = (int) text.substring(0, Math.min(index, text.length()))
                        .chars()
                        .filter(c -> c == '\n')
                        .count()
                + 1;
        return new UnreadableException("line " + line + ": " + wanted + " was expected");
    }

    private boolean skipToNext() {
        while (index < text.length() && (Character.isWhitespace(text.charAt(index)) || text.charAt(index) == ';')) {
            index++;
        }
        return index < text.length();
    }

    private Statement statement() {
        String verb = word();
        switch (verb) {
            case "insert" -> {
                expect("into");
                return insert();
            }
            case "truncate" -> {
                expect("table");
                String name = name();
                for (String table : TABLES) {
                    if (name.endsWith("_" + table)) {
                        return new Statement.Truncate(name.substring(0, name.length() - table.length() - 1), table);
                    }
                }
                throw unreadable("a cluster's table");
            }
            case "delete" -> {
                expect("from");
                String table = name();
                expect("where");
                return new Statement.Delete(table, conditions());
            }
            default -> throw unreadable("insert, truncate or delete");
        }
    }

    private Statement insert() {
        String table = name();
        List<String> columns = new ArrayList<>();
        need('(');
        do {
            columns.add(name().toLowerCase(Locale.ROOT));
        } while (skipIf(','));
        need(')');
        expect("values");
        List<Map<String, String>> rows = new ArrayList<>();
        do {
            need('(');
            Map<String, String> row = new LinkedHashMap<>();
            for (int i = 0; i < columns.size(); i++) {
                if (i > 0) {
                    need(',');
                }
                row.put(columns.get(i), value());
            }
            need(')');
            rows.add(row);
            // some writers leave the comma between rows out
        } while (skipIf(',') || next('('));
        skipOnDuplicateKey();
        return new Statement.Insert(table, rows);
    }

    /** {@code on duplicate key update …}: what is there with the same key is replaced as a whole. */
    private void skipOnDuplicateKey() {
        if (skipToNext() && text.regionMatches(true, index, "on ", 0, 3)) {
            while (index < text.length() && text.charAt(index) != ';') {
                index++;
            }
        }
    }

    private Map<String, String> conditions() {
        Map<String, String> out = new LinkedHashMap<>();
        space();
        while (index < text.length() && text.charAt(index) != ';') {
            if (text.startsWith("&&", index)) {
                index += 2;
            } else if (text.regionMatches(true, index, "and ", 0, 4)) {
                index += 4;
            } else {
                String column = name().toLowerCase(Locale.ROOT);
                need('=');
                out.put(column, value());
            }
            space();
        }
        if (out.isEmpty()) {
            throw unreadable("a condition");
        }
        return out;
    }

    private void space() {
        while (index < text.length() && Character.isWhitespace(text.charAt(index))) {
            index++;
        }
    }

    private boolean next(char c) {
        space();
        return index < text.length() && text.charAt(index) == c;
    }

    private boolean skipIf(char c) {
        boolean there = next(c);
        index += there ? 1 : 0;
        return there;
    }

    private void need(char c) {
        if (!skipIf(c)) {
            throw unreadable("'" + c + "'");
        }
    }

    private String word() {
        space();
        int start = index;
        while (index < text.length() && (Character.isLetterOrDigit(text.charAt(index)) || text.charAt(index) == '_')) {
            index++;
        }
        return text.substring(start, index).toLowerCase(Locale.ROOT);
    }

    private void expect(String wanted) {
        if (!word().equals(wanted)) {
            throw unreadable("'" + wanted + "'");
        }
    }

    /** Plain, or in quotes of some kind. */
    private String name() {
        space();
        if (index < text.length() && "\"`'".indexOf(text.charAt(index)) >= 0) {
            return quoted();
        }
        String plain = word();
        if (plain.isEmpty()) {
            throw unreadable("a name");
        }
        return plain;
    }

    private String value() {
        space();
        if (index < text.length() && "'\"".indexOf(text.charAt(index)) >= 0) {
            return quoted();
        }
        int start = index;
        while (index < text.length() && ",) \t\r\n;".indexOf(text.charAt(index)) < 0) {
            index++;
        }
        if (start == index) {
            throw unreadable("a value");
        }
        String plain = text.substring(start, index);
        return plain.equalsIgnoreCase("null") ? "" : plain;
    }

    private String quoted() {
        char quote = text.charAt(index++);
        StringBuilder out = new StringBuilder();
        while (index < text.length()) {
            char c = text.charAt(index++);
            if (c == '\\' && index < text.length()) {
                out.append(text.charAt(index++));
            } else if (c == quote) {
                if (index < text.length() && text.charAt(index) == quote) {
                    out.append(quote);
                    index++;
                } else {
                    return out.toString();
                }
            } else {
                out.append(c);
            }
        }
        throw unreadable("the end of a text in quotes");
    }
}
