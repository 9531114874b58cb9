package dev.muster.node.hardware;

import dev.muster.config.NodeConf;
import dev.muster.config.SlurmConf;
import dev.muster.config.file.SisterFiles;
import dev.muster.config.key.ConfigError;
import dev.muster.config.sister.GresConf;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.GpuVariables;
import dev.muster.node.os.Os;
import dev.muster.node.os.Topology;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The GPUs that the kernel's drivers show: NVIDIA's under /proc/driver/nvidia, AMD's in the topology of amdkfd. No
 * library is asked, so NVLinks and instances of a GPU (MIG) stay unseen; XGMI links are the kernel's to tell. Where
 * fake_gpus.conf lies beside slurm.conf, the GPUs are those that it names, as in Slurm's own tests.
 */
public final class GpuProbe {
    private static final int FAKE_FIELDS = 7;
    private static final int XGMI = 11;
    private static final String NOTHING = "(null)";

    private final Path root;
    private final Optional<Path> fakes;
    private final Topology machine;
    private final int threadsPerCore;

    /** @param root "/" or a copy of its proc and sys for tests; fakes: a file of GPUs, where there is one */
    public GpuProbe(Path root, Optional<Path> fakes, Topology machine, int threadsPerCore) {
        this.root = root;
        this.fakes = fakes;
        this.machine = machine;
        this.threadsPerCore = Math.max(1, threadsPerCore);
    }

    /**
     * @param type of the model, in lower case
     * @param file of the device
     * @param cores near it, by Slurm's numbers; "" where that is not known
     * @param links to the others, -1 for itself; "" where that is not known
     * @param bus PCI address: GPUs are numbered in its order
     * @param uuid "" if the driver reports none
     */
    public record Gpu(String type, String file, String cores, String links, String bus, String uuid) {}

    /** The probe of this machine. */
    static GpuProbe here(SlurmConf conf) {
        HardwareProbe hardware = new HardwareProbe(Path.of("/"), Path.of("/"));
        return new GpuProbe(
                Path.of("/"),
                Optional.of(conf.sister("fake_gpus.conf").toPath()).filter(Files::exists),
                hardware.topology(),
                hardware.read("").threadsPerCore());
    }

    /**
     * gres.conf for a node of this machine.
     *
     * @param dynamic the node brings its own line
     */
    public static Merged merged(SlurmConf conf, NodeConf node, boolean dynamic, List<ConfigError> errors) {
        GresConf gres = GresConf.read(conf.sister(SisterFiles.GRES), errors);
        String detector = detector(gres, node.name(), dynamic);
        boolean wanted = node.gres().stream().anyMatch(g -> g.name().equals("gpu"));
        return detector.isEmpty() || detector.equals("off") || !wanted
                ? new Merged(gres, "")
                : merge(gres, node.name(), node.gres(), here(conf).find(detector));
    }

    /** UUIDs of the node's GPUs by index, "" where unknown; empty without Flags=env_uuid in gres.conf. */
    public static List<String> uuids(SlurmConf conf, String node, GresConf merged) {
        if (merged.flags(node, "gpu").stream().noneMatch(GpuVariables.BY_UUID::equalsIgnoreCase)) {
            return List.of();
        }
        String configured = merged.detector(node);
        Map<String, String> byFile = new TreeMap<>();
        here(conf).find(configured.isEmpty() ? "full" : configured).forEach(g -> byFile.put(g.file(), g.uuid()));
        return merged.forNode(node).stream()
                .filter(d -> d.name().equals("gpu"))
                .flatMap(d -> d.files().stream())
                .map(f -> byFile.getOrDefault(f, ""))
                .toList();
    }

    /**
     * What a node that brings its own line says of its GPUs by itself; "" where it has none, or the files speak of
     * them.
     */
    public static String ofLine(SlurmConf conf, String node, String gres) {
        GresConf file = GresConf.read(conf.sister(SisterFiles.GRES), new ArrayList<>());
        boolean named = Stream.of(gres.split(",")).anyMatch(g -> g.equals("gpu") || g.startsWith("gpu:"))
                || file.forNode(node).stream().anyMatch(d -> d.name().equals("gpu"));
        return named || !conf.gresTypes().contains("gpu")
                ? ""
                : gresText(here(conf).find(detector(file, node, true)));
    }

    /**
     * Finds GPUs in the order of their numbers.
     *
     * @param detector nvml, nvidia, rsmi, oneapi, nrt or full; for any other nothing is looked at
     */
    public List<Gpu> find(String detector) {
        if (fakes.isPresent() && !detector.isEmpty() && !detector.equals("off")) {
            return fakes();
        }
        List<Gpu> out = new ArrayList<>();
        switch (detector.toLowerCase(Locale.ROOT)) {
            case "nvml", "nvidia" -> nvidia(out);
            case "rsmi" -> amd(out);
            case "full" -> {
                nvidia(out);
                amd(out);
            }
            default -> {}
        }
        out.sort(Comparator.comparing(Gpu::bus));
        return List.copyOf(out);
    }

    // ---- NVIDIA

    private void nvidia(List<Gpu> out) {
        for (Path gpu : list(root.resolve("proc/driver/nvidia/gpus"))) {
            Map<String, String> fields = new LinkedHashMap<>();
            Os.read(gpu.resolve("information"))
                    .orElse("")
                    .lines()
                    .filter(l -> l.indexOf(':') > 0)
                    .forEach(l -> fields.put(
                            l.substring(0, l.indexOf(':')).strip(),
                            l.substring(l.indexOf(':') + 1).strip()));
            String minor = fields.getOrDefault("Device Minor", "");
            if (minor.matches("[0-9]{1,4}")) {
                String bus =
                        fields.getOrDefault("Bus Location", gpu.getFileName().toString());
                out.add(new Gpu(
                        type(fields.getOrDefault("Model", "")),
                        "/dev/nvidia" + minor,
                        cores(bus),
                        "",
                        bus,
                        fields.getOrDefault("GPU UUID", "")));
            }
        }
    }

    /** Spaces would be ends of words in a configuration file. */
    private static String type(String model) {
        return model.strip().toLowerCase(Locale.ROOT).replace(' ', '_');
    }

    /** The kernel knows which CPUs are next to a PCI device. */
    private String cores(String bus) {
        String cpus = Os.read(root.resolve("sys/bus/pci/devices/" + bus.toLowerCase(Locale.ROOT) + "/local_cpulist"))
                .orElse("")
                .strip();
        List<IndexSet.Spec> near = cpus.isEmpty() ? List.of() : IndexSet.parseSpec(cpus, IndexSet.MAX_INDEX);
        if (near.isEmpty()) {
            return "";
        }
        IndexSet out = IndexSet.empty();
        for (int i = 0; i < machine.inOrder().size(); i++) {
            if (near.getFirst().indexes().contains(machine.inOrder().get(i))) {
                out = out.with(i / threadsPerCore);
            }
        }
        return out.compact();
    }

    // ---- AMD

    private void amd(List<Gpu> out) {
        Map<Path, Map<String, Long>> properties = new LinkedHashMap<>();
        for (Path node : list(root.resolve("sys/class/kfd/kfd/topology/nodes"))) {
            Map<String, Long> values = properties(node.resolve("properties"));
            if (values.getOrDefault("simd_count", 0L) > 0 && values.getOrDefault("drm_render_minor", 0L) > 0) {
                properties.put(node, values);
            }
        }
        List<Map.Entry<Path, Map<String, Long>>> found = new ArrayList<>(properties.entrySet());
        found.sort(Comparator.comparing(e -> bus(e.getValue())));
        List<Path> gpus = found.stream().map(Map.Entry::getKey).toList();
        for (Map.Entry<Path, Map<String, Long>> one : found) {
            Path node = one.getKey();
            Map<String, Long> values = one.getValue();
            long render = values.getOrDefault("drm_render_minor", 0L);
            String model = Os.read(root.resolve("sys/class/drm/renderD" + render + "/device/product_name"))
                    .map(String::strip)
                    .filter(m -> !m.isEmpty())
                    .orElseGet(() -> Os.read(node.resolve("name")).orElse("").strip());
            String bus = bus(values);
            out.add(new Gpu(
                    type(model),
                    "/dev/dri/renderD" + render,
                    cores(bus),
                    links(node, gpus),
                    bus,
                    uuid(values.getOrDefault("unique_id", 0L))));
        }
    }

    /** Formats a UUID as ROCm does. */
    private static String uuid(long id) {
        return id == 0 ? "" : String.format(Locale.ROOT, "GPU-%016x", id);
    }

    private static String bus(Map<String, Long> values) {
        long location = values.getOrDefault("location_id", 0L);
        return String.format(
                Locale.ROOT,
                "%04x:%02x:%02x.%x",
                values.getOrDefault("domain", 0L),
                location >> 8 & 0xff,
                location >> 3 & 0x1f,
                location & 7);
    }

    private String links(Path node, List<Path> gpus) {
        Map<String, Long> counts = new TreeMap<>();
        for (Path link : list(node.resolve("io_links"))) {
            Map<String, Long> values = properties(link.resolve("properties"));
            if (values.getOrDefault("type", 0L) == XGMI) {
                counts.merge(Long.toString(values.getOrDefault("node_to", -1L)), 1L, Long::sum);
            }
        }
        return String.join(
                ",",
                gpus.stream()
                        .map(g -> g.equals(node)
                                ? "-1"
                                : Long.toString(
                                        counts.getOrDefault(g.getFileName().toString(), 0L)))
                        .toList());
    }

    private static Map<String, Long> properties(Path file) {
        Map<String, Long> out = new LinkedHashMap<>();
        Os.read(file)
                .orElse("")
                .lines()
                .map(l -> l.strip().split(" +"))
                .filter(w -> w.length == 2 && w[1].matches("[0-9]{1,18}"))
                .forEach(w -> out.put(w[0], Long.parseLong(w[1])));
        return out;
    }

    private static List<Path> list(Path directory) {
        List<Path> out = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(directory)) {
            all.forEach(out::add);
        } catch (IOException e) {
            return List.of(); // no such driver here
        }
        out.sort(Comparator.naturalOrder());
        return out;
    }

    // ---- a file instead

    /** {@code type|cpu count|cores|links|file|id|flags}, a line for each. */
    private List<Gpu> fakes() {
        List<Gpu> out = new ArrayList<>();
        for (String line : Os.read(fakes.get()).orElse("").lines().toList()) {
            String[] words = line.split("\\|");
            if (words.length >= FAKE_FIELDS - 2 && !line.startsWith("#") && !words[4].equals(NOTHING)) {
                for (String file : files(words[4])) {
                    out.add(new Gpu(
                            plain(words[0]),
                            file,
                            words[2].startsWith("~") ? "" : plain(words[2]),
                            plain(words[3]),
                            String.format(Locale.ROOT, "%04d", out.size()),
                            words.length > 5 ? plain(words[5]) : ""));
                }
            }
        }
        return out;
    }

    private static List<String> files(String pattern) {
        return switch (dev.muster.model.format.HostList.parse(pattern)) {
            case dev.muster.model.format.HostList.Parsed.Ok good -> good.list().names();
            case dev.muster.model.format.HostList.Parsed.Invalid bad -> List.of(pattern);
        };
    }

    private static String plain(String word) {
        return word.equals(NOTHING) ? "" : word;
    }

    // ---- with what the files say

    /**
     * gres.conf as it stands with what was found.
     *
     * @param error "" or what about the two does not go together
     */
    public record Merged(GresConf conf, String error) {}

    /**
     * How GPUs of this node are looked for. A node that brings its own line looks for all, unless its gres.conf has
     * GPUs or says otherwise.
     */
    static String detector(GresConf conf, String node, boolean dynamic) {
        String configured = conf.detector(node);
        boolean named = conf.forNode(node).stream().anyMatch(d -> d.name().equals("gpu"));
        return configured.isEmpty() && dynamic && !named ? "full" : configured;
    }

    /**
     * What gres.conf says of a GPU is held against what was found; what it leaves open is filled in.
     *
     * @param wanted the node's Gres of slurm.conf: its count is the most GPUs that are taken
     */
    static Merged merge(GresConf conf, String node, List<NodeConf.Gres> wanted, List<Gpu> found) {
        List<GresConf.Device> out = new ArrayList<>(conf.devices().stream()
                .filter(d -> !(d.name().equals("gpu") && d.on(node)))
                .toList());
        List<GresConf.Device> named =
                conf.forNode(node).stream().filter(d -> d.name().equals("gpu")).toList();
        List<Gpu> left = new ArrayList<>(found);
        for (GresConf.Device device : named) {
            for (String file : device.files().isEmpty() ? List.<String>of() : device.files()) {
                Optional<Gpu> gpu =
                        left.stream().filter(g -> g.file().equals(file)).findFirst();
                if (gpu.isEmpty()) {
                    return new Merged(conf, "gres.conf has a GPU " + file + " that was not found");
                }
                String wrong = mismatch(device, gpu.get());
                if (!wrong.isEmpty()) {
                    return new Merged(conf, "gres.conf and the GPU " + file + " differ: " + wrong);
                }
                left.remove(gpu.get());
                out.add(device(
                        node, gpu.get(), device.type().isEmpty() ? gpu.get().type() : device.type(), device));
            }
        }
        for (NodeConf.Gres g : wanted) {
            if (!g.name().equals("gpu")) {
                continue;
            }
            long more = g.count()
                    - out.stream()
                            .filter(d -> d.name().equals("gpu")
                                    && d.on(node)
                                    && d.type().equals(g.type()))
                            .count();
            List<Gpu> fit = left.stream()
                    .filter(f -> f.type().contains(g.type().toLowerCase(Locale.ROOT)))
                    .limit(Math.max(0, more))
                    .toList();
            fit.forEach(f -> out.add(device(node, f, g.type(), null)));
            left.removeAll(fit);
        }
        GresConf whole = new GresConf(conf.autoDetect(), List.copyOf(out));
        long configured = wanted.stream()
                .filter(g -> g.name().equals("gpu"))
                .mapToLong(NodeConf.Gres::count)
                .sum();
        long detected =
                whole.forNode(node).stream().filter(d -> d.name().equals("gpu")).count();
        return new Merged(
                whole,
                detected < configured
                        ? "gres/gpu count reported lower than configured (" + detected + " < " + configured + ")"
                        : "");
    }

    private static String mismatch(GresConf.Device device, Gpu gpu) {
        if (!gpu.type().contains(device.type().toLowerCase(Locale.ROOT))) {
            return "Type=" + device.type() + ", but it is " + gpu.type();
        }
        if (!device.cores().isEmpty() && !gpu.cores().isEmpty() && !same(device.cores(), gpu.cores())) {
            return "Cores=" + device.cores() + ", but they are " + gpu.cores();
        }
        return !device.links().isEmpty()
                        && !gpu.links().isEmpty()
                        && !device.links().equals(gpu.links())
                ? "Links=" + device.links() + ", but they are " + gpu.links()
                : "";
    }

    private static boolean same(String a, String b) {
        List<IndexSet.Spec> left = IndexSet.parseSpec(a, IndexSet.MAX_INDEX);
        List<IndexSet.Spec> right = IndexSet.parseSpec(b, IndexSet.MAX_INDEX);
        return !left.isEmpty()
                && !right.isEmpty()
                && left.getFirst().indexes().equals(right.getFirst().indexes());
    }

    private static GresConf.Device device(String node, Gpu gpu, String type, GresConf.@Nullable Device configured) {
        return new GresConf.Device(
                List.of(node),
                "gpu",
                type,
                1,
                List.of(gpu.file()),
                List.of(),
                gpu.cores(),
                gpu.links(),
                configured == null ? List.of() : configured.flags(),
                "",
                configured == null ? 0 : configured.line());
    }

    /** {@code gpu:a100:2,gpu:1} as they would stand in a node's line; "" for none. */
    public static String gresText(List<Gpu> found) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        found.forEach(g -> counts.merge(g.type(), 1, Integer::sum));
        return String.join(
                ",",
                counts.entrySet().stream()
                        .map(e -> "gpu" + (e.getKey().isEmpty() ? "" : ":" + e.getKey()) + ":" + e.getValue())
                        .toList());
    }
}
