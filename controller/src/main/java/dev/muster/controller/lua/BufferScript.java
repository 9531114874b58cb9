package dev.muster.controller.lua;

import dev.muster.lua.Sandbox;
import dev.muster.lua.SlurmWords;
import dev.muster.model.Json;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;

/**
 * One call of a function of the site's burst_buffer.lua, as a process of its own that may be killed: such a function may copy for hours, and has
 * all of Lua's library. Arguments: the script. Standard input: one line {@code {"function", "arguments": […], "job": {…}}}, where the description
 * of a job becomes the last argument; without a function only the script is read. With the end of the input the call is over, and all that it has
 * begun: slurmctld is gone, and begins it again when it is back. Standard output: {@code {"rc", "text"}}. What the script logs, and what its own
 * commands print, goes to standard error.
 */
public final class BufferScript {
    /** A script has all of them. */
    public static final List<String> FUNCTIONS = List.of("slurm_bb_job_process", "slurm_bb_pools", "slurm_bb_job_teardown", "slurm_bb_setup",
            "slurm_bb_data_in", "slurm_bb_real_size", "slurm_bb_paths", "slurm_bb_pre_run", "slurm_bb_post_run", "slurm_bb_data_out",
            "slurm_bb_get_status");
    /** What a function answers that has only begun something. */
    public static final String BUSY = "BUSY";
    private static final int ERROR = -1;

    private BufferScript() {}

    public static void main(String[] args) throws IOException {
        PrintStream reply = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Json.Obj asked = Json.object(in.readLine().getBytes(StandardCharsets.UTF_8));
        Thread.ofPlatform().daemon().start(() -> endWith(in));
        Json.Obj answer = new Json.Obj();
        try {
            Globals globals = load(new File(args[0]));
            if (asked.text("function").isEmpty()) {
                String missing = FUNCTIONS.stream().filter(f -> !globals.get(f).isfunction()).findFirst().orElse("");
                answer.put("rc", missing.isEmpty() ? 0L : ERROR).put("text", missing.isEmpty() ? "" : "the function " + missing + " is missing");
            } else {
                call(globals, asked, answer);
            }
        } catch (LuaError e) {
            answer.put("rc", (long) ERROR).put("text", Sandbox.message(e));
        }
        reply.write(Json.print(answer));
        reply.flush();
        System.exit(0);
    }

    private static void endWith(BufferedReader in) {
        try {
            while (in.read() >= 0) {
                Thread.onSpinWait();
            }
        } catch (IOException e) {
            System.err.println(e.getMessage());
        }
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
        Runtime.getRuntime().halt(1);
    }

    private static Globals load(File script) throws IOException {
        Globals globals = Sandbox.ofCommand();
        globals.STDOUT = System.err;
        LuaTable slurm = new LuaTable();
        SlurmWords.into(slurm, globals, (level, text) -> System.err.println((level == SlurmWords.Level.ERROR ? "E" : "I") + text));
        slurm.set("SLURM_BB_BUSY", LuaValue.valueOf(BUSY));
        globals.set("slurm", slurm);
        globals.load(Files.readString(script.toPath(), StandardCharsets.UTF_8), "@" + script).call();
        return globals;
    }

    private static void call(Globals globals, Json.Obj asked, Json.Obj answer) {
        LuaValue function = globals.get(asked.text("function"));
        if (!function.isfunction()) {
            // newer versions of Slurm know more functions than scripts that were written before
            answer.put("rc", 0L).put("text", "").put("missing", Boolean.TRUE);
            return;
        }
        List<String> texts = asked.texts("arguments");
        boolean hasJob = asked.has("job");
        LuaValue[] values = new LuaValue[texts.size() + (hasJob ? 1 : 0)];
        for (int i = 0; i < texts.size(); i++) {
            values[i] = LuaValue.valueOf(texts.get(i));
        }
        if (hasJob) {
            values[texts.size()] = job(asked.obj("job"));
        }
        Varargs out = function.invoke(LuaValue.varargsOf(values));
        answer.put("rc", out.arg1().isnumber() ? out.arg1().tolong() : ERROR).put("text", out.arg(2).isnil() ? "" : out.arg(2).tojstring());
    }

    private static LuaTable job(Json.Obj tree) {
        LuaTable out = JobFields.table(tree.obj("description"));
        Json.Obj numbers = tree.obj("numbers");
        for (String name : numbers.fields().keySet()) {
            out.set(name, LuaValue.valueOf((double) numbers.number(name)));
        }
        Json.Obj texts = tree.obj("texts");
        for (String name : texts.fields().keySet()) {
            out.set(name, texts.text(name));
        }
        return out;
    }
}
