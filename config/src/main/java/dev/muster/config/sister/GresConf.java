package dev.muster.config.sister;

import dev.muster.config.file.ConfLines;
import dev.muster.config.file.Pairs;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Names;
import dev.muster.config.key.Values;
import dev.muster.model.job.GpuVariables;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * gres.conf: the devices behind generic resources.
 *
 * @param autoDetect for nodes that no line of their own says otherwise; empty when not given
 */
public record GresConf(String autoDetect, List<Device> devices) {
    private static final List<String> DETECTORS = List.of("off", "nvml", "nvidia", "rsmi", "oneapi", "nrt", "full");
    private static final List<String> FLAGS = List.of(
            "CountOnly",
            "explicit",
            "one_sharing",
            "all_sharing",
            GpuVariables.BY_UUID,
            "nvidia_gpu_env",
            "amd_gpu_env",
            "intel_gpu_env",
            "opencl_env",
            "no_gpu_env",
            "no_consume");

    /**
     * Devices of one kind on one or all nodes.
     *
     * @param nodes empty means every node
     * @param files one a device, ranges expanded; empty when the resource is only counted
     * @param multiple files that together are one device
     * @param cores core indices near the device, as written; empty when not given
     * @param links numbers of links to the other devices, -1 for itself
     * @param autoDetect empty when the file's counts
     */
    public record Device(
            List<String> nodes,
            String name,
            String type,
            long count,
            List<String> files,
            List<String> multiple,
            String cores,
            String links,
            List<String> flags,
            String autoDetect,
            int line) {

        public boolean on(String node) {
            return nodes.isEmpty() || nodes.contains(node);
        }
    }

    /** The devices of one node. */
    public List<Device> forNode(String node) {
        List<Device> found = new ArrayList<>();
        for (Device device : devices) {
            if (device.on(node)) {
                found.add(device);
            }
        }
        return List.copyOf(found);
    }

    /** How a node's GPUs are found: its own line, else the file's; "" where neither is set. */
    public String detector(String node) {
        return devices.stream()
                .filter(d ->
                        !d.nodes().isEmpty() && d.on(node) && !d.autoDetect().isEmpty())
                .map(Device::autoDetect)
                .findFirst()
                .orElse(autoDetect);
    }

    /** The flags of a resource on a node, those that follow from how it is found among them. */
    public List<String> flags(String node, String name) {
        List<String> out = new ArrayList<>();
        forNode(node).stream()
                .filter(d -> d.name().equals(name))
                .flatMap(d -> d.flags().stream())
                .filter(f -> !out.contains(f))
                .forEach(out::add);
        String implied = GpuVariables.ofDetector(detector(node));
        if (name.equals("gpu") && !implied.isEmpty() && out.stream().noneMatch(GpuVariables::isFlag)) {
            out.add(implied);
        }
        return List.copyOf(out);
    }

    /** Reads the file; mistakes are added to {@code errors}. An absent file is an empty one. */
    public static GresConf read(File file, List<ConfigError> errors) {
        Builder builder = new Builder(new Values(errors));
        if (file.exists()) {
            new ConfLines(file, builder, errors).read(file);
        }
        return new GresConf(builder.autoDetect, List.copyOf(builder.devices));
    }

    private static final class Builder implements ConfLines.Sink {
        private final Values values;
        private final List<Device> devices = new ArrayList<>();
        private String autoDetect = "";

        private Builder(Values values) {
            this.values = values;
        }

        @Override
        public String clusterName() {
            return "";
        }

        @Override
        public void line(String text, String file, int line) {
            values.at(file, line, text);
            LineValues read = new LineValues();
            Pairs pairs = new Pairs(text);
            while (pairs.next()) {
                values.text(pairs.rest());
                read.set(pairs.key(), pairs.value(), values);
            }
            if (!pairs.atEnd()) {
                values.text(pairs.rest()).error("Parsing error");
            }
            if (read.name.isEmpty() && read.nodes.isEmpty() && !read.autoDetect.isEmpty()) {
                autoDetect = read.autoDetect;
            } else if (read.name.isEmpty() && read.autoDetect.isEmpty()) {
                values.error("Invalid GRES data, no type name (" + text.strip() + ")");
            } else {
                devices.add(read.device(line, values));
            }
        }
    }

    private static final class LineValues {
        private List<String> nodes = List.of();
        private String name = "";
        private String type = "";
        private long count = -1;
        private List<String> files = List.of();
        private List<String> multiple = List.of();
        private String cores = "";
        private String links = "";
        private List<String> flags = List.of();
        private String autoDetect = "";

        void set(String key, String value, Values values) {
            switch (key.toLowerCase(Locale.ROOT)) {
                case "nodename" -> nodes = values.hosts(value, key).names();
                case "name" -> name = value;
                case "type" -> type = value;
                case "count" -> count = count(value, values);
                case "file", "files" -> files = values.hosts(value, key).names();
                case "multiplefiles" -> multiple = values.hosts(value, key).names();
                case "cores", "cpus" -> cores = value;
                case "links", "link" -> links = value;
                case "flags" -> flags = knownWords(FLAGS, value, "Invalid GRES flag: ", values);
                case "autodetect" ->
                    autoDetect = String.join(",", knownWords(DETECTORS, value, "Invalid AutoDetect: ", values));
                default -> values.error("Parsing error at unrecognized key: " + key);
            }
        }

        private static long count(String value, Values values) {
            long number = Values.count(value);
            if (number < 0) {
                values.error("Invalid GRES Count value: " + value);
            }
            return number;
        }

        private static List<String> knownWords(List<String> words, String value, String complaint, Values values) {
            List<String> found = new ArrayList<>();
            for (String word : Values.list(value)) {
                String spelled = Names.known(words, word);
                if (spelled.isEmpty()) {
                    values.error(complaint + word);
                } else {
                    found.add(spelled);
                }
            }
            return List.copyOf(found);
        }

        Device device(int line, Values values) {
            if (!files.isEmpty() && !multiple.isEmpty()) {
                values.error("File and MultipleFiles options are mutually exclusive");
            }
            boolean sharing = name.equals("mps") || name.equals("shard");
            if (!files.isEmpty() && count >= 0 && count != files.size() && !sharing) {
                values.error("Invalid GRES record for " + name + ", count does not match File value");
            }
            long total;
            if (count >= 0) {
                total = count;
            } else if (files.isEmpty()) {
                total = 1;
            } else {
                total = files.size();
            }

            return new Device(nodes, name, type, total, files, multiple, cores, links, flags, autoDetect, line);
        }
    }
}
