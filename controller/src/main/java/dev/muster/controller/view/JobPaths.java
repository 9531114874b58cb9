package dev.muster.controller.view;

import dev.muster.core.state.Job;
import dev.muster.json.Bytes;
import dev.muster.model.format.PathPattern;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.JobDesc;
import java.io.ByteArrayOutputStream;
import org.jspecify.annotations.Nullable;

/** The files of a batch job with their % codes filled in. */
public final class JobPaths {
    private JobPaths() {}

    /** Three paths that a job's streams go to. */
    public record Paths(Bytes stdin, Bytes stdout, Bytes stderr) {
        static final Paths NONE = new Paths(Bytes.of(""), Bytes.of(""), Bytes.of(""));
    }

    static Bytes stdin(Job job) {
        return file(job, stdinPattern(job));
    }

    public static Bytes stdout(Job job) {
        return file(job, stdoutPattern(job));
    }

    public static Bytes stderr(Job job) {
        return file(job, stderrPattern(job));
    }

    public static Paths expanded(Job job) {
        return job.desc().kind() == JobDesc.Kind.BATCH ? new Paths(stdin(job), stdout(job), stderr(job)) : Paths.NONE;
    }

    /** Returns the paths with their codes: what queries and accounting show unless asked to fill them in. */
    static Paths patterns(Job job) {
        return job.desc().kind() != JobDesc.Kind.BATCH
                ? Paths.NONE
                : new Paths(
                        absolute(job, stdinPattern(job)),
                        absolute(job, stdoutPattern(job)),
                        absolute(job, stderrPattern(job)));
    }

    private static Bytes stdinPattern(Job job) {
        Bytes typed = job.desc().files().stdin();
        return typed.isEmpty() ? Bytes.of("/dev/null") : typed;
    }

    private static Bytes stdoutPattern(Job job) {
        Bytes typed = job.desc().files().stdout();
        if (!typed.isEmpty()) {
            return typed;
        }
        return Bytes.of(job.array().jobId() != 0 ? "slurm-%A_%a.out" : "slurm-%j.out");
    }

    private static Bytes stderrPattern(Job job) {
        Bytes typed = job.desc().files().stderr();
        return typed.isEmpty() ? stdoutPattern(job) : typed;
    }

    private static Bytes file(Job job, Bytes pattern) {
        return absolute(job, expand(job, pattern));
    }

    private static Bytes absolute(Job job, Bytes path) {
        if (path.isEmpty() || path.at(0) == '/') {
            return path;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(job.desc().files().workDir().toArray());
        out.write('/');
        out.writeBytes(path.toArray());
        return Bytes.of(out.toByteArray());
    }

    /** Fills in the codes of {@link PathPattern}. */
    static Bytes expand(Job job, Bytes pattern) {
        return PathPattern.expand(pattern, c -> code(job, c));
    }

    private static @Nullable String code(Job job, char c) {
        int array = job.array().jobId();
        return switch (c) {
            case '%' -> "%";
            case 'A' -> Integer.toString(array != 0 ? array : job.id());
            case 'a' -> job.array().task() >= 0 ? Integer.toString(job.array().task()) : "4294967294";
            case 'b' ->
                job.array().task() >= 0
                        ? Integer.toString(job.array().task() % 10)
                        : "4"; // the last digit of NO_VAL, 4294967294
            // a step's number is named of srun's steps alone
            case 'J', 'j' -> Integer.toString(job.id());
            case 'N' ->
                job.run().allocation().isEmpty()
                        ? ""
                        : job.run().allocation().ofScript().node();
            case 'n', 't' -> "0";
            case 'r' -> Integer.toString(job.restarts());
            case 'S' -> Sluid.text(job.shownSluid());
            case 's' -> "batch";
            case 'u' -> job.desc().owner().user();
            case 'x' -> job.desc().name();
            default -> null;
        };
    }
}
