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

/**
 * mpi.conf: the configuration of the PMIx servers of steps. An absent file means the defaults.
 *
 * @param clientDirectory PMIxCliTmpDirBase: where each step's tasks have a directory of their own, "" to leave that to
 *     them
 * @param debug PMIxDebug
 * @param environment PMIxEnv: {@code NAME=value} of the servers
 * @param timeoutSeconds PMIxTimeout: for what is asked of other nodes
 * @param without keys of the file that have no effect
 * @param shown the rows of {@code scontrol show config}
 */
public record MpiConf(
        String clientDirectory,
        boolean debug,
        List<String> environment,
        int timeoutSeconds,
        List<String> without,
        List<String> shown) {
    private static final KeyTable TABLE = new KeyTable("""
        PMIxCliTmpDirBase text -
        PMIxCollFence text -
        PMIxDebug number 0
        PMIxDirectConn yesno yes
        PMIxDirectConnEarly yesno no
        PMIxDirectConnUCX yesno no
        PMIxDirectSameArch yesno no
        PMIxEnv text -
        PMIxFenceBarrier yesno no
        PMIxNetDevicesUCX text -
        PMIxShareServerTopology yesno no
        PMIxTimeout number 300
        PMIxTlsUCX text -\
        """, "");
    /** Names in the order in which they are shown. */
    private static final List<String> NAMES = List.of(
            "PMIxCliTmpDirBase",
            "PMIxCollFence",
            "PMIxDebug",
            "PMIxDirectConn",
            "PMIxDirectConnEarly",
            "PMIxDirectConnUCX",
            "PMIxDirectSameArch",
            "PMIxEnv",
            "PMIxFenceBarrier",
            "PMIxNetDevicesUCX",
            "PMIxShareServerTopology",
            "PMIxTimeout",
            "PMIxTlsUCX");
    /** Servers reach each other over the nodes' slurmds, and a fence is a tree and a barrier. */
    private static final List<String> INERT = List.of(
            "PMIxCollFence",
            "PMIxDirectConn",
            "PMIxDirectConnEarly",
            "PMIxDirectConnUCX",
            "PMIxDirectSameArch",
            "PMIxNetDevicesUCX",
            "PMIxShareServerTopology",
            "PMIxTlsUCX");

    private static final int TIMEOUT_MOST_S = 30 * 24 * 3600;

    public static final MpiConf DEFAULT = read(new File("/nonexistent/mpi.conf"), new ArrayList<>());

    /** Reads the file; mistakes are added to {@code errors}. */
    public static MpiConf read(File file, List<ConfigError> errors) {
        Set<String> names = new HashSet<>();
        List<ConfigError> found = new ArrayList<>();
        Map<String, String> read = TABLE.read(file, found, names);
        List<String> complaints = new ArrayList<>();
        String directory = Values.of(read, "pmixclitmpdirbase");
        if (!directory.isEmpty() && !directory.startsWith("/")) {
            complaints.add("PMIxCliTmpDirBase must be an absolute path: " + directory);
        }
        String fence = Values.of(read, "pmixcollfence");
        if (!List.of("", "mixed", "tree", "ring").contains(fence)) {
            complaints.add("Invalid value of PMIxCollFence: " + fence);
        }
        List<String> environment = Values.of(read, "pmixenv").isEmpty()
                ? List.of()
                : List.of(Values.of(read, "pmixenv").split(";"));
        environment.stream()
                .filter(e -> e.indexOf('=') < 1 || e.indexOf('\n') >= 0)
                .forEach(e -> complaints.add("Invalid value of PMIxEnv: " + e));
        complaints.forEach(c -> found.add(new ConfigError(file.getPath(), 0, c, "")));
        errors.addAll(found);
        if (!found.isEmpty()) {
            return DEFAULT;
        }
        return new MpiConf(
                directory,
                Long.parseLong(Values.of(read, "pmixdebug")) > 0,
                environment,
                (int) Math.min(TIMEOUT_MOST_S, Long.parseLong(Values.of(read, "pmixtimeout"))),
                INERT.stream()
                        .filter(k -> names.contains(k.toLowerCase(Locale.ROOT)) && !harmless(k, read))
                        .toList(),
                NAMES.stream()
                        .map(n -> row(n, Values.of(read, n.toLowerCase(Locale.ROOT))))
                        .toList());
    }

    /** Whether a key without effect asks for what Muster does anyway. */
    private static boolean harmless(String key, Map<String, String> read) {
        String value = Values.of(read, key.toLowerCase(Locale.ROOT));
        return value.isEmpty() || value.equals(key.equals("PMIxCollFence") ? "tree" : "no");
    }

    private static String row(String name, String value) {
        return ConfigRow.of(name, value.isEmpty() ? "(null)" : value);
    }

    /** The section of {@code scontrol show config}. */
    public List<String> show() {
        List<String> out = new ArrayList<>(List.of("", "MPI Plugins Configuration:"));
        out.addAll(shown);
        return List.copyOf(out);
    }
}
