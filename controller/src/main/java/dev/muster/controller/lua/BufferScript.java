package dev.muster.controller.lua;

import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.json.RecordEditor;
import dev.muster.lua.LuaState;
import dev.muster.lua.ScriptError;
import dev.muster.lua.SlurmWords;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.JobDesc;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A call of a function of the site's burst_buffer.lua, as a process of its own that may be killed: such a function may
 * copy for hours, and has all of Lua's library. Arguments: the script. Standard input: one line {@code {"function",
 * "arguments": […], "job": {…}}}, where the description of a job becomes the last argument; without a function only the
 * script is read. With the end of the input the call is over, and all that it has begun: slurmctld is gone, and begins
 * it again when it is back. Descriptor 3: {@code {"rc", "text"}}. What the script logs, and what its own commands
 * print, goes to standard error.
 */
public final class BufferScript {
    /** Functions that each script must have. */
    public static final List<String> FUNCTIONS = List.of(
            "slurm_bb_job_process",
            "slurm_bb_pools",
            "slurm_bb_job_teardown",
            "slurm_bb_setup",
            "slurm_bb_data_in",
            "slurm_bb_real_size",
            "slurm_bb_paths",
            "slurm_bb_pre_run",
            "slurm_bb_post_run",
            "slurm_bb_data_out",
            "slurm_bb_get_status");
    /** Answer of a function that has only started its work. */
    public static final String BUSY = "BUSY";

    private static final int ERROR = -1;
    /** The file for the answer: standard output of the script goes to standard error here. */
    private static final String REPLY = "/proc/self/fd/3";

    private BufferScript() {}

    public static void main(String[] args) throws IOException {
        PrintStream reply = new PrintStream(new FileOutputStream(REPLY), true, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Json.Obj asked = Json.object(in.readLine().getBytes(StandardCharsets.UTF_8));
        Thread.ofPlatform().daemon().start(() -> endWith(in));
        Json.Obj answer = new Json.Obj();
        try {
            LuaState state = load(new File(args[0]));
            if (asked.text("function").isEmpty()) {
                String missing = FUNCTIONS.stream()
                        .filter(f -> !state.hasFunction(f))
                        .findFirst()
                        .orElse("");
                answer.put("rc", missing.isEmpty() ? 0L : ERROR)
                        .put("text", missing.isEmpty() ? "" : "the function " + missing + " is missing");
            } else {
                call(state, asked, answer);
            }
        } catch (ScriptError e) {
            answer.put("rc", (long) ERROR).put("text", e.getMessage());
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
            System.err.println(ErrorSentence.of(e));
        }
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
        Runtime.getRuntime().halt(1);
    }

    private static LuaState load(File script) throws IOException {
        LuaState state = LuaState.ofCommand();
        Map<String, Object> words = SlurmWords.words(
                (level, text) -> System.err.println((level == SlurmWords.Level.ERROR ? "E" : "I") + text));
        words.put("SLURM_BB_BUSY", BUSY);
        SlurmWords.install(state, words);
        state.load(Files.readAllBytes(script.toPath()), script.toString());
        return state;
    }

    private static void call(LuaState state, Json.Obj asked, Json.Obj answer) {
        if (!state.hasFunction(asked.text("function"))) {
            // newer versions of Slurm know more functions than scripts that were written before
            answer.put("rc", 0L).put("text", "").put("missing", Boolean.TRUE);
            return;
        }
        List<Object> values = new ArrayList<>(asked.texts("arguments"));
        if (asked.has("job")) {
            values.add(job(asked.obj("job")));
        }
        List<Object> out = state.call(asked.text("function"), values.toArray());
        answer.put("rc", out.get(0) instanceof Number n ? n.longValue() : ERROR)
                .put("text", out.get(1) == null ? "" : out.get(1).toString());
    }

    private static Map<String, Object> job(Json.Obj tree) {
        Map<String, Object> out = JobFields.table(RecordEditor.of(Codec.bind(tree.obj("description"), JobDesc.class)));
        Json.Obj numbers = tree.obj("numbers");
        for (String name : numbers.fields().keySet()) {
            out.put(name, numbers.number(name));
        }
        Json.Obj texts = tree.obj("texts");
        for (String name : texts.fields().keySet()) {
            out.put(name, texts.text(name));
        }
        return out;
    }
}
