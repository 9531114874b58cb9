package dev.muster.cli.list;

import static java.util.Objects.requireNonNull;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Texts;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.format.NodeRows;
import dev.muster.cli.format.RowFormat;
import dev.muster.cli.format.ShowText;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.format.Durations;
import org.jspecify.annotations.Nullable;

/** Columns of sinfo: letter, long name, heading, and whether nodes with different values have different rows. */
public enum SinfoField {
    AVAILABLE('a', "available", "AVAIL", Group.PARTITION),
    NODES_AI('A', "nodeai", "NODES(A/I)", Group.SUM),
    ALLOC_MEM(0, "allocmem", "ALLOCMEM", Group.KEY),
    ALLOC_NODES('S', "allocnodes", "ALLOCNODES", Group.PARTITION),
    ACTIVE_FEATURES('b', "features_act", "ACTIVE_FEATURES", Group.KEY),
    MAX_CPUS('B', "maxcpuspernode", "MAX_CPUS_PER_NODE", Group.PARTITION),
    CPUS('c', "cpus", "CPUS", Group.SIZE),
    CPUS_STATE('C', "cpusstate", "CPUS(A/I/O/T)", Group.SUM),
    DISK('d', "disk", "TMP_DISK", Group.SIZE),
    NODES('D', "nodes", "NODES", Group.SUM),
    FREE_MEM('e', "freemem", "FREE_MEM", Group.SUM),
    REASON('E', "reason", "REASON", Group.KEY),
    FEATURES('f', "features", "AVAIL_FEATURES", Group.KEY),
    NODES_AIOT('F', "nodeaiot", "NODES(A/I/O/T)", Group.SUM),
    GROUPS('g', "groups", "GROUPS", Group.PARTITION),
    GRES('G', "gres", "GRES", Group.KEY),
    GRES_USED(0, "gresused", "GRES_USED", Group.KEY),
    OVERSUBSCRIBE('h', "oversubscribe", "OVERSUBSCRIBE", Group.PARTITION),
    TIMESTAMP('H', "timestamp", "TIMESTAMP", Group.KEY),
    RESERVATION('i', "reservation", "RESERVATION", Group.KEY),
    PRIO_FACTOR('I', "priorityjobfactor", "PRIO_JOB_FACTOR", Group.PARTITION),
    TIME_LIMIT('l', "time", "TIMELIMIT", Group.PARTITION),
    DEFAULT_TIME('L', "defaulttime", "DEFAULTTIME", Group.PARTITION),
    MEMORY('m', "memory", "MEMORY", Group.SIZE),
    PREEMPT_MODE('M', "preemptmode", "PREEMPT_MODE", Group.PARTITION),
    NODE_HOST('n', "nodehost", "HOSTNAMES", Group.KEY),
    NODE_LIST('N', "nodelist", "NODELIST", Group.SUM),
    NODE_ADDR('o', "nodeaddr", "NODE_ADDR", Group.KEY),
    CPU_LOAD('O', "cpusload", "CPU_LOAD", Group.SUM),
    PORT(0, "port", "PORT", Group.SUM),
    PRIO_TIER('p', "prioritytier", "PRIO_TIER", Group.PARTITION),
    PARTITION('P', "partition", "PARTITION", Group.PARTITION),
    ROOT('r', "root", "ROOT", Group.PARTITION),
    PARTITION_NAME('R', "partitionname", "PARTITION", Group.PARTITION),
    SIZE('s', "size", "JOB_SIZE", Group.PARTITION),
    STATE_COMPACT('t', "statecompact", "STATE", Group.KEY),
    STATE_LONG('T', "statelong", "STATE", Group.KEY),
    STATE_COMPLETE(0, "statecomplete", "STATECOMPLETE", Group.KEY),
    USER('u', "user", "USER", Group.KEY),
    USER_LONG('U', "userlong", "USER", Group.KEY),
    VERSION('v', "version", "VERSION", Group.KEY),
    CLUSTER('V', "cluster", "CLUSTER", Group.SUM),
    WEIGHT('w', "weight", "WEIGHT", Group.SIZE),
    SOCKETS('X', "sockets", "SOCKETS", Group.SIZE),
    CORES('Y', "cores", "CORES", Group.SIZE),
    SCT('z', "socketcorethread", "S:C:T", Group.SIZE),
    THREADS('Z', "threads", "THREADS", Group.SIZE),
    COMMENT(0, "comment", "COMMENT", Group.KEY),
    EXTRA(0, "extra", "EXTRA", Group.KEY);

    /** The part of a column in grouping nodes into rows. */
    enum Group {
        /** A value of the partition that separates rows. */
        PARTITION,
        /** A value of the node that separates rows. */
        KEY,
        /** A size: rows differ only with {@code --exact}, else the least is shown with a plus. */
        SIZE,
        /** Made from all nodes of a row. */
        SUM
    }

    private static final SinfoField[] ALL = values();

    final char letter;
    final String longName;
    final String heading;
    final Group group;

    SinfoField(int letter, String longName, String heading, Group group) {
        this.letter = (char) letter;
        this.longName = longName;
        this.heading = heading;
        this.group = group;
    }

    public static final RowFormat.Fields TABLE = new RowFormat.Fields() {
        @Override
        public boolean isWhole(int field, String value) {
            return switch (ALL[field]) {
                case NODE_LIST, NODE_HOST, NODE_ADDR -> value.equals(ALL[field].heading);
                default -> false;
            };
        }

        @Override
        public int byLetter(char letter) {
            for (SinfoField f : ALL) {
                if (f.letter == letter) {
                    return f.ordinal();
                }
            }
            return -1;
        }

        @Override
        public int byName(String name) {
            String wanted;
            if (name.equals("shared")) {
                wanted = "oversubscribe";
            } else if (name.equals("cpuload")) {
                wanted = "cpusload";
            } else {
                wanted = name;
            }

            for (SinfoField f : ALL) {
                if (f.longName.equals(wanted)) {
                    return f.ordinal();
                }
            }
            return -1;
        }
    };

    static SinfoField at(int index) {
        return ALL[index];
    }

    /** @param context null where keys are made: that of a time is a number */
    record View(@Nullable CommandContext context, long now, String cluster) {
        private String reasonTime(Json.Obj node) {
            CommandContext caller = requireNonNull(context, "times are shown with the command's context");
            return JobRows.time(
                    node, "reasonTime", "Unknown", caller.host().zone(), caller.env("SLURM_TIME_FORMAT"), now);
        }
    }

    /** The components of a node that the column needs; those that tell its state are always asked for. */
    String components() {
        return switch (this) {
            case AVAILABLE,
                    ALLOC_NODES,
                    MAX_CPUS,
                    GROUPS,
                    OVERSUBSCRIBE,
                    PRIO_FACTOR,
                    TIME_LIMIT,
                    DEFAULT_TIME,
                    PREEMPT_MODE,
                    PRIO_TIER,
                    PARTITION,
                    ROOT,
                    PARTITION_NAME,
                    SIZE,
                    NODES,
                    NODE_LIST,
                    NODES_AI,
                    NODES_AIOT,
                    CLUSTER,
                    STATE_COMPACT,
                    STATE_LONG,
                    STATE_COMPLETE -> "";
            case ALLOC_MEM -> "memoryAllocatedMb";
            case ACTIVE_FEATURES -> "activeFeatures";
            case CPUS -> "cpus";
            case CPUS_STATE -> "cpus,cpusEffective,cpusAllocated";
            case DISK -> "tmpDiskMb";
            case FREE_MEM -> "memoryFreeMb";
            case REASON -> "reason";
            case FEATURES -> "features";
            case GRES -> "gres";
            case GRES_USED -> "gres,gresUsed";
            case TIMESTAMP -> "reasonTime";
            case MEMORY -> "memoryMb";
            case NODE_HOST -> "hostname";
            case NODE_ADDR -> "address";
            case CPU_LOAD -> "cpuLoad";
            case PORT -> "port";
            case USER, USER_LONG -> "reason,reasonUser,reasonUserId";
            case VERSION -> "version";
            case WEIGHT -> "weight";
            case SOCKETS -> "sockets";
            case CORES -> "coresPerSocket";
            case SCT -> "sockets,coresPerSocket,threadsPerCore";
            case THREADS -> "threadsPerCore";
            case COMMENT -> "comment";
            case EXTRA -> "extra";
            case RESERVATION -> "reservation";
        };
    }

    String key(SinfoRow row) {
        return switch (this) {
            case TIMESTAMP -> Long.toString(row.first().number("reasonTime"));
            case USER, USER_LONG -> row.first().text("reasonUser");
            case CPUS -> row.atLeast("cpus");
            case STATE_COMPACT, STATE_LONG, STATE_COMPLETE ->
                row.nodes.isEmpty() ? "" : NodeRows.stateFull(row.first());
            default -> value(row, new View(null, 0, ""));
        };
    }

    String value(SinfoRow row, View view) {
        Json.Obj partition = row.partition;
        Json.Obj node = row.first();
        int[] counts = row.counts();
        return switch (this) {
            case AVAILABLE -> avail(partition);
            case NODES_AI -> counts[0] + "/" + counts[1];
            case ALLOC_MEM -> Long.toString(node.number("memoryAllocatedMb"));
            case ALLOC_NODES -> all(partition, "allocNodes");
            case ACTIVE_FEATURES -> JobRows.orNull(node.text("activeFeatures"));
            case MAX_CPUS -> ShowText.cpusMax(partition.number("maxCpusPerNode"));
            case CPUS -> row.atLeast("cpus");
            case CPUS_STATE -> row.cpus();
            case DISK -> row.atLeast("tmpDiskMb");
            case NODES -> Integer.toString(row.nodes.size());
            case FREE_MEM -> row.range("memoryFreeMb", false);
            case REASON -> node.text("reason").isEmpty() ? "none" : node.text("reason");
            case FEATURES -> JobRows.orNull(node.text("features"));
            case NODES_AIOT -> counts[0] + "/" + counts[1] + "/" + counts[2] + "/" + row.nodes.size();
            case GROUPS -> all(partition, "allowGroups");
            case GRES -> JobRows.orNull(node.text("gres"));
            case GRES_USED -> node.text("gresUsed").isEmpty() ? gresNone(node) : node.text("gresUsed");
            case OVERSUBSCRIBE -> oversubscribe(partition);
            case TIMESTAMP -> view.reasonTime(node);
            case RESERVATION -> node.text("reservation");
            case PRIO_FACTOR -> Long.toString(partition.number("priorityJobFactor"));
            case TIME_LIMIT -> limit(partition.integer("maxTimeMin"), Durations.briefMinutes(0));
            case DEFAULT_TIME ->
                partition.integer("defaultTimeMin") == PartitionInfo.NO_TIME
                        ? Durations.briefMinutes(0)
                        : limit(partition.integer("defaultTimeMin"), "n/a");
            case MEMORY -> row.atLeast("memoryMb");
            case PREEMPT_MODE -> partition.text("preemptMode").isEmpty() ? "OFF" : partition.text("preemptMode");
            case NODE_HOST -> row.each("hostname");
            case NODE_LIST -> row.list();
            case NODE_ADDR -> row.each("address");
            case CPU_LOAD -> row.range("cpuLoad", true);
            case PORT -> Long.toString(node.number("port"));
            case PRIO_TIER -> Long.toString(partition.number("priorityTier"));
            case PARTITION -> partition.text("name") + (partition.flag("isDefault") ? "*" : "");
            case ROOT -> partition.flag("rootOnly") ? "yes" : "no";
            case PARTITION_NAME -> partition.text("name");
            case SIZE -> size(partition);
            case STATE_COMPACT -> row.nodes.isEmpty() ? "n/a" : NodeRows.stateCompact(node);
            case STATE_LONG -> row.nodes.isEmpty() ? "n/a" : NodeRows.stateLong(node);
            case STATE_COMPLETE -> row.nodes.isEmpty() ? "n/a" : Texts.lower(NodeRows.stateFull(node));
            case USER -> reasonUser(node, false);
            case USER_LONG -> reasonUser(node, true);
            case VERSION -> JobRows.orNA(node.text("version"));
            case CLUSTER -> JobRows.orNA(view.cluster);
            case WEIGHT -> row.atLeast("weight");
            case SOCKETS -> row.atLeast("sockets");
            case CORES -> row.atLeast("coresPerSocket");
            case SCT ->
                row.atLeast("sockets") + ":" + row.atLeast("coresPerSocket") + ":" + row.atLeast("threadsPerCore");
            case THREADS -> row.atLeast("threadsPerCore");
            case COMMENT -> JobRows.orNull(node.text("comment"));
            case EXTRA -> JobRows.orNull(node.text("extra"));
        };
    }

    private static String gresNone(Json.Obj node) {
        return node.text("gres").isEmpty() ? "(null)" : "";
    }

    private static String reasonUser(Json.Obj node, boolean withId) {
        String user = node.text("reasonUser");
        if (user.isEmpty() || node.text("reason").isEmpty()) {
            return "Unknown";
        }
        return withId ? user + "(" + node.integer("reasonUserId") + ")" : user;
    }

    private static String avail(Json.Obj partition) {
        return switch (partition.text("state")) {
            case "UP" -> "up";
            case "DOWN" -> "down";
            case "DRAIN" -> "drain";
            case "INACTIVE" -> "inactive";
            default -> "unk";
        };
    }

    private static String all(Json.Obj partition, String field) {
        String value = partition.text(field);
        return value.isEmpty() || value.equals("ALL") ? "all" : value;
    }

    private static String limit(int minutes, String none) {
        if (minutes == 0) {
            return none;
        }
        if (minutes == Durations.INFINITE) {
            return "infinite";
        }
        return Durations.briefMinutes(minutes);
    }

    private static String size(Json.Obj partition) {
        if (partition.flag("rootOnly")) {
            return "no";
        }
        long min = Math.max(1, partition.number("minNodes"));
        if (partition.number("maxNodes") == 0) {
            return "0";
        }
        String max = ShowText.orUnlimited(partition.number("maxNodes"));
        if (max.equals("UNLIMITED")) {
            return min + "-infinite";
        }
        if (max.equals(Long.toString(min))) {
            return max;
        }
        return min + "-" + max;
    }

    private static String oversubscribe(Json.Obj partition) {
        String value = partition.text("overSubscribe");
        if (value.isEmpty()) {
            return "NO";
        }
        if (value.equals("EXCLUSIVE")) {
            return "EXCLUSIV";
        }
        return value;
    }
}
