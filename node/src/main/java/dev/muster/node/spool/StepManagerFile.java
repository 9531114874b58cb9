package dev.muster.node.spool;

import dev.muster.json.Bytes;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * What the node knows of a job whose steps it may decide on, for the slurmd after this one: a record for each that
 * slurmctld told and for each that was decided here, in their order, each with its length before it. Not synced: after
 * a crash of the machine there is no such job any more.
 */
public final class StepManagerFile {
    private static final String NAME = "charter";
    private static final int RECORD_BYTES_MAX = 256 << 20;

    private final Path path;

    public StepManagerFile(Path jobDirectory) {
        path = jobDirectory.resolve(NAME);
    }

    /**
     * Writes the file anew, in place of whatever was there.
     *
     * @throws UncheckedIOException where it cannot be written
     */
    public void begin(List<Bytes> entries) {
        Path next = path.resolveSibling(NAME + ".new");
        try {
            Files.write(next, framed(entries));
            Files.move(next, path, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** @throws UncheckedIOException where it cannot be written */
    public void add(Bytes entry) {
        try {
            Files.write(path, framed(List.of(entry)), StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] framed(List<Bytes> entries) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        for (Bytes entry : entries) {
            out.writeInt(entry.toArray().length);
            out.write(entry.toArray());
        }
        return bytes.toByteArray();
    }

    /**
     * Reads the complete entries; none if there is no file.
     *
     * @throws UncheckedIOException where it cannot be read
     */
    public List<Bytes> read() {
        List<Bytes> out = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new java.io.BufferedInputStream(Files.newInputStream(path)))) {
            while (true) {
                int length = in.readInt();
                byte[] entry = length < 0 || length > RECORD_BYTES_MAX ? new byte[0] : in.readNBytes(length);
                if (entry.length < length || length <= 0) {
                    return out;
                }
                out.add(Bytes.of(entry));
            }
        } catch (NoSuchFileException | EOFException e) {
            return out; // the last was being written
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Removes the file: its records are not valid any more. */
    public void remove() {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
