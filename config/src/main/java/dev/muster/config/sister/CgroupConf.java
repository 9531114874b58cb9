package dev.muster.config.sister;

import dev.muster.config.key.ConfigError;
import dev.muster.config.key.ConfigRow;
import dev.muster.config.key.KeyTable;
import dev.muster.config.key.Values;
import java.io.File;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** cgroup.conf: how tasks are confined. An absent file means the defaults. */
public final class CgroupConf {
    private static final KeyTable TABLE = new KeyTable(
            """
            CgroupMountpoint text /sys/fs/cgroup
            CgroupPlugin text autodetect
            CgroupSlice text system.slice
            SystemdTimeout number 1000
            IgnoreSystemd yesno no
            IgnoreSystemdOnFailure yesno no
            EnableControllers yesno no
            EnableExtraControllers text -
            AllowedRAMSpace percent 100
            AllowedSwapSpace percent 0
            ConstrainCores yesno no
            ConstrainDevices yesno no
            ConstrainRAMSpace yesno no
            ConstrainSwapSpace yesno no
            MaxRAMPercent percent 100
            MaxSwapPercent percent 100
            MemorySwappiness number -
            MinRAMSpace number 30
            SignalChildrenProcesses yesno no\
            """,
            "cgroupautomount cgroupreleaseagentdir alloweddevicesfile taskaffinity allowedkmemspace constrainkmemspace "
                    + "maxkmempercent minkmemspace");
    private static final List<String> PLUGINS = List.of("autodetect", "cgroup/v1", "cgroup/v2", "disabled");

    private static final List<String> OF_SYSTEMD = List.of(
            "CgroupSlice",
            "SystemdTimeout",
            "IgnoreSystemd",
            "IgnoreSystemdOnFailure",
            "EnableControllers",
            "EnableExtraControllers");

    private final Map<String, String> values;
    private final Set<String> names;

    private CgroupConf(Map<String, String> values, Set<String> names) {
        this.values = values;
        this.names = names;
    }

    /** Keys of the file that have no effect. */
    public List<String> without() {
        return OF_SYSTEMD.stream()
                .filter(k -> names.contains(k.toLowerCase(Locale.ROOT)))
                .toList();
    }

    /** The settings of a cluster without the file. */
    public static CgroupConf defaults() {
        return new CgroupConf(TABLE.read(new File("/nonexistent/cgroup.conf"), new ArrayList<>()), Set.of());
    }

    /** Reads the file; mistakes are added to {@code errors}. */
    public static CgroupConf read(File file, List<ConfigError> errors) {
        Set<String> names = new HashSet<>();
        CgroupConf conf = new CgroupConf(TABLE.read(file, errors, names), names);
        if (!PLUGINS.contains(conf.plugin())) {
            errors.add(new ConfigError(file.getPath(), 0, "Invalid CgroupPlugin " + conf.plugin(), ""));
        }
        return conf;
    }

    /**
     * Adds the mistakes that stop slurmctld, which uses no key of the file: all mistakes except the name of a plugin.
     */
    public static void check(File file, List<ConfigError> errors) {
        TABLE.read(file, errors);
    }

    /** autodetect, cgroup/v1, cgroup/v2 or disabled. */
    public String plugin() {
        return Values.of(values, "cgroupplugin");
    }

    public String mountpoint() {
        return Values.of(values, "cgroupmountpoint");
    }

    public boolean constrainCores() {
        return yes("constraincores");
    }

    public boolean constrainDevices() {
        return yes("constraindevices");
    }

    public boolean constrainRamSpace() {
        return yes("constrainramspace");
    }

    public boolean constrainSwapSpace() {
        return yes("constrainswapspace");
    }

    public boolean signalChildrenProcesses() {
        return yes("signalchildrenprocesses");
    }

    public double allowedRamPercent() {
        return Double.parseDouble(Values.of(values, "allowedramspace"));
    }

    public double allowedSwapPercent() {
        return Double.parseDouble(Values.of(values, "allowedswapspace"));
    }

    public double maxRamPercent() {
        return Double.parseDouble(Values.of(values, "maxrampercent"));
    }

    public double maxSwapPercent() {
        return Double.parseDouble(Values.of(values, "maxswappercent"));
    }

    /** 0 to 100, "" where the kernel's is to stay. */
    public String memorySwappiness() {
        return Values.of(values, "memoryswappiness");
    }

    public long minRamSpaceMb() {
        return Long.parseLong(Values.of(values, "minramspace"));
    }

    private boolean yes(String key) {
        return Values.of(values, key).equals("yes");
    }

    /** The section of {@code scontrol show config}. */
    public List<String> show() {
        List<String> out = new ArrayList<>();
        out.add("Cgroup Support Configuration:");
        for (String name : ("AllowedRAMSpace AllowedSwapSpace CgroupMountpoint CgroupPlugin ConstrainCores "
                        + "ConstrainDevices ConstrainRAMSpace ConstrainSwapSpace EnableControllers "
                        + "EnableExtraControllers "
                        + "IgnoreSystemd IgnoreSystemdOnFailure MaxRAMPercent MaxSwapPercent MemorySwappiness "
                        + "MinRAMSpace "
                        + "SystemdTimeout")
                .split(" ")) {
            out.add(ConfigRow.of(name, shown(name)));
        }
        return List.copyOf(out);
    }

    private String shown(String name) {
        String value = Values.of(values, name.toLowerCase(Locale.ROOT));
        return switch (name) {
            case "AllowedRAMSpace", "AllowedSwapSpace", "MaxRAMPercent", "MaxSwapPercent" ->
                String.format(Locale.ROOT, "%.1f%%", Double.parseDouble(value));
            case "MinRAMSpace" -> value + "MB";
            case "SystemdTimeout" -> value + " ms";
            default -> value.isEmpty() ? "(null)" : value;
        };
    }
}
