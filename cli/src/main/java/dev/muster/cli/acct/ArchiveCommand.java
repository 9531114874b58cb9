package dev.muster.cli.acct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import java.util.List;
import java.util.Locale;

/** Runs {@code sacctmgr archive …} and {@code sacctmgr roll}. */
final class ArchiveCommand {
    /** ENOENT. */
    private static final int NO_FILE = 2;

    private static final String DONE = "accounting_storage/slurmdbd: ";

    /** Words for what is archived. Suspensions and usage sums have no rows to archive or purge. */
    private static final List<Entity.Name> WORDS =
            Entity.names("events:1=ArchiveEvents jobs:1=ArchiveJobs reservations:1=ArchiveResvs "
                    + "steps:2=ArchiveSteps suspend:2=ArchiveSuspend txn:1=ArchiveTXN usage:1=ArchiveUsage");

    private static final List<Entity.Name> KEYS =
            Entity.names("directory:1=ArchiveDir purgeeventafter:8=PurgeEventAfter "
                    + "purgejobafter:8=PurgeJobAfter purgeresvafter:8=PurgeResvAfter purgestepafter:8=PurgeStepAfter "
                    + "purgesuspendafter:8=PurgeSuspendAfter purgetxnafter:8=PurgeTXNAfter "
                    + "purgeusageafter:8=PurgeUsageAfter script:2=ArchiveScript");

    private final CommandContext context;
    private final SacctmgrSwitches switches;

    ArchiveCommand(CommandContext context, SacctmgrSwitches switches) {
        this.context = context;
        this.switches = switches;
    }

    private int dump(List<String> words) throws UsageException {
        Json.Obj settings = new Json.Obj();
        for (String word : words) {
            Clause.Item item = Clause.item(word);
            String lower = (item.key().isEmpty() ? item.value() : item.key()).toLowerCase(Locale.ROOT);
            String key = (item.key().isEmpty() ? WORDS : KEYS)
                    .stream()
                            .filter(n -> n.means(lower))
                            .findFirst()
                            .map(Entity.Name::key)
                            .orElseThrow(() -> new UsageException(1, List.of(" Unknown condition: " + word)));
            settings.put(key, item.key().isEmpty() ? "yes" : item.value());
        }
        if (!switches.immediate) {
            context.host().needsOwnProcess();
            if (!Prompt.agrees(
                    context,
                    "This may result in loss of accounting database records (if Purge* options enabled).\n"
                            + "Are you sure you want to continue? (You have 30 seconds to decide)\n")) {
                context.out().println(" Changes Discarded");
                return 0;
            }
        }
        try {
            context.host().accounting().call("DumpArchive", new Json.Obj().put("settings", settings));
            context.info(DONE + "jobacct_storage_p_archive: SUCCESS");
            return 0;
        } catch (SlurmException e) {
            throw new UsageException(1, dumpRefusal(e));
        }
    }

    private static List<String> dumpRefusal(SlurmException e) {
        if (e.errno() != NO_FILE) {
            return List.of(" Problem dumping archive: " + reason(e));
        }
        if (e.getMessage().contains("Failed to stat")) {
            return List.of(
                    " dump: " + e.getMessage(), " Note: For archive dump, the directory must be on the calling host.");
        }
        return List.of(" dump: " + reason(e));
    }

    int run(List<String> words) throws UsageException {
        String verb = words.isEmpty() ? "" : words.getFirst().toLowerCase(Locale.ROOT);
        if (!verb.isEmpty() && "load".startsWith(verb)) {
            return load(words.subList(1, words.size()));
        }
        if (!verb.isEmpty() && "dump".startsWith(verb)) {
            return dump(words.subList(1, words.size()));
        }
        throw new UsageException(
                1, List.of("No valid entity in archive command", "Input line must include, \"Dump\", or \"load\""));
    }

    private int load(List<String> words) throws UsageException {
        String file = "";
        String insert = "";
        for (String word : words) {
            Clause.Item item = Clause.item(word);
            String key = item.key().toLowerCase(Locale.ROOT);
            if (key.isEmpty() || "file".startsWith(key)) {
                file = item.value();
            } else if (key.length() >= 2 && "insert".startsWith(key)) {
                insert = item.value();
            } else {
                throw new UsageException(1, List.of(" Unknown option: " + word));
            }
        }
        if (file.isEmpty() && insert.isEmpty()) {
            throw new UsageException(
                    1,
                    List.of(
                            "sacctmgr: error: Error with request.",
                            " Problem loading archive file: Unspecified error"));
        }
        String path =
                file.isEmpty() || file.startsWith("/") ? file : context.host().workDir() + "/" + file;
        try {
            context.host()
                    .accounting()
                    .call("LoadArchive", new Json.Obj().put("file", path).put("insert", insert));
            context.info(DONE + "jobacct_storage_p_archive_load: SUCCESS");
            return 0;
        } catch (SlurmException e) {
            if (e.errno() == NO_FILE) {
                throw new UsageException(
                        1,
                        List.of(
                                "sacctmgr: error: No archive file given to recover.",
                                " Problem loading archive file: No such file or directory",
                                " Note: For archive load, the file must be accessible on the slurmdbd host."));
            }
            throw new UsageException(
                    1, List.of("sacctmgr: error: Error with request.", " Problem loading archive file: " + reason(e)));
        }
    }

    private static String reason(SlurmException e) {
        return e.errno() == SlurmErrno.ACCESS_DENIED.number() ? SlurmErrno.ACCESS_DENIED.sentence() : e.getMessage();
    }

    /** Does nothing: reports are made from the rows, so a roll-up is not needed. */
    int roll(List<String> words) throws UsageException {
        Json.Obj span = new Json.Obj();
        if (!words.isEmpty()) {
            span.put("from", TimeParser.seconds(context, words.get(0)));
        }
        if (words.size() > 1) {
            span.put("to", TimeParser.seconds(context, words.get(1)));
        }
        try {
            context.host().accounting().call("RollUsage", span);
            context.info(DONE + "acct_storage_p_roll_usage: SUCCESS");
            return 0;
        } catch (SlurmException e) {
            throw new UsageException(1, List.of(DbdErrors.line(e)));
        }
    }
}
