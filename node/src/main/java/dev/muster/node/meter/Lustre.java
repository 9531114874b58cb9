package dev.muster.node.meter;

import dev.muster.node.os.Os;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What a node has read and written on its Lustre file systems since they were mounted, as the kernel's client counts
 * it.
 */
record Lustre(long reads, long readBytes, long writes, long writtenBytes) {
    static final Lustre NONE = new Lustre(0, 0, 0, 0);
    /** Directories of newer clients and of older ones. */
    private static final List<String> PLACES = List.of("sys/kernel/debug/lustre/llite", "proc/fs/lustre/llite");

    private static final int SAMPLES = 1;
    private static final int SUM = 6;

    /** @param root "/" or a directory with a sys of its own for tests */
    static Lustre read(Path root) {
        for (String place : PLACES) {
            Lustre all = NONE;
            try (DirectoryStream<Path> mounts = Files.newDirectoryStream(root.resolve(place))) {
                for (Path mount : mounts) {
                    for (String line :
                            Os.read(mount.resolve("stats")).orElse("").lines().toList()) {
                        all = all.and(line.strip().split("\\s+"));
                    }
                }
                return all;
            } catch (IOException e) {
                // it went away meanwhile
            }
        }
        return NONE;
    }

    /** A line {@code read_bytes 16 samples [bytes] 1 4096 65536}: how often, the least, the most and the sum. */
    private Lustre and(String[] words) {
        boolean read = words[0].equals("read_bytes");
        if (!read && !words[0].equals("write_bytes")
                || words.length <= SUM
                || !words[SAMPLES].matches("[0-9]{1,18}")
                || !words[SUM].matches("[0-9]{1,18}")) {
            return this;
        }
        long times = Long.parseLong(words[SAMPLES]);
        long bytes = Long.parseLong(words[SUM]);
        return read
                ? new Lustre(reads + times, readBytes + bytes, writes, writtenBytes)
                : new Lustre(reads, readBytes, writes + times, writtenBytes + bytes);
    }
}
