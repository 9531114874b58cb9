package dev.muster.config;

import dev.muster.model.HostList;
import java.io.File;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * job_container.conf: which directories a job on a node has for itself. EntireStepInNS is checked and needs no more: all that a step
 * does for its user, with task prologs and epilogs, is done by processes inside.
 *
 * @param basePath      where the jobs' directories lie; "" where jobs have none of their own
 * @param autoBasePath  slurmd makes that directory
 * @param dirs          what a job sees of its own: a directory there, or a fresh file system for /dev/shm
 * @param shared        what is mounted on the node later appears in the jobs as well
 * @param initScript    run before a job's directories are put in place; "" for none
 */
public record JobContainerConf(String basePath, boolean autoBasePath, List<String> dirs, boolean shared, String initScript) {
    private static final List<String> DIRS = List.of("/tmp", "/dev/shm");
    public static final JobContainerConf NONE = new JobContainerConf("", false, DIRS, false, "");
    private static final List<String> UNKNOWN_HERE = List.of("clonensscript", "clonensepilog", "clonensscript_wait", "clonensepilog_wait");

    /** What the file says for that node; mistakes are added to {@code errors}. */
    public static JobContainerConf read(File file, String node, List<ConfigError> errors) {
        if (!file.exists()) {
            errors.add(new ConfigError(file.getPath(), 0, "job_container/tmpfs needs job_container.conf", ""));
            return NONE;
        }
        Builder builder = new Builder(node, errors);
        new ConfLines(file, builder, errors).read(file);
        JobContainerConf conf = builder.conf();
        if (conf.basePath.isEmpty() && !builder.sawOff) {
            errors.add(new ConfigError(file.getPath(), 0, "Configuration for this node not found in job_container.conf", ""));
        }
        return conf;
    }

    /** With patterns in BasePath filled in. */
    public JobContainerConf replacing(Map<String, String> patterns) {
        String base = basePath;
        for (Map.Entry<String, String> p : patterns.entrySet()) {
            base = base.replace(p.getKey(), p.getValue());
        }
        return new JobContainerConf(base, autoBasePath, dirs, shared, initScript);
    }

    private static final class Builder implements ConfLines.Sink {
        private final String node;
        private final Values values;
        private final Map<String, String> kept = new HashMap<>();
        private boolean sawOff;

        Builder(String node, List<ConfigError> errors) {
            this.node = node;
            this.values = new Values(errors);
        }

        @Override
        public String clusterName() {
            return "";
        }

        @Override
        public void line(String text, String file, int line) {
            values.at(file, line, text);
            Map<String, String> read = new HashMap<>();
            Pairs pairs = new Pairs(text);
            while (pairs.next()) {
                values.text(pairs.rest());
                String key = pairs.key().toLowerCase(Locale.ROOT);
                switch (key) {
                    case "nodename", "basepath", "autobasepath", "dirs", "shared", "entirestepinns", "initscript" -> read.put(key, pairs.value());
                    default -> values.error(UNKNOWN_HERE.contains(key) ? pairs.key() + " is not part of this version"
                            : "Parsing error at unrecognized key: " + pairs.key());
                }
            }
            if (!pairs.atEnd()) {
                values.text(pairs.rest()).error("Parsing error");
            }
            if (!read.containsKey("nodename") || names(read.get("nodename")).contains(node)) {
                read.forEach((key, value) -> check(key, value));
                kept.putAll(read);
            }
        }

        private void check(String key, String value) {
            boolean word = key.equals("autobasepath") || key.equals("shared") || key.equals("entirestepinns");
            if (word && !List.of("true", "false", "yes", "no").contains(value.toLowerCase(Locale.ROOT))) {
                values.error("Bad value \"" + value + "\" for " + key);
            }
            List<String> paths = key.equals("dirs") ? List.of(value.split(",")) : key.equals("initscript") ? List.of(value) : List.of();
            if (paths.stream().anyMatch(p -> !p.startsWith("/"))) {
                values.error("Paths in job_container.conf begin with a slash: " + value);
            }
        }

        private List<String> names(String text) {
            return switch (HostList.parse(text)) {
                case HostList.Parsed.Ok good -> good.list().names();
                case HostList.Parsed.Invalid bad -> {
                    values.error("Invalid NodeName " + text);
                    yield List.of();
                }
            };
        }

        private boolean yes(String key) {
            return List.of("true", "yes").contains(kept.getOrDefault(key, "").toLowerCase(Locale.ROOT));
        }

        JobContainerConf conf() {
            String base = kept.getOrDefault("basepath", "");
            sawOff = base.equalsIgnoreCase("none");
            List<String> dirs = kept.containsKey("dirs") ? new ArrayList<>(List.of(kept.get("dirs").split(","))) : DIRS;
            return new JobContainerConf(sawOff ? "" : base, yes("autobasepath"), List.copyOf(dirs), yes("shared"),
                    kept.getOrDefault("initscript", ""));
        }
    }
}
