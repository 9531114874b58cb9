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

    static int print(CommandContext context, List<Json.Obj> rows) throws SlurmException {
        long now = context.host().nowMs() / 1000;
        context.out()
                .println("Configuration data as of " + Printer.shown(context, Entity.Kind.TIME, Long.toString(now)));
        List<String> hosts = context.host().accountingHosts();
        line(context, "AccountingStorageBackupHost ", hosts.size() > 1 ? hosts.getLast() : "(null)");
        line(context, "AccountingStorageHost ", context.host().accountingHost());
        line(context, "AccountingStorageParameters", "(null)");
        line(context, "AccountingStoragePass ", "(null)");
        line(context, "AccountingStoragePort ", Integer.toString(context.host().accountingPort()));
        line(context, "AccountingStorageType ", context.host().accountingType());
        line(context, "AccountingStorageUser ", "N/A");
        line(context, "SLURM_VERSION         ", Release.VERSION);
        context.out().println("");
        context.out().println("SlurmDBD configuration:");
        for (Map.Entry<String, Object> entry : rows.getFirst().fields().entrySet()) {
            if (entry.getKey().equals("BOOT_TIME")) {
                continue; // of the --json output alone
            }
            line(
                    context,
                    String.format(Locale.ROOT, "%-22s", entry.getKey()),
                    shown(entry.getKey(), String.valueOf(entry.getValue())));
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

    private static void line(CommandContext context, String key, String value) {
        context.out().println(key + " = " + value);
    }
}
