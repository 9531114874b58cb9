package dev.muster.simulator.replay;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;

/**
 * Rigid jobs in order of submission, and the machine they were meant for. Two forms are read: the Standard Workload
 * Format of the Parallel Workloads Archive (18 columns, comments begin with a semicolon) and a table of GPU jobs with
 * the header {@code timestamp,duration,num_gpus,gpu_time,cluster}; either may be compressed with gzip.
 *
 * @param cpus of the machine
 */
public record Trace(List<Job> jobs, int cpus) {
    private static final int SWF_COLUMNS = 18;
    private static final DateTimeFormatter MOMENT = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT);

    /**
     * Times in seconds; submission from the first job of the file.
     *
     * @param runS how long it runs, never longer than its limit
     * @param limitS it asks for, above 0; what the policy may know
     */
    public record Job(int id, long submitS, long runS, long limitS, int cpus, int user) {}

    /** @throws IllegalArgumentException with file and line where it cannot be read */
    public static Trace read(Path file) throws IOException {
        try (InputStream raw = Files.newInputStream(file);
                InputStream in = file.toString().endsWith(".gz") ? new GZIPInputStream(raw) : raw;
                BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.ISO_8859_1))) {
            return read(file.getFileName().toString(), lines);
        }
    }

    static Trace read(String name, BufferedReader lines) throws IOException {
        List<Job> jobs = new ArrayList<>();
        Map<String, Integer> users = new TreeMap<>();
        int cpus = 0;
        boolean gpuTable = false;
        int number = 0;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            number++;
            try {
                if (line.startsWith("timestamp,")) {
                    gpuTable = true;
                } else if (line.startsWith(";")) {
                    cpus = Math.max(cpus, header(line));
                } else if (!line.isBlank()) {
                    Job job = gpuTable
                            ? gpuJob(line.strip().split(","), jobs.size(), users)
                            : swfJob(line.strip().split("\\s+"));
                    if (job.runS >= 0 && job.cpus > 0 && job.limitS > 0) {
                        jobs.add(job);
                    }
                }
            } catch (RuntimeException e) {
                throw new IllegalArgumentException(name + ":" + number + ": not a job: " + line, e);
            }
        }
        if (jobs.isEmpty()) {
            throw new IllegalArgumentException(name + ": no job is in it");
        }
        jobs.sort(Comparator.comparingLong(Job::submitS));
        int widest = jobs.stream().mapToInt(Job::cpus).max().orElseThrow();
        return new Trace(fromZero(jobs), Math.max(cpus, widest));
    }

    /** MaxProcs of the archive's header: CPUs of the machine; 0 in another line. */
    private static int header(String line) {
        String[] words = line.substring(1).strip().split("[:\\s]+");
        return words.length > 1 && words[0].equals("MaxProcs") ? Integer.parseInt(words[1]) : 0;
    }

    /**
     * Columns of the archive: 2 submission, 4 run time, 5 CPUs had, 8 CPUs asked for, 9 time asked for, 12 user; -1 for
     * unknown.
     */
    private static Job swfJob(String[] c) {
        if (c.length < SWF_COLUMNS) {
            throw new IllegalArgumentException("columns are missing");
        }
        long run = Long.parseLong(c[3]);
        int had = Integer.parseInt(c[4]);
        int asked = Integer.parseInt(c[7]);
        long limit = Long.parseLong(c[8]) > 0 ? Long.parseLong(c[8]) : Math.max(1, run);
        return new Job(
                Integer.parseInt(c[0]),
                Long.parseLong(c[1]),
                Math.min(run, limit),
                limit,
                asked > 0 ? asked : had,
                Integer.parseInt(c[11]));
    }

    /**
     * The trace has no time limits: the job gets the shortest usual limit that the run fits in. The user is the virtual
     * cluster.
     */
    private static Job gpuJob(String[] c, int id, Map<String, Integer> users) {
        long run = (long) Math.ceil(Double.parseDouble(c[1]));
        long limit = 3600;
        while (limit < run) {
            limit *= 4;
        }
        return new Job(
                id + 1,
                LocalDateTime.parse(c[0], MOMENT).toEpochSecond(ZoneOffset.UTC),
                run,
                limit,
                Integer.parseInt(c[2]),
                users.computeIfAbsent(c[4], u -> users.size()));
    }

    private static List<Job> fromZero(List<Job> jobs) {
        long first = jobs.getFirst().submitS;
        return jobs.stream()
                .map(j -> new Job(j.id, j.submitS - first, j.runS, j.limitS, j.cpus, j.user))
                .toList();
    }

    /** Returns the first {@code most} jobs. */
    public Trace first(int most) {
        return new Trace(jobs.subList(0, Math.min(most, jobs.size())), cpus);
    }

    /** The same jobs on another machine; those that are wider than it are left out. */
    public Trace on(int machineCpus) {
        return new Trace(
                fromZero(jobs.stream().filter(j -> j.cpus <= machineCpus).toList()), machineCpus);
    }

    /** Time between submissions multiplied: below 1 the load rises. */
    public Trace faster(double factor) {
        return new Trace(
                jobs.stream()
                        .map(j -> new Job(j.id, Math.round(j.submitS * factor), j.runS, j.limitS, j.cpus, j.user))
                        .toList(),
                cpus);
    }

    /**
     * Delays each submission at random, by at most {@code mostS} seconds: shows by how much replays differ without a
     * cause.
     */
    public Trace jittered(int mostS, long seed) {
        Random random = new Random(seed);
        return new Trace(
                jobs.stream()
                        .map(j ->
                                new Job(j.id, j.submitS + random.nextInt(mostS + 1), j.runS, j.limitS, j.cpus, j.user))
                        .sorted(Comparator.comparingLong(Job::submitS))
                        .toList(),
                cpus);
    }

    /** Limits rounded up. */
    public Trace wholeMinutes() {
        return new Trace(
                jobs.stream()
                        .map(j -> new Job(j.id, j.submitS, j.runS, (j.limitS + 59) / 60 * 60, j.cpus, j.user))
                        .toList(),
                cpus);
    }

    /** Work submitted per capacity of the time in which it was submitted. */
    public double load() {
        double work = jobs.stream().mapToDouble(j -> (double) j.runS * j.cpus).sum();
        return work / cpus / Math.max(1, jobs.getLast().submitS);
    }

    /** Submissions moved together or apart until the load is as given. */
    public Trace atLoad(double load) {
        return faster(load() / load);
    }
}
