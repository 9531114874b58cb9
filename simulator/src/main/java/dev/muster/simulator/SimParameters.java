package dev.muster.simulator;

import java.util.Random;

/**
 * What one seed's world looks like and what goes wrong in it: each seed draws its own subset. Intervals are means in
 * virtual milliseconds, 0 for never; shares are per thousand.
 */
record SimParameters(
        int nodes,
        int cpus,
        int clients,
        int jobs,
        long faultsMs,
        int crashMeanMs,
        int pointMeanMs,
        int resetMeanMs,
        int duplicatePerMille,
        boolean staleFrames,
        int requestLossPerMille,
        int requestDuplicatePerMille,
        int partitionMeanMs,
        int slurmdMeanMs,
        int rebootMeanMs,
        int stepdMeanMs,
        int clockJumpMeanMs,
        int syncMs,
        int delayMs,
        int snapshotEvery,
        int nodeTimeoutS,
        int minJobAgeS,
        boolean externSteps,
        boolean awaitProlog,
        boolean killInvalidDepend,
        boolean requeues,
        boolean suspends,
        boolean drains,
        int reconfigureMeanMs,
        boolean steps,
        boolean unkillable) {

    static SimParameters draw(Random r) {
        return new SimParameters(
                1 + r.nextInt(4),
                1 << 1 + r.nextInt(3),
                1 + r.nextInt(3),
                6 + r.nextInt(20),
                120_000 + r.nextInt(240_000),
                mean(r, 20_000, 90_000),
                mean(r, 10_000, 60_000),
                mean(r, 5_000, 60_000),
                share(r, 100),
                r.nextBoolean(),
                share(r, 300),
                share(r, 300),
                mean(r, 30_000, 120_000),
                mean(r, 20_000, 90_000),
                mean(r, 30_000, 150_000),
                mean(r, 20_000, 90_000),
                mean(r, 20_000, 90_000),
                r.nextInt(4) == 0 ? 200 + r.nextInt(3_000) : 1 + r.nextInt(20),
                r.nextInt(4) == 0 ? 50 + r.nextInt(2_000) : 1 + r.nextInt(20),
                r.nextBoolean() ? 10 + r.nextInt(100) : 1_000_000,
                15 + r.nextInt(45),
                r.nextBoolean() ? 20 + r.nextInt(60) : 100_000,
                r.nextBoolean(),
                r.nextInt(3) == 0,
                r.nextBoolean(),
                r.nextBoolean(),
                r.nextInt(3) == 0,
                r.nextInt(3) == 0,
                r.nextInt(3) == 0 ? 20_000 + r.nextInt(60_000) : 0,
                r.nextBoolean(),
                r.nextInt(4) == 0);
    }

    private static int mean(Random r, int low, int high) {
        return r.nextBoolean() ? low + r.nextInt(high - low) : 0;
    }

    private static int share(Random r, int most) {
        return r.nextBoolean() ? 1 + r.nextInt(most) : 0;
    }
}
