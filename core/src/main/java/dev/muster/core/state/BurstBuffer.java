package dev.muster.core.state;

import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A job's request for the site's burst buffer, with how far the site's script has come with it. Stage by stage:
 * stage-in while the job waits, pre-run on its nodes' behalf before it starts, post-run and stage-out after its end,
 * teardown last.
 *
 * @param round grows with every change: what a script says of an earlier one is too late
 * @param since when this stage began, seconds since 1970
 * @param createTime when the space was taken, seconds since 1970; 0 before
 * @param pool "" where none was named
 * @param size of the pool, in its units; a multiple of its granularity
 * @param words why it does not go on by itself, "" if it does
 * @param hurry teardown without stage-out: the job never ran, or its output is not wanted
 * @param tries teardowns that failed
 * @param environment entries NAME=VALUE that the script gives the job
 */
public record BurstBuffer(
        int jobId,
        Stage stage,
        int round,
        long since,
        long createTime,
        String pool,
        long size,
        String words,
        boolean hurry,
        int tries,
        List<String> environment) {
    /** Then it is given up. */
    public static final int TRIES_MAX = 3;

    /** Stage of a burst buffer, with the word that {@code BurstBufferState=} shows. */
    public enum Stage {
        PENDING("pending"),
        STAGING_IN("staging-in"),
        STAGED_IN("staged-in"),
        PRE_RUN("pre-run"),
        RUNNING("running"),
        POST_RUN("post-run"),
        STAGING_OUT("staging-out"),
        TEARDOWN("teardown"),
        TEARDOWN_FAIL("teardown-fail"),
        COMPLETE("complete");

        private final String word;

        Stage(String word) {
            this.word = word;
        }

        public String word() {
            return word;
        }

        public boolean isTeardown() {
            return this == TEARDOWN || this == TEARDOWN_FAIL;
        }

        /** Tests whether the job's output is still to be fetched. */
        public boolean isOut() {
            return this == POST_RUN || this == STAGING_OUT;
        }
    }

    /** Space that jobs share, in units of any kind. */
    public record Pool(String name, long granularity, long total) {
        /** Returns a size, rounded up to the granularity. */
        public long rounded(long size) {
            long unit = Math.max(1, granularity);
            return Math.ceilDiv(size, unit) * unit;
        }
    }

    /** Claim of {@code pool=} and {@code capacity=}. */
    public record Claim(String pool, long size) {}

    private static final Pattern WORD = Pattern.compile("(?:^|\\s)(pool|capacity)=(\\S+)", Pattern.CASE_INSENSITIVE);
    private static final Pattern SIZE = Pattern.compile("([0-9]{1,15})([A-Z]*)");

    /** Returns the claim in the directives, by the last of each word; empty where a capacity is no size. */
    public static Optional<Claim> claim(String directives) {
        String pool = "";
        long size = 0;
        Matcher m = WORD.matcher(directives);
        while (m.find()) {
            if (m.group(1).equalsIgnoreCase("pool")) {
                pool = m.group(2);
            } else {
                Optional<Long> read = size(m.group(2));
                if (read.isEmpty()) {
                    return Optional.empty();
                }
                size = read.get();
            }
        }
        return Optional.of(new Claim(pool, size));
    }

    /** The resource by the name that limits and accounting have for it. */
    public static final String TRES = "bb/lua";

    /** Returns the burst buffer that a job asks for, in mebibytes. */
    public static long megabytes(JobDesc desc) {
        String directives = desc.extras().burstBuffer();
        return directives.isEmpty()
                ? 0
                : claim(directives).map(c -> c.size >> 20).orElse(0L);
    }

    /** {@code 10}, {@code 10N}, {@code 10K}, {@code 10KiB} by 1024, {@code 10KB} by 1000. */
    static Optional<Long> size(String text) {
        Matcher m = SIZE.matcher(text.toUpperCase(Locale.ROOT));
        if (!m.matches()) {
            return Optional.empty();
        }
        String unit = m.group(2);
        int power = unit.isEmpty() || unit.equals("N") ? 0 : "KMGTP".indexOf(unit.charAt(0)) + 1;
        boolean known = unit.isEmpty()
                || unit.equals("N")
                || power > 0
                        && (unit.length() == 1
                                || unit.endsWith("IB") && unit.length() == 3
                                || unit.endsWith("B") && unit.length() == 2);
        double factor = Math.pow(unit.length() == 2 ? 1000 : 1024, power);
        double size = Long.parseLong(m.group(1)) * factor;
        return known && size < Long.MAX_VALUE / 2.0 ? Optional.of((long) size) : Optional.empty();
    }

    /** Tests whether the buffer has its space. */
    public boolean isAllocated() {
        return stage != Stage.PENDING && stage != Stage.COMPLETE;
    }

    public BurstBuffer at(Stage next, long now) {
        return new BurstBuffer(jobId, next, round + 1, now, createTime, pool, size, "", hurry, tries, environment);
    }

    public BurstBuffer taken(long now) {
        return new BurstBuffer(jobId, Stage.STAGING_IN, round + 1, now, now, pool, size, "", false, 0, List.of());
    }

    /** Returns the buffer with an error: it stays in its stage until a user or operator acts. */
    public BurstBuffer stuck(String why) {
        return new BurstBuffer(jobId, stage, round + 1, since, createTime, pool, size, why, hurry, tries, environment);
    }

    public BurstBuffer sized(long real) {
        return new BurstBuffer(jobId, stage, round, since, createTime, pool, real, words, hurry, tries, environment);
    }

    public BurstBuffer giving(List<String> variables) {
        return new BurstBuffer(
                jobId, stage, round, since, createTime, pool, size, words, hurry, tries, List.copyOf(variables));
    }

    public BurstBuffer tornDown(boolean inHurry, long now) {
        return new BurstBuffer(
                jobId, Stage.TEARDOWN, round + 1, now, createTime, pool, size, words, inHurry, 0, List.of());
    }

    public BurstBuffer failedTeardown(String why, long now) {
        return new BurstBuffer(
                jobId, Stage.TEARDOWN_FAIL, round + 1, now, createTime, pool, size, why, hurry, tries + 1, environment);
    }

    /** Returns the buffer at its first stage: what was staged for an earlier start is gone. */
    public BurstBuffer anew(long now) {
        return new BurstBuffer(jobId, Stage.PENDING, round + 1, now, 0, pool, size, "", false, 0, List.of());
    }

    /**
     * Burst buffers of all jobs that asked for one, until they are forgotten; and the pools, as the script last
     * reported them.
     */
    public record All(Table<Integer, BurstBuffer> byJob, Table<String, Pool> pools) {
        /** Returns why a job does not start yet; NONE if its burst buffer does not keep it back. */
        public JobReason blocks(int jobId) {
            return byJob.find(jobId)
                    .map(b -> switch (b.stage) {
                        case STAGED_IN -> JobReason.NONE;
                        case STAGING_IN -> JobReason.BURST_BUFFER_STAGE_IN;
                        default -> JobReason.BURST_BUFFER_RESOURCES;
                    })
                    .orElse(JobReason.NONE);
        }

        public static final All NONE = new All(Table.empty(), Table.empty());

        public All with(BurstBuffer b) {
            return new All(byJob.with(b.jobId, b), pools);
        }

        All withPools(List<Pool> fresh) {
            Table<String, Pool> out = Table.empty();
            for (Pool p : fresh) {
                out = out.with(p.name, p);
            }
            return new All(byJob, out);
        }

        All without(int jobId) {
            return byJob.has(jobId) ? new All(byJob.without(jobId), pools) : this;
        }

        /** Returns how much of a pool is taken. */
        public long used(String pool) {
            long sum = 0;
            for (BurstBuffer b : byJob.values()) {
                sum += b.isAllocated() && b.pool.equals(pool) ? b.size : 0;
            }
            return sum;
        }

        public boolean has(BurstBuffer b) {
            return b.pool.isEmpty()
                    || pools.find(b.pool)
                            .filter(p -> used(b.pool) + b.size <= p.total)
                            .isPresent();
        }

        /** Returns the entries for the environment of what runs in the job. */
        public List<String> environment(int jobId) {
            return byJob.find(jobId).map(BurstBuffer::environment).orElse(List.of());
        }

        // What the records of a job's life do to its buffer.

        All submitted(Job job, long now) {
            String asked = job.desc().extras().burstBuffer();
            if (asked.isEmpty()) {
                return this;
            }
            Claim claim = claim(asked).orElse(new Claim("", 0));
            long size = pools.find(claim.pool).map(p -> p.rounded(claim.size)).orElse(claim.size);
            return with(new BurstBuffer(job.id(), Stage.PENDING, 0, now, 0, claim.pool, size, "", false, 0, List.of()));
        }

        /** Returns the buffers with one of its own for a task that leaves its array's record. */
        All split(int arrayJobId, int jobId) {
            return byJob.find(arrayJobId)
                    .map(b -> with(new BurstBuffer(
                            jobId,
                            b.stage,
                            b.round,
                            b.since,
                            b.createTime,
                            b.pool,
                            b.size,
                            b.words,
                            b.hurry,
                            b.tries,
                            b.environment)))
                    .orElse(this);
        }

        private All changed(int jobId, java.util.function.UnaryOperator<BurstBuffer> change) {
            return byJob.find(jobId).map(b -> with(change.apply(b))).orElse(this);
        }

        All started(int jobId, long now) {
            return changed(jobId, b -> b.at(Stage.PRE_RUN, now));
        }

        All ready(int jobId, long now) {
            return changed(jobId, b -> b.at(Stage.RUNNING, now));
        }

        All ended(int jobId, long now) {
            return changed(jobId, b -> b.stage == Stage.RUNNING ? b.at(Stage.POST_RUN, now) : b.tornDown(true, now));
        }

        All pendingEnded(int jobId, long now) {
            return changed(jobId, b -> {
                if (b.stage == Stage.PENDING) {
                    return b.at(Stage.COMPLETE, now);
                }
                if (b.stage == Stage.COMPLETE || b.stage.isTeardown()) {
                    return b;
                }
                return b.tornDown(true, now);
            });
        }

        All requeued(int jobId, long now) {
            return changed(jobId, b -> {
                if (b.stage == Stage.PENDING) {
                    return b;
                }
                if (b.stage == Stage.COMPLETE) {
                    return b.anew(now);
                }
                return b.tornDown(true, now);
            });
        }
    }
}
