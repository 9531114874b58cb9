package dev.muster.node.spool;

import dev.muster.daemon.DaemonLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Lock of a node's directory: one slurmd at a time has it. A later slurmd tells the earlier one to end and takes its
 * place, because a node's programs and administrators start slurmd anew without having ended it. A daemon of several
 * nodes is left alone.
 */
public final class SpoolLock {
    private static final long END_WAIT_MS = 20_000;
    private static final long STEP_MS = 50;
    private static final int PID_BYTES_MAX = 20;

    private SpoolLock() {}

    /** @param replaceable the next one may end this process */
    public static FileLock take(Path spool, boolean replaceable, DaemonLog log) throws IOException {
        FileChannel channel = FileChannel.open(
                spool.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            FileLock lock = channel.tryLock();
            Optional<ProcessHandle> before = lock == null ? holder(channel) : Optional.empty();
            if (before.isPresent()) {
                log.info("killing old slurmd[" + before.get().pid() + "]");
                before.get().destroy();
                lock = await(channel);
            }
            if (lock == null) {
                throw new IOException("another slurmd uses it");
            }
            channel.truncate(0);
            if (replaceable) {
                channel.write(
                        ByteBuffer.wrap(
                                Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII)),
                        0);
            }
            return lock;
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    private static Optional<ProcessHandle> holder(FileChannel channel) throws IOException {
        ByteBuffer text = ByteBuffer.allocate(PID_BYTES_MAX);
        channel.read(text, 0);
        String pid = new String(text.array(), 0, text.position(), StandardCharsets.US_ASCII).strip();
        return pid.matches("[1-9][0-9]{0,9}")
                ? ProcessHandle.of(Long.parseLong(pid))
                        .filter(p -> p.pid() != ProcessHandle.current().pid())
                : Optional.empty();
    }

    private static @Nullable FileLock await(FileChannel channel) throws IOException {
        FileLock lock = null;
        for (long waited = 0; lock == null && waited < END_WAIT_MS; waited += STEP_MS) {
            try {
                Thread.sleep(STEP_MS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return null;
            }
            lock = channel.tryLock();
        }
        return lock;
    }
}
