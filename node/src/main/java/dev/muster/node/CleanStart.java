package dev.muster.node;

import dev.muster.node.os.Os;
import dev.muster.node.spool.JobSpool;
import java.io.IOException;
import java.nio.file.Path;

/** {@code slurmd -c}: forgets the jobs of an earlier slurmd that have no process any more. */
final class CleanStart {
    private CleanStart() {}

    static int forgetDead(JobSpool spool) throws IOException {
        spool.open();
        int forgotten = 0;
        for (Path directory : spool.jobDirectories()) {
            boolean alive = false;
            for (int step : spool.steps(directory)) {
                alive |= Os.isAlive(spool.stepdPid(directory.resolve("step." + step)));
            }
            if (!alive) {
                JobSpool.removeTree(directory);
                forgotten++;
            }
        }
        return forgotten;
    }
}
