package dev.muster.controller.lua;

import dev.muster.json.Json;
import dev.muster.lua.LuaState;
import dev.muster.lua.ScriptError;
import dev.muster.lua.SlurmWords;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A site's jobcomp.lua: its function {@code slurm_jobcomp_log_record} gets a table for each finished job. It is read
 * again when its file has changed, and what it keeps in globals lives until then. Not thread-safe: JobCompType has one
 * writer.
 */
public final class CompletionScript {
    private static final String FUNCTION = "slurm_jobcomp_log_record";
    /** A call that lasts longer is stopped. */
    private static final long RUN_MS = 10_000;

    private final File file;
    private final Consumer<String> info;
    private final Consumer<String> error;
    private volatile long stopNs;
    private @Nullable LuaState state;
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
     * Hands the script the record of a job.
     *
     * @param record numbers and texts by name; "" and what is not there is nil in the script
     * @throws IOException the script can not be read, has a mistake, or does not answer slurm.SUCCESS
     */
    public void record(Json.Obj record) throws IOException {
        stopNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(RUN_MS);
        try {
            Object answer = loaded().call(FUNCTION, record).get(0);
            if (!(answer instanceof Number n) || n.longValue() != 0) {
                Object number = answer instanceof Number n ? n.longValue() : "no number";
                throw new IllegalArgumentException(file + ": " + FUNCTION + " returned " + number);
            }
        } catch (ScriptError.TimeOver e) {
            throw new IllegalArgumentException(file + ": stopped after " + RUN_MS / 1000 + " seconds");
        } catch (ScriptError e) {
            throw new IllegalArgumentException(e.getMessage());
        }
    }

    private LuaState loaded() throws IOException {
        long now = file.lastModified();
        LuaState before = state;
        if (now == modified && before != null) {
            return before;
        }
        byte[] text = Files.readAllBytes(file.toPath());
        LuaState fresh = LuaState.ofDaemon(() -> stopNs);
        try {
            SlurmWords.install(
                    fresh,
                    SlurmWords.words((level, line) -> (level == SlurmWords.Level.ERROR ? error : info).accept(line)));
            fresh.load(text, file.getPath());
            if (!fresh.hasFunction(FUNCTION)) {
                throw new ScriptError(file + ": required function " + FUNCTION + " not present");
            }
        } catch (ScriptError e) {
            fresh.close();
            throw e;
        }
        if (before != null) {
            before.close();
        }
        state = fresh;
        modified = now;
        return fresh;
    }
}
