package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Resources that a job had and used, from its accounting records; a job that changed size is summed up. Times are in
 * seconds, memory in bytes.
 *
 * @param nodes and {@code cores} at its last size
 * @param core seconds of all its CPUs
 * @param limit of its time; negative for none
 * @param memory the step that has used most: what its largest task has, for as many tasks as there are
 * @param estimated the step had several tasks
 * @param gpuTime seconds of all its GPUs
 * @param gpuUsed those of these seconds in which its processes kept a GPU busy; negative if not measured
 */
record Efficiency(
        String id,
        String shownId,
        String cluster,
        String user,
        String group,
        String state,
        String exit,
        long nodes,
        long cores,
        long wall,
        double cpu,
        long core,
        long limit,
        double memory,
        boolean estimated,
        double given,
        long gpus,
        long gpuTime,
        double gpuUsed) {
    static final String FIELDS =
            "JobIDRaw,JobID,Cluster,User,Group,State,ExitCode,NNodes,NCPUS,ElapsedRaw,TotalCPU,AllocTRES,MaxRSS,NTasks,"
                    + "TimelimitRaw,TRESUsageInTot";
    private static final int COLUMNS = 16;
    private static final Pattern CPU_TIME = Pattern.compile("(?:(\\d+)-)?(?:(\\d+):)?(\\d+):(\\d+)(?:\\.(\\d+))?");
    private static final Pattern MEMORY = Pattern.compile("(?:^|,)mem=([^,]*)");
    private static final Pattern GPUS = Pattern.compile("(?:^|,)gres/gpu=(\\d{1,9})");

    private static final Pattern GPU_PERCENT = Pattern.compile("(?:^|,)gres/gpuutil=(\\d{1,9})");

    /** Returns the accounting records of a job by their columns; empty if there are none. */
    static List<String[]> records(Wrapper command, CommandContext context, String job) {
        Wrapper.Ran ran =
                command.capture(context, "sacct", List.of("-P", "-n", "--noconvert", "-j", job, "--format=" + FIELDS));
        return ran.rc() != 0
                ? List.of()
                : ran.lines().stream()
                        .map(l -> l.split("\\|", COLUMNS))
                        .filter(r -> r.length == COLUMNS)
                        .toList();
    }

    /** Reads the first job of the records. */
    static Optional<Efficiency> of(List<String[]> records) {
        if (records.isEmpty()) {
            return Optional.empty();
        }
        String raw = records.getFirst()[0];
        List<String[]> sizes = records.stream().filter(r -> r[0].equals(raw)).toList();
        String[] job = sizes.getLast();
        long wall = 0;
        long core = 0;
        long gpuTime = 0;
        double cpu = 0;
        for (String[] size : sizes) {
            wall += number(size[9]);
            core += number(size[9]) * number(size[8]);
            gpuTime += number(size[9]) * gpus(size[11]);
            cpu += cpuSeconds(size[10]);
        }
        double used = 0;
        boolean estimated = false;
        double gpuUsed = -1;
        for (String[] r : records) {
            double step = bytes(r[12]) * Math.max(1, number(r[13]));
            if ((r[0].equals(raw) || r[0].startsWith(raw + ".")) && step > used) {
                used = step;
                estimated = number(r[13]) > 1;
            }
            Matcher busy = GPU_PERCENT.matcher(r[15]);
            if (r[0].startsWith(raw + ".") && busy.find()) {
                gpuUsed = Math.max(0, gpuUsed) + number(busy.group(1)) / 100.0 * number(r[9]);
            }
        }
        Matcher matcher = MEMORY.matcher(sizes.getFirst()[11]);
        return Optional.of(new Efficiency(
                raw,
                job[1],
                job[2],
                job[3],
                job[4],
                job[5].replaceFirst(" .*", ""),
                job[6],
                Math.max(1, number(job[7])),
                number(job[8]),
                wall,
                cpu,
                core,
                job[14].matches("\\d{1,9}") ? 60 * number(job[14]) : -1,
                used,
                estimated,
                matcher.find() ? bytes(matcher.group(1)) : 0,
                gpus(job[11]),
                gpuTime,
                gpuUsed));
    }

    private static long gpus(String tres) {
        Matcher matcher = GPUS.matcher(tres);
        return matcher.find() ? number(matcher.group(1)) : 0;
    }

    private static long number(String text) {
        return text.matches("\\d{1,18}") ? Long.parseLong(text) : 0;
    }

    static double cpuSeconds(String text) {
        Matcher matcher = CPU_TIME.matcher(text);
        if (!matcher.matches()) {
            return 0;
        }
        double fraction = matcher.group(5) == null ? 0 : Double.parseDouble("0." + matcher.group(5));
        return (matcher.group(1) == null ? 0 : number(matcher.group(1)) * 86_400)
                + (matcher.group(2) == null ? 0 : number(matcher.group(2)) * 3600)
                + number(matcher.group(3)) * 60
                + number(matcher.group(4))
                + fraction;
    }

    static double bytes(String text) {
        Matcher matcher = Pattern.compile("(\\d+(?:\\.\\d+)?)([KMGTP]?)").matcher(text);
        if (matcher.matches()) {
            return Double.parseDouble(matcher.group(1))
                    * Math.pow(1024, matcher.group(2).isEmpty() ? 0 : 1 + "KMGTP".indexOf(matcher.group(2)));
        }
        return 0;
    }

    // ---- as people read it

    static String percent(double part, double whole) {
        return String.format(Locale.ROOT, "%.2f%%", whole > 0 ? 100 * part / whole : 0);
    }

    static String clock(long seconds) {
        long days = seconds / 86_400;
        return (days > 0 ? days + "-" : "") + Wrapper.hoursMinutes(seconds % 86_400) + ":" + Wrapper.pad(seconds % 60);
    }

    static String amount(double bytes) {
        String units = "KMGTP";
        double n = bytes / 1024;
        int index = 0;
        while (index < units.length() - 1 && (n >= 1024 || index < 1)) {
            n /= 1024;
            index++;
        }
        return String.format(Locale.ROOT, "%.2f %cB", n, units.charAt(index));
    }
}
