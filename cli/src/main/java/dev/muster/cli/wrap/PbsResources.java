package dev.muster.cli.wrap;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** Translates PBS's resource lists into options of sbatch. Resources without a counterpart are refused. */
final class PbsResources {
    private static final int CHUNKS_MAX = 65_536;

    private final CommandContext context;
    private final List<String> out = new ArrayList<>();

    private PbsResources(CommandContext context) {
        this.context = context;
    }

    /** @param text {@code nodes=2:ppn=4,walltime=1:00:00} */
    static List<String> options(CommandContext context, String text) throws UsageException {
        PbsResources resources = new PbsResources(context);
        for (String one : text.split(",")) {
            int equalSign = one.indexOf('=');
            if (equalSign < 0) {
                throw Wrapper.refused(context, "-l " + one + ": a resource and its value are needed, as in nodes=2");
            }
            resources.resource(one.substring(0, equalSign), one.substring(equalSign + 1));
        }
        return resources.out;
    }

    private void resource(String name, String value) throws UsageException {
        switch (name) {
            case "nodes" -> nodes(value);
            case "select" -> select(value);
            case "walltime", "cput", "h_rt", "pcput" -> out.add("-t" + minutes(name, value));
            case "mem", "h_vmem" -> out.add("--mem=" + megabytes(name, value) + "M");
            case "pmem" -> out.add("--mem-per-cpu=" + megabytes(name, value) + "M");
            case "file" -> out.add("--tmp=" + megabytes(name, value) + "M");
            case "ncpus" -> out.add("--mincpus=" + number(name, value));
            case "procs", "mppwidth" -> out.add("-n" + number(name, value));
            case "mppnppn" -> out.add("--ntasks-per-node=" + number(name, value));
            case "mppdepth" -> out.add("--cpus-per-task=" + number(name, value));
            case "naccelerators", "ngpus" -> out.add("--gres=gpu:" + number(name, value));
            case "accelerator" -> {
                if (value.equalsIgnoreCase("true")) {
                    out.add("--gres=gpu:1");
                }
            }
            case "gres" -> out.add("--gres=" + value);
            case "proc", "feature" -> out.add("--constraint=" + value);
            case "host" -> out.add("-w" + value);
            case "nice" -> out.add("--nice=" + value);
            case "qos" -> out.add("--qos=" + value);
            case "place" -> place(value);
            default -> throw Wrapper.refused(context, "-l " + name + "=" + value + ": this resource is not supported");
        }
    }

    private void place(String value) throws UsageException {
        for (String word : value.split(":")) {
            switch (word) {
                case "free", "scatter" -> {} // as it is, and as select's number of nodes has it
                case "pack" -> out.add("-N1");
                case "excl", "exclhost" -> out.add("--exclusive");
                case "shared" -> out.add("--oversubscribe");
                default ->
                    throw Wrapper.refused(
                            context, "-l place=" + value + ": free, scatter, pack, excl and shared are supported");
            }
        }
    }

    /** A part of {@code nodes} or {@code select}. */
    private record Chunk(long count, String host, Map<String, String> values, List<String> properties) {}

    private Chunk chunk(String text) throws UsageException {
        long count = 1;
        String host = "";
        Map<String, String> values = new LinkedHashMap<>();
        List<String> properties = new ArrayList<>();
        boolean first = true;
        for (String word : text.split(":")) {
            int equalSign = word.indexOf('=');
            if (equalSign > 0) {
                values.put(word.substring(0, equalSign), word.substring(equalSign + 1));
            } else if (first && word.matches("\\d+")) {
                count = number("number of nodes", word);
            } else if (first) {
                host = word;
            } else {
                properties.add(word);
            }
            first = false;
        }
        return new Chunk(count, host, values, properties);
    }

    /** The parts as one: they must be alike, since a job's nodes are asked for by the same numbers. */
    private Chunk whole(String name, String text) throws UsageException {
        List<Chunk> parts = new ArrayList<>();
        for (String part : text.split("\\+")) {
            parts.add(chunk(part));
        }
        Chunk one = parts.getFirst();
        long count = 0;
        List<String> hosts = new ArrayList<>();
        for (Chunk chunk : parts) {
            if (!chunk.values.equals(one.values)
                    || !chunk.properties.equals(one.properties)
                    || chunk.host.isEmpty() != one.host.isEmpty()) {
                throw Wrapper.refused(
                        context,
                        "-l " + name + "=" + text
                                + ": parts that differ are not supported, a heterogeneous job (sbatch) is");
            }
            count += chunk.count;
            if (!chunk.host.isEmpty()) {
                hosts.add(chunk.host);
            }
        }
        return new Chunk(count, String.join(",", hosts), one.values, one.properties);
    }

    private void nodes(String text) throws UsageException {
        Chunk all = whole("nodes", text);
        out.add("-N" + all.count);
        for (var e : all.values.entrySet()) {
            switch (e.getKey()) {
                case "ppn" -> out.add("-n" + all.count * number("ppn", e.getValue()));
                case "gpus" -> out.add("--gpus-per-node=" + number("gpus", e.getValue()));
                default -> throw Wrapper.refused(context, "-l nodes: " + e.getKey() + " is not supported");
            }
        }
        if (!all.properties.isEmpty()) {
            out.add("--constraint=" + String.join("&", all.properties));
        }
        if (!all.host.isEmpty()) {
            out.add("-w" + all.host);
        }
    }

    private void select(String text) throws UsageException {
        Chunk all = whole("select", text);
        if (!all.host.isEmpty() || !all.properties.isEmpty()) {
            throw Wrapper.refused(
                    context,
                    "-l select=" + text + ": a number of nodes and resources are needed, as in select=2:ncpus=4");
        }
        out.add("-N" + all.count);
        long cpus = 0;
        long tasks = 0;
        for (var e : all.values.entrySet()) {
            switch (e.getKey()) {
                case "ncpus" -> cpus = number("ncpus", e.getValue());
                case "mpiprocs" -> tasks = number("mpiprocs", e.getValue());
                case "mem" -> out.add("--mem=" + megabytes("mem", e.getValue()) + "M");
                case "ngpus" -> out.add("--gpus-per-node=" + number("ngpus", e.getValue()));
                case "host" -> out.add("-w" + e.getValue());
                default -> throw Wrapper.refused(context, "-l select: " + e.getKey() + " is not supported");
            }
        }
        if (cpus > 0) {
            out.add("--mincpus=" + cpus);
        }
        if (tasks > 0) {
            out.add("--ntasks-per-node=" + tasks);
            if (cpus >= tasks) {
                out.add("--cpus-per-task=" + cpus / tasks);
            }
        }
    }

    private long number(String name, String text) throws UsageException {
        if (!text.matches("\\d{1,9}") || Long.parseLong(text) == 0 || Long.parseLong(text) > CHUNKS_MAX) {
            throw Wrapper.refused(context, "-l " + name + ": a number is needed, not " + text);
        }
        return Long.parseLong(text);
    }

    /**
     * Returns the minutes of seconds, {@code MM:SS} or {@code HH:MM:SS}, with or without days before. A part of a
     * minute counts as one.
     */
    private long minutes(String name, String text) throws UsageException {
        String[] parts = text.split(":", -1);
        long[] unit = {1, 60, 3600};
        long seconds = 0;
        for (int i = 0; i < parts.length; i++) {
            if (parts.length > unit.length || !parts[parts.length - 1 - i].matches("\\d{1,9}")) {
                throw new UsageException(Wrapper.MISTAKE, List.of("Invalid time limit specified (" + text + ")"));
            }
            seconds += unit[i] * Long.parseLong(parts[parts.length - 1 - i]);
        }
        if (seconds == 0) {
            throw Wrapper.refused(context, "-l " + name + ": more than no time is needed");
        }
        return Math.ceilDiv(seconds, 60L);
    }

    /**
     * Reads a size: bytes, or a number with b or w (words of 8 bytes) and k, m, g, t before it; at least one megabyte.
     */
    private long megabytes(String name, String text) throws UsageException {
        OptionalLong bytes = bytes(text);
        if (bytes.isEmpty() || bytes.getAsLong() == 0) {
            throw Wrapper.refused(context, "-l " + name + ": an amount of memory is needed, as in 2gb, not " + text);
        }
        return Math.ceilDiv(bytes.getAsLong(), 1L << 20);
    }

    static OptionalLong bytes(String text) {
        String lower = text.toLowerCase(java.util.Locale.ROOT);
        if (!lower.matches("\\d{1,9}([kmgt]?[bw]?)")) {
            return OptionalLong.empty();
        }
        String digits = lower.replaceAll("\\D", "");
        String unit = lower.substring(digits.length());
        long n = Long.parseLong(digits) * (unit.endsWith("w") ? 8 : 1);
        int shift = unit.isEmpty()
                ? 0
                : switch (unit.charAt(0)) {
                    case 'k' -> 10;
                    case 'm' -> 20;
                    case 'g' -> 30;
                    case 't' -> 40;
                    default -> 0;
                };
        return n > Long.MAX_VALUE >> shift ? OptionalLong.empty() : OptionalLong.of(n << shift);
    }
}
