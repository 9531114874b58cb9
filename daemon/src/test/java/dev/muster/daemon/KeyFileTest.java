package dev.muster.daemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.muster.transport.KeySet;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeyFileTest {
    @TempDir
    Path dir;

    private long second = 1_000_000;

    private void write(String name, String text) throws IOException, InterruptedException {
        Path file = dir.resolve(name);
        Files.writeString(file, text);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        Files.setLastModifiedTime(file, FileTime.fromMillis(1000 * second++));
        look();
    }

    /** Files are looked at twice a second. */
    private static void look() throws InterruptedException {
        Thread.sleep(520);
    }

    private static String main(KeyFile<KeySet> ring) {
        return ring.get()
                .main(System.currentTimeMillis())
                .map(k -> new String(k, StandardCharsets.UTF_8))
                .orElse("");
    }

    private static String several(String secret) {
        return "{\"keys\":[{\"kty\":\"oct\",\"alg\":\"HS256\",\"kid\":\"a\",\"k\":\""
                + Base64.getUrlEncoder().encodeToString(secret.getBytes(StandardCharsets.UTF_8)) + "\"}]}";
    }

    @Test
    void keyFileIsReloadedWhileItIsValid() throws IOException, InterruptedException {
        File jwks = dir.resolve("slurm.jwks").toFile();
        File key = dir.resolve("slurm.key").toFile();
        KeyFile<KeySet> ring = new KeyFile<>(List.of(jwks, key), ClusterKey::read, KeySet.NONE);
        assertThat(main(ring)).isEmpty();
        look();
        write("slurm.key", "the first secret of all");
        assertThat(main(ring)).isEqualTo("the first secret of all");
        write("slurm.key", "another secret after it");
        assertThat(main(ring)).isEqualTo("another secret after it");
        write("slurm.key", "short");
        assertThat(main(ring)).as("unfit").isEqualTo("another secret after it");
        Files.delete(key.toPath());
        look();
        assertThat(main(ring)).as("gone").isEqualTo("another secret after it");
        write("slurm.jwks", several("one that comes before it"));
        assertThat(main(ring)).isEqualTo("one that comes before it");
        write("slurm.jwks", "broken");
        assertThat(main(ring)).as("broken").isEqualTo("one that comes before it");
    }

    /** Root read it, and SlurmUser may not: a key of a lesser place is another one. */
    @Test
    void aKeyThatMayNotBeReadAnyMoreGoesOn() throws IOException, InterruptedException {
        assumeTrue(ProcessIds.uid() != 0, "root reads every file");
        File first = dir.resolve("slurm.key").toFile();
        File second = dir.resolve("state.key").toFile();
        KeyFile<KeySet> ring = new KeyFile<>(List.of(first, second), ClusterKey::read, KeySet.NONE);
        write("state.key", "the second secret of all");
        write("slurm.key", "the first secret of all");
        assertThat(main(ring)).isEqualTo("the first secret of all");
        Files.setPosixFilePermissions(first.toPath(), PosixFilePermissions.fromString("---------"));
        look();
        assertThat(main(ring)).isEqualTo("the first secret of all");
    }
}
