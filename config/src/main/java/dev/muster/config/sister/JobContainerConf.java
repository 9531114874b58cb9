package dev.muster.config.sister;

import dev.muster.config.file.PairLines;
import dev.muster.config.file.YamlLite;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Values;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.format.HostList;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The private directories and namespaces of a job on a node: job_container.conf for namespace/tmpfs
 * (job_container/tmpfs), namespace.yaml for namespace/linux. EntireStepInNS is checked and needs no more: all that a
 * step does for its user, with task prologs and epilogs, is done by processes inside.
 *
 * @param basePath where the jobs' directories lie; "" where jobs have none of their own
 * @param autoBasePath slurmd makes that directory
 * @param dirs what a job sees of its own: a directory there, or a fresh file system for /dev/shm
 * @param shared what is mounted on the node later appears in the jobs as well
 * @param initScript run before a job's directories are put in place; "" for none
 * @param cloneScript run when they are
 * @param cloneEpilog run before they go
 * @param processes a job sees no processes but its own
 * @param users a job is in a user namespace
 * @param userScript writes the maps of that; "" where each is mapped to itself
 */
public record JobContainerConf(
        String basePath,
        boolean autoBasePath,
        List<String> dirs,
        boolean shared,
        String initScript,
        Script cloneScript,
        Script cloneEpilog,
        boolean processes,
        boolean users,
        String userScript) {

    /** @param path "" for none; seconds: how long it may take */
    public record Script(String path, int seconds) {
        public static final int SECONDS = 10;
        public static final Script NONE = new Script("", SECONDS);
    }

    private static final List<String> DIRS = List.of("/tmp", "/dev/shm");
    public static final JobContainerConf NONE =
            new JobContainerConf("", false, DIRS, false, "", Script.NONE, Script.NONE, false, false, "");
    /** Kinds of values by name without underscores. Names of the second list are namespace.yaml's alone. */
    private static final Map<String, String> KINDS = Map.ofEntries(
            Map.entry("basepath", "text"),
            Map.entry("autobasepath", "word"),
            Map.entry("dirs", "path"),
            Map.entry("shared", "word"),
            Map.entry("entirestepinns", "word"),
            Map.entry("initscript", "path"),
            Map.entry("clonensscript", "path"),
            Map.entry("clonensscriptwait", "number"),
            Map.entry("clonensepilog", "path"),
            Map.entry("clonensepilogwait", "number"));

    private static final Map<String, String> LINUX_KINDS = Map.of("clonensflags", "flags", "usernsscript", "path");
    private static final List<String> FLAGS = List.of("CLONE_NEWNS", "CLONE_NEWPID", "CLONE_NEWUSER");

    /** Reads job_container.conf for a node; mistakes are added to {@code errors}. */
    public static JobContainerConf read(File file, String node, List<ConfigError> errors) {
        if (!file.exists()) {
            errors.add(new ConfigError(file.getPath(), 0, "job_container/tmpfs needs job_container.conf", ""));
            return NONE;
        }
        Options options = new Options(file.getName());
        PairLines.read(
                file,
                key -> key.equalsIgnoreCase("NodeName") || KINDS.containsKey(plain(key)) ? "" : PairLines.unknown(key),
                (pairs, values) -> {
                    String nodes = pairs.remove("nodename");
                    if (nodes == null || names(List.of(nodes), values).contains(node)) {
                        pairs.forEach((key, value) -> options.put(plain(key), value, values));
                    }
                },
                errors);
        return options.conf(file, errors);
    }

    /** Reads namespace.yaml for a node; mistakes are added to {@code errors}. */
    public static JobContainerConf readYaml(File file, String node, List<ConfigError> errors) {
        if (!file.exists()) {
            errors.add(new ConfigError(file.getPath(), 0, "namespace/linux needs namespace.yaml", ""));
            return NONE;
        }
        Values values = new Values(errors);
        values.at(file.getPath(), 0, "");
        Options options = new Options(file.getName());
        try {
            Map<?, ?> all = map(YamlLite.parse(Files.readAllLines(file.toPath())), "defaults and node_confs", values);
            all.keySet().stream()
                    .filter(k -> !k.equals("defaults") && !k.equals("node_confs"))
                    .forEach(k -> values.error("unrecognized key: " + k));
            options.putAll(map(all.get("defaults"), "options", values), values);
            if (all.get("node_confs") instanceof List<?> list) {
                for (Object element : list) {
                    Map<?, ?> conf = map(element, "nodes and options", values);
                    List<String> nodes = conf.get("nodes") instanceof List<?> l
                            ? l.stream().map(String::valueOf).toList()
                            : List.of(String.valueOf(conf.get("nodes")));
                    Options target = names(nodes, values).contains(node) ? options : new Options(file.getName());
                    target.putAll(
                            map(conf.get("options"), "options", values),
                            values); // mistakes of other nodes are told as well
                }
            } else if (all.containsKey("node_confs")) {
                values.error("node_confs is a list");
            }
        } catch (IOException e) {
            values.error("cannot be read: " + ErrorSentence.reason(e));
        } catch (YamlLite.Unreadable e) {
            errors.add(new ConfigError(file.getPath(), e.line, e.getMessage(), ""));
        }
        return options.conf(file, errors);
    }

    private static Map<?, ?> map(@Nullable Object value, String name, Values values) {
        if (value instanceof Map<?, ?> m) {
            return m;
        }
        if (value != null) {
            values.error(name + " expected");
        }
        return Map.of();
    }

    private static String plain(String key) {
        return key.toLowerCase(Locale.ROOT).replace("_", "");
    }

    private static List<String> names(List<String> texts, Values values) {
        List<String> out = new ArrayList<>();
        for (String text : texts) {
            switch (HostList.parse(text)) {
                case HostList.Parsed.Ok good -> out.addAll(good.list().names());
                case HostList.Parsed.Invalid invalid -> values.error("Invalid NodeName " + text);
            }
        }
        return out;
    }

    /** Replaces the patterns in BasePath. */
    public JobContainerConf replacing(Map<String, String> patterns) {
        String base = basePath;
        for (Map.Entry<String, String> p : patterns.entrySet()) {
            base = base.replace(p.getKey(), p.getValue());
        }
        return new JobContainerConf(
                base, autoBasePath, dirs, shared, initScript, cloneScript, cloneEpilog, processes, users, userScript);
    }

    /** The node's settings, as read so far. */
    private static final class Options {
        private final String file;
        private final Map<String, String> settings = new TreeMap<>();

        Options(String file) {
            this.file = file;
        }

        void putAll(Map<?, ?> options, Values values) {
            for (Map.Entry<?, ?> e : options.entrySet()) {
                String key = String.valueOf(e.getKey());
                if (!KINDS.containsKey(plain(key)) && !LINUX_KINDS.containsKey(plain(key))
                        || plain(key).equals("entirestepinns")) {
                    values.error("unrecognized key: " + key);
                    continue;
                }
                String value = e.getValue() instanceof List<?> l
                        ? String.join(",", l.stream().map(String::valueOf).toList())
                        : String.valueOf(e.getValue());
                put(plain(key), value, values);
            }
        }

        void put(String key, String value, Values values) {
            settings.put(key, value);
            List<String> parts = List.of(value.split(","));
            boolean good = switch (KINDS.getOrDefault(key, LINUX_KINDS.getOrDefault(key, ""))) {
                case "word" -> List.of("true", "false", "yes", "no").contains(value.toLowerCase(Locale.ROOT));
                case "number" -> value.matches("[0-9]{1,6}");
                case "flags" -> FLAGS.containsAll(parts);
                default -> true;
            };
            if (!good) {
                values.error("Bad value \"" + value + "\" for " + key);
            } else if (KINDS.getOrDefault(key, LINUX_KINDS.getOrDefault(key, ""))
                            .equals("path")
                    && parts.stream().anyMatch(p -> !p.startsWith("/"))) {
                values.error("Paths in " + file + " begin with a slash: " + value);
            }
        }

        private boolean yes(String key) {
            return List.of("true", "yes")
                    .contains(settings.getOrDefault(key, "").toLowerCase(Locale.ROOT));
        }

        private Script script(String key) {
            String seconds = settings.getOrDefault(key + "wait", "");
            return new Script(
                    settings.getOrDefault(key, ""),
                    seconds.matches("[0-9]{1,6}") ? Integer.parseInt(seconds) : Script.SECONDS);
        }

        JobContainerConf conf(File source, List<ConfigError> errors) {
            String base = settings.getOrDefault("basepath", "");
            boolean off = base.equalsIgnoreCase("none");
            List<String> dirs =
                    settings.containsKey("dirs") ? List.of(settings.get("dirs").split(",")) : DIRS;
            if (base.isEmpty()) {
                errors.add(
                        new ConfigError(source.getPath(), 0, "Configuration for this node not found in " + file, ""));
            } else if (dirs.contains(base)) {
                errors.add(new ConfigError(
                        source.getPath(),
                        0,
                        "The base path cannot be one of the directories that jobs have for themselves",
                        ""));
            }
            List<String> flags =
                    List.of(settings.getOrDefault("clonensflags", "").split(","));
            return new JobContainerConf(
                    off ? "" : base,
                    yes("autobasepath"),
                    dirs,
                    yes("shared"),
                    settings.getOrDefault("initscript", ""),
                    script("clonensscript"),
                    script("clonensepilog"),
                    flags.contains("CLONE_NEWPID"),
                    flags.contains("CLONE_NEWUSER"),
                    settings.getOrDefault("usernsscript", ""));
        }
    }
}
