package dev.muster.node.job;

import dev.muster.model.node.NodeMessages.JobDone;
import dev.muster.model.node.NodeMessages.LaunchFailed;
import dev.muster.model.node.NodeMessages.PrologDone;
import dev.muster.model.node.NodeMessages.StepExited;
import dev.muster.model.node.NodeMessages.StepLaunched;
import dev.muster.model.node.NodeMessages.ToController;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * What the controller must hear and has not yet acknowledged, by sequence number. Lives in memory: after a restart the
 * same reports are made again from the spool directory, under new numbers. Used by the node's one thread.
 */
public class UnacknowledgedReports {
    private static final long ROOM_PER_START = 1L << 32;

    private final TreeMap<Long, Pending> pending = new TreeMap<>();
    private long next;
    private Consumer<ToController> connected = r -> {};

    private record Pending(ToController report, Runnable whenAcknowledged) {}

    /** @param spool keeps where numbers may start, so that they grow over restarts whatever the clock says */
    public UnacknowledgedReports(Path spool) throws IOException {
        this(begin(spool.resolve("sequence")));
    }

    /** @param first number, beyond all that this node has used */
    public UnacknowledgedReports(long first) {
        next = first;
    }

    private static long begin(Path file) throws IOException {
        long start = Files.exists(file) ? Long.parseLong(Files.readString(file).trim()) : 0;
        Files.writeString(file, Long.toString(start + ROOM_PER_START));
        return start + 1;
    }

    public void add(LongFunction<ToController> make, Runnable whenAcknowledged) {
        long seq = next++;
        ToController report = make.apply(seq);
        if (isOwn(report)) {
            whenAcknowledged.run();
            return;
        }
        pending.put(seq, new Pending(report, whenAcknowledged));
        connected.accept(report);
    }

    /** Whether a report is about a job that slurmctld does not know, of srun --no-allocate: it is not sent. */
    private static boolean isOwn(ToController report) {
        return switch (report) {
            case StepLaunched r -> NoAllocateSteps.is(r.jobId());
            case StepExited r -> NoAllocateSteps.is(r.jobId());
            case LaunchFailed r -> NoAllocateSteps.is(r.jobId());
            case PrologDone r -> NoAllocateSteps.is(r.jobId());
            case JobDone r -> NoAllocateSteps.is(r.jobId());
            default -> false;
        };
    }

    public void acknowledge(long seq) {
        List<Pending> done = new ArrayList<>(pending.headMap(seq, true).values());
        pending.headMap(seq, true).clear();
        done.forEach(p -> p.whenAcknowledged.run());
    }

    /** Sends reports there from now on, everything unacknowledged at once. */
    public void connect(Consumer<ToController> sink) {
        connected = sink;
        pending.values().forEach(p -> sink.accept(p.report));
    }

    public void disconnect() {
        connected = r -> {};
    }

    int size() {
        return pending.size();
    }
}
