package dev.muster.node.os;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Bytes;
import dev.muster.model.Identity;
import dev.muster.model.node.NodeMessages.FileRead;
import dev.muster.model.node.NodeMessages.ReadFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads of a job's output files on behalf of a caller. */
class UserFilesTest {
    @TempDir
    private Path dir;

    private final UserFiles files = new UserFiles(job -> "");

    private static Identity self() {
        return new Identity(Os.uid(), Os.uid() == 0 ? 0 : 1, "me", "me", List.of(), "/", "/bin/sh");
    }

    private FileRead read(Path file, long offset, int bytes, int waitMs) {
        return read(file, offset, bytes, waitMs, "");
    }

    private FileRead read(Path file, long offset, int bytes, int waitMs, String which) {
        return files.read(new ReadFile(1, self(), 1, Bytes.of(file.toString()), offset, bytes, waitMs, which));
    }

    private static String shown(FileRead r) {
        return r.error().isEmpty()
                ? r.offset() + "/" + r.size() + " " + r.data().text()
                : r.error();
    }

    @Test
    void fileIsReadFromAnOffsetOrFromItsEnd() throws IOException {
        Path file = dir.resolve("it's a \"file\" $x");
        Files.writeString(file, "0123456789");
        assertThat(shown(read(file, 0, 100, 0))).isEqualTo("0/10 0123456789");
        assertThat(shown(read(file, 4, 3, 0))).isEqualTo("4/10 456");
        assertThat(shown(read(file, -3, 100, 0))).isEqualTo("7/10 789");
        assertThat(shown(read(file, -30, 100, 0))).isEqualTo("0/10 0123456789");
        assertThat(shown(read(file, 11, 100, 0))).isEqualTo("0/10 0123456789");
        assertThat(shown(read(file, 10, 100, 0))).isEqualTo("10/10 ");
    }

    @Test
    void fileReadWaitsForBytesButNotForEver() throws Exception {
        Path file = dir.resolve("late");
        Thread writer = Thread.ofVirtual().start(() -> {
            try {
                Thread.sleep(500);
                Files.writeString(file, "here");
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        assertThat(shown(read(file, 0, 100, 10_000))).endsWith(" here");
        writer.join();
        long began = System.nanoTime();
        assertThat(shown(read(file, 4, 100, 700))).isEqualTo("4/4 ");
        assertThat(read(dir.resolve("never"), 0, 100, 0).size()).isEqualTo(-1);
        assertThat(read(dir.resolve("never"), 0, 100, 300).size()).isEqualTo(-1);
        assertThat((System.nanoTime() - began) / 1_000_000).isBetween(900L, 8_000L);
    }

    private static void soon(ThrowingRunnable what) {
        Thread.ofVirtual().start(() -> {
            try {
                Thread.sleep(400);
                what.run();
            } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private interface ThrowingRunnable {
        void run() throws IOException;
    }

    /**
     * Bytes are those at their offset, also of a file that is cut off while they are waited for, or is another one by
     * now.
     */
    @Test
    void aFileThatIsCutOffOrReplacedIsReadFromItsBeginning() throws Exception {
        Path file = dir.resolve("rotated");
        Files.writeString(file, "a long beginning");
        String which = read(file, 0, 100, 0).file();
        assertThat(which).isNotEmpty();
        soon(() -> Files.writeString(file, "short"));
        assertThat(shown(read(file, 16, 100, 5_000, which))).isEqualTo("0/5 short");
        Files.move(file, dir.resolve("rotated.1"));
        Files.writeString(file, "longer than what was read");
        FileRead other = read(file, 5, 100, 0, which);
        assertThat(shown(other)).isEqualTo("0/25 longer than what was read");
        assertThat(other.file()).isNotEqualTo(which);
        assertThat(shown(read(file, 5, 100, 0, other.file()))).isEqualTo("5/25 r than what was read");
        assertThat(shown(read(file, 25, 100, 300, other.file()))).isEqualTo("25/25 ");
        Files.delete(file);
        assertThat(read(file, 25, 100, 300, other.file()).size()).isEqualTo(-1);
    }

    @Test
    void userReadsOnlyRegularFilesWithPermission() throws Exception {
        assertThat(read(dir, 0, 100, 0).error()).isEqualTo("not a regular file");
        assertThat(read(Path.of("/dev/zero"), 0, 100, 0).error()).isEqualTo("not a regular file");
        assertThat(read(Path.of("/etc/shadow"), 0, 100, 0).error()).isEqualTo(Os.uid() == 0 ? "" : "Permission denied");
        if (Os.uid() == 0) {
            Identity nobody = new Identity(65534, 65534, "nobody", "nogroup", List.of(65534), "/", "/bin/sh");
            assertThat(files.read(new ReadFile(1, nobody, 1, Bytes.of("/etc/shadow"), 0, 100, 0, ""))
                            .error())
                    .isEqualTo("Permission denied");
        }
    }
}
