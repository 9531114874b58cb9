package dev.muster.journal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The checked files of a journal's directory: no gap, one cluster, no damage except perhaps at the very end. */
record DirectoryScan(List<Segment> segments, Optional<SnapshotFile> snapshot, Segment.End end) {

    static DirectoryScan of(Path directory, UUID clusterId) throws IOException {
        List<Path> files = sorted(directory);
        Optional<SnapshotFile> snapshot = newestSnapshot(files, clusterId);
        List<Segment> segments = new ArrayList<>();
        for (Path file : files) {
            if (named(file, Segment.PREFIX, Segment.SUFFIX)) {
                segments.add(new Segment(file, number(file, Segment.PREFIX, Segment.SUFFIX)));
            }
        }
        long covered = snapshot.isPresent() ? snapshot.get().index() : 0;
        if (segments.isEmpty()) {
            if (covered > 0) {
                throw new JournalException(
                        "segment missing: " + snapshot.get().file() + " exists, but no segment of the journal does");
            }
            return new DirectoryScan(segments, snapshot, new Segment.End(0, 1, Optional.empty()));
        }
        if (segments.getFirst().firstIndex() > covered + 1) {
            throw new JournalException("segment missing: entries " + (covered + 1) + " to "
                    + (segments.getFirst().firstIndex() - 1) + " are neither in a snapshot nor before "
                    + segments.getFirst().file());
        }
        Segment.End end = checkAll(segments, clusterId);
        if (end.nextIndex() <= covered) {
            throw new JournalException("journal damaged: " + segments.getLast().file() + " at offset " + end.offset()
                    + ": it ends with entry " + (end.nextIndex() - 1) + ", but "
                    + snapshot.get().file()
                    + " covers entries up to " + covered);
        }
        return new DirectoryScan(segments, snapshot, end);
    }

    /** @param segments one or more */
    private static Segment.End checkAll(List<Segment> segments, UUID clusterId) throws IOException {
        Segment.End end = segments.getFirst().check(clusterId, segments.size() == 1);
        for (int i = 1; i < segments.size(); i++) {
            Segment segment = segments.get(i);
            if (end.nextIndex() != segment.firstIndex()) {
                throw new JournalException(
                        "segment missing or damaged: " + segments.get(i - 1).file() + " at offset "
                                + end.offset() + ": it ends before entry " + end.nextIndex() + ", but " + segment.file()
                                + " starts with " + segment.firstIndex());
            }
            end = segment.check(clusterId, i == segments.size() - 1);
        }
        return end;
    }

    private static Optional<SnapshotFile> newestSnapshot(List<Path> files, UUID clusterId) throws IOException {
        Optional<SnapshotFile> newest = Optional.empty();
        for (Path file : files) {
            if (named(file, SnapshotFile.PREFIX, SnapshotFile.SUFFIX)) {
                long index = number(file, SnapshotFile.PREFIX, SnapshotFile.SUFFIX);
                newest = Optional.of(new SnapshotFile(file, index, clusterId));
            } else if (named(file, SnapshotFile.PREFIX, ".tmp")) {
                Files.delete(file);
            }
        }
        return newest;
    }

    static Optional<UUID> clusterIdOf(Path directory) throws IOException {
        for (Path file : sorted(directory)) {
            boolean segment = named(file, Segment.PREFIX, Segment.SUFFIX);
            if (segment || named(file, SnapshotFile.PREFIX, SnapshotFile.SUFFIX)) {
                try (var in = Files.newInputStream(file)) {
                    ByteBuffer header = ByteBuffer.wrap(in.readNBytes(Frames.FILE_HEADER_BYTES));
                    Frames.requireHeader(header, segment ? Frames.SEGMENT_MAGIC : Frames.SNAPSHOT_MAGIC, file);
                    return Optional.of(Frames.clusterId(header));
                }
            }
        }
        return Optional.empty();
    }

    private static List<Path> sorted(Path directory) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
            stream.forEach(files::add);
        }
        files.sort(null);
        return files;
    }

    private static boolean named(Path file, String prefix, String suffix) {
        String name = file.getFileName().toString();
        return name.startsWith(prefix)
                && name.endsWith(suffix)
                && name.length() == prefix.length() + 20 + suffix.length();
    }

    private static long number(Path file, String prefix, String suffix) {
        String name = file.getFileName().toString();
        return Long.parseLong(name.substring(prefix.length(), name.length() - suffix.length()));
    }
}
