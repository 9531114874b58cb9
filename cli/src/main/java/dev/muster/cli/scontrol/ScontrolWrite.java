package dev.muster.cli.scontrol;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.json.Json;
import dev.muster.model.api.ClusterMessages.PartitionInfo;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.format.Times;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs {@code scontrol write config}: writes the configuration in force as a slurm.conf. */
final class ScontrolWrite {
    private static final List<String> NO_KEYS =
            List.of("BOOT_TIME", "HASH_VAL", "MULTIPLE_SLURMD", "NEXT_JOB_ID", "SLURM_CONF", "SLURM_VERSION", "SLUID");
    private static final int FILE_MODE = 0600;

    private ScontrolWrite() {}

    /**
     * @param path "" for the configuration file's own; the time is appended either way, so that nothing is overwritten
     */
    static int config(CommandContext context, String path) throws SlurmException {
        Json.Obj reply = context.host().controller().call("QueryConfig", new Json.Obj());
        Map<String, String> values = new LinkedHashMap<>();
        String confFile = "slurm.conf";
        for (String line : reply.texts("lines")) {
            int equalSign = line.indexOf('=');
            if (line.isBlank()) {
                break;
            }
            if (equalSign < 0) {
                continue;
            }
            String key = line.substring(0, equalSign).strip();
            String value = line.substring(equalSign + 1).strip();
            if (key.equals("SLURM_CONF")) {
                confFile = value;
            } else if (!NO_KEYS.contains(key)) {
                int index = key.indexOf('[');
                values.merge(index < 0 ? key : key.substring(0, index), value, (a, b) -> a + "\n" + b);
            }
        }
        StringBuilder out = new StringBuilder("########################################################\n"
                + "# Configuration file for Slurm - "
                + Times.iso(reply.number("now"), context.host().zone()) + "\n"
                + "########################################################\n#\n");
        values.forEach((key, value) -> {
            for (String one : value.split("\n", -1)) {
                out.append(isNothing(one) ? "#" + key + "=" : key + "=" + plain(key, one))
                        .append('\n');
            }
        });
        nodes(context, out);
        partitions(context, out);
        String typed = path.isEmpty() ? context.env("SLURM_CONF_OUT") : path;
        String to = (typed.isEmpty()
                        ? confFile
                        : Texts.absolute(typed, context.host().workDir())) + "."
                + Times.iso(context.host().nowMs() / 1000, context.host().zone());
        try {
            context.host().writeFile(to, RawText.encode(out.toString()), FILE_MODE);
        } catch (IOException e) {
            context.error("Could not open file " + to + " for writing. " + ErrorSentence.reason(e) + ".");
            return 1;
        }
        context.out().println("Slurm config saved to " + to);
        return 0;
    }

    private static boolean isNothing(String value) {
        return value.isEmpty()
                || value.equals("(null)")
                || value.equals("N/A")
                || value.equals("NONE")
                || value.equals("n/a");
    }

    /** {@code 30 sec} and {@code slurm(64030)} as the file has them. */
    private static String plain(String key, String value) {
        if (value.matches("[0-9-]+ (sec|min|hours|percent|usec|msec|bytes)")) {
            return value.substring(0, value.indexOf(' '));
        }
        return key.endsWith("User") ? value.replaceFirst("\\([0-9]+\\)$", "") : value;
    }

    private static void nodes(CommandContext context, StringBuilder out) throws SlurmException {
        Json.Obj query = new Json.Obj();
        query.put("all", Boolean.TRUE);
        out.append("#\n# NODES\n#\n");
        for (Json.Obj node :
                context.host().controller().call("QueryNodes", query).objects("nodes")) {
            out.append("NodeName=").append(node.text("name"));
            pair(out, "NodeHostname", node.text("hostname").equals(node.text("name")) ? "" : node.text("hostname"));
            pair(out, "NodeAddr", node.text("address").equals(node.text("hostname")) ? "" : node.text("address"));
            pair(out, "Port", node.text("port").isEmpty() ? Long.toString(node.number("port")) : node.text("port"));
            pair(out, "CPUs", node.number("cpus"));
            pair(out, "Boards", node.number("boards"));
            pair(out, "SocketsPerBoard", node.number("sockets") / Math.max(1, node.number("boards")));
            pair(out, "CoresPerSocket", node.number("cores"));
            pair(out, "ThreadsPerCore", node.number("threads"));
            pair(out, "RealMemory", node.number("memoryMb"));
            pair(out, "TmpDisk", node.number("tmpDiskMb"));
            pair(out, "Weight", node.number("weight"));
            pair(out, "Feature", node.text("features"));
            pair(out, "Gres", node.text("gres"));
            out.append('\n');
        }
    }

    private static void partitions(CommandContext context, StringBuilder out) throws SlurmException {
        Json.Obj query = new Json.Obj();
        query.put("all", Boolean.TRUE);
        out.append("#\n# PARTITIONS\n#\n");
        for (Json.Obj partition :
                context.host().controller().call("QueryPartitions", query).objects("partitions")) {
            out.append("PartitionName=").append(partition.text("name"));
            pair(out, "Nodes", partition.text("nodes"));
            pair(out, "Default", partition.flag("isDefault") ? "YES" : "");
            pair(out, "Hidden", partition.flag("hidden") ? "YES" : "");
            pair(out, "State", partition.text("state"));
            pair(
                    out,
                    "MaxTime",
                    partition.integer("maxTimeMin") < 0
                            ? "UNLIMITED"
                            : Integer.toString(partition.integer("maxTimeMin")));
            int standard = partition.integer("defaultTimeMin");
            if (standard == PartitionInfo.NO_TIME) {
                pair(out, "DefaultTime", "0");
            } else {
                pair(out, "DefaultTime", standard > 0 ? Integer.toString(standard) : "");
            }
            pair(
                    out,
                    "MaxNodes",
                    partition.integer("maxNodes") < 0 ? "" : Integer.toString(partition.integer("maxNodes")));
            pair(out, "PriorityTier", partition.number("priorityTier"));
            pair(out, "OverSubscribe", partition.text("overSubscribe"));
            out.append('\n');
        }
    }

    private static void pair(StringBuilder out, String key, String value) {
        if (!value.isEmpty() && !value.equals("0")) {
            out.append(' ').append(key).append('=').append(value);
        }
    }

    private static void pair(StringBuilder out, String key, long value) {
        pair(out, key, Long.toString(value));
    }
}
