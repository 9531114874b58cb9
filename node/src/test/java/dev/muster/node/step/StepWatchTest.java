package dev.muster.node.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.DaemonLog;
import dev.muster.node.os.EventLoop;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.spool.StatusFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StepWatchTest {
    private static final int ROUNDS = 200;

    @TempDir
    private Path directory;

    /**
     * A step that is killed for its memory first hears why: sent on threads of their own, the signal at times came
     * first.
     */
    @Test
    void messagesAndSignalsReachTheStepInOrder() throws Exception {
        JobSpool spool = new JobSpool(directory);
        try (ServerSocketChannel stepd = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            stepd.bind(UnixDomainSocketAddress.of(spool.socket(directory)));
            CompletableFuture<List<String>> heard = CompletableFuture.supplyAsync(() -> hear(stepd));
            StepWatch watch = new StepWatch(directory, spool, null, null);
            List<String> asked = new ArrayList<>();
            for (int i = 0; i < ROUNDS; i++) {
                watch.message("why " + i);
                watch.signal(StepWatch.TERMINATE, i);
                asked.add("Mwhy " + i);
                asked.add("S" + i);
            }
            assertThat(heard.get(20, TimeUnit.SECONDS)).isEqualTo(asked);
        }
    }

    /** The thread that tells of the end hears no exception: a step whose status threw one would never have ended. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "state odd\nstepd 7\nend\n",
                "state complete\nstepd seven\nend\n",
                "state complete\nstepd 7\ntask id=0 ended=1.2\nend\n"
            })
    void stepWithUnreadableStatusCountsAsKilled(String status) throws Exception {
        Files.writeString(directory.resolve("status"), status);
        CompletableFuture<Optional<StatusFile>> end = new CompletableFuture<>();
        try (EventLoop loop = new EventLoop(new DaemonLog("slurmd", "", false, 0, ""))) {
            new StepWatch(directory, new JobSpool(directory), loop, new StepWatch.Listener() {
                        @Override
                        public void complete(StatusFile file) {
                            end.completeExceptionally(new AssertionError(file));
                        }

                        @Override
                        public void killed(Optional<StatusFile> last) {
                            end.complete(last);
                        }

                        @Override
                        public void aborted() {}

                        @Override
                        public void lingering() {}

                        @Override
                        public void neverStarted() {}
                    })
                    .start(CompletableFuture.completedFuture(true), false);
            assertThat(end.get(10, TimeUnit.SECONDS)).isEmpty();
        }
    }

    /** Reads one connection after the other, as they came, until all has come; answers signals as stepd does. */
    private static List<String> hear(ServerSocketChannel stepd) {
        List<String> heard = new ArrayList<>();
        try {
            while (heard.size() < 2 * ROUNDS) {
                try (SocketChannel from = stepd.accept()) {
                    hear(from, heard);
                }
            }
            return heard;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void hear(SocketChannel from, List<String> heard) throws IOException {
        ByteBuffer length = ByteBuffer.allocate(Integer.BYTES);
        while (heard.size() < 2 * ROUNDS && from.read(length.clear()) == Integer.BYTES) {
            ByteBuffer raw = ByteBuffer.allocate(length.getInt(0));
            from.read(raw);
            StepSocket.Frame frame = StepSocket.Frame.decode(raw.array());
            boolean isSignal = frame.type() == 'S';
            heard.add(frame.type()
                    + (isSignal ? Long.toString(frame.offset()) : new String(frame.bytes(), StandardCharsets.UTF_8)));
            if (isSignal) {
                byte[] answer = new StepSocket.Frame('R', 0, 0, 0, new byte[0]).encode();
                from.write(ByteBuffer.allocate(Integer.BYTES + answer.length)
                        .putInt(answer.length)
                        .put(answer)
                        .flip());
            }
        }
    }
}
