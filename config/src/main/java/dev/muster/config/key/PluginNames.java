package dev.muster.config.key;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The plugins that a key may name. A word that names no plugin is an error, because the site would run without what it
 * configured. Names that Slurm has replaced mean their successor and are reported.
 */
final class PluginNames {
    private record Kind(Key key, String prefix, List<String> names) {}

    private static final List<Kind> KINDS = List.of(
            new Kind(Key.ACCOUNTING_STORAGE_TYPE, "accounting_storage", List.of("none", "slurmdbd")),
            new Kind(Key.AUTH_TYPE, "auth", List.of("munge", "slurm")),
            new Kind(Key.JOB_ACCT_GATHER_TYPE, "jobacct_gather", List.of("none", "linux", "cgroup")),
            new Kind(Key.NODE_FEATURES_PLUGINS, "node_features", List.of("helpers")),
            new Kind(Key.PREEMPT_TYPE, "preempt", List.of("none", "partition_prio", "qos")),
            new Kind(Key.PRIORITY_TYPE, "priority", List.of("basic", "multifactor")),
            new Kind(Key.PROCTRACK_TYPE, "proctrack", List.of("cgroup", "linuxproc", "pgid")),
            new Kind(Key.SCHEDULER_TYPE, "sched", List.of("backfill", "builtin")),
            new Kind(Key.SELECT_TYPE, "select", List.of("cons_tres", "linear")),
            new Kind(Key.SWITCH_TYPE, "switch", List.of("none", "hpe_slingshot", "nvidia_imex")),
            new Kind(Key.TASK_PLUGIN, "task", List.of("none", "affinity", "cgroup")));

    private PluginNames() {}

    /** Whether {@link #checked} knows the plugins of this key. */
    static boolean checks(Key key) {
        return kind(key) != null;
    }

    /** The value with each plugin's full name. */
    static String checked(Key key, String value, Values values) {
        Kind kind = requireNonNull(kind(key), "a key of plugins");
        StringBuilder all = new StringBuilder();
        List<String> one = value.isEmpty() ? List.of() : List.of(value);
        for (String word : key.kind() == Key.Kind.LIST ? Values.list(value) : one) {
            all.append(all.isEmpty() ? "" : ",").append(full(kind, word, values));
        }
        return all.toString();
    }

    private static @Nullable Kind kind(Key key) {
        for (Kind kind : KINDS) {
            if (kind.key() == key) {
                return kind;
            }
        }
        return null;
    }

    private static String full(Kind kind, String word, Values values) {
        String full = word.indexOf('/') < 0 ? kind.prefix() + "/" + word : word;
        if (full.equals("select/cons_res")) {
            values.warning("SelectType=select/cons_res is defunct, select/cons_tres is used.");
            return "select/cons_tres";
        }
        if (full.equals("accounting_storage/mysql")) {
            values.error("AccountingStorageType=accounting_storage/mysql only permitted in SlurmDBD.");
        } else if (!full.startsWith(kind.prefix().concat("/"))
                || !kind.names().contains(full.substring(kind.prefix().length() + 1))) {
            values.error("cannot find " + kind.prefix() + " plugin for " + word);
        } else if (full.equals("switch/hpe_slingshot")) {
            values.warning("SwitchType=switch/hpe_slingshot has no effect: nothing is set up on such a network in "
                    + "this version");
        }
        return full;
    }
}
