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
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = CommonOptions.parse(c, OPTIONS);
        int uid = c.host().uid();
        String mode = "";
        int verbose = 0;
        for (GetOpt.Hit h : p.hits()) {
            if (CommonOptions.answer(c, OPTIONS, "[file|-]", h)) {
                return 0;
            }
            switch (h.opt().name()) {
                case "user" -> {
                    uid = c.host().userId(h.value());
                    if (uid < 0) {
                        throw c.bad(1, "Invalid user: " + h.value());
                    }
                }
                case "edit", "list", "remove" -> {
                    if (!mode.isEmpty() && !mode.equals(h.opt().name())) {
                        throw c.bad(1, "Only one of -e, -l and -r can be given");
                    }
                    mode = h.opt().name();
                }
                case "quiet" -> verbose = -1;
                case "verbose" -> verbose++;
                default -> throw new IllegalStateException(h.opt().name());
            }
        }
        if (p.operands().size() > 1 || !mode.isEmpty() && !p.operands().isEmpty()) {
            throw c.bad(1, "Only one file can be given, and none with -e, -l or -r");
        }
        return switch (mode) {
            case "list" -> list(c, uid, verbose);
            case "remove" -> set(c, uid, "", verbose);
            case "edit" -> edit(c, uid, verbose);
            default ->
                set(c, uid, read(c, p.operands().isEmpty() ? "-" : p.operands().getFirst()), verbose);
        };
    }

    private static String current(CommandContext c, int uid) throws SlurmException {
        return c.host()
                .controller()
                .call("QueryCrontab", new Json.Obj().put("userId", (long) uid))
                .text("text");
    }

    private static int list(CommandContext c, int uid, int verbose) throws SlurmException {
        String text = current(c, uid);
        if (text.isEmpty()) {
            if (verbose >= 0) {
                c.err().println("no crontab for " + c.host().userName(uid));
            }
            return 1;
        }
        c.out().print(text);
        c.out().flush();
        return 0;
    }

    private static String read(CommandContext c, String name) throws UsageException {
        try {
            byte[] raw = name.equals("-")
                    ? c.in().readNBytes(TEXT_BYTES_MAX + 1)
                    : c.host().readFile(Texts.absolute(name, c.host().workDir()), TEXT_BYTES_MAX + 1);
            if (raw.length > TEXT_BYTES_MAX) {
                throw c.bad(1, "The crontab is larger than " + TEXT_BYTES_MAX + " bytes");
            }
            return RawText.decode(raw);
        } catch (IOException e) {
            throw c.bad(1, "Unable to open file " + name);
        }
    }

    private static int set(CommandContext c, int uid, String text, int verbose) throws SlurmException, UsageException {
        Json.Obj request = new Json.Obj()
                .put("userId", (long) uid)
                .put("text", text)
                .put("entries", new CrontabText(c).entries(text, uid));
        c.host().controller().call("SetCrontab", request);
        if (verbose > 0) {
            c.info("the crontab of " + c.host().userName(uid) + " has "
                    + request.list("entries").size() + " entries now");
        }
        return 0;
    }

    /** Edited until it is right, or given up. */
    private static int edit(CommandContext c, int uid, int verbose) throws SlurmException, UsageException {
        c.host().needsOwnProcess();
        String before = current(c, uid);
        File draft = null;
        try {
            draft = Files.createTempFile(
                            Path.of(c.env("TMPDIR").isEmpty() ? "/tmp" : c.env("TMPDIR")), "scrontab-", ".txt")
                    .toFile();
            Files.writeString(draft.toPath(), before.isEmpty() ? EXAMPLE : before);
            while (true) {
                String editor;
                if (!c.env("VISUAL").isEmpty()) {
                    editor = c.env("VISUAL");
                } else if (!c.env("EDITOR").isEmpty()) {
                    editor = c.env("EDITOR");
                } else {
                    editor = "vi";
                }

                int rc = new ProcessBuilder("/bin/sh", "-c", editor + " \"$1\"", "sh", draft.getPath())
                        .inheritIO()
                        .start()
                        .waitFor();
                if (rc != 0) {
                    throw c.bad(1, "The editor ended with " + rc + ": the crontab is as before");
                }
                try {
                    return set(c, uid, Files.readString(draft.toPath()), verbose);
                } catch (UsageException e) {
                    e.lines().forEach(c.err()::println);
                } catch (SlurmException e) {
                    c.error(e.getMessage());
                }
                c.err().print("Do you want to retry the edit? (y/n) ");
                c.err().flush();
                int answer = c.in().read();
                if (answer != 'y' && answer != 'Y') {
                    return 1;
                }
            }
        } catch (IOException e) {
            throw c.bad(1, "The crontab cannot be edited: " + ErrorSentence.of(e));
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
