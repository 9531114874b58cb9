package dev.muster.cli.profile;

import dev.muster.model.hdf5.Hdf5;
import dev.muster.model.hdf5.Hdf5.Group;
import dev.muster.model.hdf5.Hdf5.Table;
import dev.muster.model.hdf5.Hdf5Reader;
import dev.muster.model.hdf5.Hdf5Writer;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A file of time series, of a step on a node or of a whole job. Its rows are read while it is open. */
final class SeriesFile implements Closeable {
    private static final int BLOCK = 1 << 16;

    /**
     * One table of a job's file.
     *
     * @param step {@code 0}, {@code batch}
     * @param task "" where it is the node's
     */
    record Place(String step, String node, String task, Table table) {}

    private final FileChannel channel;
    private final Group root;

    private SeriesFile(FileChannel channel, Group root) {
        this.channel = channel;
        this.root = root;
    }

    static SeriesFile open(Path path) throws IOException {
        FileChannel channel = FileChannel.open(path);
        try {
            return new SeriesFile(channel, Hdf5Reader.read((at, count) -> bytes(channel, at, count)));
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    private static byte[] bytes(FileChannel channel, long at, int count) throws IOException {
        if (at + count > channel.size()) {
            throw new EOFException("it ends at " + channel.size());
        }
        ByteBuffer out = ByteBuffer.allocate(count);
        while (out.hasRemaining() && channel.read(out, at + out.position()) > 0) {
            // until all is there
        }
        return out.array();
    }

    static void write(Path path, Group root) throws IOException {
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(path), BLOCK)) {
            Hdf5Writer.write(root, out);
        }
    }

    Group root() {
        return root;
    }

    private static Map<String, Hdf5> below(Hdf5 at, String name) {
        return at instanceof Group g && g.members().get(name) instanceof Group found ? found.members() : Map.of();
    }

    /**
     * Nodes of a job's file that have anything, each once.
     *
     * @param step "" for all steps
     */
    List<String> nodes(String step) {
        List<String> out = new ArrayList<>();
        below(root, "Steps").forEach((name, of) -> {
            if (step.isEmpty() || step.equals(name)) {
                below(of, "Nodes").keySet().stream()
                        .filter(n -> !out.contains(n))
                        .forEach(out::add);
            }
        });
        return out;
    }

    /**
     * Tables of one series, by step, node and task.
     *
     * @param series {@code Network}; {@code Tasks} (or {@code Task}) for all tasks, {@code Task_7} for one
     */
    List<Place> tables(String series) {
        List<Place> out = new ArrayList<>();
        below(root, "Steps")
                .forEach((step, of) -> below(of, "Nodes").forEach((node, found) -> {
                    if (found instanceof Group g && g.members().get(series) instanceof Table table) {
                        out.add(new Place(step, node, "", table));
                    } else if (series.startsWith("Task")) {
                        below(found, "Tasks").forEach((task, member) -> {
                            if (member instanceof Table table
                                    && (!series.startsWith("Task_") || series.equals("Task_" + task))) {
                                out.add(new Place(step, node, task, table));
                            }
                        });
                    }
                }));
        return out;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
