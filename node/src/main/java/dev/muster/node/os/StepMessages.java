package dev.muster.node.os;

import dev.muster.node.job.Jobs;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/** Messages about steps that failed or were cancelled. */
public final class StepMessages {
    private StepMessages() {}

    /** Errors of the machine that the next launch meets as well, and those of the fork itself. */
    private static final List<String> OF_NODE = List.of(
            "No space left on device",
            "Read-only file system",
            "Input/output error",
            "Disk quota exceeded",
            "Cannot allocate memory",
            "Resource temporarily unavailable",
            "Too many open files",
            "cannot fork",
            "Structure needs cleaning",
            "Stale file handle",
            "Transport endpoint is not connected");

    /** Whether a sentence tells of a fault of the node rather than of what was to be launched. */
    public static boolean isOfNode(String sentence) {
        return OF_NODE.stream().anyMatch(sentence::contains);
    }

    /** Returns the message for a step that gets SIGTERM or SIGKILL by {@code scancel -s}; empty for other signals. */
    public static Optional<String> signalled(String step, String node, int signal) {
        boolean kills = signal == Os.SIGNAL_KILL;
        return kills || signal == Os.SIGNAL_TERM ? Optional.of(cancelled(step, node, "", kills)) : Optional.empty();
    }

    /**
     * Formats the message that a cancelled step prints.
     *
     * @param step {@code 12.0}, or {@code 12.batch} for the whole job
     * @param kills whether SIGKILL comes first instead of SIGTERM
     */
    public static String cancelled(String step, String node, String reason, boolean kills) {
        String why = switch (reason) {
            case Jobs.REASON_TIME_LIMIT, "TIMEOUT", "Timeout" -> " DUE TO TIME LIMIT";
            case "PREEMPTED", "Preempted", "Preemption" -> " DUE TO PREEMPTION";
            case "TaskFailure" -> " DUE TO TASK FAILURE";
            case "Requeued" -> " DUE TO JOB REQUEUE";
            case "NODE_FAIL", "NodeFail" -> " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS";
            default -> " DUE to SIGNAL " + (kills ? "Killed" : "Terminated");
        };
        String what = step.endsWith(".batch") ? "JOB " + step.substring(0, step.indexOf('.')) : "STEP " + step;
        return "*** " + what + " ON " + node + " CANCELLED AT "
                + LocalDateTime.now(ZoneId.systemDefault())
                        .truncatedTo(ChronoUnit.SECONDS)
                        .format(DateTimeFormatter.ISO_LOCAL_DATE_TIME)
                + why + " ***";
    }
}
