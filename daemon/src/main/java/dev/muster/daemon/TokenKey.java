package dev.muster.daemon;

import dev.muster.transport.Caller;
import dev.muster.transport.Tokens;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The key of AuthAltTypes=auth/jwt, and with it the tokens that a daemon takes. */
public final class TokenKey {
    /** Its name where the configuration has none, in StateSaveLocation. */
    public static final String FILE = "jwt_hs256.key";
    private static final int BYTES_MAX = 65_536;

    private static final Set<PosixFilePermission> OTHERS =
            Set.of(PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE, PosixFilePermission.OTHERS_EXECUTE);

    private TokenKey() {}

    /**
     * @param types      AuthAltTypes
     * @param parameters AuthAltParameters, by lower-case name
     * @param directory  where the key is that they do not name
     * @return empty where tokens are not taken
     * @throws IOException if the key cannot be read or is open to others
     */
    public static Optional<Tokens> tokens(String types, Map<String, String> parameters, String directory, Identities identities)
            throws IOException {
        if (!Arrays.asList(types.split(",")).contains("auth/jwt")) {
            return Optional.empty();
        }
        String named = parameters.getOrDefault("jwt_key", "");
        return Optional.of(tokens(named.isEmpty() ? Path.of(directory, FILE) : Path.of(named),
                parameters.getOrDefault("userclaimfield", ""), identities));
    }

    /** Tokens of a key in a file. @throws IOException if it cannot be read or is open to others */
    public static Tokens tokens(Path file, String claim, Identities identities) throws IOException {
        if (!Files.isReadable(file)) {
            throw new IOException("auth/jwt: Could not load key file (" + file + ")");
        }
        Set<PosixFilePermission> mode = Files.getPosixFilePermissions(file);
        if (mode.stream().anyMatch(OTHERS::contains)) {
            throw new IOException("auth/jwt: the key " + file + " must not be accessible to others");
        }
        byte[] key;
        try (var in = Files.newInputStream(file)) {
            key = in.readNBytes(BYTES_MAX);
        }
        if (key.length == 0) {
            throw new IOException("auth/jwt: the key " + file + " is empty");
        }
        return new Tokens(key, claim, name -> identities.byName(name).filter(i -> i.user().equals(name)).map(i -> new Caller(i.uid(), i.gid())),
                System::currentTimeMillis);
    }
}
