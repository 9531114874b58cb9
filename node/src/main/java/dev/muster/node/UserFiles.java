package dev.muster.node;

import dev.muster.model.Bytes;
import dev.muster.model.node.NodeMessages.FileRead;
import dev.muster.model.node.NodeMessages.ReadFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.function.IntFunction;

/**
 * Reads users' files for slurmctld, always as the user: what he may not read is not read, wherever links lead. Who may ask is slurmctld's to say.
 * Blocks; thread-safe.
 */
final class UserFiles {
    /** Read at a time. */
    private static final int MOST = 64;
    private static final int BYTES_MAX = 64 << 10;
    private static final int WAIT_MS_MAX = 60_000;
    /** What follows the first bytes within this time goes with them. */
    private static final int TOGETHER_MS = 40;
    private static final int PAUSE_MS = 10;
    /** For a program that is not to wait. */
    private static final int SHORT_MS = 5_000;
    private static final int HEAD_MAX = 200;

    /**
     * Arguments: file, offset, "f" to wait. First a line: offset and size, or ! and why not. A file that is not there yet is waited for like
     * bytes that are not.
     */
    private static final String SCRIPT = """
            f=$1 o=$2
            while [ ! -e "$f" ]; do [ -n "$3" ] || { echo "0 -1"; exit; }; sleep 0.2; done
            [ -f "$f" ] || { echo "! not a regular file"; exit; }
            [ -r "$f" ] || { echo "! Permission denied"; exit; }
            s=$(stat -Lc %s -- "$f") || exit
            [ "$o" -ge 0 ] || o=$((s + o))
            [ "$o" -ge 0 ] && [ "$o" -le "$s" ] || o=0
            echo "$o $s"
            exec tail -c "+$((o + 1))" $3 -- "$f"
            """;

    private final Semaphore free = new Semaphore(MOST);
    private final IntFunction<String> namespace;

    /** @param namespace of a job, "" for none */
    UserFiles(IntFunction<String> namespace) {
        this.namespace = namespace;
    }

    FileRead read(ReadFile q) {
        if (!free.tryAcquire()) {
            return new FileRead(q.id(), 0, -1, Bytes.EMPTY, "too many files are being read");
        }
        try {
            return waited(q);
        } catch (IOException e) {
            return new FileRead(q.id(), 0, -1, Bytes.EMPTY, Reasons.of(e));
        } finally {
            free.release();
        }
    }

    private FileRead waited(ReadFile q) throws IOException {
        if (Os.uid() != 0 && Os.uid() != q.owner().uid()) {
            return new FileRead(q.id(), 0, -1, Bytes.EMPTY, "slurmd is not root and cannot become " + q.owner().user());
        }
        boolean waits = q.waitMs() > 0;
        int most = Math.clamp(q.maxBytes(), 1, BYTES_MAX);
        // arguments of programs are bytes: as the platform's own encoding has them
        Process process = new AsUser(q.owner(), namespace.apply(q.job()), Map.of()).start(List.of("sh", "-c", SCRIPT, "read", q.path().text(),
                Long.toString(q.offset()), waits ? "-f" : ""));
        Thread watchdog = Thread.ofVirtual().start(() -> endLate(process, waits ? Math.min(q.waitMs(), WAIT_MS_MAX) : SHORT_MS));
        try (InputStream in = process.getInputStream()) {
            String head = line(in);
            if (head.startsWith("! ")) {
                return new FileRead(q.id(), 0, -1, Bytes.EMPTY, head.substring(2));
            }
            String[] words = head.split(" ");
            if (words.length != 2) {
                return new FileRead(q.id(), 0, -1, Bytes.EMPTY, "");     // the file has not come in this time
            }
            return new FileRead(q.id(), Long.parseLong(words[0]), Long.parseLong(words[1]), Bytes.of(some(in, most)), "");
        } finally {
            process.destroyForcibly();
            watchdog.interrupt();
        }
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder out = new StringBuilder();
        int c = in.read();
        while (c >= 0 && c != '\n' && out.length() < HEAD_MAX) {
            out.append((char) c);
            c = in.read();
        }
        return new String(out.toString().getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    /** Blocks for the first byte, and takes what comes soon after it. */
    private static byte[] some(InputStream in, int most) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        int quietMs = 0;
        try {
            while (out.size() < most && quietMs < TOGETHER_MS) {
                if (out.size() == 0 || in.available() > 0) {
                    int n = in.read(buffer, 0, Math.min(buffer.length, most - out.size()));
                    if (n < 0) {
                        break;
                    }
                    out.write(buffer, 0, n);
                    quietMs = 0;
                } else {
                    Thread.sleep(PAUSE_MS);
                    quietMs += PAUSE_MS;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return out.toByteArray();
    }

    private static void endLate(Process process, int ms) {
        try {
            Thread.sleep(ms);
            process.destroyForcibly();
        } catch (InterruptedException e) {
            // it was in time
        }
    }
}
