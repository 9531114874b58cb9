package dev.muster.controller.engine;

import dev.muster.journal.JournalGenerations;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** {@code slurmctld -c}: forgets the cluster's state, not its key. */
public final class StateReset {
    private StateReset() {}

    public static void wipe(Path stateDir) throws IOException {
        JournalGenerations.removeAll(stateDir);
        for (String part : new String[] {"journal", "blobs", "accounting"}) {
            Path dir = stateDir.resolve(part);
            if (Files.isDirectory(dir)) {
                Files.walkFileTree(dir, new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                        Files.delete(file);
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(Path d, IOException e) throws IOException {
                        Files.delete(d);
                        return FileVisitResult.CONTINUE;
                    }
                });
            }
        }
    }
}
