package dev.muster.daemon;

import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.ApiError;
import dev.muster.model.api.ClusterMessages.ConfigFile;
import dev.muster.model.api.ClusterMessages.ConfigFiles;
import dev.muster.model.api.ClusterMessages.FetchConfig;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.Audience;
import dev.muster.transport.Caller;
import dev.muster.transport.Client;
import dev.muster.transport.Hash;
import dev.muster.transport.Munge;
import dev.muster.transport.Session;
import dev.muster.transport.Verifier;
import dev.muster.transport.tls.Tls;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The configuration from slurmctld instead of files of this machine; {@link ConfServers} finds the servers. */
public final class Configless {
    private static final int PORT = 6817;
    private static final int TIMEOUT_MS = 20_000;
    /** A slurmctld that is just starting is waited for. */
    private static final int TRIES = 10;

    private static final int PAUSE_MS = 1_000;
    private static final String KEY = "slurm.key";
    private static final String KEYS = "slurm.jwks";
    /** Default file of the authority. */
    private static final String AUTHORITY = "ca_cert.pem";

    private record Server(String host, int port) {}

    private final List<Server> servers = new ArrayList<>();
    private final Optional<Path> keyFile;
    private final String mungeSocket;
    private final Optional<Path> authority;
    private final Tls tls;
    private final SecureRandom random = new SecureRandom();
    private String hash = "";

    /**
     * @param servers {@code host[:port]} with commas, the first being asked first
     * @param keyFile of this machine; without one munge vouches
     * @param mungeSocket of the munged that does; "" for the usual one
     * @param authority certificate of the cluster's authority ({@code --ca-cert-file}): slurmctld is asked over TLS;
     *     else plainly
     */
    public Configless(String servers, Optional<Path> keyFile, String mungeSocket, Optional<Path> authority) {
        this.mungeSocket = mungeSocket;
        this.authority = authority;
        this.tls = authority.map(a -> Tls.trusting(a, false)).orElse(Tls.NONE);
        for (String server : servers.split(",")) {
            int colon = server.lastIndexOf(':');
            boolean numbered = colon > 0 && server.substring(colon + 1).matches("[0-9]{1,5}");
            this.servers.add(new Server(
                    numbered ? server.substring(0, colon) : server,
                    numbered ? Integer.parseInt(server.substring(colon + 1)) : PORT));
        }
        this.keyFile = keyFile;
    }

    /**
     * Where a machine without configuration keeps the cluster's keys: SLURM_SACK_JWKS or SLURM_SACK_KEY, the
     * installation, /etc/slurm.
     */
    public static Optional<Path> keyOf(Path prefix) {
        Path etc = prefix.resolve("etc");
        Path system = Path.of("/etc/slurm");
        return Stream.of(
                        named("SLURM_SACK_JWKS"),
                        named("SLURM_SACK_KEY"),
                        etc.resolve(KEYS),
                        etc.resolve(KEY),
                        system.resolve(KEYS),
                        system.resolve(KEY))
                .filter(Files::isRegularFile)
                .findFirst();
    }

    /** The path in a variable; if it is not set, a path without a file. */
    private static Path named(String variable) {
        return Path.of(Optional.ofNullable(System.getenv(variable)).orElse(""));
    }

    /** Directory in which commands find the fetched configuration. */
    public static Path runtimeDirectory() {
        String systemd = Optional.ofNullable(System.getenv("RUNTIME_DIRECTORY")).orElse("");
        return Path.of(systemd.isEmpty() ? "/run/slurm" : systemd.split(":")[0]).resolve("conf");
    }

    /** Fetches all files and puts them in the place of what the directory held. Answers the directory. */
    public Path fetchInto(Path directory) throws IOException {
        store(fetch("", 0), directory);
        return directory;
    }

    /** Waits for other files than the last. False: they are the same still. */
    public boolean followInto(Path directory, int waitSeconds) throws IOException {
        ConfigFiles files = fetch(hash, waitSeconds);
        if (files.files().isEmpty()) {
            return false;
        }
        store(files, directory);
        return true;
    }

    private ConfigFiles fetch(String known, int waitSeconds) throws IOException {
        IOException last = new IOException("no server is named");
        for (int i = 0; i < TRIES; i++) {
            for (Server server : servers) {
                try (Client client = new Client(server.host, server.port, this::session, this::nonce)
                        .to(Audience.SLURMCTLD)
                        .over(tls)) {
                    Client.Response response = client.post(
                            Verifier.CONFIG_PATH,
                            Codec.encode(new FetchConfig(known, waitSeconds)),
                            TIMEOUT_MS + waitSeconds * 1000);
                    if (response.status() == 200) {
                        return Codec.decode(response.body(), ConfigFiles.class);
                    }
                    throw new RefusedException(server.host + ":" + server.port + ": " + sentence(response));
                } catch (RefusedException e) {
                    throw e;
                } catch (IOException e) {
                    last = new IOException(
                            "cannot fetch the configuration from " + server.host + ":" + server.port + ": "
                                    + ErrorSentence.of(e),
                            e);
                } catch (Json.MalformedException | IllegalStateException e) {
                    throw new IOException(
                            "cannot fetch the configuration from " + server.host + ":" + server.port + ": "
                                    + ErrorSentence.of(e),
                            e);
                }
            }
            try {
                Thread.sleep(PAUSE_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw last;
            }
        }
        throw last;
    }

    private static String sentence(Client.Response response) {
        try {
            return Codec.decode(response.body(), ApiError.class).error();
        } catch (Json.MalformedException e) {
            return "answer " + response.status();
        }
    }

    private static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1L;

        RefusedException(String sentence) {
            super(sentence);
        }
    }

    private Session session() {
        byte[] bytes = new byte[32];
        random.nextBytes(bytes);
        try {
            if (keyFile.isPresent() && mungeSocket.isEmpty()) {
                long now = System.currentTimeMillis();
                byte[] key = ClusterKey.read(keyFile.get())
                        .main(now)
                        .orElseThrow(() -> new IllegalStateException("no key is good any more"));
                return Session.issue(key, "", self(), now, java.util.Arrays.copyOf(bytes, 16));
            }
        } catch (IOException e) {
            throw new IllegalStateException("cannot read " + keyFile.get(), e);
        }
        return new Munge(mungeSocket)
                .session(bytes, -1)
                .orElseThrow(() -> new IllegalStateException("neither slurm.key nor munge vouches for this machine"));
    }

    private static Caller self() throws IOException {
        Path self = Path.of("/proc/self");
        return new Caller(
                (Integer) Files.getAttribute(self, "unix:uid"), (Integer) Files.getAttribute(self, "unix:gid"));
    }

    private String nonce() {
        byte[] bytes = new byte[12];
        random.nextBytes(bytes);
        return Hash.hex(bytes);
    }

    /** Every file is there or none has changed its content half: each is put in place whole, slurm.conf last. */
    private void store(ConfigFiles files, Path directory) throws IOException {
        Files.createDirectories(directory);
        Set<String> names = new TreeSet<>(Set.of(KEY, KEYS, AUTHORITY));
        List<ConfigFile> inOrder = new ArrayList<>(files.files());
        inOrder.sort(java.util.Comparator.comparing(f -> f.name().equals("slurm.conf")));
        for (ConfigFile file : inOrder) {
            Path target = directory.resolve(file.name()).normalize();
            if (!target.startsWith(directory.normalize()) || target.equals(directory.normalize())) {
                throw new IOException("a file outside of the directory: " + file.name());
            }
            Files.createDirectories(target.getParent());
            Path fresh = Files.createTempFile(target.getParent(), ".new", "");
            Files.write(fresh, file.content().toArray());
            Files.setPosixFilePermissions(
                    fresh, PosixFilePermissions.fromString(file.executable() ? "rwxr-xr-x" : "rw-r--r--"));
            Files.move(fresh, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            names.add(directory.normalize().relativize(target).toString());
        }
        removeOthers(directory, names);
        if (keyFile.isPresent()) {
            boolean several = keyFile.get().getFileName().toString().endsWith(KEYS);
            Path key = directory.resolve(several ? KEYS : KEY);
            Files.deleteIfExists(directory.resolve(KEYS));
            Files.deleteIfExists(directory.resolve(KEY));
            Files.createSymbolicLink(key, keyFile.get().toAbsolutePath());
        }
        if (authority.isPresent()) {
            Files.deleteIfExists(directory.resolve(AUTHORITY));
            Files.createSymbolicLink(
                    directory.resolve(AUTHORITY), authority.get().toAbsolutePath());
        }
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        hash = files.hash();
    }

    private static void removeOthers(Path directory, Set<String> names) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.filter(Files::isRegularFile).toList()) {
                if (!names.contains(
                        directory.normalize().relativize(path.normalize()).toString())) {
                    Files.delete(path);
                }
            }
        }
    }

    /** Moves what was fetched to where it stays. */
    public static void replace(Path from, Path to) throws IOException {
        Files.createDirectories(to.getParent());
        Path old = to.resolveSibling(to.getFileName() + ".old");
        remove(old);
        if (Files.exists(to)) {
            Files.move(to, old);
        }
        copy(from, to);
        remove(old);
        remove(from);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path path : all.toList()) {
                Files.copy(
                        path,
                        to.resolve(from.relativize(path).toString()),
                        StandardCopyOption.COPY_ATTRIBUTES,
                        java.nio.file.LinkOption.NOFOLLOW_LINKS);
            }
        }
    }

    private static void remove(Path directory) throws IOException {
        if (!Files.exists(directory, java.nio.file.LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        try (Stream<Path> all = Files.walk(directory)) {
            all.sorted(java.util.Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
        }
    }

    /**
     * Commands without SLURM_CONF look behind the runtime directory. Best effort: the link of another daemon is
     * replaced.
     */
    public static void link(Path place) {
        Path link = runtimeDirectory();
        try {
            Files.createDirectories(link.getParent());
            Path fresh = link.resolveSibling(
                    "." + link.getFileName() + ProcessHandle.current().pid());
            Files.deleteIfExists(fresh);
            Files.createSymbolicLink(fresh, place);
            Files.move(fresh, link, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            System.err.println("the configuration is not linked from " + link + ": " + ErrorSentence.reason(e));
        }
    }
}
