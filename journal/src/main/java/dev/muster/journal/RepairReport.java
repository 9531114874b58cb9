package dev.muster.journal;

import java.nio.file.Path;

/**
 * A torn tail that was cut. Entries after {@code lastIndex} may have existed; none of them was ever durable as far as
 * the file can tell, but numbers of jobs have to skip those that the lost entries may have used.
 */
public record RepairReport(Path file, long offset, long cutBytes, long lastIndex) {

    public String sentence() {
        return "torn tail cut: " + file + " at offset " + offset + ": " + cutBytes + " bytes after entry " + lastIndex
                + " removed";
    }
}
