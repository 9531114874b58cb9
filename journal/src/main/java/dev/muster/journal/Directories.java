package dev.muster.journal;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Makes names of files durable. */
public final class Directories {
    private Directories() {}

    /**
     * Makes names that were made, moved or removed in a directory survive a loss of power: a rename is durable only
     * when its directory is.
     */
    public static void sync(Path directory) throws IOException {
        try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
            channel.force(true);
        }
    }
}
