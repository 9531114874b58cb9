package dev.muster.cli.request;

import dev.muster.cli.command.RawText;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.connection.Sessions;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.model.format.Digits;
import dev.muster.model.job.Distribution;
import dev.muster.model.job.MemBind;
import dev.muster.model.job.TresPerTask;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Makes the environment of a job or step: what {@code --export} selects, and the variables that hold the options. */
public final class JobEnvironment {
    private JobEnvironment() {}

    public static List<Object> base64All(List<String> texts) {
        List<Object> out = new ArrayList<>(texts.size());
        for (String t : texts) {
            out.add(RawText.bytes(t).base64());
        }
        return out;
    }

    public static List<Object> entries(Map<String, String> env) {
        List<Object> out = new ArrayList<>(env.size());
        for (Map.Entry<String, String> e : env.entrySet()) {
            out.add(RawText.bytes(e.getKey() + "=" + e.getValue()).base64());
        }
        return out;
    }

    /** Returns the variables that {@code --export} selects. */
    public static Map<String, String> exported(JobOptions o) throws UsageException {
        Map<String, String> all = o.context().env();
        String export = o.text(JobOption.EXPORT);
        Map<String, String> out = new LinkedHashMap<>();
        if (export.equalsIgnoreCase("ALL") || !o.has(JobOption.EXPORT) && !o.has(JobOption.EXPORT_FILE)) {
            out.putAll(all);
        } else if (export.equalsIgnoreCase("NONE") || export.equalsIgnoreCase("NIL")) {
            slurmOnly(all, out);
        } else if (o.has(JobOption.EXPORT)) {
            Texts.splitQuoted(export, ',').stream()
                    .filter(Texts::isQuoteOpen)
                    .forEach(i -> o.context().error("Improperly formed environment variable (" + i + ")"));
            named(export, all, out);
            if (o.command() == 'R' && Texts.splitQuoted(export, ',').stream().anyMatch("ALL"::equalsIgnoreCase)) {
                out.putAll(all); // of a step what is there already counts, of a job what is said last
            }
        }
        if (o.has(JobOption.EXPORT_FILE)) {
            out.putAll(fromFile(o));
        }
        if (o.command() == 'B') {
            out.remove(Sessions.JWT); // what the job does is asked for by its user on the node
        }
        if (o.command() == 'B' && o.has(JobOption.EXPORT) && !export.equalsIgnoreCase("ALL")) {
            out.put("SLURM_EXPORT_ENV", export);
        }
        if (needsLogin(o)) {
            out.put("SLURM_GET_USER_ENV", "1");
        }
        return out;
    }

    /**
     * Returns whether the job starts with its user's login environment, by request or by an --export other than ALL or
     * NIL alone.
     */
    public static boolean needsLogin(JobOptions o) {
        String export = o.text(JobOption.EXPORT);
        boolean implied = o.has(JobOption.EXPORT) && !export.equalsIgnoreCase("NIL") && !export.equalsIgnoreCase("ALL");
        return o.command() == 'B' && (implied || o.has(JobOption.GET_USER_ENV));
    }

    private static void slurmOnly(Map<String, String> all, Map<String, String> out) {
        for (Map.Entry<String, String> e : all.entrySet()) {
            if (e.getKey().startsWith("SLURM_") || e.getKey().startsWith("SPANK_")) {
                out.put(e.getKey(), e.getValue());
            }
        }
    }

    private static void named(String export, Map<String, String> all, Map<String, String> out) {
        slurmOnly(all, out);
        for (String item : Texts.splitQuoted(export, ',')) {
            int eq = item.indexOf('=');
            if (item.equalsIgnoreCase("ALL")) {
                out.putAll(all);
            } else if (eq > 0) {
                out.put(item.substring(0, eq), item.substring(eq + 1));
            } else if (all.containsKey(item)) {
                out.put(item, all.get(item));
            }
        }
    }

    /** {@code --export-file}: NAME=value entries that end with a zero byte each. */
    private static Map<String, String> fromFile(JobOptions o) throws UsageException {
        String path = o.text(JobOption.EXPORT_FILE);
        Map<String, String> out = new LinkedHashMap<>();
        boolean open = Digits.parseNumber(path) > 2;
        try {
            if (open) {
                o.context().host().needsOwnProcess(); // a descriptor that the caller has open
            }
            String text = RawText.decode(o.context().host().readFile(open ? "/proc/self/fd/" + path : path, 1 << 20));
            for (String entry : Texts.split(text, '\0')) {
                int eq = entry.indexOf('=');
                if (eq > 0) {
                    out.put(entry.substring(0, eq), entry.substring(eq + 1));
                }
            }
            return out;
        } catch (java.io.IOException e) {
            throw o.context().bad(1, "Could not open user environment file " + path);
        }
    }

    /**
     * A step says nothing of its memory to what it runs: it may ask for all of the job's, and another step in it would
     * wait for that.
     */
    private static void memory(JobOptions o, Map<String, String> env) {
        put(o, env, JobOption.MEM_PER_CPU, "SLURM_MEM_PER_CPU");
        put(o, env, JobOption.MEM_PER_GPU, "SLURM_MEM_PER_GPU");
        if (!o.text(JobOption.MEM).matches("0+[A-Za-z]?")) {
            put(o, env, JobOption.MEM, "SLURM_MEM_PER_NODE");
        }
    }

    /** The variables with which a job tells its own options to its steps. */
    public static void addOptions(JobOptions o, Map<String, String> env) {
        put(o, env, JobOption.CPUS_PER_TASK, "SLURM_CPUS_PER_TASK");
        put(o, env, JobOption.CPUS_PER_GPU, "SLURM_CPUS_PER_GPU");
        put(o, env, JobOption.GPU_FREQ, "SLURM_GPU_FREQ");
        put(o, env, JobOption.GPUS, "SLURM_GPUS");
        put(o, env, JobOption.GPUS_PER_NODE, "SLURM_GPUS_PER_NODE");
        put(o, env, JobOption.GPUS_PER_SOCKET, "SLURM_GPUS_PER_SOCKET");
        if (o.command() != 'R') {
            memory(o, env);
        }
        put(o, env, JobOption.NTASKS, "SLURM_NTASKS");
        put(o, env, JobOption.NTASKS, "SLURM_NPROCS");
        put(o, env, JobOption.NTASKS_PER_CORE, "SLURM_NTASKS_PER_CORE");
        put(o, env, JobOption.NTASKS_PER_GPU, o.command() == 'R' ? "SLURM_NTASKS_PER_TRES" : "SLURM_NTASKS_PER_GPU");
        put(o, env, JobOption.NTASKS_PER_NODE, "SLURM_NTASKS_PER_NODE");
        put(o, env, JobOption.NTASKS_PER_SOCKET, "SLURM_NTASKS_PER_SOCKET");
        if (o.has(JobOption.OPEN_MODE) && o.command() != 'R') {
            env.put("SLURM_OPEN_MODE", o.text(JobOption.OPEN_MODE).substring(0, 1));
        }
        put(o, env, JobOption.NETWORK, "SLURM_NETWORK");
        if (o.has(JobOption.PROFILE) && o.command() != 'R') {
            env.put("SLURM_PROFILE", profiles(o.text(JobOption.PROFILE)));
        }
        put(o, env, JobOption.ACCTG_FREQ, "SLURM_ACCTG_FREQ");
        put(o, env, JobOption.CPU_FREQ, "SLURM_CPU_FREQ_REQ");
        put(o, env, JobOption.DEPENDENCY, "SLURM_JOB_DEPENDENCY");
        Distribution.parse(o.text(JobOption.DISTRIBUTION))
                .filter(d -> !d.equals(Distribution.UNSET))
                .ifPresent(d -> {
                    env.put("SLURM_DISTRIBUTION", d.text());
                    if (d.nodes() == Distribution.Nodes.PLANE) {
                        env.put("SLURM_DIST_PLANESIZE", Integer.toString(d.plane()));
                    }
                });
        if (o.command() != 'R') { // a step's are made of what it was told
            MemBind.parse(o.text(JobOption.MEM_BIND))
                    .map(MemBind::ofJob)
                    .orElse(List.of())
                    .forEach(e -> env.put(e.substring(0, e.indexOf('=')), e.substring(e.indexOf('=') + 1)));
        }
        put(o, env, JobOption.THREADS_PER_CORE, "SLURM_THREADS_PER_CORE");
        put(o, env, JobOption.TRES_PER_TASK, TresPerTask.VARIABLE);
        addBinding(o, env);
        put(o, env, JobOption.CONTAINER, "SLURM_CONTAINER");
        put(o, env, JobOption.CONTAINER_ID, "SLURM_CONTAINER_ID");
        put(o, env, JobOption.CONTAINER_TYPE, "SLURM_CONTAINER_TYPE");
        put(o, env, JobOption.HINT, "SLURM_HINT");
        if (o.has(JobOption.OVERCOMMIT)) {
            env.put("SLURM_OVERCOMMIT", "1");
        }
        if (o.command() != 'A') {
            env.put("SLURM_PRIO_PROCESS", Integer.toString(o.context().host().nice()));
        }
        env.put("SLURM_SUBMIT_DIR", o.context().host().workDir());
        env.put("SLURM_SUBMIT_HOST", o.context().host().hostName());
    }

    private static final Map<JobOption, String> TYPED_FOR_STEP = Map.of(
            JobOption.GPUS,
            "SLURM_GPUS",
            JobOption.GPUS_PER_NODE,
            "SLURM_GPUS_PER_NODE",
            JobOption.GPUS_PER_SOCKET,
            "SLURM_GPUS_PER_SOCKET",
            JobOption.GPU_FREQ,
            "SLURM_GPU_FREQ",
            JobOption.CPUS_PER_GPU,
            "SLURM_CPUS_PER_GPU",
            JobOption.NTASKS_PER_GPU,
            "SLURM_NTASKS_PER_TRES",
            JobOption.NTASKS_PER_NODE,
            "SLURM_NTASKS_PER_NODE",
            JobOption.THREADS_PER_CORE,
            "SLURM_THREADS_PER_CORE");

    /**
     * Sets the variables for options that were typed for a step in an allocation; its tasks inherit variables of the
     * environment anyway.
     */
    public static void addTyped(JobOptions o, Map<String, String> env) {
        TYPED_FOR_STEP.forEach((option, name) -> {
            if (o.typed(option)) {
                env.put(name, o.text(option));
            }
        });
        if (o.typed(JobOption.OVERCOMMIT)) {
            env.put("SLURM_OVERCOMMIT", "1");
        }
        addBinding(o, env);
    }

    private static void addBinding(JobOptions o, Map<String, String> env) {
        String bind = GpuBinding.of(o);
        if (!bind.isEmpty()) {
            env.put("SLURM_TRES_BIND", bind);
        }
        if (!bind.isEmpty() && o.command() == 'R') {
            env.put("SLURMD_TRES_BIND", bind);
        }
    }

    /** {@code task,energy} → {@code Energy,Task}. */
    private static String profiles(String asked) {
        List<String> words = Texts.split(Texts.lower(asked).replace("filesystem", "lustre"), ',');
        String out = Stream.of("Energy", "Lustre", "Network", "Task")
                .filter(w -> words.contains("all") || words.contains(Texts.lower(w)))
                .collect(Collectors.joining(","));
        return out.isEmpty() ? "None" : out;
    }

    private static void put(JobOptions o, Map<String, String> env, JobOption option, String name) {
        if (o.has(option)) {
            env.put(name, o.text(option));
        }
    }
}
