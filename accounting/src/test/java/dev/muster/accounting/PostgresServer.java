package dev.muster.accounting;

import dev.muster.accounting.db.Database;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A PostgreSQL server of a test's own, on a port of the loopback. It refuses to be root: then it runs as the user
 * postgres.
 */
final class PostgresServer implements AutoCloseable {
    private static final int START_S = 60;
    private static final String PASSWORD = "it's a secret";

    private final Process server;
    private final int port;
    private final Path home;

    private PostgresServer(Process server, int port, Path home) {
        this.server = server;
        this.port = port;
        this.home = home;
    }

    private static Optional<String> program(String name) {
        List<String> places = new ArrayList<>(List.of("/usr/local/bin", "/usr/bin"));
        File[] versions = new File("/usr/lib/postgresql").listFiles();
        for (File version : versions == null ? new File[0] : versions) {
            places.add(version + "/bin");
        }
        return places.stream()
                .map(dir -> dir + "/" + name)
                .filter(path -> new File(path).canExecute())
                .findFirst();
    }

    private static boolean isRoot() {
        return System.getProperty("user.name").equals("root");
    }

    private static boolean known(String user) throws IOException {
        return Files.readAllLines(Path.of("/etc/passwd")).stream().anyMatch(line -> line.startsWith(user + ":"));
    }

    /** Why there can be none here; empty if there can. */
    static Optional<String> missing() {
        try {
            return program("postgres").isEmpty() || program("initdb").isEmpty()
                    ? Optional.of("postgres is not installed")
                    : isRoot() && !known("postgres")
                            ? Optional.of("there is no user postgres, and root may not run it")
                            : Optional.empty();
        } catch (IOException e) {
            return Optional.of(e.getMessage());
        }
    }

    private static ProcessBuilder command(String... words) {
        List<String> all = new ArrayList<>(
                isRoot() ? List.of("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups") : List.of());
        all.addAll(List.of(words));
        return new ProcessBuilder(all).directory(new File("/")).redirectErrorStream(true);
    }

    static PostgresServer start() throws IOException, InterruptedException {
        Path home = Files.createTempDirectory("pg");
        Path data = home.resolve("data");
        Path password = home.resolve("password");
        Files.writeString(password, PASSWORD + "\n");
        Certificates.make(home);
        if (isRoot()) {
            new ProcessBuilder("chown", "-R", "postgres", home.toString())
                    .start()
                    .waitFor();
        }
        int made = command(
                        program("initdb").orElseThrow(),
                        "-D",
                        data.toString(),
                        "-U",
                        "muster",
                        "-A",
                        "scram-sha-256",
                        "--pwfile=" + password,
                        "-E",
                        "UTF8",
                        "--no-sync")
                .redirectOutput(home.resolve("initdb.log").toFile())
                .start()
                .waitFor();
        if (made != 0) {
            throw new IOException("initdb failed: " + Files.readString(home.resolve("initdb.log")));
        }
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Process server = command(
                        program("postgres").orElseThrow(),
                        "-D",
                        data.toString(),
                        "-p",
                        Integer.toString(port),
                        "-k",
                        "",
                        "-h",
                        "127.0.0.1",
                        "-c",
                        "ssl=on",
                        "-c",
                        "ssl_cert_file=" + home.resolve("server.pem"),
                        "-c",
                        "ssl_key_file=" + home.resolve("server.key"),
                        "-c",
                        "ssl_ca_file=" + home.resolve("ca.pem"))
                .redirectOutput(home.resolve("server.log").toFile())
                .start();
        PostgresServer started = new PostgresServer(server, port, home);
        for (int i = 0; i < START_S * 10 && server.isAlive(); i++) {
            try {
                Database.closeQuietly(started.database("postgres").open());
                return started;
            } catch (java.sql.SQLException e) {
                Thread.sleep(100);
            }
        }
        started.close();
        throw new IOException("postgres did not start");
    }

    Path certificates() {
        return home;
    }

    static String password() {
        return PASSWORD;
    }

    int port() {
        return port;
    }

    Database database(String name) {
        return database(port, name);
    }

    static Database database(int port, String name) {
        return Database.postgreSql(new Database.Server("127.0.0.1", port, "", "muster", PASSWORD, name));
    }

    @Override
    public void close() throws IOException {
        server.destroy();
        try {
            if (!server.waitFor(20, TimeUnit.SECONDS)) {
                server.destroyForcibly();
            }
            new ProcessBuilder("rm", "-rf", home.toString()).start().waitFor();
        } catch (InterruptedException e) {
            server.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
