package dev.muster.cli.acct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.json.Json;
import dev.muster.model.Release;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Prints {@code sacctmgr show configuration}. */
final class ConfigText {
    private ConfigText() {}

    static int print(CommandContext c, List<Json.Obj> rows) throws SlurmException {
        long now = c.host().nowMs() / 1000;
        c.out().println("Configuration data as of " + Printer.shown(c, Entity.Kind.TIME, Long.toString(now)));
        line(c, "AccountingStorageBackupHost ", "(null)");
        line(c, "AccountingStorageHost ", c.host().accountingHost());
        line(c, "AccountingStorageParameters", "(null)");
        line(c, "AccountingStoragePass ", "(null)");
        line(c, "AccountingStoragePort ", Integer.toString(c.host().accountingPort()));
        line(c, "AccountingStorageType ", c.host().accountingType());
        line(c, "AccountingStorageUser ", "N/A");
        line(c, "SLURM_VERSION         ", Release.VERSION);
        c.out().println("");
        c.out().println("SlurmDBD configuration:");
        for (Map.Entry<String, Object> e : rows.getFirst().fields().entrySet()) {
            if (e.getKey().equals("BOOT_TIME")) {
                continue; // of the --json output alone
            }
            line(c, String.format(Locale.ROOT, "%-22s", e.getKey()), shown(e.getKey(), String.valueOf(e.getValue())));
        }
        return 0;
    }

    private static String shown(String key, String value) {
        if (value.isEmpty()) {
            return key.startsWith("Purge") ? "NONE" : "(null)";
        }
        return switch (value) {
            case "yes" -> "Yes";
            case "no" -> "No";
            default -> {
                if (key.endsWith("Timeout")) {
                    yield value + " secs";
                }
                if (key.equals("CommitDelay") && value.equals("0")) {
                    yield "No";
                }
                yield value;
            }
        };
    }

    private static void line(CommandContext c, String key, String value) {
        c.out().println(key + " = " + value);
    }
}
