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
    static int config(CommandContext c, String path) throws SlurmException {
        Json.Obj reply = c.host().controller().call("QueryConfig", new Json.Obj());
        Map<String, String> values = new LinkedHashMap<>();
        String confFile = "slurm.conf";
        for (String line : reply.texts("lines")) {
            int eq = line.indexOf('=');
            if (line.isBlank()) {
                break;
            }
            if (eq < 0) {
                continue;
            }
            String key = line.substring(0, eq).strip();
            String value = line.substring(eq + 1).strip();
            if (key.equals("SLURM_CONF")) {
                confFile = value;
            } else if (!NO_KEYS.contains(key)) {
                int index = key.indexOf('[');
                values.merge(index < 0 ? key : key.substring(0, index), value, (a, b) -> a + "\n" + b);
            }
        }
        StringBuilder out = new StringBuilder("########################################################\n"
                + "# Configuration file for Slurm - "
                + Times.iso(reply.number("now"), c.host().zone()) + "\n"
                + "########################################################\n#\n");
        values.forEach((key, value) -> {
            for (String one : value.split("\n", -1)) {
                out.append(isNothing(one) ? "#" + key + "=" : key + "=" + plain(key, one))
                        .append('\n');
            }
        });
        nodes(c, out);
        partitions(c, out);
        String typed = path.isEmpty() ? c.env("SLURM_CONF_OUT") : path;
        String to = (typed.isEmpty() ? confFile : Texts.absolute(typed, c.host().workDir())) + "."
                + Times.iso(c.host().nowMs() / 1000, c.host().zone());
        try {
            c.host().writeFile(to, RawText.encode(out.toString()), FILE_MODE);
        } catch (IOException e) {
            c.error("Could not open file " + to + " for writing. " + ErrorSentence.of(e) + ".");
            return 1;
        }
        c.out().println("Slurm config saved to " + to);
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

    private static void nodes(CommandContext c, StringBuilder out) throws SlurmException {
        Json.Obj q = new Json.Obj();
        q.put("all", Boolean.TRUE);
        out.append("#\n# NODES\n#\n");
        for (Json.Obj n : c.host().controller().call("QueryNodes", q).objects("nodes")) {
            out.append("NodeName=").append(n.text("name"));
            pair(out, "NodeHostname", n.text("hostname").equals(n.text("name")) ? "" : n.text("hostname"));
            pair(out, "NodeAddr", n.text("address").equals(n.text("hostname")) ? "" : n.text("address"));
            pair(out, "Port", n.text("port").isEmpty() ? Long.toString(n.number("port")) : n.text("port"));
            pair(out, "CPUs", n.number("cpus"));
            pair(out, "Boards", n.number("boards"));
            pair(out, "SocketsPerBoard", n.number("sockets") / Math.max(1, n.number("boards")));
            pair(out, "CoresPerSocket", n.number("cores"));
            pair(out, "ThreadsPerCore", n.number("threads"));
            pair(out, "RealMemory", n.number("memoryMb"));
            pair(out, "TmpDisk", n.number("tmpDiskMb"));
            pair(out, "Weight", n.number("weight"));
            pair(out, "Feature", n.text("features"));
            pair(out, "Gres", n.text("gres"));
            out.append('\n');
        }
    }

    private static void partitions(CommandContext c, StringBuilder out) throws SlurmException {
        Json.Obj q = new Json.Obj();
        q.put("all", Boolean.TRUE);
        out.append("#\n# PARTITIONS\n#\n");
        for (Json.Obj p : c.host().controller().call("QueryPartitions", q).objects("partitions")) {
            out.append("PartitionName=").append(p.text("name"));
            pair(out, "Nodes", p.text("nodes"));
            pair(out, "Default", p.flag("isDefault") ? "YES" : "");
            pair(out, "Hidden", p.flag("hidden") ? "YES" : "");
            pair(out, "State", p.text("state"));
            pair(out, "MaxTime", p.integer("maxTimeMin") < 0 ? "UNLIMITED" : Integer.toString(p.integer("maxTimeMin")));
            int standard = p.integer("defaultTimeMin");
            if (standard == PartitionInfo.NO_TIME) {
                pair(out, "DefaultTime", "0");
            } else {
                pair(out, "DefaultTime", standard > 0 ? Integer.toString(standard) : "");
            }
            pair(out, "MaxNodes", p.integer("maxNodes") < 0 ? "" : Integer.toString(p.integer("maxNodes")));
            pair(out, "PriorityTier", p.number("priorityTier"));
            pair(out, "OverSubscribe", p.text("overSubscribe"));
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
