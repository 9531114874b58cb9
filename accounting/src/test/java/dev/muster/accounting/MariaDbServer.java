package dev.muster.accounting;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A MariaDB server of a test's own in a temporary directory, reached through its Unix socket only. */
final class MariaDbServer implements AutoCloseable {
    private static final int START_S = 60;

    private final Process server;
    private final Path socket;

    private MariaDbServer(Process server, Path socket) {
        this.server = server;
        this.socket = socket;
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
    static Optional<String> missing() {
        return program("mariadbd").isEmpty() || program("mariadb-install-db").isEmpty() ? Optional.of("mariadbd is not installed") : Optional.empty();
    }

    static MariaDbServer start(Path directory) throws IOException, InterruptedException {
        Path data = directory.resolve("data");
        Files.createDirectories(data);
        String user = System.getProperty("user.name");
        int made = new ProcessBuilder(program("mariadb-install-db").orElseThrow(), "--no-defaults", "--user=" + user, "--datadir=" + data,
                "--auth-root-authentication-method=normal", "--skip-test-db", "--tmpdir=" + directory).redirectErrorStream(true)
                .redirectOutput(directory.resolve("install.log").toFile()).start().waitFor();
        if (made != 0) {
            throw new IOException("mariadb-install-db failed: " + Files.readString(directory.resolve("install.log")));
        }
        // a path of a socket must be short
        Path socket = Files.createTempDirectory("mdb").resolve("s");
        Process server = new ProcessBuilder(program("mariadbd").orElseThrow(), "--no-defaults", "--user=" + user, "--datadir=" + data, "--socket="
                + socket,
                "--skip-networking", "--tmpdir=" + directory, "--innodb-buffer-pool-size=32M", "--pid-file=" + directory.resolve("pid"))
                        .redirectErrorStream(true)
                .redirectOutput(directory.resolve("server.log").toFile()).start();
        for (int i = 0; i < START_S * 10 && server.isAlive() && !Files.exists(socket); i++) {
            Thread.sleep(100);
        }
        if (!Files.exists(socket)) {
            server.destroyForcibly();
            throw new IOException("mariadbd did not start: " + Files.readString(directory.resolve("server.log")));
        }
        return new MariaDbServer(server, socket);
    }

    Database database(String name) {
        return Database.mariaDb(new Database.Server("localhost", 0, socket.toString(), "root", "", name));
    }

    Path socket() {
        return socket;
    }

    @Override
    public void close() throws IOException, InterruptedException {
        server.destroy();
        if (!server.waitFor(20, TimeUnit.SECONDS)) {
            server.destroyForcibly();
        }
        Files.deleteIfExists(socket);
        Files.deleteIfExists(socket.getParent());
    }
}
