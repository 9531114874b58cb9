package dev.muster.transport;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.muster.transport.tls.TlsIdentity;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;

/** Certificates as a site makes them, with openssl. */
final class Certificates {
    private final Path directory;

    Certificates(Path directory) throws Exception {
        this.directory = directory;
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/openssl")), "needs openssl");
        authority("ca");
    }

    Path authority(String name) throws Exception {
        run(("openssl ecparam -out %1$s_key.pem -name prime256v1 -genkey"
                        + " && openssl req -x509 -key %1$s_key.pem -out %1$s_cert.pem -days 2 -subj /CN=%1$s")
                .formatted(name));
        return file(name + "_cert.pem");
    }

    /**
     * A pair NAME_cert.pem and NAME_key.pem.
     *
     * @param make the openssl command that writes the key
     */
    TlsIdentity pair(String name, String authority, String make) throws Exception {
        Files.deleteIfExists(file(name + "_key.pem"));
        run(
                make
                        + " && chmod 600 NAME_key.pem && openssl req -new -key NAME_key.pem -out NAME.csr -subj "
                        + "/CN=NAME && openssl x509 -req -in NAME.csr"
                        + " -days 1 -CA %1$s_cert.pem -CAkey %1$s_key.pem -CAcreateserial -out %2$s_cert.pem"
                                .formatted(authority, name),
                name);
        return identity(name);
    }

    TlsIdentity pair(String name) throws Exception {
        return pair(name, "ca", "openssl ecparam -out NAME_key.pem -name prime256v1 -genkey");
    }

    TlsIdentity identity(String name) throws IOException {
        return new TlsIdentity(file(name + "_cert.pem"), file(name + "_key.pem"), s -> {});
    }

    Path file(String name) {
        return directory.resolve(name);
    }

    void mode(String name, String mode) throws IOException {
        Files.setPosixFilePermissions(file(name), PosixFilePermissions.fromString(mode));
    }

    void run(String script, String name) throws Exception {
        run(script.replace("NAME", name));
    }

    void run(String script) throws Exception {
        Process p = new ProcessBuilder("sh", "-ec", script)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(p.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!p.waitFor(30, TimeUnit.SECONDS) || p.exitValue() != 0) {
            throw new IllegalStateException(script + ": " + said);
        }
    }
}
