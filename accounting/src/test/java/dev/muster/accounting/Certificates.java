package dev.muster.accounting;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * An authority of a test's own in a directory (ca.pem), a server's certificate (server.pem, server.key) and a client's
 * (client.pem, client.key).
 */
final class Certificates {
    private Certificates() {}

    static void make(Path directory) throws IOException, InterruptedException {
        openssl(
                directory,
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=authority",
                "-keyout",
                "ca.key",
                "-out",
                "ca.pem");
        for (String name : List.of("server", "client")) {
            openssl(
                    directory,
                    "req",
                    "-newkey",
                    "rsa:2048",
                    "-nodes",
                    "-subj",
                    "/CN=" + name,
                    "-keyout",
                    name + ".key",
                    "-out",
                    name + ".csr");
            openssl(
                    directory,
                    "x509",
                    "-req",
                    "-in",
                    name + ".csr",
                    "-CA",
                    "ca.pem",
                    "-CAkey",
                    "ca.key",
                    "-CAcreateserial",
                    "-days",
                    "2",
                    "-out",
                    name + ".pem");
        }
    }

    private static void openssl(Path directory, String... words) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of("openssl"));
        all.addAll(List.of(words));
        Process p = new ProcessBuilder(all)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("openssl.log").toFile())
                .start();
        if (p.waitFor() != 0) {
            throw new IOException("openssl failed: " + Files.readString(directory.resolve("openssl.log")));
        }
    }
}
