package dev.muster.node.step;

import dev.muster.node.config.CgroupSettings;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.Os;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.spool.StatusFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Follows one stepd on a thread of its own: hears its notices, reads the status it left, or finds that it was killed.
 * Everything it learns is posted to the node's thread.
 */
public class StepWatch {
    static final long CONNECT_RETRY_MS = 50;
    /** A stepd writes its pid a moment after it was started; one that has not by then never will. */
    static final long PID_WAIT_MS = 3_000;

    public interface Listener {
        /** All ended, nothing left alive. */
        void complete(StatusFile status);

        /** stepd is gone without having finished. */
        void killed(Optional<StatusFile> last);

        /** A task asks that the whole step is ended. */
        void aborted();

        /** The tasks are over, their statuses on disk; processes of the step linger. */
        void lingering();

        /** There never was a stepd. */
        void neverStarted();
    }

    private final Path directory;
    private final Path socket;
    private final JobSpool spool;
    private final EventLoop loop;
    private final Listener listener;
    private volatile @Nullable StepSocket connection;
    private final Queue<Ask> asked = new ArrayDeque<>();
    private boolean isSending;

    /** @param then what runs after it was sent; type {@code NOTHING}: nothing is sent */
    private record Ask(char type, int stream, long offset, byte[] bytes, Runnable then) {}

    private static final char NOTHING = 0;

    public StepWatch(Path directory, JobSpool spool, EventLoop loop, Listener listener) {
        this.directory = directory;
        this.socket = spool.socket(directory);
        this.spool = spool;
        this.loop = loop;
        this.listener = listener;
    }

    /**
     * @param ended completes true when stepd is gone; where that will not be told, or what happens before matters, it
     *     is followed
     */
    public void start(CompletableFuture<Boolean> ended, boolean isAsked) {
        if (isAsked) {
            EventLoop.aside(this::follow);
            return;
        }
        var _ = ended.thenAccept(told -> {
            if (told) {
                over();
            } else {
                EventLoop.aside(this::follow);
            }
        });
    }

    private void over() {
        Optional<StatusFile> status = spool.status(directory);
        if (isComplete(status)) {
            loop.post(() -> listener.complete(status.get()));
        } else {
            loop.post(() -> listener.killed(status));
        }
    }

    private void follow() {
        long startNs = System.nanoTime();
        while (true) {
            if (hear()) {
                return;
            }
            Optional<StatusFile> status = spool.status(directory);
            long pid = status.map(StatusFile::stepdPid).orElse(0);
            boolean alive = pid > 0 && isStepd(pid);
            if (!alive && !isComplete(status)) {
                status = spool.status(directory); // it may have written its last words before it went
            }
            if (isComplete(status)) {
                StatusFile last = status.get();
                loop.post(() -> listener.complete(last));
                return;
            }
            if (pid > 0 && !alive) {
                Optional<StatusFile> last = status;
                loop.post(() -> listener.killed(last));
                return;
            }
            if (pid == 0 && System.nanoTime() - startNs > PID_WAIT_MS * 1_000_000) {
                loop.post(listener::neverStarted);
                return;
            }
            if (!pause()) {
                return;
            }
        }
    }

    private static boolean isComplete(Optional<StatusFile> status) {
        return status.isPresent() && status.get().state() == StatusFile.State.COMPLETE;
    }

    private static boolean pause() {
        try {
            Thread.sleep(CONNECT_RETRY_MS);
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    /** True when stepd said that all is over. */
    private boolean hear() {
        try (StepSocket own = StepSocket.connect(socket)) {
            own.send('A', 0, 0, new byte[] {'e'});
            connection = own;
            while (true) {
                StepSocket.Frame frame = own.receive();
                if (frame.type() == 'B') {
                    loop.post(listener::aborted);
                }
                if (frame.type() == 'N') {
                    loop.post(listener::lingering);
                }
                if (frame.type() == 'F') {
                    Optional<StatusFile> status = spool.status(directory);
                    if (isComplete(status)) {
                        StatusFile last = status.get();
                        loop.post(() -> listener.complete(last));
                        return true;
                    }
                }
            }
        } catch (IOException | RuntimeException e) {
            return false;
        } finally {
            connection = null;
        }
    }

    private static boolean isStepd(long pid) {
        return Os.isAlive(pid)
                && Os.read(Path.of("/proc/" + pid + "/comm")).orElse("").startsWith("slurmstepd");
    }

    /**
     * Asks stepd for something. Sent from a thread of its own, one after the other in the order asked: what a step is
     * told about its end comes before the signal that ends it. Goes by an own connection if the watching one is not up
     * yet.
     */
    public void send(char type, int stream, long offset, byte[] bytes) {
        add(new Ask(type, stream, offset, bytes, () -> {}));
    }

    private void add(Ask ask) {
        synchronized (asked) {
            asked.add(ask);
            if (isSending) {
                return;
            }
            isSending = true;
        }
        EventLoop.aside(this::sendAsked);
    }

    private void sendAsked() {
        Optional<StepSocket> once = Optional.empty();
        try {
            for (Optional<Ask> next = nextAsk(); next.isPresent(); next = nextAsk()) {
                once = next.get().type == NOTHING ? once : sendNow(next.get(), once);
                next.get().then.run();
            }
        } finally {
            once.ifPresent(StepSocket::close);
        }
    }

    private Optional<Ask> nextAsk() {
        synchronized (asked) {
            Optional<Ask> next = Optional.ofNullable(asked.poll());
            isSending = next.isPresent();
            return next;
        }
    }

    /** @param once a connection made for an earlier one; @return it, or the one made for this one */
    private Optional<StepSocket> sendNow(Ask ask, Optional<StepSocket> once) {
        StepSocket own = connection;
        Optional<StepSocket> made = once;
        try {
            if (own != null && made.isEmpty()) {
                own.send(ask.type, ask.stream, ask.offset, ask.bytes);
                return made;
            }
            if (made.isEmpty()) {
                made = Optional.of(StepSocket.connect(socket));
            }
            made.get().send(ask.type, ask.stream, ask.offset, ask.bytes);
            if (ask.type == 'S') {
                awaitResult(made.get());
            }
            return made;
        } catch (IOException | RuntimeException e) {
            // gone: the watch finds out what became of it
            made.ifPresent(StepSocket::close);
            return Optional.empty();
        }
    }

    private static void awaitResult(StepSocket from) throws IOException {
        while (from.receive().type() != 'R') {
            // until the end
        }
    }

    public static final int EVERY_PROCESS = 0;
    public static final int TASKS_ONLY = 1;
    public static final int TERMINATE = 2;
    /** The step gets SIGTSTP if a process of it catches that signal, and is stopped otherwise. */
    static final int SUSPEND = 3;

    public void signal(int mode, int signal) {
        send('S', mode, signal, new byte[0]);
    }

    public void message(String text) {
        send('M', 0, 0, text.getBytes(StandardCharsets.UTF_8));
    }

    private static final int UNPRINTED = 1;
    private static final int NO_ABORT = 2;

    /**
     * Says why the step ends, by way of {@link #message}.
     *
     * @param printed to its standard error
     * @param abort srun says that the step was aborted
     */
    void end(String text, boolean printed, boolean abort) {
        send('M', 0, (printed ? 0 : UNPRINTED) | (abort ? 0 : NO_ABORT), text.getBytes(StandardCharsets.UTF_8));
    }

    /** Runs a task when all that was asked before has been sent. */
    void afterSent(Runnable task) {
        add(new Ask(NOTHING, 0, 0, new byte[0], task));
    }

    public void finish(long lingerMs) {
        send('K', 0, lingerMs, new byte[0]);
    }

    /**
     * Returns the processes that a signal goes to. With ProctrackType=proctrack/cgroup only the tasks themselves hear
     * of most signals, unless SignalChildrenProcesses says otherwise.
     */
    public static int reach(CgroupSettings confinement, int signal) {
        boolean all = !confinement.track()
                || confinement.conf().signalChildrenProcesses()
                || signal == Os.SIGNAL_KILL
                || signal == Os.SIGNAL_STOP
                || signal == Os.SIGNAL_CONT;
        return all ? EVERY_PROCESS : TASKS_ONLY;
    }
}
