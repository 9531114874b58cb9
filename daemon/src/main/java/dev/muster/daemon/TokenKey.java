package dev.muster.daemon;

import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.Caller;
import dev.muster.transport.Jwks;
import dev.muster.transport.Tokens;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The key of AuthAltTypes=auth/jwt, and with it the tokens that a daemon takes. */
public final class TokenKey {
    /** Its name where the configuration has none, in StateSaveLocation. */
    public static final String FILE = "jwt_hs256.key";

    private static final int BYTES_MAX = 65_536;
    private static final int JWKS_BYTES_MAX = 1 << 20;
    private static final String IDS = "use_jwt_client_ids";
    private static final String IDS_ONLY = "use_jwt_client_ids_only";

    private static final Set<PosixFilePermission> OTHERS = Set.of(
            PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE, PosixFilePermission.OTHERS_EXECUTE);

    private TokenKey() {}

    /**
     * @param types AuthAltTypes
     * @param parameters AuthAltParameters, by lower-case name
     * @param directory where the key is that they do not name
     * @return empty where tokens are not taken
     * @throws IOException if the key cannot be read or is open to others
     */
    public static Optional<Tokens> tokens(
            String types, Map<String, String> parameters, String directory, Identities identities) throws IOException {
        if (types.isEmpty()) {
            return Optional.empty();
        }
        if (!types.equals("auth/jwt")) {
            throw new IOException("AuthAltTypes=" + types + " is not part of this version; there is auth/jwt");
        }
        String named = parameters.getOrDefault("jwt_key", "");
        String claim = parameters.getOrDefault("userclaimfield", "");
        String jwks = parameters.getOrDefault("jwks", "");
        boolean only = parameters.containsKey(IDS_ONLY);
        Tokens.Ids ids = only || parameters.containsKey(IDS)
                ? new Tokens.Ids(true, only, identities::byName, identities::state)
                : Tokens.Ids.UNUSED;
        if (jwks.isEmpty()) {
            byte[] key = key(named.isEmpty() ? Path.of(directory, FILE) : Path.of(named));
            return Optional.of(new Tokens(
                    Optional.of(key),
                    Optional::empty,
                    claim,
                    name -> caller(identities, name),
                    ids,
                    System::currentTimeMillis));
        }
        // with keys of others, one of its own is taken only where it is named
        Optional<Jwks> there = others(Path.of(jwks));
        KeyFile<Optional<Jwks>> keys = new KeyFile<>(List.of(new File(jwks)), TokenKey::others, there);
        Optional<byte[]> keyFile = named.isEmpty() ? Optional.empty() : Optional.of(key(Path.of(named)));
        return Optional.of(
                new Tokens(keyFile, keys, claim, name -> caller(identities, name), ids, System::currentTimeMillis));
    }

    /**
     * Tokens of a key in a file.
     *
     * @throws IOException if it cannot be read or is open to others
     */
    public static Tokens tokens(Path file, String claim, Identities identities) throws IOException {
        return new Tokens(key(file), claim, name -> caller(identities, name), System::currentTimeMillis);
    }

    private static Optional<Caller> caller(Identities identities, String name) {
        return identities.byName(name).filter(i -> i.user().equals(name)).map(i -> new Caller(i.uid(), i.gid()));
    }

    /**
     * Reads the keys of other accepted signers of tokens.
     *
     * @throws IOException if it cannot be read, every user may write it, or it has no usable key
     */
    private static Optional<Jwks> others(Path file) throws IOException {
        if (!Files.isReadable(file)) {
            throw new IOException("auth/jwt: Could not load JWKS file (" + file + ")");
        }
        if (Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_WRITE)) {
            throw new IOException("auth/jwt: the keys in " + file + " must not be writable by others");
        }
        byte[] json;
        try (var in = Files.newInputStream(file)) {
            json = in.readNBytes(JWKS_BYTES_MAX);
        }
        try {
            return Optional.of(Jwks.parse(json));
        } catch (IllegalArgumentException e) {
            throw new IOException("auth/jwt: the JWKS file " + file + " is of no use: " + ErrorSentence.of(e));
        }
    }

    private static byte[] key(Path file) throws IOException {
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
        return key;
    }
}
