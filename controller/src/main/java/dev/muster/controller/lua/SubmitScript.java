package dev.muster.controller.lua;

import dev.muster.lua.Sandbox;
import dev.muster.model.Bytes;
import dev.muster.model.Codec;
import dev.muster.model.JobDesc;
import dev.muster.model.Json;
import dev.muster.model.SlurmErrno;
import java.io.File;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.luaj.vm2.Globals;
import org.luaj.vm2.LuaError;
import org.luaj.vm2.LuaTable;
import org.luaj.vm2.LuaValue;
import org.luaj.vm2.Varargs;
import org.luaj.vm2.lib.ThreeArgFunction;
import org.luaj.vm2.lib.TwoArgFunction;

/**
 * A loaded job_submit.lua. One run at a time, each within {@link #RUN_MS}; what the script keeps in globals lives until its file changes. A changed
 * file that can not be read leaves the last good one in place, and an error in the script lets the job pass, as in Slurm; both are logged.
 */
public final class SubmitScript implements AutoCloseable {
    /** A script that runs longer is stopped, and what it was asked about refused. */
    static final long RUN_MS = 10_000;

    private final File file;
    private final Consumer<String> info;
    private final Consumer<String> error;
    private final ExecutorService runner = Executors.newSingleThreadExecutor(r -> {
        Thread t = new Thread(r, "job_submit.lua");
        t.setDaemon(true);
        return t;
    });
    private final long runMs;
    private volatile long stopNs;
    private Globals globals;
    private SlurmTable slurm;
    private long modified = -1;

    /** What the script sees of the cluster. */
    public interface Cluster {
        String name();

        /** Those that the user may use. */
        List<Json.Obj> partitions(int uid);

        List<Json.Obj> jobs();

        List<Json.Obj> reservations();

        /** -1 if there is none of that name. */
        long qosPriority(String qos);

        /** {@code qos}, {@code comment}, {@code defaultQos} and {@code account} of the job's association; none of them if it has none. */
        Map<String, String> association(JobDesc job);
    }

    /** @param said for the user, line by line */
    public sealed interface Outcome {
        List<String> said();
    }

    /** @param environment of a batch job; of others as it was */
    public record Passed(JobDesc job, Bytes script, List<Bytes> environment, List<String> said) implements Outcome {}

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
    }

    /** Reads it now. Answers what is wrong with it, "" if nothing is. */
    public String load() {
        try {
            return runner.submit(this::reload).get(runMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return file + ": " + e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return file + ": interrupted";
        }
    }

    @Override
    public void close() {
        runner.shutdownNow();
    }

    /** A new job. */
    public Outcome submit(JobDesc job, Bytes script, List<Bytes> environment, int uid, Cluster cluster) {
        return run(() -> {
            Json.Obj tree = Json.object(Codec.encode(job));
            Description d = new Description(tree, job, script, environment, cluster);
            Varargs answer = call("slurm_job_submit", d.table(), parts(cluster, uid), LuaValue.valueOf((double) uid));
            return verdict(answer, () -> new Passed(Codec.bind(tree, JobDesc.class), d.script(), d.environment(), slurm.said()));
        }, cluster, new Passed(job, script, environment, List.of()));
    }

    /**
     * Changes to a job.
     *
     * @param wanted the description with only the changes in it
     * @param now    the job's description
     */
    public Outcome modify(JobDesc wanted, JobDesc now, Bytes script, Map<String, Long> numbers, int uid, Cluster cluster) {
        return run(() -> {
            Json.Obj tree = Json.object(Codec.encode(wanted));
            Description d = new Description(tree, wanted, Bytes.EMPTY, List.of(), cluster);
            Description record = new Description(Json.object(Codec.encode(now)), now, script, List.of(), cluster);
            numbers.forEach((k, v) -> record.more.put(k, LuaValue.valueOf((double) v)));
            Varargs answer = call("slurm_job_modify", d.table(), record.table(), parts(cluster, uid), LuaValue.valueOf((double) uid));
            return verdict(answer, () -> new Passed(Codec.bind(tree, JobDesc.class), Bytes.EMPTY, List.of(), slurm.said()));
        }, cluster, new Passed(wanted, Bytes.EMPTY, List.of(), List.of()));
    }

    private interface Run {
        Outcome now();
    }

    private Outcome run(Run run, Cluster cluster, Outcome otherwise) {
        try {
            return runner.submit(() -> {
                reload();
                if (globals == null) {
                    return otherwise;
                }
                slurm.begin(cluster);
                stopNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(runMs);
                try {
                    return run.now();
                } catch (Sandbox.TimeOver e) {
                    error.accept("job_submit/lua: " + file + ": stopped after " + runMs / 1000 + " seconds");
                    return refused(SlurmErrno.ERROR.number());
                } catch (LuaError e) {
                    error.accept("job_submit/lua: " + file + ": " + e.getMessage());
                    return withSaid(otherwise);
                } finally {
                    stopNs = Long.MAX_VALUE;
                }
            }).get(2 * runMs, TimeUnit.MILLISECONDS);
        } catch (TimeoutException e) {
            error.accept("job_submit/lua: " + file + ": no answer after " + 2 * runMs / 1000 + " seconds");
            return new Refused(SlurmErrno.ERROR.number(), SlurmErrno.ERROR.sentence(), List.of());
        } catch (ExecutionException e) {
            error.accept("job_submit/lua: " + file + ": " + e.getCause());
            return otherwise;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return otherwise;
        }
    }

    private Outcome withSaid(Outcome o) {
        return o instanceof Passed p ? new Passed(p.job(), p.script(), p.environment(), slurm.said()) : o;
    }

    private Varargs call(String function, LuaValue... arguments) {
        LuaValue f = globals.get(function);
        return f.invoke(LuaValue.varargsOf(arguments));
    }

    private Outcome verdict(Varargs answer, Run passed) {
        if (!answer.arg1().isnumber()) {
            info.accept("job_submit/lua: job_submit: job_submit/lua: " + file + ": non-numeric return code");
            return passed.now();
        }
        int code = answer.arg1().toint();
        return code == 0 ? passed.now() : refused(code);
    }

    private Outcome refused(int code) {
        String sentence = Arrays.stream(SlurmErrno.values()).filter(e -> e.number() == code).findFirst().map(SlurmErrno::sentence)
                .orElse("Unknown error " + code);
        return new Refused(code, sentence, slurm.said());
    }

    private LuaValue parts(Cluster cluster, int uid) {
        LuaTable out = new LuaTable();
        for (Json.Obj p : cluster.partitions(uid)) {
            out.set(p.text("name"), SlurmTable.table(p));
        }
        return out;
    }

    // ---- loading

    private String reload() {
        long now = file.lastModified();
        if (now == modified) {
            return "";
        }
        modified = now;
        stopNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(runMs);
        try {
            String text = Files.readString(file.toPath(), StandardCharsets.UTF_8);
            Globals fresh = Sandbox.ofDaemon(() -> stopNs);
            SlurmTable table = new SlurmTable(fresh, info, error);
            fresh.set("slurm", table.table());
            LuaValue answer = fresh.load(new StringReader(text), file.getPath()).call();
            for (String name : List.of("slurm_job_submit", "slurm_job_modify")) {
                if (!fresh.get(name).isfunction()) {
                    throw new LuaError("required function " + name + " not present");
                }
            }
            if (answer.isnumber() && answer.toint() != 0) {
                throw new LuaError("returned " + answer.toint() + " on load");
            }
            globals = fresh;
            slurm = table;
            return "";
        } catch (IOException | LuaError | Sandbox.TimeOver e) {
            String why = file + ": " + (e instanceof IOException ? "Unable to stat: " : "") + e.getMessage();
            error.accept("job_submit/lua: " + why + (globals == null ? "" : ", using previous script"));
            return why;
        } finally {
            stopNs = Long.MAX_VALUE;
        }
    }

    // ---- job_desc

    /** A job as the script sees and changes it. */
    private final class Description {
        private final Json.Obj tree;
        private final JobDesc job;
        private final Map<String, LuaValue> more = new java.util.TreeMap<>();
        private final Cluster cluster;
        private final LuaTable environment;
        private final Bytes script;
        private final List<Bytes> given;
        private String newScript;

        private Description(Json.Obj tree, JobDesc job, Bytes script, List<Bytes> given, Cluster cluster) {
            this.tree = tree;
            this.job = job;
            this.cluster = cluster;
            this.script = script;
            this.given = given;
            environment = new LuaTable();
            for (Bytes entry : given) {
                int equals = entry.text().indexOf('=');
                if (equals > 0) {
                    environment.set(entry.text().substring(0, equals), entry.text().substring(equals + 1));
                }
            }
        }

        private boolean batch() {
            return job.kind() == JobDesc.Kind.BATCH;
        }

        LuaTable table() {
            LuaTable out = new LuaTable();
            LuaTable meta = new LuaTable();
            meta.set(LuaValue.INDEX, new TwoArgFunction() {
                @Override
                public LuaValue call(LuaValue self, LuaValue name) {
                    return read(name.tojstring());
                }
            });
            meta.set(LuaValue.NEWINDEX, new ThreeArgFunction() {
                @Override
                public LuaValue call(LuaValue self, LuaValue name, LuaValue value) {
                    write(name.tojstring(), value);
                    return LuaValue.NIL;
                }
            });
            out.setmetatable(meta);
            return out;
        }

        private LuaValue read(String name) {
            if (more.containsKey(name)) {
                return more.get(name);
            }
            return switch (name) {
                case "script" -> newScript != null ? LuaValue.valueOf(newScript)
                        : batch() && !script.isEmpty() ? LuaValue.valueOf(script.text()) : LuaValue.NIL;
                case "environment" -> batch() ? environment : LuaValue.NIL;
                case "env_size" -> LuaValue.valueOf(given.size());
                case "assoc_qos" -> association("qos");
                case "assoc_comment" -> association("comment");
                case "default_account" -> association("account");
                case "default_qos" -> association("defaultQos");
                default -> JobFields.get(tree, name);
            };
        }

        private LuaValue association(String what) {
            String text = cluster.association(Codec.bind(tree, JobDesc.class)).getOrDefault(what, "");
            return text.isEmpty() ? LuaValue.NIL : LuaValue.valueOf(text);
        }

        private void write(String name, LuaValue value) {
            if (name.equals("script") && batch() && value.isstring()) {
                newScript = value.tojstring();
                return;
            }
            if (name.equals("environment")) {
                error.accept("job_submit/lua: environment is changed name by name");
                return;
            }
            JobFields.set(tree, name, value).ifPresent(why -> error.accept("job_submit/lua: job_desc." + name + " " + why));
        }

        Bytes script() {
            return newScript == null ? script : Bytes.of(newScript);
        }

        /** What the script left as it was keeps its bytes. */
        List<Bytes> environment() {
            List<Bytes> out = new ArrayList<>();
            List<String> seen = new ArrayList<>();
            for (Bytes entry : given) {
                int equals = entry.text().indexOf('=');
                String name = equals > 0 ? entry.text().substring(0, equals) : "";
                LuaValue value = name.isEmpty() ? LuaValue.NIL : environment.get(name);
                boolean same = name.isEmpty() || !value.isnil() && value.tojstring().equals(entry.text().substring(equals + 1));
                seen.add(name);
                if (same) {
                    out.add(entry);
                } else if (!value.isnil()) {
                    out.add(Bytes.of(name + "=" + value.tojstring()));
                }
            }
            for (LuaValue key : environment.keys()) {
                if (!seen.contains(key.tojstring())) {
                    out.add(Bytes.of(key.tojstring() + "=" + environment.get(key).tojstring()));
                }
            }
            return out;
        }
    }
}
