package dev.muster.node.hardware;

import dev.muster.config.NodeConf;
import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.sister.GresConf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** The lines of {@code slurmd -G}: the node's devices as gres.conf has them, or as slurm.conf counts them. */
public final class GresReport {
    private GresReport() {}

    public static List<String> lines(SlurmConf conf, NodeConf node) {
        List<ConfigError> errors = new ArrayList<>();
        GpuProbe.Merged merged = GpuProbe.merged(conf, node, false, errors);
        List<String> out = new ArrayList<>();
        errors.forEach(e -> out.add("slurmd: error: " + e.message()));
        if (!merged.error().isEmpty()) {
            out.add("slurmd: error: " + merged.error());
        }
        out.addAll(lines(merged.conf(), node));
        return out;
    }

    public static List<String> lines(GresConf conf, NodeConf node) {
        List<String> out = new ArrayList<>();
        List<GresConf.Device> devices = conf.forNode(node.name());
        List<String> gpus = devices.stream()
                .filter(d -> d.name().equals("gpu"))
                .flatMap(d -> files(d).stream())
                .toList();
        for (GresConf.Device d : devices) {
            if ((d.name().equals("mps") || d.name().equals("shard")) && files(d).isEmpty() && !gpus.isEmpty()) {
                // the same part of each GPU
                gpus.forEach(f -> out.add(line(
                        d.name(), d.type(), d.count() / gpus.size(), List.of(f), d.cores(), node.cores(), d.links())));
                continue;
            }
            out.add(line(d.name(), d.type(), d.count(), files(d), d.cores(), node.cores(), d.links()));
        }
        for (NodeConf.Gres g : node.gres()) {
            if (devices.stream().noneMatch(d -> d.name().equals(g.name()))) {
                out.add(line(g.name(), g.type(), g.count(), List.of(), "", node.cores(), ""));
            }
        }
        return out;
    }

    private static List<String> files(GresConf.Device d) {
        return d.files().isEmpty() ? d.multiple() : d.files();
    }

    private static String line(
            String name, String type, long count, List<String> files, String cores, int coreCount, String links) {
        StringBuilder b = new StringBuilder("slurmd: Gres Name=")
                .append(name)
                .append(" Type=")
                .append(type.isEmpty() ? "(null)" : type)
                .append(" Count=")
                .append(count);
        if (!files.isEmpty()) {
            b.append(" Index=").append(firstIndex(files.getFirst()));
        }
        b.append(" ID=").append(id(name));
        if (!files.isEmpty()) {
            b.append(" File=").append(ranged(files));
        }
        if (!cores.isEmpty()) {
            b.append(" Cores=").append(cores).append(" CoreCnt=").append(coreCount);
        }
        return b.append(' ').append(links.isEmpty() ? "(null)" : links).toString();
    }

    /** A resource's number: its name's bytes added up, each shifted to the next byte of four. */
    static long id(String name) {
        int sum = 0;
        int shift = 0;
        for (byte b : name.getBytes(StandardCharsets.UTF_8)) {
            sum += (b & 0xff) << shift;
            shift = (shift + 8) % 32;
        }
        return sum & 0xffffffffL;
    }

    private static int firstIndex(String file) {
        String digits = file.substring(stem(file).length());
        return digits.isEmpty() ? 0 : Integer.parseInt(digits);
    }

    private static String stem(String file) {
        int end = file.length();
        while (end > 0 && Character.isDigit(file.charAt(end - 1)) && file.length() - end < 9) {
            end--;
        }
        return file.substring(0, end);
    }

    /** {@code /dev/nvidia[0-3]} where the files are one unbroken range, else a list. */
    private static String ranged(List<String> files) {
        String stem = stem(files.getFirst());
        int first = firstIndex(files.getFirst());
        for (int i = 0; i < files.size(); i++) {
            if (!files.get(i).equals(stem + (first + i))) {
                return String.join(",", files);
            }
        }
        return files.size() == 1 ? files.getFirst() : stem + "[" + first + "-" + (first + files.size() - 1) + "]";
    }
}
