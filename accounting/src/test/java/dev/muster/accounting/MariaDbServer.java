package dev.muster.accounting;

import dev.muster.accounting.db.Database;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A MariaDB server of a test's own in a temporary directory, reached through its Unix socket, and on a port of the
 * loopback with TLS.
 */
public final class MariaDbServer implements AutoCloseable {
    private static final int START_S = 60;

    private final Process server;
    private final Path socket;
    private final int port;
    private final Path certificates;

    private MariaDbServer(Process server, Path socket, int port, Path certificates) {
        this.server = server;
        this.socket = socket;
        this.port = port;
        this.certificates = certificates;
    }

    private static Optional<String> program(String name) {
        for (String dir : List.of("/usr/sbin", "/usr/bin", "/usr/local/bin", "/usr/local/sbin")) {
            if (new File(dir, name).canExecute()) {
                return Optional.of(dir + "/" + name);
            }
        }
        return Optional.empty();
    }

    /** Why there can be none here; empty if there can. */
    public static Optional<String> missing() {
        return program("mariadbd").isEmpty() || program("mariadb-install-db").isEmpty()
                ? Optional.of("mariadbd is not installed")
                : Optional.empty();
    }

    public static MariaDbServer start(Path directory) throws IOException, InterruptedException {
        Path data = directory.resolve("data");
        Files.createDirectories(data);
        String user = System.getProperty("user.name");
        int made = new ProcessBuilder(
                        program("mariadb-install-db").orElseThrow(),
                        "--no-defaults",
                        "--user=" + user,
                        "--datadir=" + data,
                        "--auth-root-authentication-method=normal",
                        "--skip-test-db",
                        "--tmpdir=" + directory)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("install.log").toFile())
                .start()
                .waitFor();
        if (made != 0) {
            throw new IOException("mariadb-install-db failed: " + Files.readString(directory.resolve("install.log")));
        }
        // a path of a socket must be short
        Path socket = Files.createTempDirectory("mdb").resolve("s");
        Certificates.make(directory);
        int port;
        try (java.net.ServerSocket free = new java.net.ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Process server = new ProcessBuilder(
                        program("mariadbd").orElseThrow(),
                        "--no-defaults",
                        "--user=" + user,
                        "--datadir=" + data,
                        "--socket=" + socket,
                        "--port=" + port,
                        "--bind-address=127.0.0.1",
                        "--ssl-ca=" + directory.resolve("ca.pem"),
                        "--ssl-cert=" + directory.resolve("server.pem"),
                        "--ssl-key=" + directory.resolve("server.key"),
                        "--tmpdir=" + directory,
                        "--innodb-buffer-pool-size=32M",
                        "--pid-file=" + directory.resolve("pid"))
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("server.log").toFile())
                .start();
        for (int i = 0; i < START_S * 10 && server.isAlive() && !Files.exists(socket); i++) {
            Thread.sleep(100);
        }
        if (!Files.exists(socket)) {
            server.destroyForcibly();
            throw new IOException("mariadbd did not start: " + Files.readString(directory.resolve("server.log")));
        }
        return new MariaDbServer(server, socket, port, directory);
    }

    public Database database(String name) {
        return Database.mariaDb(new Database.Server("localhost", 0, socket.toString(), "root", "", name));
    }

    int port() {
        return port;
    }

    Path certificates() {
        return certificates;
    }

    Path socket() {
        return socket;
    }

    @Override
    public void close() throws IOException {
        server.destroy();
        try {
            if (!server.waitFor(20, TimeUnit.SECONDS)) {
                server.destroyForcibly();
            }
        } catch (InterruptedException e) {
            server.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        Files.deleteIfExists(socket);
        Files.deleteIfExists(socket.getParent());
    }
}
