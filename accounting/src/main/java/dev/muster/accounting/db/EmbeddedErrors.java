package dev.muster.accounting.db;

import java.nio.file.Path;
import java.sql.SQLException;

/** Sentences for an embedded database that cannot be opened, without the library's text around them. */
public final class EmbeddedErrors {
    private static final int ALREADY_OPEN = 90020;
    private static final int IO_FAILED = 90028;
    private static final int IO_FAILED_AT = 90031;

    private EmbeddedErrors() {}

    public static String sentence(Path file, SQLException e) {
        return switch (e.getErrorCode()) {
            case 0 -> file + ": " + e.getMessage(); // a sentence of this program
            case ALREADY_OPEN -> file + " is used by another process: is a second daemon running?";
            case IO_FAILED, IO_FAILED_AT -> file + " cannot be read or written: " + root(e);
            default ->
                file + " is damaged (" + root(e)
                        + "). Restore a copy of it, or move it away: tables are made anew then, with the jobs that "
                        + "slurmctld still knows";
        };
    }

    /** The innermost message, up to the library's own additions to it. */
    private static String root(Throwable e) {
        Throwable at = e;
        while (at.getCause() != null) {
            at = at.getCause();
        }
        String text = String.valueOf(at.getMessage()).split("\\R", 2)[0];
        int end = text.length();
        for (String mark : new String[] {" [", "; SQL statement"}) {
            int found = text.indexOf(mark);
            end = found > 0 ? Math.min(end, found) : end;
        }
        return text.substring(0, end).strip();
    }
}
