package dev.muster.rest.page;

import static java.util.Objects.requireNonNull;

import dev.muster.cli.command.Host;
import dev.muster.cli.command.SlurmException;
import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.rest.http.Http;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The output of a batch job as a stream of events, until the job ends. Its node reads the file as the job's user and
 * waits there for new output.
 */
final class LogTail implements Http.Written {
    static final int BYTES_MAX = 64 << 10;
    /** Short of what makes a reader wait for the news that the job is over. */
    private static final int WAIT_MS = 5_000;

    private static final int PENDING_MS = 2_000;
    private static final byte[] STILL = ": \n\n".getBytes(StandardCharsets.US_ASCII);

    private final Host host;
    private final long job;
    private final String stream;
    private long attempt;
    private long offset;
    private boolean isReported;
    /** Which file the offset is of, "" for any. */
    private String file;

    private Json.@Nullable Obj first;

    /**
     * @param offset from the beginning, below 0 from the end
     * @param attempt that the offset is of, 0 for any
     * @param file the same, "" for any
     */
    LogTail(Host host, long job, String stream, long offset, long attempt, String file) {
        this.host = host;
        this.job = job;
        this.stream = stream;
        this.offset = offset;
        this.attempt = attempt;
        this.file = file;
    }

    static Json.Obj question(long job, String stream, long offset, int bytes, int waitMs, String file) {
        return new Json.Obj()
                .put("jobId", job)
                .put("stream", stream)
                .put("offset", offset)
                .put("maxBytes", (long) bytes)
                .put("waitMs", (long) waitMs)
                .put("file", file);
    }

    /**
     * The first answer, so that a refusal is one.
     *
     * @return this
     */
    LogTail start() throws SlurmException {
        first = read(0);
        return this;
    }

    private Json.Obj read(int waitMs) throws SlurmException {
        return host.controller().call("ReadOutput", question(job, stream, offset, BYTES_MAX, waitMs, file));
    }

    @Override
    public void to(OutputStream out) throws IOException {
        Json.Obj reply = requireNonNull(first, "start() has asked");
        try {
            while (true) {
                boolean more = write(out, reply);
                out.flush();
                if (reply.flag("over") && !more) {
                    out.write(Feed.event("", "end", new Json.Obj().put("state", reply.text("state"))));
                    out.flush();
                    return;
                }
                // no file yet, or a begun character that its writer leaves as it is: neither is waited for by the node
                if (!more && (reply.number("size") < 0 || !reply.text("data").isEmpty())) {
                    Thread.sleep(PENDING_MS);
                }
                reply = read(more ? 0 : WAIT_MS);
            }
        } catch (SlurmException e) {
            out.write(Feed.event("", "refused", new Json.Obj().put("error", e.getMessage())));
            out.flush();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Names the file at first, and whenever the node reads another one or a shorter one than before. */
    private void fileEvents(OutputStream out, Json.Obj reply) throws IOException {
        boolean isOther = !file.isEmpty()
                && !reply.text("file").isEmpty()
                && !reply.text("file").equals(file);
        file = reply.text("file").isEmpty() ? file : reply.text("file");
        long size = reply.number("size");
        boolean isCut = reply.number("offset") < offset && offset > size;
        if (isReported && (size < 0 || !isOther && !isCut)) {
            return;
        }
        if (isReported || isOther) {
            out.write(Feed.event("", "again", new Json.Obj().put("attempt", attempt)));
        }
        isReported = true;
        out.write(Feed.event(
                "",
                "file",
                new Json.Obj()
                        .put("path", reply.text("path"))
                        .put("size", size)
                        .put("offset", reply.number("offset"))
                        .put("state", reply.text("state"))));
    }

    /**
     * Writes the events of one answer of the node.
     *
     * @return whether the answer has moved the offset
     */
    private boolean write(OutputStream out, Json.Obj reply) throws IOException {
        byte[] data = Bytes.fromBase64(reply.text("data")).toArray();
        boolean anew = attempt != 0 && reply.number("attempt") != attempt && reply.number("attempt") != 0;
        if (anew && offset > 0) {
            offset = 0; // another attempt has begun the file anew, or goes on in it: it is read again
            attempt = reply.number("attempt");
            out.write(Feed.event("", "again", new Json.Obj().put("attempt", attempt)));
            return true;
        }
        attempt = reply.number("attempt");
        long size = reply.number("size");
        fileEvents(out, reply);
        if (size < 0 || data.length == 0) {
            out.write(STILL);
            return false;
        }
        long from = reply.number("offset");
        int whole = completeLength(data, reply.flag("over"));
        offset = from + whole;
        if (whole == 0) {
            return false;
        }
        out.write(Feed.event(
                attempt + "." + offset + (file.isEmpty() ? "" : "." + file),
                "log",
                new Json.Obj()
                        .put("offset", from)
                        .put("text", new String(data, 0, whole, StandardCharsets.UTF_8))
                        .put("size", Math.max(size, offset))));
        return true;
    }

    /**
     * Returns the length without an incomplete UTF-8 character at the end.
     *
     * @param all nothing follows
     */
    static int completeLength(byte[] data, boolean all) {
        if (all) {
            return data.length;
        }
        for (int back = 1; back <= 3 && back <= data.length; back++) {
            int b = data[data.length - back] & 0xff;
            if (b >= 0xc0) {
                int needs;
                if (b >= 0xf0) {
                    needs = 4;
                } else if (b >= 0xe0) {
                    needs = 3;
                } else {
                    needs = 2;
                }

                return needs > back ? data.length - back : data.length;
            }
            if (b < 0x80) {
                break;
            }
        }
        return data.length;
    }
}
