package dev.muster.controller.config;

import dev.muster.config.PartitionConf;
import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.config.sister.HelpersConf;
import dev.muster.core.options.NodeOptions;
import dev.muster.core.options.PowerSavingOptions;
import dev.muster.daemon.Identities;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/** Settings of power saving from slurm.conf, as the core reads them. */
public final class PowerOptions {
    private PowerOptions() {}

    static void put(SlurmConf conf, Map<String, String> options) {
        if (disabled(conf).isEmpty() && !conf.text(Key.SUSPEND_PROGRAM).isEmpty()) {
            options.put(PowerSavingOptions.STOPS, "true");
            options.put(PowerSavingOptions.STARTS, "true");
        }
        if (rebootsHere(conf)) {
            options.put(PowerSavingOptions.REBOOTS_HERE, "true");
        }
        conf.powerAction(Key.SUSPEND_PROGRAM)
                .filter(SlurmConf.PowerAction::isAtNode)
                .ifPresent(a -> options.put(PowerSavingOptions.STOP_ACTION, a.name()));
        // reboots have their time as well
        options.put(PowerSavingOptions.START_S, Long.toString(conf.number(Key.RESUME_TIMEOUT)));
        conf.powerActions().forEach(a -> options.put(PowerSavingOptions.ACTION + a.name(), a.location()));
        if (!options.containsKey(PowerSavingOptions.STOPS)
                && !options.containsKey(PowerSavingOptions.STARTS)
                && conf.powerActions().isEmpty()) {
            return;
        }
        if (conf.has(Key.SLURMCTLD_PARAMETERS, "idle_on_node_suspend")) {
            options.put(PowerSavingOptions.FRESH, "true");
        }
        Optional.ofNullable(conf.parameters(Key.SLURMCTLD_PARAMETERS).get("max_powered_nodes"))
                .ifPresent(n -> options.put(PowerSavingOptions.MOST, n));
        Optional.ofNullable(conf.parameters(Key.SLURMCTLD_PARAMETERS).get("power_save_min_interval"))
                .ifPresent(s -> options.put(PowerSavingOptions.REST_S, s));
        options.put(PowerSavingOptions.STOP_S, Long.toString(conf.number(Key.SUSPEND_TIMEOUT)));
        options.put(PowerSavingOptions.STOP_RATE, Long.toString(conf.number(Key.SUSPEND_RATE)));
        options.put(PowerSavingOptions.START_RATE, Long.toString(conf.number(Key.RESUME_RATE)));
        String idle = idle(conf.text(Key.SUSPEND_TIME));
        options.put(PowerSavingOptions.IDLE_S, idle.isEmpty() ? "-1" : idle);
        list(conf, Key.SUSPEND_EXC_NODES, PowerSavingOptions.KEPT_NODES, options);
        list(conf, Key.SUSPEND_EXC_PARTS, PowerSavingOptions.KEPT_PARTITIONS, options);
        list(conf, Key.SUSPEND_EXC_STATES, PowerSavingOptions.KEPT_STATES, options);
        for (PartitionConf p : conf.partitions()) {
            String own = idle(p.suspendTime()) + "," + text(p.suspendTimeoutSec()) + "," + text(p.resumeTimeoutSec())
                    + "," + (p.powerDownOnIdle() ? "yes" : "no");
            if (!own.equals(",,,no")) {
                options.put(PowerSavingOptions.PARTITION + p.name(), own);
            }
        }
    }

    /** Returns the sentences for the log about programs that cannot be run. */
    public static List<String> errors(SlurmConf conf) {
        List<String> all = new ArrayList<>(disabled(conf));
        all.addAll(wrong(conf, Key.RESUME_FAIL_PROGRAM));
        return all;
    }

    /**
     * Returns the sentences for the log if power saving is off because SuspendProgram or ResumeProgram is missing or
     * cannot be run. Then nodes are not powered down or up by hand either: a node that was powered down could not come
     * back.
     */
    private static List<String> disabled(SlurmConf conf) {
        List<Key> both = List.of(Key.SUSPEND_PROGRAM, Key.RESUME_PROGRAM);
        List<Key> given = both.stream().filter(k -> !conf.text(k).isEmpty()).toList();
        for (Key key : given) {
            List<String> wrong = new ArrayList<>(wrong(conf, key));
            if (!wrong.isEmpty()) {
                wrong.add("power_save module disabled, invalid " + key.slurmName() + " " + conf.text(key));
                return wrong;
            }
        }
        return given.size() != 1
                ? List.of()
                : List.of("power_save module disabled, NULL "
                        + both.get(1 - both.indexOf(given.getFirst())).slurmName());
    }

    private static List<String> wrong(SlurmConf conf, Key key) {
        String program = conf.text(key);
        if (program.isEmpty() || conf.powerAction(key).isPresent()) {
            return List.of();
        }
        Path path = Path.of(program);
        String why;
        if (!path.isAbsolute()) {
            why = "not absolute pathname";
        } else if (!Files.isRegularFile(path) || !Files.isExecutable(path)) {
            why = "not executable";
        } else if (isOthers(path)) {
            why = "has group or world write permission";
        } else {
            why = "";
        }

        return why.isEmpty() ? List.of() : List.of("power_save program " + program + " " + why);
    }

    /** Tests whether users other than root and SlurmUser may write a program, which is run as SlurmUser. */
    private static boolean isOthers(Path program) {
        try {
            Set<PosixFilePermission> may = Files.getPosixFilePermissions(program);
            return may.contains(PosixFilePermission.GROUP_WRITE) || may.contains(PosixFilePermission.OTHERS_WRITE);
        } catch (IOException e) {
            return true;
        }
    }

    /**
     * Tests whether slurmctld runs RebootProgram: a PowerAction for it says itself where it runs, else
     * reboot_from_controller decides.
     */
    public static boolean rebootsHere(SlurmConf conf) {
        return conf.powerAction(Key.REBOOT_PROGRAM)
                .map(a -> !a.isAtNode())
                .orElse(conf.has(Key.SLURMCTLD_PARAMETERS, "reboot_from_controller"));
    }

    /** Settings of helpers.conf about reboots for features. */
    static void features(HelpersConf helpers, Map<String, String> options) {
        if (helpers.features().isEmpty()) {
            return;
        }
        options.put(NodeOptions.BOOT_S, Integer.toString(helpers.bootSeconds()));
        if (!helpers.exclusive().isEmpty()) {
            options.put(
                    NodeOptions.EXCLUSIVE,
                    String.join(
                            ";",
                            helpers.exclusive().stream()
                                    .map(g -> String.join(",", g))
                                    .toList()));
        }
        if (!helpers.users().isEmpty()) {
            Identities identities = new Identities();
            options.put(
                    NodeOptions.USERS,
                    String.join(
                            ",",
                            helpers.users().stream()
                                    .flatMap(u -> identities.byName(u).stream())
                                    .map(i -> Integer.toString(i.uid()))
                                    .toList()));
        }
    }

    private static void list(SlurmConf conf, Key key, String option, Map<String, String> options) {
        if (!conf.list(key).isEmpty()) {
            options.put(option, String.join(",", conf.list(key)));
        }
    }

    /** Seconds; "" for nothing said. The reader has refused what is neither a number nor INFINITE. */
    private static String idle(String text) {
        if (text.isEmpty()) {
            return "";
        }
        if (text.matches("[0-9]{1,9}")) {
            return text;
        }
        return "-1";
    }

    static String text(OptionalInt value) {
        return value.isPresent() ? Integer.toString(value.getAsInt()) : "";
    }
}
