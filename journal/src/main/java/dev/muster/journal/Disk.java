package dev.muster.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** Operations on the disk that may fail. Tests count and break them. */
public interface Disk {
    Disk REAL = new Disk() {};

    /** One fdatasync. */
    default void sync(FileChannel channel) throws IOException {
        channel.force(false);
    }

    default void write(FileChannel channel, ByteBuffer bytes, long offset) throws IOException {
        while (bytes.hasRemaining()) {
            offset += channel.write(bytes, offset);
        }
    }

    /** A rename is durable only when its directory is. */
    default void syncDirectory(Path directory) throws IOException {
        Directories.sync(directory);
    }
}
