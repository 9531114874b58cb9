package dev.muster.benchmarks;

import dev.muster.node.spool.JobSpool;
import dev.muster.node.spool.StatusFile;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The directory of a node that is never started again: nothing is written, what was launched is remembered as long as
 * the node is there.
 */
final class EmulatedSpool extends JobSpool {
    private final Set<List<Integer>> launched = new HashSet<>();

    EmulatedSpool(Path root) {
        super(root);
    }

    @Override
    public boolean mark(int jobId, int attempt, int stepId, String start) {
        return launched.add(List.of(jobId, attempt, stepId));
    }

    @Override
    public void makeJobDirectory(int jobId, int attempt) {}

    @Override
    public void saveJob(int jobId, int attempt, JobFile job) {}

    @Override
    public Optional<StatusFile> status(Path stepDirectory) {
        return Optional.empty();
    }

    @Override
    public long stepdPid(Path stepDirectory) {
        return 0;
    }

    @Override
    public void remove(int jobId, int attempt) {}
}
