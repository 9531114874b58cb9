package dev.muster.accounting.book;

import static java.util.Objects.requireNonNull;

import java.util.Map;

/** Reads columns of rows as they are shown. */
public final class ShowColumns {
    private ShowColumns() {}

    /** The text of a column that every row of its list has; it may be empty. */
    public static String of(Map<String, String> row, String column) {
        return requireNonNull(row.get(column), column);
    }
}
