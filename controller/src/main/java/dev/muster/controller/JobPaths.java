package dev.muster.controller;

import dev.muster.core.Job;
import dev.muster.model.Bytes;
import dev.muster.model.JobDesc;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** The files of a batch job with their % codes filled in. */
final class JobPaths {
    private JobPaths() {}

    static Bytes stdin(Job job) {
        JobDesc.Files f = job.desc().files();
        return f.stdin().isEmpty() ? Bytes.of("/dev/null") : absolute(job, expand(job, f.stdin()));
    }

    static Bytes stdout(Job job) {
        JobDesc.Files f = job.desc().files();
        Bytes pattern = !f.stdout().isEmpty() ? f.stdout()
                : Bytes.of(job.array().jobId() != 0 ? "slurm-%A_%a.out" : "slurm-%j.out");
        return absolute(job, expand(job, pattern));
    }

    static Bytes stderr(Job job) {
        JobDesc.Files f = job.desc().files();
        return f.stderr().isEmpty() ? stdout(job) : absolute(job, expand(job, f.stderr()));
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

    /**
     * Fills % codes in: %A %a %j %J %u %x %N %n %t %s %b %%; a number between % and the code pads with zeros; a leading
     * backslash switches all codes off.
     */
    static Bytes expand(Job job, Bytes pattern) {
        byte[] in = pattern.toArray();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        boolean raw = false;
        for (byte b : in) {
            raw |= b == '\\';
        }
        if (raw) {
            for (byte b : in) {
                if (b != '\\') {
                    out.write(b);
                }
            }
            return Bytes.of(out.toByteArray());
        }
        for (int i = 0; i < in.length; i++) {
            if (in[i] != '%' || i + 1 >= in.length) {
                out.write(in[i]);
                continue;
            }
            int at = i + 1;
            int width = 0;
            while (at < in.length && in[at] >= '0' && in[at] <= '9') {
                width = Math.min(10, width * 10 + in[at++] - '0');
            }
            String value = at < in.length ? code(job, (char) in[at]) : null;
            if (value == null) {
                out.write(in[i]);
                continue;
            }
            boolean numeric = !value.isEmpty() && value.chars().allMatch(Character::isDigit);
            for (int pad = value.length(); numeric && pad < width; pad++) {
                out.write('0');
            }
            out.writeBytes(value.getBytes(StandardCharsets.UTF_8));
            i = at;
        }
        return Bytes.of(out.toByteArray());
    }

    private static String code(Job job, char c) {
        int array = job.array().jobId();
        return switch (c) {
            case '%' -> "%";
            case 'A' -> Integer.toString(array != 0 ? array : job.id());
            case 'a' -> job.array().task() >= 0 ? Integer.toString(job.array().task()) : "4294967294";
            case 'b' -> job.array().task() >= 0 ? Integer.toString(job.array().task() % 10) : "4294967294";
            case 'J' -> job.id() + ".batch";
            case 'j' -> Integer.toString(job.id());
            case 'N' -> job.run().allocation().isEmpty() ? "" : job.run().allocation().nodes().getFirst().node();
            case 'n', 't' -> "0";
            case 's' -> "batch";
            case 'u' -> job.desc().owner().user();
            case 'x' -> job.desc().name();
            default -> null;
        };
    }
}
