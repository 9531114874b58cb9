package dev.muster.daemon;

import dev.muster.config.AuthPlaces;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.KeySet;
import java.io.File;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.Set;

/** The keys that the daemons of a cluster share (auth/slurm's slurm.key, or several in slurm.jwks). */
public final class ClusterKey {
    /** How the name of a file with several ends. */
    private static final String SEVERAL = ".jwks";

    private ClusterKey() {}

    /**
     * The first key file there is.
     *
     * @throws IOException if it is open to others, too short or unreadable
     */
    public static Optional<KeySet> find(AuthPlaces places) throws IOException {
        for (File file : places.keyFiles()) {
            if (file.isFile()) {
                return Optional.of(read(file.toPath()));
            }
        }
        return Optional.empty();
    }

    /** Returns whether a key file is there. */
    public static boolean isThere(AuthPlaces places) {
        return places.keyFiles().stream().anyMatch(File::isFile);
    }

    /**
     * Finds the key like {@link #find}; if there is none yet, makes one in the last place, readable by its owner only.
     */
    public static KeySet findOrMake(AuthPlaces places) throws IOException {
        Optional<KeySet> found = find(places);
        if (found.isPresent()) {
            return found.get();
        }
        Path path = places.keyFiles().getLast().toPath();
        byte[] key = new byte[64];
        new SecureRandom().nextBytes(key);
        Path directory = path.toAbsolutePath().getParent();
        Path fresh = Files.createTempFile(
                directory,
                path.getFileName().toString(),
                ".new",
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            Files.write(fresh, key);
            Files.createLink(path, fresh);
        } catch (FileAlreadyExistsException e) {
            return read(path); // another controller's, which starts at the same time
        } catch (UnsupportedOperationException e) {
            Files.move(fresh, path, java.nio.file.StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(fresh);
        }
        return KeySet.of(key);
    }

    /**
     * Keys from their file.
     *
     * @throws IOException if it is open to others, too short or unreadable
     */
    public static KeySet read(Path path) throws IOException {
        Set<PosixFilePermission> mode = Files.getPosixFilePermissions(path);
        if (mode.contains(PosixFilePermission.OTHERS_READ) || mode.contains(PosixFilePermission.OTHERS_WRITE)) {
            throw new IOException(path + " must not be accessible to others (mode 0600)");
        }
        byte[] key = Files.readAllBytes(path);
        if (path.getFileName().toString().endsWith(SEVERAL)) {
            try {
                return KeySet.parse(key);
            } catch (IllegalArgumentException e) {
                throw new IOException(path + ": " + ErrorSentence.of(e));
            }
        }
        if (key.length < KeySet.BYTES_MIN) {
            throw new IOException(path + " is too short: at least " + KeySet.BYTES_MIN + " bytes are needed");
        }
        return KeySet.of(key);
    }
}
