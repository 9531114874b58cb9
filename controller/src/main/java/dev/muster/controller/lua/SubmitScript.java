package dev.muster.controller.lua;

import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.json.RecordEditor;
import dev.muster.lua.CLibrary;
import dev.muster.lua.LiveTable;
import dev.muster.lua.LuaState;
import dev.muster.lua.ScriptError;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.job.JobDesc;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A loaded job_submit.lua. One run at a time, each within {@link #RUN_MS}; what the script keeps in globals lives until
 * its file changes. A changed file that can not be read leaves the last good one in place, and a job is refused when
 * the script fails for it, as in Slurm; both are logged.
 */
public final class SubmitScript implements AutoCloseable {
    /** A script that runs longer is stopped, and what it was asked about refused. */
    static final long RUN_MS = 10_000;
    /** Slurm's number for an error in a script. */
    private static final int FAILED = 7405;

    private static final int ERRNO_MAX = 133;
    /** Threads that may be stuck in a script before all is refused. */
    static final int STUCK_MAX = 4;

    private final File file;
    private final Consumer<String> info;
    private final Consumer<String> error;
    private final long runMs;
    private final ScriptRunner<Loaded> runner;
    /**
     * The text of the last file that could be loaded, null before the first; a new state loads it when the file is
     * broken.
     */
    private volatile byte @Nullable [] lastGood;

    /** The cluster as the script sees it. */
    public interface Cluster {
        String name();

        /** Returns the partitions that a user may use. */
        List<Json.Obj> partitions(int uid);

        List<Json.Obj> jobs();

        List<Json.Obj> reservations();

        /** -1 if there is none of that name. */
        long qosPriority(String qos);

        /**
         * {@code qos}, {@code comment}, {@code defaultQos} and {@code account} of the job's association; none of them
         * if it has none.
         */
        Map<String, String> association(JobDesc job);
    }

    /** The decision of the script. */
    public sealed interface Outcome {
        /** Returns the lines for the user. */
        List<String> said();
    }

    /**
     * @param environment new environment of a batch job; unchanged for other jobs
     * @param changed of an update, fields that the script left with another value than they had; of a new job, those
     *     that its description does not have; by their names in Lua
     */
    public record Passed(
            JobDesc job, Bytes script, List<Bytes> environment, List<String> said, Map<String, Object> changed)
            implements Outcome {}

    public record Refused(int errno, String sentence, List<String> said) implements Outcome {}

    /** @param error for mistakes of the script */
    public SubmitScript(File file, Consumer<String> info, Consumer<String> error) {
        this(file, info, error, RUN_MS);
    }

    SubmitScript(File file, Consumer<String> info, Consumer<String> error, long runMs) {
        this.runMs = runMs;
        this.file = file;
        this.info = info;
        this.error = error;
        runner = new ScriptRunner<>("job_submit/lua", Loaded::new, runMs + runMs / 2, STUCK_MAX, error);
    }

    /** Reads it now. Answers what is wrong with it, "" if nothing is. */
    public String load() {
        try {
            return runner.call(Loaded::reload, 2 * runMs);
        } catch (ExecutionException | TimeoutException | RejectedExecutionException e) {
            return file + ": " + e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return file + ": interrupted";
        }
    }

    @Override
    public void close() {
        runner.close();
    }

    /**
     * Lets the script decide about a new job.
     *
     * @param more fields that are not the description's
     */
    public Outcome submit(
            JobDesc job, Bytes script, List<Bytes> environment, Map<String, Long> more, int uid, Cluster cluster) {
        return run(
                loaded -> {
                    Description d = new Description(job, script, environment, cluster);
                    d.more.putAll(more);
                    Object answer = loaded.call("slurm_job_submit", d.table(), parts(cluster, uid), (long) uid);
                    return verdict(answer, loaded.slurm.said(), () -> submitted(d, loaded.slurm));
                },
                cluster);
    }

    /** Returns the job as the script left it, or why it cannot be one. */
    private Outcome submitted(Description d, SlurmTable slurm) {
        List<String> outOfRange = d.outOfRange();
        if (!outOfRange.isEmpty()) {
            for (String sentence : outOfRange) {
                error.accept("job_submit/lua: " + file + ": " + sentence);
                slurm.sayMistake(sentence);
            }
            return new Refused(FAILED, ScriptError.NO_TEXT, slurm.said());
        }
        List<String> said = slurm.said();
        return d.mistake()
                .<Outcome>map(errno -> new Refused(errno.number(), errno.sentence(), said))
                .orElseGet(() -> new Passed(d.described(), d.script(), d.environment(), said, d.kept));
    }

    /**
     * Lets the script decide about changes to a job.
     *
     * @param wanted the description with only the changes in it
     * @param values fields of it that read otherwise than a new job's, by their names in Lua
     * @param now the job's description
     * @param numbers fields of the job that are not its description's
     */
    public Outcome modify(
            JobDesc wanted,
            Map<String, Object> values,
            JobDesc now,
            Bytes script,
            Map<String, Long> numbers,
            int uid,
            Cluster cluster) {
        return run(
                loaded -> {
                    Description d = new Description(wanted, Bytes.EMPTY, List.of(), cluster);
                    d.more.putAll(values);
                    d.isUpdate = true;
                    Description record = new Description(now, script, List.of(), cluster);
                    numbers.forEach((k, v) -> record.more.put(k, v));
                    Object answer =
                            loaded.call("slurm_job_modify", d.table(), record.table(), parts(cluster, uid), (long) uid);
                    List<String> said = loaded.slurm.said();
                    return verdict(answer, said, () -> new Passed(wanted, Bytes.EMPTY, List.of(), said, d.changed()));
                },
                cluster);
    }

    private Outcome run(Function<Globals, Outcome> question, Cluster cluster) {
        try {
            return runner.call(loaded -> loaded.answer(question, cluster), 2 * runMs);
        } catch (TimeoutException e) {
            error.accept("job_submit/lua: " + file + ": no answer after " + (runMs + runMs / 2) / 1000 + " seconds");
            return refused(SlurmErrno.ERROR.number(), List.of());
        } catch (RejectedExecutionException e) {
            error.accept("job_submit/lua: " + file + ": refused: " + ErrorSentence.of(e));
            return refused(SlurmErrno.ERROR.number(), List.of());
        } catch (ExecutionException e) {
            error.accept("job_submit/lua: " + file + ": " + e.getCause());
            return new Refused(FAILED, ScriptError.NO_TEXT, List.of());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return refused(SlurmErrno.ERROR.number(), List.of());
        }
    }

    private Outcome verdict(Object answer, List<String> said, Supplier<Outcome> passed) {
        Object number = answer instanceof Bytes b && b.text().matches("-?[0-9]{1,9}") ? Long.valueOf(b.text()) : answer;
        if (!(number instanceof Number n)) {
            info.accept("job_submit/lua: job_submit: job_submit/lua: " + file + ": non-numeric return code");
            return passed.get();
        }
        int code = (int) n.doubleValue(); // 2^32 is no success
        return code == 0 ? passed.get() : refused(code, said);
    }

    private static Outcome refused(int code, List<String> said) {
        String sentence = Arrays.stream(SlurmErrno.values())
                .filter(e -> e.number() == code)
                .findFirst()
                .map(SlurmErrno::sentence)
                .orElseGet(() -> code > 0 && code <= ERRNO_MAX ? CLibrary.sentence(code) : "Unknown error " + code);
        return new Refused(code, sentence, said);
    }

    private static Map<String, Object> parts(Cluster cluster, int uid) {
        Map<String, Object> out = new TreeMap<>();
        for (Json.Obj p : cluster.partitions(uid)) {
            out.put(p.text("name"), p);
        }
        return out;
    }

    /** A loaded script: its state, and the table {@code slurm} in it. */
    private record Globals(LuaState state, SlurmTable slurm) {
        Object call(String function, Object... arguments) {
            return state.call(function, arguments).get(0);
        }
    }

    /** The script as one thread has loaded it, with its globals. */
    private final class Loaded implements ScriptRunner.State {
        private volatile long stopNs = Long.MAX_VALUE;
        /** Null before a script could be loaded. */
        private @Nullable Globals globals;

        private long modified = -1;

        @Override
        public void close() {
            if (globals != null) {
                globals.state.close();
            }
        }

        Outcome answer(Function<Globals, Outcome> question, Cluster cluster) {
            reload();
            Globals now = globals;
            if (now == null) {
                return new Refused(FAILED, ScriptError.NO_TEXT, List.of());
            }
            SlurmTable slurm = now.slurm;
            slurm.begin(cluster);
            startClock();
            try {
                return question.apply(now);
            } catch (ScriptError.TimeOver e) {
                error.accept("job_submit/lua: " + file + ": stopped after " + runMs / 1000 + " seconds");
                return refused(SlurmErrno.ERROR.number(), slurm.said());
            } catch (ScriptError e) {
                error.accept("job_submit/lua: " + file + ": " + e.getMessage());
                slurm.sayMistake(String.valueOf(e.getMessage()));
                return new Refused(FAILED, ScriptError.NO_TEXT, slurm.said());
            } finally {
                stopNs = Long.MAX_VALUE;
            }
        }

        private void startClock() {
            stopNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(runMs);
        }

        /** Loads the file if it has changed. Answers what is wrong with it, "" if nothing is. */
        String reload() {
            long now = file.lastModified();
            if (now == modified && now != 0) {
                return "";
            }
            modified = now;
            try {
                byte[] text = Files.readAllBytes(file.toPath());
                replaceBy(text);
                lastGood = text;
                return "";
            } catch (IOException | ScriptError e) {
                String why = e instanceof IOException
                        ? "Unable to stat " + file + ": No such file or directory"
                        : file + ": " + ErrorSentence.of(e);
                byte[] good = lastGood;
                error.accept(
                        "job_submit/lua: " + why + (globals == null && good == null ? "" : ", using previous script"));
                if (globals == null && good != null) {
                    loadLastGood(good);
                }
                return why;
            }
        }

        private void loadLastGood(byte[] good) {
            try {
                replaceBy(good);
            } catch (ScriptError e) {
                error.accept("job_submit/lua: " + file + ": " + e.getMessage());
            }
        }

        private void replaceBy(byte[] text) {
            startClock();
            LuaState fresh = LuaState.ofDaemon(() -> stopNs);
            try {
                SlurmTable table = new SlurmTable(fresh, info, error);
                Object answer = fresh.load(text, file.getPath());
                checkLoaded(fresh, answer);
                close();
                globals = new Globals(fresh, table);
            } catch (ScriptError e) {
                fresh.close();
                throw e;
            } finally {
                stopNs = Long.MAX_VALUE;
            }
        }

        private void checkLoaded(LuaState fresh, Object answer) {
            boolean missing = false;
            for (String name : List.of("slurm_job_submit", "slurm_job_modify")) {
                if (!fresh.hasFunction(name)) {
                    error.accept("job_submit/lua: " + file + ": missing required function " + name);
                    missing = true;
                }
            }
            if (missing) {
                throw new ScriptError("required function(s) not present");
            }
            if (answer instanceof Number n && n.intValue() != 0) {
                throw new ScriptError("returned " + n.intValue() + " on load");
            }
        }
    }

    // ---- job_desc

    /** A job as the script sees and changes it. */
    private final class Description {
        private final RecordEditor<JobDesc> edit;
        private final JobDesc job;
        private final Map<String, Object> more = new TreeMap<>();
        private final Cluster cluster;
        private final Map<String, Bytes> environment = new java.util.LinkedHashMap<>();
        private final Bytes script;
        private final List<Bytes> given;
        /** Values of fields before the script set them. */
        private final Map<String, Object> before = new TreeMap<>();
        /** The fields of a new job that the script set beside its description. */
        private final Map<String, Object> kept = new TreeMap<>();

        /** Numbers that the description cannot hold, by field, until the script sets the field again. */
        private final Map<String, Long> misfits = new TreeMap<>();

        private boolean isUpdate;
        private @Nullable Bytes newScript;

        private Description(JobDesc job, Bytes script, List<Bytes> given, Cluster cluster) {
            this.edit = RecordEditor.of(job);
            this.job = job;
            this.cluster = cluster;
            this.script = script;
            this.given = given;
            for (Bytes entry : given) {
                String name = name(entry);
                if (!name.isEmpty()) {
                    environment.put(
                            name,
                            Bytes.of(Arrays.copyOfRange(
                                    entry.toArray(), Bytes.of(name).length() + 1, entry.length())));
                }
            }
        }

        private boolean batch() {
            return job.kind() == JobDesc.Kind.BATCH;
        }

        private static String name(Bytes entry) {
            int equals = entry.text().indexOf('=');
            return equals > 0 ? entry.text().substring(0, equals) : "";
        }

        LiveTable table() {
            return new LiveTable(a -> read(a.text(2)), a -> {
                Object value = a.value(3);
                write(a.text(2), value == null ? JobFields.NIL : value);
                return null;
            });
        }

        private LiveTable variables() {
            return new LiveTable(
                    a -> {
                        if (!batch()) {
                            info.accept("job_submit/lua: _job_env_field: job_desc->environment only accessible "
                                    + "for batch jobs.");
                        }
                        return batch() ? environment.get(a.text(2)) : null;
                    },
                    a -> {
                        if (!(a.value(3) instanceof Bytes || a.value(3) instanceof Number)) {
                            throw new ScriptError(
                                    "bad argument #3 to 'newindex' (string expected, got " + a.type(3) + ")");
                        }
                        if (batch()) {
                            environment.put(a.text(2), a.bytes(3));
                        } else {
                            info.accept("job_submit/lua: _set_job_env_field: job_desc->environment only "
                                    + "accessible for batch jobs.");
                        }
                        return null;
                    });
        }

        private @Nullable Object read(String name) {
            if (misfits.containsKey(name)) {
                return misfits.get(name);
            }
            if (more.containsKey(name)) {
                return more.get(name);
            }
            return switch (name) {
                case "script" -> {
                    var shown = newScript == null && batch() ? script : newScript;
                    yield shown == null || shown.isEmpty() ? null : shown;
                }
                case "environment" -> variables();
                case "env_size" -> given.isEmpty() ? null : given.size();
                case "assoc_qos" -> association("qos");
                case "assoc_comment" -> association("comment");
                case "default_account" -> association("account");
                case "default_qos" -> association("defaultQos");
                default -> JobFields.get(edit, name);
            };
        }

        private @Nullable Object association(String what) {
            String text = cluster.association(edit.record()).getOrDefault(what, "");
            return text.isEmpty() ? null : text;
        }

        /** Sets a field; a number that the description cannot hold refuses the job if it is there in the end. */
        private Optional<String> set(String name, Object value) {
            misfits.keySet().removeAll(JobFields.sameAs(name));
            try {
                return JobFields.set(edit, name, value);
            } catch (Json.MalformedException e) {
                misfits.put(name, JobFields.stored(name, value));
                return Optional.empty();
            }
        }

        /** Tells what is wrong with a number of an update: the update has it beside the description. */
        private static Optional<String> checkNumberOfUpdate(String name, Object value) {
            try {
                return JobFields.set(RecordEditor.of(JobDesc.empty()), name, value);
            } catch (Json.MalformedException e) {
                return Optional.empty(); // a large number may have a meaning in an update
            }
        }

        /** Returns the description as the script has left it. */
        private JobDesc described() {
            return edit.record();
        }

        /** Returns a sentence for each number that the script left and that the description cannot hold. */
        private List<String> outOfRange() {
            return misfits.entrySet().stream()
                    .map(e -> e.getKey() + ": the number " + e.getValue() + " is out of range")
                    .toList();
        }

        private void write(String name, Object value) {
            if (name.equals("script") && batch()) {
                newScript = value instanceof Bytes b ? b : Bytes.of(JobFields.textOf(value));
                return;
            }
            Object old = read(name);
            Optional<String> wrong;
            if (JobFields.isBeside(name)) {
                wrong = Optional.empty();
            } else {
                wrong = isUpdate && JobFields.isNumberOfUpdate(name)
                        ? checkNumberOfUpdate(name, value)
                        : set(name, value);
            }

            if (wrong.isPresent()) {
                error.accept("job_submit/lua: _set_job_field: " + wrong.get());
                return;
            }
            before.putIfAbsent(name, old);
            more.keySet().removeAll(JobFields.sameAs(name));
            if (isUpdate) {
                more.putAll(JobFields.ofUpdate(name, value));
            } else if (JobFields.isKept(name)) {
                kept.put(name, JobFields.kept(name, value));
                more.put(name, kept.get(name));
            }
        }

        Optional<SlurmErrno> mistake() {
            return batch() && newScript != null && newScript.isEmpty()
                    ? Optional.of(SlurmErrno.JOB_SCRIPT_MISSING)
                    : JobFields.mistake(edit, kept);
        }

        Map<String, Object> changed() {
            Map<String, Object> out = new TreeMap<>();
            before.forEach((name, old) -> {
                if (!Objects.equals(old, read(name))) {
                    out.put(name, read(name));
                }
            });
            return out;
        }

        Bytes script() {
            return newScript == null ? script : newScript;
        }

        /** Returns the environment; entries that the script left alone keep their bytes. */
        List<Bytes> environment() {
            List<Bytes> out = new ArrayList<>();
            Map<String, Bytes> left = new java.util.LinkedHashMap<>(environment);
            for (Bytes entry : given) {
                Bytes value = left.remove(name(entry));
                out.add(value == null || entry.equals(joined(name(entry), value)) ? entry : joined(name(entry), value));
            }
            left.forEach((name, value) -> out.add(joined(name, value)));
            return out;
        }

        private static Bytes joined(String name, Bytes value) {
            byte[] head = (name + "=").getBytes(java.nio.charset.StandardCharsets.UTF_8);
            byte[] out = Arrays.copyOf(head, head.length + value.length());
            System.arraycopy(value.toArray(), 0, out, head.length, value.length());
            return Bytes.of(out);
        }
    }
}
