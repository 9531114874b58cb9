package dev.muster.cli.request;

import dev.muster.cli.command.ClientConf;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SignalSpec;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.option.OptionCheck;
import dev.muster.json.Json;
import dev.muster.lua.LiveTable;
import dev.muster.lua.LuaFunction;
import dev.muster.lua.LuaState;
import dev.muster.lua.ScriptError;
import dev.muster.lua.SlurmWords;
import dev.muster.model.format.Durations;
import dev.muster.model.format.Times;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Runs {@code cli_filter/lua}: the site's cli_filter.lua, which sees and changes the options of sbatch, srun and salloc
 * in their own process. All components of a job share one script, which may keep values in globals. An error in a
 * function is reported and skipped; a script that cannot be loaded ends the command.
 */
public final class FilterScript {
    static final String PLUGIN = "cli_filter/lua";
    private static final int SCRIPT_BYTES_MAX = 4 << 20;
    private static final String ENDED = "cli_filter plugin terminated with error";
    private static final List<String> FUNCTIONS =
            List.of("slurm_cli_setup_defaults", "slurm_cli_pre_submit", "slurm_cli_post_submit");
    /** Values of unset options. Flags are "unset", and options that are missing here are nil. */
    private static final Map<String, String> UNSAID = new TreeMap<>();

    static {
        for (String pair :
                ("begin=Unknown deadline=Unknown cores-per-socket=-2 sockets-per-node=-2 threads-per-core=-2 "
                                + "ntasks-per-core=-2 "
                                + "ntasks-per-gpu=-2 ntasks-per-tres=-2 ntasks-per-node=-2 ntasks-per-socket=-2 "
                                + "relative=-2 nice=-2 kill-on-bad-exit=-2 mincpus=-1 "
                                + "cpus-per-gpu=0 cpus-per-task=0 immediate=0 quiet=0 priority=0 kill-command=0 "
                                + "ntasks=1 nodes=1-0 mail-type=NONE profile=NotSet "
                                + "signal=0@0 wait-all-nodes=65534 core-spec=unset thread-spec=unset no-kill=unset "
                                + "switches=unset mem-bind=unset gres-flags=unset "
                                + "extra-node-info=unset x11=unset kill-on-invalid-dep=unset requeue=unset "
                                + "resv-ports=unset exclusive=unset slurmd-debug=quiet "
                                + "threads=60 compress=none delay-boot=49710-06:28:14"
                                + " bell=bell-after-delay no-bell=bell-after-delay")
                        .split(" ")) {
            int equals = pair.indexOf('=');
            UNSAID.put(pair.substring(0, equals), pair.substring(equals + 1));
        }
    }

    /** Values of options that belong to other commands, where they are not "invalid-context"; "" for nil. */
    private static final Map<String, String> ELSEWHERE =
            Map.of("sbatch immediate", "0", "salloc output", "", "salloc error", "", "salloc input", "");

    private final CommandContext context;
    private final String path;
    private final LuaState state = LuaState.ofCommand();
    private final Map<Long, Object> values = new TreeMap<>();
    private int verbose;
    /** The options that the script sees now. */
    private @Nullable Options current;

    private FilterScript(CommandContext context, String path) {
        this.context = context;
        this.path = path;
    }

    /** Returns the command's script. A script that is missing or broken ends the command. */
    static FilterScript of(CommandContext context) throws UsageException {
        return context.host().oncePerProcess(FilterScript.class, () -> load(context));
    }

    private static FilterScript load(CommandContext context) throws UsageException {
        ClientConf conf = context.host().settings();
        FilterScript out = new FilterScript(
                context, conf.cliFilterPath.isEmpty() ? conf.directory() + "/cli_filter.lua" : conf.cliFilterPath);
        String fault = out.read();
        if (!fault.isEmpty()) {
            String error = context.name() + ": error: ";
            throw new UsageException(
                    1,
                    List.of(
                            error + PLUGIN + ": " + fault,
                            error + "Couldn't load specified plugin name for " + PLUGIN
                                    + ": Plugin init() callback failed",
                            error + "cannot create cli_filter context for " + PLUGIN,
                            error + ENDED));
        }
        return out;
    }

    private String read() {
        byte[] content;
        try {
            content = context.host().readFile(path, SCRIPT_BYTES_MAX + 1);
        } catch (IOException e) {
            return "Unable to stat " + path + ": No such file or directory";
        }
        if (content.length > SCRIPT_BYTES_MAX) {
            return path + ": more than " + SCRIPT_BYTES_MAX + " bytes";
        }
        SlurmWords.install(state, slurm());
        state.set("os", "getenv", (LuaFunction) a -> context.env().get(a.checkText(1)));
        try {
            Object answer = state.load(content, path);
            if (answer instanceof Number n && n.intValue() != 0) {
                return path + ": returned " + n.intValue() + " on load";
            }
        } catch (ScriptError e) {
            return path + ": " + e.getMessage();
        }
        return FUNCTIONS.stream()
                .filter(f -> !state.hasFunction(f))
                .findFirst()
                .map(f -> path + ": missing required function " + f)
                .orElse("");
    }

    private Map<String, Object> slurm() {
        Map<String, Object> out = SlurmWords.words(this::log);
        out.put("CLUSTER_NAME", context.host().settings().clusterName);
        out.put("json_cli_options", (LuaFunction) a -> current == null ? null : current.json());
        out.put("json_env", (LuaFunction) a -> {
            Json.Obj env = new Json.Obj();
            context.env().forEach(env::put);
            return env.toString();
        });
        out.put("cli_store", (LuaFunction) a -> {
            values.put(a.checkWhole(1), a.bytes(2));
            return null;
        });
        out.put("cli_retrieve", (LuaFunction) a -> values.get(a.checkWhole(1)));
        return out;
    }

    private void log(SlurmWords.Level level, String text) {
        switch (level) {
            case ERROR -> context.error(text);
            case INFO -> context.info(text);
            case VERBOSE -> logAt(1, text);
            case DEBUG -> logAt(2, "debug:  " + text);
            case DEBUG2 -> logAt(3, "debug2: " + text);
            case DEBUG3 -> logAt(4, "debug3: " + text);
            case DEBUG4 -> logAt(5, "debug4: " + text);
        }
    }

    private void logAt(int from, String text) {
        if (verbose >= from) {
            context.info(text);
        }
    }

    /** Calls slurm_cli_setup_defaults. The options that it sets are defaults. */
    void setup(JobOptions options) throws UsageException {
        call("slurm_cli_setup_defaults", options, new Options(options, JobOptions.Origin.DEFAULT, List.of()), null);
    }

    /** Calls slurm_cli_pre_submit. The options that it sets take precedence. */
    void preSubmit(JobOptions options, int offset, List<String> words) throws UsageException {
        call("slurm_cli_pre_submit", options, new Options(options, JobOptions.Origin.COMMAND_LINE, words), offset);
    }

    private void call(String function, JobOptions o, Options options, @Nullable Integer offset) throws UsageException {
        verbose = o.verbose();
        current = options;
        String hook = function.replace("slurm_cli", "cli_filter_p");
        int code = run(function, hook, options.table(), offset);
        if (code != 0) {
            throw new UsageException(o.exitError(1), List.of(context.name() + ": error: " + ENDED));
        }
    }

    /** Calls slurm_cli_post_submit. Its return code has no effect. */
    void postSubmit(int offset, int jobId, long stepId) {
        run("slurm_cli_post_submit", "cli_filter_p_post_submit", offset, jobId, stepId);
    }

    private int run(String function, String hook, @Nullable Object... arguments) {
        context.out().flush();
        try {
            Object answer = state.call(function, arguments).get(0);
            if (!(answer instanceof Number n)) {
                context.info(PLUGIN + ": " + hook + ": " + hook + "/lua: " + path + ": non-numeric return code");
                return 0;
            }
            return n.intValue();
        } catch (ScriptError e) {
            context.error(hook + "/lua: " + path + ": " + e.getMessage());
            return 0;
        }
    }

    /** The options of one component as the script sees and sets them. */
    private final class Options {
        private final JobOptions options;
        private final JobOptions.Origin origin;
        private final List<String> words;

        private Options(JobOptions options, JobOptions.Origin origin, List<String> words) {
            this.options = options;
            this.origin = origin;
            this.words = words;
        }

        private LiveTable table() {
            return new LiveTable(a -> value(a.text(2)), a -> {
                if (!a.isText(3)) {
                    throw new ScriptError("bad argument #-1 to '?' (string expected, got " + a.type(3) + ")");
                }
                assign(a.text(2), a.text(3));
                return null;
            });
        }

        private Optional<JobOption> named(String name) {
            return Arrays.stream(JobOption.values())
                    .filter(o -> o.takenBy(options.command()) && o.longName.equals(name))
                    .findFirst();
        }

        private @Nullable Object value(String name) {
            switch (name) {
                case "type" -> {
                    return context.name();
                }
                case "argv" -> {
                    return words;
                }
                case "spank" -> {
                    return List.of();
                }
                default -> {}
            }
            Optional<JobOption> option = named(name);
            String elsewhere = ELSEWHERE.get(context.name() + " " + name);
            if (option.isEmpty() && elsewhere != null) {
                return elsewhere.isEmpty() ? null : elsewhere;
            }
            if (option.isEmpty()) {
                return Arrays.stream(JobOption.values()).anyMatch(o -> o.longName.equals(name))
                        ? "invalid-context"
                        : null;
            }
            String text = text(option.get());
            return text.isEmpty() ? null : text;
        }

        private String text(JobOption option) {
            if (option == JobOption.VERBOSE) {
                return Integer.toString(options.verbose());
            }
            if (option == JobOption.EXCLUSIVE || option == JobOption.OVERSUBSCRIBE) {
                return sharing();
            }
            if (option == JobOption.REQUEUE && !options.has(option) && options.has(JobOption.NO_REQUEUE)) {
                return "no-requeue";
            }
            if (!options.has(option)) {
                return unsetText(option);
            }
            String value = options.text(option);
            switch (option) {
                case REQUEUE -> {
                    return "requeue";
                }
                case SIGNAL -> {
                    return SignalSpec.parse(value, options.command())
                            .map(SignalSpec::text)
                            .orElse(value);
                }
                case SWITCHES -> {
                    return switches(value);
                }
                case GRES -> {
                    return value.equalsIgnoreCase("none")
                            ? value
                            : String.join(
                                    ",",
                                    Arrays.stream(value.split(","))
                                            .map(item -> item.startsWith("gres") ? item : "gres/" + item)
                                            .toList());
                }
                default -> {}
            }
            return switch (option.kind) {
                case MOMENT -> Times.iso(Long.parseLong(value), context.host().zone());
                case TIME -> Long.parseLong(value) < 0 ? "UNLIMITED" : Durations.fullMinutes(Long.parseLong(value));
                case FLAG -> option == JobOption.QUIET ? "1" : "set";
                // Slurm's way to show that all memory of a node is meant
                case MEM ->
                    OptionCheck.shown(option, value).replaceFirst("M$", "").replaceFirst("^0$", "0?");
                case TEXT, COUNT, NUMBER, GRES, SPECIAL, REFUSED ->
                    option == JobOption.NO_KILL ? "set" : OptionCheck.shown(option, value);
            };
        }

        /** --exclusive and --oversubscribe are one option with two names. */
        private String sharing() {
            if (options.has(JobOption.OVERSUBSCRIBE)) {
                return "oversubscribe";
            }
            if (options.has(JobOption.EXCLUSIVE)) {
                return OptionCheck.shown(JobOption.EXCLUSIVE, options.text(JobOption.EXCLUSIVE));
            }
            return "unset";
        }

        private static String switches(String value) {
            int index = value.indexOf('@');
            return index < 0
                    ? value
                    : value.substring(0, index + 1)
                            + Durations.full(Durations.parseSeconds(value.substring(index + 1))
                                    .orElse(0));
        }

        private String unsetText(JobOption option) {
            return switch (option) {
                case UID -> Integer.toString(context.host().uid());
                case GID -> Integer.toString(context.host().gid());
                case CHDIR -> options.command() == 'A' ? "" : context.host().workDir();
                case HELP, USAGE, VERSION -> "";
                default -> UNSAID.getOrDefault(option.longName, option.kind == JobOption.Kind.FLAG ? "unset" : "");
            };
        }

        /** Sets an option. Options that the command lacks are skipped, so that one script serves all commands. */
        private void assign(String name, String value) {
            Optional<JobOption> option = named(name);
            if (option.isEmpty()
                    || origin == JobOptions.Origin.DEFAULT && CliFilter.isRequested(options, option.get())) {
                return;
            }
            try {
                OptionCheck.check(options, option.get(), value);
                if (origin == JobOptions.Origin.COMMAND_LINE) {
                    CliFilter.withRivals(option.get()).forEach(options::drop);
                }
                options.set(
                        option.get(),
                        value,
                        option.get() == JobOption.VERBOSE ? JobOptions.Origin.ENVIRONMENT : origin);
            } catch (UsageException e) {
                e.lines().forEach(context.err()::println);
            }
        }

        private String json() {
            Json.Obj out = new Json.Obj();
            for (JobOption option : JobOption.values()) {
                if (options.has(option)) {
                    out.put(option.longName, text(option));
                }
            }
            return out.put("argv", new java.util.ArrayList<Object>(words)).toString();
        }
    }
}
