package dev.muster.cli.acct;

import dev.muster.cli.CommandContext;
import dev.muster.cli.SlurmException;
import dev.muster.cli.UsageException;
import dev.muster.model.Json;
import dev.muster.model.accounting.LimitField;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** {@code sacctmgr dump CLUSTER}: the tree of a cluster as lines that the original's load reads. */
final class Dump {
    /** Names that differ in the file from the fields' own. */
    private static final Map<String, String> NAMES = Map.of("MaxTRES", "MaxTRESPerJob", "MaxTRESMins", "MaxTRESMinsPerJob", "MaxWall",
            "MaxWallDurationPerJob");

    private final CommandContext c;
    private final List<String> lines = new ArrayList<>();

    Dump(CommandContext c) {
        this.c = c;
    }

    int run(List<String> words) throws UsageException, SlurmException {
        String cluster = "";
        String file = "";
        for (String word : words) {
            Words.Item item = Words.item(word);
            String key = item.key().toLowerCase(Locale.ROOT);
            if (key.isEmpty() || "cluster".startsWith(key) || "name".startsWith(key)) {
                cluster = item.value();
            } else if ("file".startsWith(key)) {
                file = item.value();
            } else {
                throw new UsageException(1, List.of(" Unknown option: " + word));
            }
        }
        if (cluster.isEmpty()) {
            throw new UsageException(1, List.of(" We need a cluster to dump."));
        }
        List<Json.Obj> tree = rows("association", new Json.Obj().put("cluster", cluster), "woplimits");
        if (tree.isEmpty()) {
            throw new UsageException(1, List.of(" No cluster by the name of " + cluster));
        }
        List<Json.Obj> accounts = rows("account", new Json.Obj(), "");
        List<Json.Obj> users = rows("user", new Json.Obj(), "");
        lines.add("# A cluster, its accounts and their users. After a line Parent come the accounts and users directly below that account.");
        lines.add("Cluster - '" + cluster + "'" + limits(tree.getFirst()));
        for (Json.Obj parent : tree) {
            if (parent.text("User").isEmpty()) {
                below(parent.text("Account"), tree, accounts, users);
            }
        }
        String target = file.isEmpty() ? cluster + ".cfg" : file;
        try {
            c.host().writeFile(target.startsWith("/") ? target : c.host().workDir() + "/" + target,
                    (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8), 0644);
        } catch (IOException e) {
            c.error("Can't write " + target + ": " + e.getMessage());
            return 1;
        }
        lines.stream().filter(l -> !l.startsWith("#")).forEach(l -> c.err().println("sacctmgr: " + l));
        return 0;
    }

    private List<Json.Obj> rows(String entity, Json.Obj where, String option) throws SlurmException {
        List<Object> options = option.isEmpty() ? new ArrayList<>() : new ArrayList<>(List.of(option));
        return c.host().accounting().call("Show", new Json.Obj().put("entity", entity).put("where", where).put("options", options)).objects("rows");
    }

    private void below(String parent, List<Json.Obj> tree, List<Json.Obj> accounts, List<Json.Obj> users) {
        List<String> own = new ArrayList<>();
        for (Json.Obj a : tree) {
            boolean user = !a.text("User").isEmpty();
            if (user ? a.text("Account").equals(parent) : a.text("ParentName").equals(parent)) {
                own.add(user ? user(a, users) : account(a, accounts));
            }
        }
        if (!own.isEmpty()) {
            lines.add("Parent - '" + parent + "'");
            lines.addAll(own);
        }
    }

    private static String user(Json.Obj a, List<Json.Obj> users) {
        StringBuilder out = new StringBuilder("User - '" + a.text("User") + "'");
        if (!a.text("Partition").isEmpty()) {
            out.append(":Partition='").append(a.text("Partition")).append('\'');
        }
        for (Json.Obj u : users) {
            if (u.text("User").equals(a.text("User"))) {
                out.append(":DefaultAccount='").append(u.text("DefaultAccount")).append('\'');
                if (!u.text("AdminLevel").equals("NONE")) {
                    out.append(":AdminLevel='").append(u.text("AdminLevel").charAt(0))
                            .append(u.text("AdminLevel").substring(1).toLowerCase(Locale.ROOT))
                            .append('\'');
                }
                if (!u.text("Coordinators").isEmpty()) {
                    out.append(":Coordinator='").append(u.text("Coordinators")).append('\'');
                }
            }
        }
        return out + limits(a);
    }

    private static String account(Json.Obj a, List<Json.Obj> accounts) {
        StringBuilder out = new StringBuilder("Account - '" + a.text("Account") + "'");
        for (Json.Obj record : accounts) {
            if (record.text("Account").equals(a.text("Account"))) {
                out.append(":Description='").append(record.text("Descr")).append("':Organization='").append(record.text("Org")).append('\'');
            }
        }
        return out + limits(a);
    }

    private static String limits(Json.Obj a) {
        StringBuilder out = new StringBuilder();
        for (LimitField f : LimitField.ASSOC) {
            String value = a.text(f.name());
            if (!value.isEmpty()) {
                boolean quoted = f.kind() == LimitField.Kind.NAME || f.kind() == LimitField.Kind.NAMES || f.kind() == LimitField.Kind.TEXT;
                out.append(':').append(NAMES.getOrDefault(f.name(), f.name())).append('=').append(quoted ? "'" + value + "'" : value);
            }
        }
        return out.toString();
    }
}
