package dev.muster.config;

import dev.muster.config.file.Pairs;
import dev.muster.config.key.KeyCheck;
import dev.muster.config.key.Names;
import dev.muster.config.key.Values;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.format.Durations;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** A PartitionName line while it is read; the one for DEFAULT is what later lines start from. */
final class PartitionLine implements Cloneable {
    private static final List<String> STATES = List.of("UP", "DOWN", "DRAIN", "INACTIVE");
    private static final int DEFAULT_SHARES = 4;

    private String name = "";
    String nodes = "";
    private boolean isDefault;
    private String allocNodes = "";
    private String allowAccounts = "";
    private String allowGroups = "";
    private String allowQos = "";
    private String denyAccounts = "";
    private String denyQos = "";
    private String alternate = "";
    private String cpuBind = "";
    private long defaultTimeMin = Durations.UNLIMITED;
    private long maxTimeMin = Durations.UNLIMITED;
    private long defCpuPerGpu;
    private long defMemPerGpu;
    private long defMemPerCpu;
    private long defMemPerNode;
    private long maxMemPerCpu;
    private long maxMemPerNode;
    private int disableRootJobs = -1;
    private boolean exclusiveUser;
    private boolean exclusiveTopo;
    private boolean exclusiveNode;
    /** The value of Exclusive, which counts before ExclusiveUser and ExclusiveTopo; empty when it is not given. */
    private String exclusive = "";

    private long graceTimeSec;
    private boolean hidden;
    private boolean lln;
    private long maxCpusPerNode = Values.UNLIMITED;
    private long maxCpusPerSocket = Values.UNLIMITED;
    private long maxNodes = Values.UNLIMITED;
    private long minNodes;
    /** Empty when it is not given. */
    private String overSubscribe = "";
    /** The older word for OverSubscribe, which counts before it. */
    private String shared = "";

    private OptionalInt overTimeLimitMin = OptionalInt.empty();
    private boolean powerDownOnIdle;
    private String preemptMode = "";
    /** The older word for both that follow, before which it counts; -1 when it is not given. */
    private long priority = -1;

    private long priorityJobFactor = 1;
    private long priorityTier = 1;
    private String qos = "";
    private boolean reqResv;
    private OptionalInt resumeTimeoutSec = OptionalInt.empty();
    private boolean rootOnly;
    private String selectParameters = "NONE";
    private String state = "UP";
    private String suspendTime = "";
    private OptionalInt suspendTimeoutSec = OptionalInt.empty();
    private String topology = "";
    private String tresBillingWeights = "";
    private String file = "";
    private int line;

    String tresBillingWeights() {
        return tresBillingWeights;
    }

    static PartitionLine read(PartitionLine defaults, String name, Pairs pairs, Values values) {
        PartitionLine part = defaults.copy();
        part.name = name;
        part.file = values.file();
        part.line = values.line();
        while (pairs.next()) {
            values.text(pairs.rest());
            String key = pairs.key();
            String lower = key.toLowerCase(Locale.ROOT);
            String value = pairs.value();
            pairs.warnIfRepeated(values);
            if (!part.setAccess(lower, value)
                    && !part.setFlag(lower, key, value, values)
                    && !part.setNumber(lower, key, value, values)
                    && !part.setOther(lower, key, value, values)) {
                values.error("Parsing error at unrecognized key: " + key);
            }
        }
        if (!pairs.atEnd()) {
            values.text(pairs.rest()).error("Parsing error");
        }
        return part;
    }

    private PartitionLine copy() {
        try {
            return (PartitionLine) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }

    private boolean setAccess(String lower, String value) {
        switch (lower) {
            case "nodes" -> nodes = value;
            case "allocnodes" -> allocNodes = value;
            case "allowaccounts" -> allowAccounts = value;
            case "allowgroups" -> allowGroups = value;
            case "allowqos" -> allowQos = value;
            case "denyaccounts" -> denyAccounts = value;
            case "denyqos" -> denyQos = value;
            case "alternate" -> alternate = value;
            case "qos" -> qos = value;
            case "topology" -> topology = value;
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean setFlag(String lower, String key, String value, Values values) {
        switch (lower) {
            case "default" -> isDefault = values.yesNo(key, value);
            case "disablerootjobs" -> disableRootJobs = values.yesNo(key, value) ? 1 : 0;
            case "exclusiveuser" -> exclusiveUser = values.yesNo(key, value);
            case "exclusivetopo" -> exclusiveTopo = values.yesNo(key, value);
            case "exclusive" -> exclusive = exclusive(key, value, values);
            case "hidden" -> hidden = values.yesNo(key, value);
            case "lln" -> lln = values.yesNo(key, value);
            case "powerdownonidle" -> powerDownOnIdle = values.yesNo(key, value);
            case "reqresv" -> reqResv = values.yesNo(key, value);
            case "rootonly" -> rootOnly = values.yesNo(key, value);
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean setNumber(String lower, String key, String value, Values values) {
        switch (lower) {
            case "defcpupergpu" -> defCpuPerGpu = values.number(key, value, Long.MAX_VALUE);
            case "defmempergpu" -> defMemPerGpu = values.number(key, value, Long.MAX_VALUE);
            case "defmempercpu" -> defMemPerCpu = Math.max(values.number(key, value, Long.MAX_VALUE), 0);
            case "defmempernode" -> defMemPerNode = Math.max(values.number(key, value, Long.MAX_VALUE), 0);
            case "maxmempercpu" -> maxMemPerCpu = Math.max(values.number(key, value, Long.MAX_VALUE), 0);
            case "maxmempernode" -> maxMemPerNode = Math.max(values.number(key, value, Long.MAX_VALUE), 0);
            case "maxcpuspernode" -> maxCpusPerNode = values.number(key, value, Values.U32_MAX);
            case "maxcpuspersocket" -> maxCpusPerSocket = values.number(key, value, Values.U32_MAX);
            case "maxnodes" -> maxNodes = values.number(key, value, Values.U32_MAX);
            case "minnodes" -> minNodes = Math.max(values.number(key, value, Values.U32_MAX), 0);
            case "priority" -> priority = values.number(key, value, Values.U16_MAX);
            case "priorityjobfactor" -> priorityJobFactor = values.number(key, value, Values.U16_MAX);
            case "prioritytier" -> priorityTier = values.number(key, value, Values.U16_MAX);
            case "overtimelimit" ->
                overTimeLimitMin = OptionalInt.of(
                        value.equalsIgnoreCase("UNLIMITED") || value.equalsIgnoreCase("INFINITE")
                                ? PartitionInfo.OVER_UNLIMITED
                                : (int) values.number(key, value, Values.U16_MAX));
            case "resumetimeout" -> resumeTimeoutSec = OptionalInt.of((int) values.number(key, value, Values.U16_MAX));
            case "suspendtime" -> suspendTime = KeyCheck.suspendTime(value, values);
            case "suspendtimeout" ->
                suspendTimeoutSec = OptionalInt.of((int) values.number(key, value, Values.U16_MAX));
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean setOther(String lower, String key, String value, Values values) {
        switch (lower) {
            case "tresbillingweights" -> tresBillingWeights = KeyCheck.weights(value, true, values);
            case "cpubind" -> cpuBind = KeyCheck.cpuBind(value, values);
            case "defaulttime" -> defaultTimeMin = minutes(key, value, values);
            case "maxtime" -> maxTimeMin = minutes(key, value, values);
            case "gracetime" -> graceTimeSec = graceTime(key, value, values);
            case "oversubscribe" -> overSubscribe = shares(key, value, values);
            case "shared" -> shared = shares(key, value, values);
            case "preemptmode" -> {
                preemptMode = value.toUpperCase(Locale.ROOT);
                if (!Names.PREEMPT_MODES.containsAll(Values.list(preemptMode))) {
                    bad(key, value, values);
                }
                if (preemptMode.contains("GANG")) {
                    values.warning("PreemptMode=GANG is a cluster-wide option: it has no effect on a partition");
                    preemptMode = String.join(
                            ",",
                            Values.list(preemptMode).stream()
                                    .filter(m -> !m.equals("GANG"))
                                    .toList());
                }
            }
            case "selecttypeparameters" -> {
                selectParameters = value.toUpperCase(Locale.ROOT);
                if (!Names.SELECT_PARAMETERS.containsAll(Values.list(selectParameters))) {
                    values.error("Bad SelectTypeParameter: " + value);
                }
            }
            case "state" -> {
                state = value.toUpperCase(Locale.ROOT);
                if (!STATES.contains(state)) {
                    bad(key, value, values);
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private static void bad(String key, String value, Values values) {
        values.error("Bad value \"" + value + "\" for " + key);
    }

    private static long minutes(String key, String value, Values values) {
        OptionalLong parsed = Durations.parseMinutes(value);
        if (parsed.isEmpty()) {
            bad(key, value, values);
        }
        return parsed.orElse(Durations.UNLIMITED);
    }

    private static long graceTime(String key, String value, Values values) {
        if (Values.count(value) >= 0) {
            return values.number(key, value, Values.U32_MAX);
        }
        OptionalLong parsed = Durations.parseSeconds(value);
        if (parsed.isEmpty()) {
            bad(key, value, values);
        }
        return parsed.orElse(0);
    }

    private static String exclusive(String key, String value, Values values) {
        String upper = value.toUpperCase(Locale.ROOT);
        if (!List.of("NO", "NODE", "USER", "TOPO").contains(upper)) {
            bad(key, value, values);
        }
        return upper;
    }

    /**
     * Decides between keys that exclude each other, whichever stands first and whether it stands here or in a DEFAULT
     * line. The reader calls it once a line with a partition's name has been read.
     */
    void settle(Values values) {
        settleMemory(values);
        settleExclusive(values);
        if (priority >= 0) {
            priorityJobFactor = priority;
            priorityTier = priority;
        }
        if (isAny(allowAccounts) && !denyAccounts.isEmpty()) {
            values.warning("Both AllowAccounts and DenyAccounts are defined, DenyAccounts will be ignored");
            denyAccounts = "";
        }
        if (isAny(allowQos) && !denyQos.isEmpty()) {
            values.warning("Both AllowQos and DenyQos are defined, DenyQos will be ignored");
            denyQos = "";
        }
        if (maxTimeMin >= 0 && defaultTimeMin > maxTimeMin) {
            values.warning(
                    "partition " + name + " DefaultTime exceeds MaxTime (" + defaultTimeMin + " > " + maxTimeMin + ")");
            defaultTimeMin = Durations.UNLIMITED;
        }
    }

    private static boolean isAny(String allowed) {
        return !allowed.isEmpty() && !allowed.equalsIgnoreCase("ALL");
    }

    private void settleMemory(Values values) {
        if (defMemPerNode > 0 && defMemPerCpu > 0) {
            values.warning("DefMemPerCPU ignored, since it's mutually exclusive with DefMemPerNode");
            defMemPerCpu = 0;
        }
        if (maxMemPerNode > 0 && maxMemPerCpu > 0) {
            values.warning("MaxMemPerCPU ignored, since it's mutually exclusive with MaxMemPerNode");
            maxMemPerCpu = 0;
        }
    }

    private void settleExclusive(Values values) {
        if (overSubscribe.isEmpty()) {
            overSubscribe = shared.isEmpty() ? "NO" : shared;
        }
        if (!exclusive.isEmpty()) {
            exclusiveUser = exclusive.equals("USER");
            exclusiveTopo = exclusive.equals("TOPO");
            exclusiveNode = exclusive.equals("NODE");
            boolean shares = exclusiveUser || exclusive.equals("NO") && !overSubscribe.equals("EXCLUSIVE");
            overSubscribe = shares ? overSubscribe : "NO";
        } else if (exclusiveUser && exclusiveTopo) {
            values.warning("Exclusive=USER ignored, since it's mutually exclusive with Exclusive=TOPO");
            exclusiveUser = false;
        }
        if (overSubscribe.equals("EXCLUSIVE")) {
            exclusiveUser = false;
        }
    }

    private static String shares(String key, String value, Values values) {
        String upper = value.toUpperCase(Locale.ROOT);
        if (upper.equals("NO") || upper.equals("EXCLUSIVE")) {
            return upper;
        }
        int colon = upper.indexOf(':');
        String word = colon < 0 ? upper : upper.substring(0, colon);
        long count = colon < 0 ? DEFAULT_SHARES : Values.count(upper.substring(colon + 1));
        if (!word.equals("YES") && !word.equals("FORCE") || count < 1 || count > Short.MAX_VALUE) {
            bad(key, value, values);
        }
        return word.concat(":").concat(Long.toString(count));
    }

    boolean isDefault() {
        return isDefault;
    }

    void notDefault() {
        isDefault = false;
    }

    PartitionConf finish(List<String> members, List<String> nodeSets, boolean globalDisableRootJobs) {
        return new PartitionConf(
                name,
                members,
                nodes,
                nodeSets,
                isDefault,
                all(allocNodes),
                all(lower(allowAccounts)),
                all(allowGroups),
                all(lower(allowQos)),
                Values.list(lower(denyAccounts)),
                Values.list(lower(denyQos)),
                alternate,
                cpuBind,
                defaultTimeMin,
                maxTimeMin,
                defCpuPerGpu,
                defMemPerGpu,
                defMemPerCpu,
                defMemPerNode,
                maxMemPerCpu,
                maxMemPerNode,
                disableRootJobs < 0 ? globalDisableRootJobs : disableRootJobs > 0,
                exclusiveUser,
                exclusiveTopo,
                exclusiveNode,
                (int) graceTimeSec,
                hidden,
                lln,
                maxCpusPerNode,
                maxCpusPerSocket,
                maxNodes,
                minNodes,
                overSubscribe,
                overTimeLimitMin,
                powerDownOnIdle,
                preemptMode,
                (int) priorityJobFactor,
                (int) priorityTier,
                qos,
                reqResv,
                resumeTimeoutSec,
                rootOnly,
                selectParameters,
                state,
                suspendTime,
                suspendTimeoutSec,
                topology,
                tresBillingWeights,
                file,
                line);
    }

    /** Names of accounts and QOS are lower case in the database. */
    private static String lower(String names) {
        return names.toLowerCase(Locale.ROOT);
    }

    private static List<String> all(String text) {
        return text.equalsIgnoreCase("ALL") ? List.of() : Values.list(text);
    }

    String name() {
        return name;
    }

    String file() {
        return file;
    }

    int line() {
        return line;
    }
}
