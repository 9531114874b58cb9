package dev.muster.node.step;

import static java.util.Objects.requireNonNull;

import dev.muster.model.job.StepId;
import dev.muster.model.node.NodeMessages.JobShare;
import dev.muster.model.node.NodeMessages.Launch;
import dev.muster.model.node.NodeMessages.Usage;
import dev.muster.node.job.Jobs;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.StepMessages;
import dev.muster.node.spool.StatusFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Carries out a node's launches. {@link StepStarter} does so by processes, which {@link Jobs} does not see. */
public interface Launcher {
    /**
     * A step that runs.
     *
     * @param stepdPid of the process above its tasks
     * @param ended see {@link StepdServer.Started}
     */
    record Begun(long stepdPid, CompletableFuture<Boolean> ended) {}

    /** Blocks. */
    Begun start(Launch launch) throws FailedException;

    /** Blocks. The step without tasks that holds what is the job's on the node. */
    Begun startExternal(JobShare share) throws FailedException;

    /**
     * Follows a step from {@link StepWatch#start} on.
     *
     * @param listener called on the loop
     */
    StepWatch watch(Path stepDirectory, EventLoop loop, StepWatch.Listener listener);

    /**
     * What an ended step has used, with what the node's meters say of the time from its start to now.
     *
     * @param last what its stepd left
     */
    Usage used(Path stepDirectory, Optional<StatusFile> last);

    /** The step has ended on this node. */
    void stepEnded(int jobId, int stepId);

    boolean hasContainer(Path stepDirectory);

    void stopContainers(Path stepDirectory);

    void removeContainers(Path stepDirectory);

    /** The groups of the external step, made if they are not there yet. */
    List<Path> externalGroups(JobShare share);

    /** Something was made for the job here that is to be removed at its end. */
    boolean cleansUp(JobShare share);

    /** Removes the job's private parts of the node, such as its namespace. */
    void cleanUp(JobShare share);

    /** Reopens the X11 display of a job of an earlier slurmd. */
    void reopen(JobShare share);

    /** The launch cannot be carried out; the sentence says why. */
    final class FailedException extends Exception {
        private static final long serialVersionUID = 1L;
        /** Sentence before the error; "" for none. */
        public final String detail;

        public final boolean nodeFault;
        /** Nothing else is to be tried there. */
        public final boolean drain;

        @Override
        public String getMessage() {
            return requireNonNull(super.getMessage(), "every constructor is given one");
        }

        public FailedException(String message) {
            this(message, true, false);
        }

        private FailedException(String message, boolean nodeFault, boolean drain) {
            super(message);
            this.detail = "";
            this.nodeFault = nodeFault;
            this.drain = drain;
        }

        public static FailedException ofUnfitNode(String message) {
            return new FailedException(message, true, true);
        }

        /** A file or process of the node failed. The node is unfit if each further launch fails in the same way. */
        public static FailedException ofSystem(String message) {
            return new FailedException(message, true, StepMessages.isOfNode(message));
        }

        /** The request cannot be met: the step's own fault. */
        public static FailedException ofUser(String message) {
            return new FailedException(message, false, false);
        }

        /**
         * A launch that ended with its slurmd. Without its batch or external step a job cannot run here; a step of srun
         * fails alone, and the job's script goes on.
         */
        public static FailedException ofLostLaunch(int stepId) {
            return new FailedException("slurmd was ended while it launched the step", !StepId.isAsked(stepId), false);
        }

        public FailedException(SpecBuilder.RefusedException refused) {
            super(refused.getMessage());
            detail = refused.detail;
            nodeFault = false;
            drain = false;
        }
    }
}
