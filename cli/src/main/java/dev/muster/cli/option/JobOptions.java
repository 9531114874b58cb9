package dev.muster.cli.option;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.UsageException;
import dev.muster.model.format.Digits;
import dev.muster.model.job.NodeCounts;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The options of one sbatch, srun or salloc, checked and in normal form: minutes, mebibytes, seconds since 1970,
 * numbers.
 */
public final class JobOptions {
    /** The source of a value, the weaker first. */
    public enum Origin {
        DEFAULT,
        INHERITED,
        SCRIPT,
        ENVIRONMENT,
        COMMAND_LINE
    }

    private static final int COUNT = JobOption.values().length;

    private final CommandContext context;
    private final char command;
    private final java.util.Map<String, String> stepEnvironment = new java.util.TreeMap<>();
    private final String[] values = new String[COUNT];
    private String nodeSizes = "";
    private final Origin[] origins = new Origin[COUNT];
    private final int hetGroup;
    private int verbose;
    private String forwarded = "";
    private String scriptName = "stdin";

    public JobOptions(CommandContext context, char command) {
        this(context, command, -1);
    }

    /**
     * @param hetGroup the component of a heterogeneous job that a step runs in: its own variables stand for its
     *     options; -1 for none; {@code ComponentEnvironment.FIRST}
     */
    public JobOptions(CommandContext context, char command, int hetGroup) {
        this.context = context;
        this.command = command;
        this.hetGroup = hetGroup;
    }

    /** Variables that the command itself adds to its step's environment. */
    public java.util.Map<String, String> stepEnvironment() {
        return stepEnvironment;
    }

    /** Sets the X11 display for programs on the nodes, in the form of the request. */
    public void forwardDisplay(String x11) {
        forwarded = x11;
    }

    /** Returns the X11 display of the request, "" for none. */
    public String display() {
        return forwarded;
    }

    /** Returns the batch script's name for sentences about its lines. */
    public String scriptName() {
        return scriptName;
    }

    public void nameScript(String name) {
        scriptName = name;
    }

    public CommandContext context() {
        return context;
    }

    public char command() {
        return command;
    }

    /** Returns the component of a heterogeneous job that a step runs in; -1 for none. */
    public int hetGroup() {
        return hetGroup;
    }

    public int verbose() {
        return verbose;
    }

    public boolean has(JobOption option) {
        return values[option.ordinal()] != null;
    }

    /** Returns whether the option is set by more than the user's defaults. */
    public boolean isRequested(JobOption option) {
        return has(option) && origins[option.ordinal()] != Origin.DEFAULT;
    }

    /** Returns whether the option stands on the command line. */
    public boolean typed(JobOption option) {
        return origins[option.ordinal()] == Origin.COMMAND_LINE;
    }

    /** Returns whether the option stands on the command line, or on that of the first component of several. */
    public boolean isTypedOrInherited(JobOption option) {
        return typed(option) || origins[option.ordinal()] == Origin.INHERITED;
    }

    public String text(JobOption option) {
        String value = values[option.ordinal()];
        return value == null ? "" : value;
    }

    public long number(JobOption option) {
        String value = values[option.ordinal()];
        return value == null ? 0 : Long.parseLong(value);
    }

    public int integer(JobOption option) {
        return (int) number(option);
    }

    /** Reads the command line. Returns the operands. */
    public List<String> readArguments(List<String> args) throws UsageException {
        GetOpt.Parsed parsed = GetOpt.parse(JobOption.table(command), args, true);
        return apply(parsed, Origin.COMMAND_LINE);
    }

    public List<String> apply(GetOpt.Parsed parsed, Origin origin) throws UsageException {
        for (GetOpt.Hit hit : parsed.hits()) {
            JobOption option = JobOption.of(command, hit.opt().name());
            set(option, hit.value(), origin);
        }
        if (!parsed.error().isEmpty()) {
            throw new UsageException(
                    255,
                    List.of(
                            context.program() + ": " + parsed.error(),
                            "Try \"" + context.name() + " --help\" for more information"));
        }
        return parsed.operands();
    }

    public int exitError(int otherwise) {
        return context.exitError(otherwise);
    }

    /** Copies options from the first component of a heterogeneous job, unless this one sets them or their rivals. */
    public void inherit(JobOptions first, Set<JobOption> inherited) {
        boolean memory = has(JobOption.MEM) || has(JobOption.MEM_PER_CPU) || has(JobOption.MEM_PER_GPU);
        boolean requeue = has(JobOption.REQUEUE) || has(JobOption.NO_REQUEUE);
        for (JobOption option : inherited) {
            boolean rivalled = memory && (option == JobOption.MEM || option == JobOption.MEM_PER_CPU)
                    || requeue && (option == JobOption.REQUEUE || option == JobOption.NO_REQUEUE);
            if (first.has(option) && !isRequested(option) && !rivalled) {
                values[option.ordinal()] = first.text(option);
                origins[option.ordinal()] = Origin.INHERITED;
            }
        }
        verbose = Math.max(verbose, first.verbose);
    }

    /** Copies options from another component that belong to the whole command. */
    public void adopt(JobOptions other, Set<JobOption> shared) {
        for (JobOption option : shared) {
            if (other.has(option) && !isRequested(option)) {
                values[option.ordinal()] = other.text(option);
                origins[option.ordinal()] = other.origins[option.ordinal()];
            }
        }
    }

    /** Returns the valid numbers of nodes where --nodes lists them; "" if every number of its range is valid. */
    public String nodeSizes() {
        return has(JobOption.NODES) ? nodeSizes : "";
    }

    /** Removes an option as if it had not been given. */
    public void drop(JobOption option) {
        values[option.ordinal()] = null;
        origins[option.ordinal()] = null;
    }

    public void set(JobOption option, String value, Origin origin) throws UsageException {
        int i = option.ordinal();
        if (option == JobOption.VERBOSE) {
            verbose = switch (origin) {
                case COMMAND_LINE -> verbose + 1;
                case DEFAULT -> verbose + levelOf(value);
                case INHERITED, SCRIPT, ENVIRONMENT -> Math.max(verbose, levelOf(value));
            };
            return;
        }
        if (option.standsFor() != option) {
            set(option.standsFor(), value, origin);
            return;
        }
        if (origins[i] != null && origins[i].compareTo(origin) > 0) {
            return;
        }
        Origin rival = rivalOrigin(option, origin);
        if (rival != null && rival.compareTo(origin) > 0) {
            return;
        }
        String normal = OptionCheck.check(this, option, value);
        if (yieldsToHint(option, origin)) {
            return;
        }
        if (option == JobOption.ACCEL_BIND && value.indexOf('g') >= 0 && !has(JobOption.GPU_BIND)) {
            set(JobOption.GPU_BIND, value.indexOf('v') < 0 ? "closest" : "verbose,closest", origin);
        }
        resolveRivals(option, origin);
        values[i] = normal;
        if (option == JobOption.NODES) {
            nodeSizes = NodeCounts.parse(value, Digits::parseNumber)
                    .map(NodeCounts::sizes)
                    .orElse("");
        }
        origins[i] = origin;
    }

    /** The origin of the option that excludes this one, null if none is set. */
    private @Nullable Origin rivalOrigin(JobOption option, Origin origin) {
        return switch (option) {
            case CORE_SPEC -> origins[JobOption.THREAD_SPEC.ordinal()];
            case THREAD_SPEC -> origins[JobOption.CORE_SPEC.ordinal()];
            case EXCLUSIVE -> isTyped(origin) ? null : origins[JobOption.OVERSUBSCRIBE.ordinal()];
            case MEM -> strongest(JobOption.MEM_PER_CPU, JobOption.MEM_PER_GPU);
            case MEM_PER_CPU -> strongest(JobOption.MEM, JobOption.MEM_PER_GPU);
            case MEM_PER_GPU -> strongest(JobOption.MEM, JobOption.MEM_PER_CPU);
            case REQUEUE -> strongest(JobOption.NO_REQUEUE);
            case NO_REQUEUE -> strongest(JobOption.REQUEUE);
            default -> null;
        };
    }

    private @Nullable Origin strongest(JobOption... others) {
        return Arrays.stream(others)
                .map(o -> origins[o.ordinal()])
                .filter(Objects::nonNull)
                .max(Comparator.naturalOrder())
                .orElse(null);
    }

    /**
     * Options that a hint stands for. The explicit option takes precedence, unless the hint comes from a stronger
     * source.
     */
    private static final List<JobOption> HINTED = List.of(
            JobOption.NTASKS_PER_CORE,
            JobOption.CORES_PER_SOCKET,
            JobOption.SOCKETS_PER_NODE,
            JobOption.THREADS_PER_CORE,
            JobOption.EXTRA_NODE_INFO);

    private boolean yieldsToHint(JobOption option, Origin origin) {
        if (option == JobOption.HINT) {
            return HINTED.stream()
                    .anyMatch(h -> origins[h.ordinal()] != null && origins[h.ordinal()].compareTo(origin) >= 0);
        }
        Origin hint = origins[JobOption.HINT.ordinal()];
        return HINTED.contains(option) && hint != null && hint.compareTo(origin) > 0;
    }

    private static int levelOf(String value) {
        return value.length() == 1 && value.charAt(0) >= '0' && value.charAt(0) <= '9' ? value.charAt(0) - '0' : 0;
    }

    /**
     * Removes options that this one excludes. A stronger source takes precedence; the same source is a contradiction.
     */
    private void resolveRivals(JobOption option, Origin origin) throws UsageException {
        switch (option) {
            case MEM -> removeRivals(origin, true, JobOption.MEM_PER_CPU, JobOption.MEM_PER_GPU);
            case MEM_PER_CPU -> removeRivals(origin, true, JobOption.MEM, JobOption.MEM_PER_GPU);
            case MEM_PER_GPU -> removeRivals(origin, true, JobOption.MEM, JobOption.MEM_PER_CPU);
            case CORE_SPEC -> excludeSpecialization(origin, JobOption.THREAD_SPEC);
            case THREAD_SPEC -> excludeSpecialization(origin, JobOption.CORE_SPEC);
            case REQUEUE -> removeRivals(origin, false, JobOption.NO_REQUEUE);
            case NO_REQUEUE -> removeRivals(origin, false, JobOption.REQUEUE);
            case EXCLUSIVE -> {
                excludeSharing(origin, JobOption.OVERSUBSCRIBE);
                excludeOverlap(origin, JobOption.OVERLAP);
            }
            case OVERSUBSCRIBE -> excludeSharing(origin, JobOption.EXCLUSIVE);
            case OVERLAP -> excludeOverlap(origin, JobOption.EXCLUSIVE);
            case HINT -> removeRivals(origin, false, HINTED.toArray(JobOption[]::new));
            case NTASKS_PER_CORE, CORES_PER_SOCKET, SOCKETS_PER_NODE, THREADS_PER_CORE, EXTRA_NODE_INFO ->
                removeRivals(origin, false, JobOption.HINT);
            case BELL -> removeRivals(origin, false, JobOption.NO_BELL);
            case NO_BELL -> removeRivals(origin, false, JobOption.BELL);
            default -> {}
        }
    }

    /** Refuses --core-spec beside --thread-spec from the same source. */
    private void excludeSpecialization(Origin origin, JobOption other) throws UsageException {
        if (origins[other.ordinal()] == origin) {
            throw new UsageException(
                    CommandContext.FATAL_EXIT,
                    List.of(context.name() + ": fatal: "
                            + (origin == Origin.ENVIRONMENT
                                    ? "Both --core-spec and --thread-spec set using environment variables. Those "
                                            + "options are mutually exclusive."
                                    : "-S/--core-spec and --thred-spec options are mutually exclusive")));
        }
        removeRivals(origin, false, other);
    }

    /**
     * Refuses --exclusive beside --oversubscribe if both are typed, in the script or on the command line. A variable
     * yields.
     */
    private void excludeSharing(Origin origin, JobOption other) throws UsageException {
        Origin rival = origins[other.ordinal()];
        if (isTyped(origin) && rival != null && isTyped(rival)) {
            throw new UsageException(
                    CommandContext.FATAL_EXIT,
                    List.of(context.name()
                            + ": fatal: --exclusive and --oversubscribe options are mutually exclusive"));
        }
        removeRivals(origin, false, other);
    }

    /** Refuses --exclusive beside --overlap from one typed source. A variable yields. */
    private void excludeOverlap(Origin origin, JobOption other) throws UsageException {
        if (isTyped(origin) && origins[other.ordinal()] == origin) {
            throw context.bad(exitError(1), "--exclusive and --overlap are mutually exclusive");
        }
        removeRivals(origin, false, other);
    }

    private static boolean isTyped(Origin origin) {
        return origin == Origin.SCRIPT || origin == Origin.COMMAND_LINE;
    }

    private void removeRivals(Origin origin, boolean contradiction, JobOption... others) throws UsageException {
        for (JobOption other : others) {
            Origin rival = origins[other.ordinal()];
            if (rival == null) {
                continue;
            }
            if (contradiction && rival == origin) {
                String names = origin == Origin.ENVIRONMENT
                        ? "SLURM_MEM_PER_CPU, SLURM_MEM_PER_GPU, and SLURM_MEM_PER_NODE"
                        : "--mem, --mem-per-cpu, and --mem-per-gpu";
                throw new UsageException(
                        CommandContext.FATAL_EXIT,
                        List.of(context.name() + ": fatal: " + names + " are mutually exclusive."));
            }
            values[other.ordinal()] = null;
            origins[other.ordinal()] = null;
        }
    }

    /** Returns SLURM_UMASK, else the umask of the caller. */
    public int umask() {
        String value = context.env("SLURM_UMASK");
        return value.matches("[0-7]{1,4}")
                ? Integer.parseInt(value, 8) & 0777
                : context.host().umask();
    }
}
