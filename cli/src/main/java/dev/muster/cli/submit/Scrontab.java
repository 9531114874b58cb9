package dev.muster.cli.submit;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.CommonOptions;
import dev.muster.json.Json;
import dev.muster.model.format.ErrorSentence;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Runs scrontab, which shows, edits, sets and removes a user's periodic jobs. */
public final class Scrontab implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "edit:e:n",
            "list:l:n",
            "remove:r:n",
            "user:u:r",
            "verbose:v:n",
            "quiet:Q:n",
            "version:V:n",
            "help:h:n",
            "usage::n");
    private static final int TEXT_BYTES_MAX = 1 << 18;
    private static final String EXAMPLE = """
        # Each line that is not a comment: minute hour day-of-month month day-of-week command,
        # or one of @hourly @daily @weekly @monthly @yearly and a command.
        # Lines with #SCRON before it have options of sbatch for the one line that follows:
        #
        # #SCRON -t 10
        # 0 7 * * mon-fri $HOME/report
        """;

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = CommonOptions.parse(context, OPTIONS);
        int uid = context.host().uid();
        String mode = "";
        int verbose = 0;
        for (GetOpt.Hit hit : parsed.hits()) {
            if (CommonOptions.answer(context, OPTIONS, "[file|-]", hit)) {
                return 0;
            }
            switch (hit.opt().name()) {
                case "user" -> {
                    uid = context.host().userId(hit.value());
                    if (uid < 0) {
                        throw context.bad(1, "Invalid user: " + hit.value());
                    }
                }
                case "edit", "list", "remove" -> {
                    if (!mode.isEmpty() && !mode.equals(hit.opt().name())) {
                        throw context.bad(1, "Only one of -e, -l and -r can be given");
                    }
                    mode = hit.opt().name();
                }
                case "quiet" -> verbose = -1;
                case "verbose" -> verbose++;
                default -> throw new IllegalStateException(hit.opt().name());
            }
        }
        if (parsed.operands().size() > 1
                || !mode.isEmpty() && !parsed.operands().isEmpty()) {
            throw context.bad(1, "Only one file can be given, and none with -e, -l or -r");
        }
        return switch (mode) {
            case "list" -> list(context, uid, verbose);
            case "remove" -> set(context, uid, "", verbose);
            case "edit" -> edit(context, uid, verbose);
            default ->
                set(
                        context,
                        uid,
                        read(
                                context,
                                parsed.operands().isEmpty()
                                        ? "-"
                                        : parsed.operands().getFirst()),
                        verbose);
        };
    }

    private static String current(CommandContext context, int uid) throws SlurmException {
        return context.host()
                .controller()
                .call("QueryCrontab", new Json.Obj().put("userId", (long) uid))
                .text("text");
    }

    private static int list(CommandContext context, int uid, int verbose) throws SlurmException {
        String text = current(context, uid);
        if (text.isEmpty()) {
            if (verbose >= 0) {
                context.err().println("no crontab for " + context.host().userName(uid));
            }
            return 1;
        }
        context.out().print(text);
        context.out().flush();
        return 0;
    }

    private static String read(CommandContext context, String name) throws UsageException {
        try {
            byte[] raw = name.equals("-")
                    ? context.in().readNBytes(TEXT_BYTES_MAX + 1)
                    : context.host()
                            .readFile(Texts.absolute(name, context.host().workDir()), TEXT_BYTES_MAX + 1);
            if (raw.length > TEXT_BYTES_MAX) {
                throw context.bad(1, "The crontab is larger than " + TEXT_BYTES_MAX + " bytes");
            }
            return RawText.decode(raw);
        } catch (IOException e) {
            throw context.bad(1, "Unable to open file " + name);
        }
    }

    private static int set(CommandContext context, int uid, String text, int verbose)
            throws SlurmException, UsageException {
        Json.Obj request = new Json.Obj()
                .put("userId", (long) uid)
                .put("text", text)
                .put("entries", new CrontabText(context).entries(text, uid));
        context.host().controller().call("SetCrontab", request);
        if (verbose > 0) {
            context.info("the crontab of " + context.host().userName(uid) + " has "
                    + request.list("entries").size() + " entries now");
        }
        return 0;
    }

    /** Edited until it is right, or given up. */
    private static int edit(CommandContext context, int uid, int verbose) throws SlurmException, UsageException {
        context.host().needsOwnProcess();
        String before = current(context, uid);
        File draft = null;
        try {
            draft = Files.createTempFile(
                            Path.of(context.env("TMPDIR").isEmpty() ? "/tmp" : context.env("TMPDIR")),
                            "scrontab-",
                            ".txt")
                    .toFile();
            Files.writeString(draft.toPath(), before.isEmpty() ? EXAMPLE : before);
            while (true) {
                String editor;
                if (!context.env("VISUAL").isEmpty()) {
                    editor = context.env("VISUAL");
                } else if (!context.env("EDITOR").isEmpty()) {
                    editor = context.env("EDITOR");
                } else {
                    editor = "vi";
                }

                int rc = new ProcessBuilder("/bin/sh", "-c", editor + " \"$1\"", "sh", draft.getPath())
                        .inheritIO()
                        .start()
                        .waitFor();
                if (rc != 0) {
                    throw context.bad(1, "The editor ended with " + rc + ": the crontab is as before");
                }
                try {
                    return set(context, uid, Files.readString(draft.toPath()), verbose);
                } catch (UsageException e) {
                    e.lines().forEach(context.err()::println);
                } catch (SlurmException e) {
                    context.error(e.getMessage());
                }
                context.err().print("Do you want to retry the edit? (y/n) ");
                context.err().flush();
                int answer = context.in().read();
                if (answer != 'y' && answer != 'Y') {
                    return 1;
                }
            }
        } catch (IOException e) {
            throw context.bad(1, "The crontab cannot be edited: " + ErrorSentence.of(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 1;
        } finally {
            if (draft != null) {
                draft.delete();
            }
        }
    }
}
