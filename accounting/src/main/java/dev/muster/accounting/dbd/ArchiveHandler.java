package dev.muster.accounting.dbd;

import dev.muster.accounting.archive.ArchiveSql;
import dev.muster.accounting.table.ArchiveLoad;
import dev.muster.accounting.table.AssocTreeStore;
import dev.muster.accounting.table.Purge;
import dev.muster.config.SlurmdbdConf;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.DbdMessages;
import dev.muster.model.format.ErrorSentence;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.ZoneId;
import java.util.function.Supplier;

/** Answers {@code sacctmgr archive dump} and {@code load}. */
final class ArchiveHandler {
    /** ENOENT, as Slurm's slurmdbd answers it. */
    private static final int NO_FILE = 2;

    private final Supplier<SlurmdbdConf> conf;
    private final AssocTreeStore books;
    private final ArchiveLoad archives;
    private final Purge purge;
    private final DaemonLog log;

    ArchiveHandler(
            Supplier<SlurmdbdConf> conf, AssocTreeStore books, ArchiveLoad archives, Purge purge, DaemonLog log) {
        this.conf = conf;
        this.books = books;
        this.archives = archives;
        this.purge = purge;
        this.log = log;
    }

    Reply dump(DbdMessages.DumpArchive request) {
        if (conf.get().text("DisableArchiveCommands").equals("yes")) {
            return Reply.error(SlurmErrno.ACCESS_DENIED);
        }
        Path directory = Path.of(request.settings().getOrDefault("ArchiveDir", "/"));
        if (!Files.isDirectory(directory)) {
            return Reply.error(
                    400,
                    NO_FILE,
                    Files.exists(directory)
                            ? "archive dir " + directory + " isn't a directory"
                            : "Failed to stat " + directory + ": No such file or directory");
        }
        try {
            purge.run(key -> request.settings().getOrDefault(key, conf.get().text(key)), ZoneId.systemDefault());
            return Reply.of(new DbdMessages.Done());
        } catch (IOException e) {
            return Reply.error(400, NO_FILE, ErrorSentence.of(e));
        }
    }

    Reply load(Caller caller, DbdMessages.LoadArchive request) {
        if (conf.get().text("DisableArchiveCommands").equals("yes")) {
            return Reply.error(SlurmErrno.ACCESS_DENIED);
        }
        try {
            String text = request.insert();
            if (!request.file().isEmpty()) {
                Path file = Path.of(request.file());
                if (!Files.isRegularFile(file)) {
                    return Reply.error(400, NO_FILE, "No such file or directory");
                }
                if (Files.size(file) > ArchiveSql.BYTES_MAX) {
                    return Reply.error(
                            400,
                            SlurmErrno.NOT_SUPPORTED,
                            request.file() + " has more than " + ArchiveSql.BYTES_MAX + " bytes");
                }
                text = Files.readString(file);
            }
            if (Purge.wrote(text)) {
                purge.load(text);
            } else {
                archives.load(text, books.book())
                        .forEach(sentence -> log.info("archive " + request.file() + ": " + sentence));
            }
            log.info("archive " + (request.file().isEmpty() ? "text" : request.file()) + " is loaded for UID "
                    + caller.uid());
            return Reply.of(new DbdMessages.Done());
        } catch (CharacterCodingException e) {
            return Reply.error(
                    400,
                    SlurmErrno.NOT_SUPPORTED,
                    request.file() + " is no text: of Slurm's archives those that it packed cannot be read here");
        } catch (IOException e) {
            return Reply.error(400, SlurmErrno.NOT_SUPPORTED, request.file() + ": " + ErrorSentence.reason(e));
        } catch (ArchiveSql.UnreadableException | IllegalArgumentException | Json.MalformedException e) {
            log.error("archive " + request.file() + ": " + ErrorSentence.of(e));
            return Reply.error(400, SlurmErrno.NOT_SUPPORTED, ErrorSentence.of(e));
        }
    }
}
