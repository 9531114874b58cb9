package dev.muster.config.sister;

import dev.muster.config.SlurmConf;
import dev.muster.config.file.PairLines;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.config.key.Values;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * helpers.conf: features of nodes that a program tells and sets, and that a reboot brings.
 *
 * @param exclusive groups of which a node has one at most (MutuallyExclusive)
 * @param users AllowUserBoot: nodes are rebooted for jobs of these users; empty for all users
 * @param bootSeconds BootTime: time limit of a reboot
 * @param execSeconds ExecTime: time limit of a helper
 */
public record HelpersConf(
        List<Feature> features, List<List<String>> exclusive, List<String> users, int bootSeconds, int execSeconds) {
    /**
     * @param helper program, without an argument it prints what is active, with a feature it sets that
     * @param nodes empty for all
     * @param rebootless its helper changes the node as it runs
     */
    public record Feature(String name, String helper, List<String> nodes, boolean rebootless) {}

    public static final int BOOT_SECONDS = 300;
    public static final int EXEC_SECONDS = 10;
    public static final HelpersConf NONE = new HelpersConf(List.of(), List.of(), List.of(), BOOT_SECONDS, EXEC_SECONDS);
    private static final Set<String> KEYS = new TreeSet<>(List.of(
            "allowuserboot", "boottime", "exectime", "feature", "flags", "helper", "mutuallyexclusive", "nodename"));
    private static final long SECONDS_MAX = 86_400;

    /** Reads the file if slurm.conf asks for helpers; mistakes are added to {@code errors}. */
    public static HelpersConf read(SlurmConf conf, List<ConfigError> errors) {
        if (conf.text(Key.NODE_FEATURES_PLUGINS).isEmpty()) {
            return NONE;
        }
        File file = conf.sister("helpers.conf");
        if (!file.exists()) {
            errors.add(new ConfigError(file.getPath(), 0, "node_features/helpers needs helpers.conf", ""));
            return NONE;
        }
        return read(file, errors);
    }

    static HelpersConf read(File file, List<ConfigError> errors) {
        List<Feature> features = new ArrayList<>();
        List<List<String>> exclusive = new ArrayList<>();
        List<String> users = new ArrayList<>();
        int[] seconds = {BOOT_SECONDS, EXEC_SECONDS};
        PairLines.read(
                file,
                key -> KEYS.contains(key.toLowerCase(java.util.Locale.ROOT)) ? "" : PairLines.unknown(key),
                (pairs, values) -> {
                    users.addAll(Values.list(pairs.getOrDefault("allowuserboot", "")));
                    seconds[0] = (int) number(pairs, "boottime", "BootTime", seconds[0], values);
                    seconds[1] = (int) number(pairs, "exectime", "ExecTime", seconds[1], values);
                    if (pairs.containsKey("mutuallyexclusive")) {
                        exclusive.add(Values.list(pairs.get("mutuallyexclusive")));
                    }
                    feature(pairs, features, values);
                },
                errors);
        return new HelpersConf(
                List.copyOf(features), List.copyOf(exclusive), List.copyOf(users), seconds[0], seconds[1]);
    }

    private static long number(Map<String, String> pairs, String key, String name, long before, Values values) {
        return pairs.containsKey(key)
                ? Math.min(SECONDS_MAX, values.number(name, pairs.get(key), Values.U32_MAX))
                : before;
    }

    private static void feature(Map<String, String> pairs, List<Feature> features, Values values) {
        String names = pairs.getOrDefault("feature", "");
        String helper = pairs.getOrDefault("helper", "");
        boolean rebootless = false;
        for (String flag : Values.list(pairs.getOrDefault("flags", ""))) {
            rebootless |= flag.equalsIgnoreCase("rebootless");
            if (!flag.equalsIgnoreCase("rebootless")) {
                values.error("Invalid Flags: " + flag);
            }
        }
        if (names.isEmpty()) {
            if (!helper.isEmpty() || pairs.containsKey("nodename")) {
                values.error("Feature is missing");
            }
            return;
        }
        if (!helper.startsWith("/")) {
            values.error("Feature=" + names + " needs Helper, the absolute path of a program");
            return;
        }
        List<String> nodes = pairs.containsKey("nodename")
                ? values.hosts(pairs.get("nodename"), "NodeName").names()
                : List.of();
        for (String name : Values.list(names)) {
            if (!name.matches("[A-Za-z0-9_.=-]+")) {
                values.error("Invalid Feature name: " + name);
            } else {
                features.add(new Feature(name, helper, List.copyOf(nodes), rebootless));
            }
        }
    }

    /** The features of one node. */
    public List<Feature> of(String node) {
        return features.stream()
                .filter(f -> f.nodes.isEmpty() || f.nodes.contains(node))
                .toList();
    }
}
