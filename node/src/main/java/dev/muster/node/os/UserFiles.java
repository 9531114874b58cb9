package dev.muster.node.os;

import dev.muster.json.Bytes;
import dev.muster.model.format.ErrorSentence;
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
 * Reads users' files for slurmctld, always as the user, so that links lead to no file that the user may not read.
 * slurmctld checks the caller's right. Blocks; thread-safe.
 */
public final class UserFiles {
    /** Read at a time. */
    private static final int MOST = 64;

    private static final int BYTES_MAX = 64 << 10;
    private static final int WAIT_MS_MAX = 60_000;
    /** Bytes that follow the first ones within this time are sent with them. */
    private static final int TOGETHER_MS = 40;

    private static final int PAUSE_MS = 10;
    /** How long a short program may take, in milliseconds. */
    private static final int SHORT_MS = 5_000;

    private static final int HEAD_MAX = 200;

    /**
     * Arguments: file, offset, "f" to wait, which file it was. First a line: offset, size and which file, or ! and why
     * not. A file that is not there yet is waited for like bytes that are not; another one than it was is read from its
     * beginning.
     */
    private static final String SCRIPT = """
            f=$1 o=$2
            while [ ! -e "$f" ]; do [ -n "$3" ] || { echo "0 -1 -"; exit; }; sleep 0.2; done
            [ -f "$f" ] || { echo "! not a regular file"; exit; }
            [ -r "$f" ] || { echo "! Permission denied"; exit; }
            s=$(stat -Lc '%s %d:%i:%W' -- "$f") || exit
            w=${s#* } s=${s% *}
            [ -z "$4" ] || [ "$4" = "$w" ] || o=0
            [ "$o" -ge 0 ] || o=$((s + o))
            [ "$o" -ge 0 ] && [ "$o" -le "$s" ] || o=0
            echo "$o $s $w"
            exec tail -c "+$((o + 1))" $3 -- "$f"
            """;

    private final Semaphore free = new Semaphore(MOST);
    private final IntFunction<String> namespace;

    /** @param namespace of a job, "" for none */
    public UserFiles(IntFunction<String> namespace) {
        this.namespace = namespace;
    }

    public FileRead read(ReadFile q) {
        if (!free.tryAcquire()) {
            return new FileRead(q.id(), "too many files are being read");
        }
        try {
            return waited(q);
        } catch (IOException e) {
            return new FileRead(q.id(), ErrorSentence.reason(e));
        } finally {
            free.release();
        }
    }

    private FileRead waited(ReadFile q) throws IOException {
        if (Os.uid() != 0 && Os.uid() != q.owner().uid()) {
            return new FileRead(
                    q.id(), "slurmd is not root and cannot become " + q.owner().user());
        }
        if (q.waitMs() > 0 && awaited(q)) {
            return new FileRead(q.id(), ""); // the file has not come in this time
        }
        Process process = startReader(q, false);
        Thread watchdog = Thread.ofVirtual().start(() -> endLate(process, SHORT_MS));
        try (InputStream in = process.getInputStream()) {
            String head = line(in);
            if (head.startsWith("! ")) {
                return new FileRead(q.id(), head.substring(2));
            }
            String[] words = head.split(" ");
            if (words.length != 3 || words[1].startsWith("-")) {
                return new FileRead(q.id(), "");
            }
            int limit = Math.clamp(q.maxBytes(), 1, BYTES_MAX);
            return new FileRead(
                    q.id(),
                    Long.parseLong(words[0]),
                    Long.parseLong(words[1]),
                    Bytes.of(readFirst(in, limit)),
                    "",
                    words[2]);
        } finally {
            process.destroyForcibly();
            watchdog.interrupt();
        }
    }

    /** Arguments of programs are bytes: as the platform's own encoding has them. */
    private Process startReader(ReadFile q, boolean waits) throws IOException {
        return new UserPrograms(q.owner(), namespace.apply(q.job()), Map.of())
                .start(List.of(
                        "sh",
                        "-c",
                        SCRIPT,
                        "read",
                        q.path().text(),
                        Long.toString(q.offset()),
                        waits ? "-f" : "",
                        q.file()));
    }

    /**
     * Until there is something to read or the time is over. What it is, is read anew: a file that was cut off meanwhile
     * has other bytes behind the offset, if any.
     *
     * @return whether there was no file in all the time
     */
    private boolean awaited(ReadFile q) throws IOException {
        Process process = startReader(q, true);
        Thread watchdog = Thread.ofVirtual().start(() -> endLate(process, Math.min(q.waitMs(), WAIT_MS_MAX)));
        try (InputStream in = process.getInputStream()) {
            String head = line(in);
            if (!head.isEmpty() && !head.startsWith("! ") && in.read() >= 0) {
                Thread.sleep(TOGETHER_MS);
            }
            return head.isEmpty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
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
    private static byte[] readFirst(InputStream in, int maxBytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        int quietMs = 0;
        try {
            while (out.size() < maxBytes && quietMs < TOGETHER_MS) {
                if (out.size() == 0 || in.available() > 0) {
                    int n = in.read(buffer, 0, Math.min(buffer.length, maxBytes - out.size()));
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
