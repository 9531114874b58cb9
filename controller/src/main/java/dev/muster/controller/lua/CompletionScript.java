package dev.muster.controller.lua;

import dev.muster.lua.Sandbox;
import dev.muster.lua.SlurmWords;
import dev.muster.model.Json;
import java.io.File;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;

/**
 * A site's jobcomp.lua, whose function {@code slurm_jobcomp_log_record} gets a table for each finished job. It is read again when its file has
 * changed, and what it keeps in globals lives until then. Not thread-safe: JobCompType has one writer.
 */
public final class CompletionScript {
    private static final String FUNCTION = "slurm_jobcomp_log_record";
    /** A call that lasts longer is stopped. */
    private static final long RUN_MS = 10_000;

    private final File file;
    private final Consumer<String> info;
    private final Consumer<String> error;
    private volatile long stopNs;
    private Globals globals;
    private long modified = -1;

    public CompletionScript(File file, Consumer<String> info, Consumer<String> error) {
        this.file = file;
        this.info = info;
        this.error = error;
    }

    public File file() {
        return file;
    }

    /**
     * One job.
     *
     * @param record numbers and texts by name; "" and what is not there is nil in the script
     * @throws IOException the script can not be read, has a mistake, or does not answer slurm.SUCCESS
     */
    public void record(Json.Obj record) throws IOException {
        stopNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RUN_MS);
        try {
            load();
            LuaValue answer = globals.get(FUNCTION).call(SlurmTable.table(record));
            if (!answer.isnumber() || answer.toint() != 0) {
                throw new IllegalArgumentException(file + ": " + FUNCTION + " returned " + (answer.isnumber() ? answer.toint() : "no number"));
            }
        } catch (Sandbox.TimeOver e) {
            throw new IllegalArgumentException(file + ": stopped after " + RUN_MS / 1000 + " seconds");
        } catch (LuaError e) {
            throw new IllegalArgumentException(Sandbox.message(e));
        }
    }

    private void load() throws IOException {
        long now = file.lastModified();
        if (now == modified && globals != null) {
            return;
        }
        Globals fresh = Sandbox.ofDaemon(() -> stopNs);
        LuaTable slurm = new LuaTable();
        SlurmWords.into(slurm, fresh, (level, text) -> (level == SlurmWords.Level.ERROR ? error : info).accept(text));
        fresh.set("slurm", slurm);
        fresh.load(new StringReader(Files.readString(file.toPath(), StandardCharsets.UTF_8)), file.getPath()).call();
        if (!fresh.get(FUNCTION).isfunction()) {
            throw new LuaError(file + ": required function " + FUNCTION + " not present");
        }
        globals = fresh;
        modified = now;
    }
}
