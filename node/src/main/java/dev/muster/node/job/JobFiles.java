package dev.muster.node.job;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages;
import dev.muster.node.config.Settings;
import dev.muster.node.spool.JobSpool;
import dev.muster.node.step.NodeJob;
import java.io.IOException;
import java.util.List;

/** The files of jobs in the spool directory, from which a restarted slurmd goes on. {@link Jobs} calls it. */
final class JobFiles {
    private final Settings settings;
    private final DaemonLog log;
    private final JobSpool spool;
    private final UnacknowledgedReports reports;

    JobFiles(Settings settings, DaemonLog log, JobSpool spool, UnacknowledgedReports reports) {
        this.settings = settings;
        this.log = log;
        this.spool = spool;
        this.reports = reports;
    }

    /** Writes a job's file. If that fails, the job goes on and the controller is told that the node has a fault. */
    void save(NodeJob job) {
        try {
            write(job);
        } catch (IOException e) {
            String why = "SlurmdSpoolDir " + settings.spoolDirectory() + ": " + ErrorSentence.reason(e);
            log.error("cannot write the file of " + job.name() + ": " + why);
            reports.add(seq -> new NodeMessages.NodeTrouble(seq, why), () -> {});
        }
    }

    void write(NodeJob job) throws IOException {
        spool.saveJob(
                job.jobId(),
                job.attempt(),
                new JobSpool.JobFile(
                        job.share,
                        job.phase.name(),
                        job.killWaitSeconds,
                        job.endReason,
                        job.stepReasons(),
                        job.epilogError,
                        job.deadlineMs));
    }

    /** Removes a job's directory. */
    void discard(NodeJob job) {
        try {
            spool.remove(job.jobId(), job.attempt());
        } catch (IOException e) {
            log.error("cannot remove the directory of " + job.name() + ": " + ErrorSentence.reason(e));
        }
    }

    /**
     * Forgets the launch of a batch step that never began: slurmctld launches none that it knows to have run.
     *
     * @param steps those that the job has begun
     * @param isAlone whether no launch of an earlier slurmd can still come to its step
     */
    void forgetBatch(JobSpool.JobFile file, List<Integer> steps, boolean isAlone) {
        if (isAlone && !steps.contains(NodeMessages.STEP_BATCH)) {
            NodeJob job = new NodeJob(file.share());
            spool.forgetLaunch(job.jobId(), job.attempt(), NodeMessages.STEP_BATCH, job.start());
        }
    }
}
