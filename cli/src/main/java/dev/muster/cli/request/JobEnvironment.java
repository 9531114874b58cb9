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
        for (Map.Entry<String, String> entry : env.entrySet()) {
            out.add(RawText.bytes(entry.getKey() + "=" + entry.getValue()).base64());
        }
        return out;
    }

    /** Returns the variables that {@code --export} selects. */
    public static Map<String, String> exported(JobOptions options) throws UsageException {
        Map<String, String> all = options.context().env();
        String export = options.text(JobOption.EXPORT);
        Map<String, String> out = new LinkedHashMap<>();
        if (export.equalsIgnoreCase("ALL") || !options.has(JobOption.EXPORT) && !options.has(JobOption.EXPORT_FILE)) {
            out.putAll(all);
        } else if (export.equalsIgnoreCase("NONE") || export.equalsIgnoreCase("NIL")) {
            slurmOnly(all, out);
        } else if (options.has(JobOption.EXPORT)) {
            Texts.splitQuoted(export, ',').stream()
                    .filter(Texts::isQuoteOpen)
                    .forEach(i -> options.context().error("Improperly formed environment variable (" + i + ")"));
            named(export, all, out);
            if (options.command() == 'R'
                    && Texts.splitQuoted(export, ',').stream().anyMatch("ALL"::equalsIgnoreCase)) {
                out.putAll(all); // of a step what is there already counts, of a job what is said last
            }
        }
        if (options.has(JobOption.EXPORT_FILE)) {
            out.putAll(fromFile(options));
        }
        if (options.command() == 'B') {
            out.remove(Sessions.JWT); // what the job does is asked for by its user on the node
        }
        if (options.command() == 'B' && options.has(JobOption.EXPORT) && !export.equalsIgnoreCase("ALL")) {
            out.put("SLURM_EXPORT_ENV", export);
        }
        if (needsLogin(options)) {
            out.put("SLURM_GET_USER_ENV", "1");
        }
        return out;
    }

    /**
     * Returns whether the job starts with its user's login environment, by request or by an --export other than ALL or
     * NIL alone.
     */
    public static boolean needsLogin(JobOptions options) {
        String export = options.text(JobOption.EXPORT);
        boolean implied =
                options.has(JobOption.EXPORT) && !export.equalsIgnoreCase("NIL") && !export.equalsIgnoreCase("ALL");
        return options.command() == 'B' && (implied || options.has(JobOption.GET_USER_ENV));
    }

    private static void slurmOnly(Map<String, String> all, Map<String, String> out) {
        for (Map.Entry<String, String> entry : all.entrySet()) {
            if (entry.getKey().startsWith("SLURM_") || entry.getKey().startsWith("SPANK_")) {
                out.put(entry.getKey(), entry.getValue());
            }
        }
    }

    private static void named(String export, Map<String, String> all, Map<String, String> out) {
        slurmOnly(all, out);
        for (String item : Texts.splitQuoted(export, ',')) {
            int equalSign = item.indexOf('=');
            if (item.equalsIgnoreCase("ALL")) {
                out.putAll(all);
            } else if (equalSign > 0) {
                out.put(item.substring(0, equalSign), item.substring(equalSign + 1));
            } else if (all.containsKey(item)) {
                out.put(item, all.get(item));
            }
        }
    }

    /** {@code --export-file}: NAME=value entries that end with a zero byte each. */
    private static Map<String, String> fromFile(JobOptions options) throws UsageException {
        String path = options.text(JobOption.EXPORT_FILE);
        Map<String, String> out = new LinkedHashMap<>();
        boolean open = Digits.parseNumber(path) > 2;
        try {
            if (open) {
                options.context().host().needsOwnProcess(); // a descriptor that the caller has open
            }
            String text =
                    RawText.decode(options.context().host().readFile(open ? "/proc/self/fd/" + path : path, 1 << 20));
            for (String entry : Texts.split(text, '\0')) {
                int equalSign = entry.indexOf('=');
                if (equalSign > 0) {
                    out.put(entry.substring(0, equalSign), entry.substring(equalSign + 1));
                }
            }
            return out;
        } catch (java.io.IOException e) {
            throw options.context().bad(1, "Could not open user environment file " + path);
        }
    }

    /**
     * A step says nothing of its memory to what it runs: it may ask for all of the job's, and another step in it would
     * wait for that.
     */
    private static void memory(JobOptions options, Map<String, String> env) {
        put(options, env, JobOption.MEM_PER_CPU, "SLURM_MEM_PER_CPU");
        put(options, env, JobOption.MEM_PER_GPU, "SLURM_MEM_PER_GPU");
        if (!options.text(JobOption.MEM).matches("0+[A-Za-z]?")) {
            put(options, env, JobOption.MEM, "SLURM_MEM_PER_NODE");
        }
    }

    /** The variables with which a job tells its own options to its steps. */
    public static void addOptions(JobOptions options, Map<String, String> env) {
        put(options, env, JobOption.CPUS_PER_TASK, "SLURM_CPUS_PER_TASK");
        put(options, env, JobOption.CPUS_PER_GPU, "SLURM_CPUS_PER_GPU");
        put(options, env, JobOption.GPU_FREQ, "SLURM_GPU_FREQ");
        put(options, env, JobOption.GPUS, "SLURM_GPUS");
        put(options, env, JobOption.GPUS_PER_NODE, "SLURM_GPUS_PER_NODE");
        put(options, env, JobOption.GPUS_PER_SOCKET, "SLURM_GPUS_PER_SOCKET");
        if (options.command() != 'R') {
            memory(options, env);
        }
        put(options, env, JobOption.NTASKS, "SLURM_NTASKS");
        put(options, env, JobOption.NTASKS, "SLURM_NPROCS");
        put(options, env, JobOption.NTASKS_PER_CORE, "SLURM_NTASKS_PER_CORE");
        String tasksPerGpu = options.command() == 'R' ? "SLURM_NTASKS_PER_TRES" : "SLURM_NTASKS_PER_GPU";
        put(options, env, JobOption.NTASKS_PER_GPU, tasksPerGpu);
        put(options, env, JobOption.NTASKS_PER_NODE, "SLURM_NTASKS_PER_NODE");
        put(options, env, JobOption.NTASKS_PER_SOCKET, "SLURM_NTASKS_PER_SOCKET");
        if (options.has(JobOption.OPEN_MODE) && options.command() != 'R') {
            env.put("SLURM_OPEN_MODE", options.text(JobOption.OPEN_MODE).substring(0, 1));
        }
        put(options, env, JobOption.NETWORK, "SLURM_NETWORK");
        if (options.has(JobOption.PROFILE) && options.command() != 'R') {
            env.put("SLURM_PROFILE", profiles(options.text(JobOption.PROFILE)));
        }
        put(options, env, JobOption.ACCTG_FREQ, "SLURM_ACCTG_FREQ");
        put(options, env, JobOption.CPU_FREQ, "SLURM_CPU_FREQ_REQ");
        put(options, env, JobOption.DEPENDENCY, "SLURM_JOB_DEPENDENCY");
        Distribution.parse(options.text(JobOption.DISTRIBUTION))
                .filter(d -> !d.equals(Distribution.UNSET))
                .ifPresent(d -> {
                    env.put("SLURM_DISTRIBUTION", d.text());
                    if (d.nodes() == Distribution.Nodes.PLANE) {
                        env.put("SLURM_DIST_PLANESIZE", Integer.toString(d.plane()));
                    }
                });
        if (options.command() != 'R') { // a step's are made of what it was told
            MemBind.parse(options.text(JobOption.MEM_BIND))
                    .map(MemBind::ofJob)
                    .orElse(List.of())
                    .forEach(e -> env.put(e.substring(0, e.indexOf('=')), e.substring(e.indexOf('=') + 1)));
        }
        put(options, env, JobOption.THREADS_PER_CORE, "SLURM_THREADS_PER_CORE");
        put(options, env, JobOption.TRES_PER_TASK, TresPerTask.VARIABLE);
        addBinding(options, env);
        put(options, env, JobOption.CONTAINER, "SLURM_CONTAINER");
        put(options, env, JobOption.CONTAINER_ID, "SLURM_CONTAINER_ID");
        put(options, env, JobOption.CONTAINER_TYPE, "SLURM_CONTAINER_TYPE");
        put(options, env, JobOption.HINT, "SLURM_HINT");
        if (options.has(JobOption.OVERCOMMIT)) {
            env.put("SLURM_OVERCOMMIT", "1");
        }
        if (options.command() != 'A') {
            env.put(
                    "SLURM_PRIO_PROCESS",
                    Integer.toString(options.context().host().nice()));
        }
        env.put("SLURM_SUBMIT_DIR", options.context().host().workDir());
        env.put("SLURM_SUBMIT_HOST", options.context().host().hostName());
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
    public static void addTyped(JobOptions options, Map<String, String> env) {
        TYPED_FOR_STEP.forEach((option, name) -> {
            if (options.typed(option)) {
                env.put(name, options.text(option));
            }
        });
        if (options.typed(JobOption.OVERCOMMIT)) {
            env.put("SLURM_OVERCOMMIT", "1");
        }
        addBinding(options, env);
    }

    private static void addBinding(JobOptions options, Map<String, String> env) {
        String bind = GpuBinding.of(options);
        if (!bind.isEmpty()) {
            env.put("SLURM_TRES_BIND", bind);
        }
        if (!bind.isEmpty() && options.command() == 'R') {
            env.put("SLURMD_TRES_BIND", bind);
        }
    }

    /** {@code task,energy} → {@code Energy,Task}. */
    private static String profiles(String profile) {
        List<String> words = Texts.split(Texts.lower(profile).replace("filesystem", "lustre"), ',');
        String out = Stream.of("Energy", "Lustre", "Network", "Task")
                .filter(w -> words.contains("all") || words.contains(Texts.lower(w)))
                .collect(Collectors.joining(","));
        return out.isEmpty() ? "None" : out;
    }

    private static void put(JobOptions options, Map<String, String> env, JobOption option, String name) {
        if (options.has(option)) {
            env.put(name, options.text(option));
        }
    }
}
