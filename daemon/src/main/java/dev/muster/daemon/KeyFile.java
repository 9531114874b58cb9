package dev.muster.daemon;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Keys of a key file: the first file found among several places, read anew when it changes, so that keys are exchanged
 * without a restart. While the file is missing or unusable, the last usable keys stay in force. Thread-safe.
 *
 * @param <T> the keys of one file
 */
public final class KeyFile<T> implements Supplier<T> {
    /** Nanoseconds between two checks of the files. */
    private static final long LOOK_NS = 500_000_000L;

    private final List<File> places;
    private final Reader<T> reader;
    private @Nullable File from;
    private @Nullable FileTime modified;
    private T keys;
    private long lookedNs = System.nanoTime() - LOOK_NS;

    /** Reads the keys of one file. */
    @FunctionalInterface
    public interface Reader<T> {
        /** @throws IOException if the file is unfit, with a sentence for the administrator */
        T read(Path file) throws IOException;
    }

    /**
     * @param places best first; there may be none yet
     * @param none while there is no fit file
     */
    public KeyFile(List<File> places, Reader<T> reader, T none) {
        this.places = List.copyOf(places);
        this.reader = reader;
        keys = none;
    }

    /** @throws IOException if there is a file that is unfit */
    public void check() throws IOException {
        for (File file : places) {
            if (isThere(file)) {
                reader.read(file.toPath());
            }
        }
    }

    @Override
    public synchronized T get() {
        if (System.nanoTime() - lookedNs < LOOK_NS) {
            return keys;
        }
        lookedNs = System.nanoTime();
        for (File file : places) {
            if (isThere(file)) {
                follow(file);
                return keys;
            }
            if (file.equals(from) && file.isFile()) {
                return keys; // read as root: SlurmUser may not, and one of a lesser place is another key
            }
        }
        return keys;
    }

    private static boolean isThere(File file) {
        return file.isFile() && file.canRead();
    }

    private void follow(File file) {
        try {
            FileTime time = Files.getLastModifiedTime(file.toPath());
            if (!file.equals(from) || !time.equals(modified)) {
                keys = reader.read(file.toPath());
                from = file;
                modified = time;
            }
        } catch (IOException e) {
            // the last keys stay, and the file is checked again
            return;
        }
    }
}
