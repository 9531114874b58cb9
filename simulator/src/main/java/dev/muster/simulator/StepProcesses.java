package dev.muster.simulator;

import dev.muster.model.job.ExitStatus;

/** The processes of one step on one node, as they really are. */
final class StepProcesses {
    final int jobId;
    final int attempt;
    final int stepId;
    final String node;
    final SimScript program;
    final long startMs;
    long remainingMs;
    long resumedMs;
    int version;
    boolean stopped;
    boolean alive = true;
    boolean byItself;
    boolean killed;
    boolean lostInReboot;
    long endMs;
    ExitStatus exit = ExitStatus.NONE;

    StepProcesses(int jobId, int attempt, int stepId, String node, SimScript program, long nowMs) {
        this.jobId = jobId;
        this.attempt = attempt;
        this.stepId = stepId;
        this.node = node;
        this.program = program;
        this.startMs = nowMs;
        this.remainingMs = program.runMs();
        this.resumedMs = nowMs;
    }

    @Override
    public String toString() {
        return jobId + "." + attempt + "." + stepId + "@" + node;
    }
}
