package dev.muster.cli.option;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.SignalSpec;
import dev.muster.cli.command.Signals;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Digits;
import dev.muster.model.format.Durations;
import dev.muster.model.format.LogLevels;
import dev.muster.model.format.MemorySize;
import dev.muster.model.format.Times;
import dev.muster.model.job.CpuFreq;
import dev.muster.model.job.Distribution;
import dev.muster.model.job.NodeCounts;
import dev.muster.model.job.TresBind;
import dev.muster.model.job.TresFreq;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks the value of one option and brings it into normal form. Mistakes get Slurm's sentence and exit code. */
public final class OptionCheck {
    private static final int NODEFILE_BYTES_MAX = 4 << 20;
    private static final long PRIORITY_MAX = 0xffff_fffeL;
    /** The highest priority that there is. */
    public static final long PRIORITY_TOP = PRIORITY_MAX - 1;
    /** Exit code for an option with a wrong value. SLURM_EXIT_ERROR sets that of later failures. */
    private static final int SPEC_EXIT = 255;

    private static final int NUMBER_EXIT = 1;
    /** Slurm's SLURM_AUTH_NOBODY, a uid and gid that no job may have. */
    private static final int NOBODY = 99;

    private static final int NICE_MAX = Integer.MAX_VALUE - 2;
    /** Types of mail in the order in which a job shows them. */
    private static final List<String> MAIL_SHOWN = List.of(
            "ARRAY_TASKS",
            "INVALID_DEPEND",
            "BEGIN",
            "END",
            "FAIL",
            "REQUEUE",
            "STAGE_OUT",
            "TIME_LIMIT_50",
            "TIME_LIMIT_80",
            "TIME_LIMIT_90",
            "TIME_LIMIT");

    private static final List<String> MAIL_ALL = MAIL_SHOWN.subList(1, 7);
    public static final List<String> MAIL_TYPES =
            Stream.concat(Stream.of("NONE", "ALL"), MAIL_SHOWN.stream()).toList();

    private static final int FREQ_EXIT = 255;

    private OptionCheck() {}

    public static String check(JobOptions options, JobOption option, String value) throws UsageException {
        CommandContext context = options.context();
        return switch (option.kind) {
            case FLAG -> value;
            case TEXT -> value;
            case COUNT -> number(options, option, value, 1);
            case NUMBER -> number(options, option, value, 0);
            case TIME -> spec(options, option, counted(Durations.parseMinutes(value)));
            case MEM -> spec(options, option, MemorySize.parseMb(value));
            case MOMENT -> moment(options, option, value);
            case GRES -> gres(options, value);
            case SPECIAL -> special(options, option, value);
            case REFUSED ->
                throw context.bad(
                        options.exitError(1),
                        option == JobOption.CLUSTER_CONSTRAINT
                                ? "--cluster-constraint chooses among the clusters of a federation, and this "
                                        + "cluster is in none"
                                : "--" + option.longName + " is not supported by this cluster");
        };
    }

    private static UsageException invalid(JobOptions options, JobOption option) {
        return options.context().bad(SPEC_EXIT, "Invalid --" + option.longName + " specification");
    }

    /** Returns empty if the minutes do not fit an int. */
    private static OptionalLong counted(OptionalLong minutes) {
        return minutes.orElse(0) > Integer.MAX_VALUE ? OptionalLong.empty() : minutes;
    }

    private static String spec(JobOptions options, JobOption option, OptionalLong v) throws UsageException {
        if (v.isEmpty()) {
            throw invalid(options, option);
        }
        return Long.toString(v.getAsLong());
    }

    /** A whole number; thousands of them are counted in nodes only. */
    private static String number(JobOptions options, JobOption option, String value, long minimum)
            throws UsageException {
        long v = digits(value);
        if (v < minimum || v > Integer.MAX_VALUE) {
            throw options.context()
                    .bad(
                            NUMBER_EXIT,
                            "Invalid numeric value \"" + value + "\" for " + (option == JobOption.IMMEDIATE ? "" : "--")
                                    + option.longName + ".");
        }
        return Long.toString(v);
    }

    /**
     * Reads --resv-ports. Without a number it is 0 for srun, which gives the step one port more than tasks on a node,
     * and -1 for a job. The number 0 asks a job for no ports and is invalid for a step.
     */
    private static String ports(JobOptions options, String value) throws UsageException {
        if (!value.isEmpty() && digits(value) < 0) {
            throw options.context().bad(NUMBER_EXIT, "Invalid numeric value \"" + value + "\" for --resv-port.");
        }
        String none = options.command() == 'R' ? "0" : "-1";
        return value.isEmpty() ? none : Long.toString(Math.min(Digits.parseNumber(value), Integer.MAX_VALUE));
    }

    /** Reads a number like {@link Digits#parseNumber}, without a unit. */
    private static long digits(String text) {
        return text.isEmpty() || !Character.isDigit(text.charAt(text.length() - 1)) ? -1 : Digits.parseNumber(text);
    }

    private static String moment(JobOptions options, JobOption option, String value) throws UsageException {
        CommandContext context = options.context();
        return switch (Times.parse(
                value, context.host().nowMs() / 1000, context.host().zone(), false)) {
            case Times.Parsed.Ok ok -> Long.toString(ok.epochSec());
            case Times.Parsed.Invalid invalid -> {
                String last = context.name() + ": error: Invalid --" + option.longName + " specification";
                throw new UsageException(
                        SPEC_EXIT,
                        value.isEmpty()
                                ? List.of(last)
                                : List.of(
                                        "Invalid time specification (pos=" + invalid.position() + "): " + value, last));
            }
        };
    }

    /** {@code [type:]count} lists of the GPU options. */
    private static String gres(JobOptions options, String value) throws UsageException {
        for (String item : Texts.split(value, ',')) {
            int colon = item.lastIndexOf(':');
            boolean twice = colon >= 0 && item.lastIndexOf(':', colon - 1) >= 0;
            String type = colon < 0 ? "" : item.substring(0, colon);
            if (twice
                    || Digits.parseNumber(item.substring(colon + 1)) < 0 && !(colon < 0 && isName(item))
                    || colon >= 0 && !isName(type)) {
                throw options.context().bad(options.exitError(1), SlurmErrno.INVALID_TRES.sentence());
            }
        }
        return value;
    }

    /**
     * --gres: a count stands behind a colon; {@code help} lists the kinds that the cluster has, and ends the command.
     */
    private static String generic(JobOptions options, String value) throws UsageException {
        CommandContext context = options.context();
        if (value.equalsIgnoreCase("help") || value.equalsIgnoreCase("list")) {
            context.out().println("Valid gres options are:");
            context.host().settings().gresTypes.forEach(name -> context.out().println(name + "[[:type]:count]"));
            throw new UsageException(0, List.of());
        }
        if (Texts.split(value, ',').stream().anyMatch(item -> item.endsWith(":"))) {
            throw context.bad(options.exitError(1), SlurmErrno.INVALID_TRES.sentence());
        }
        return value;
    }

    /** Only root and SlurmUser may set the debug level of slurmstepd. */
    private static String debugLevel(JobOptions options, JobOption option, String value) throws UsageException {
        int level = LogLevels.of(value);
        if (level < 0) {
            throw invalid(options, option);
        }
        CommandContext context = options.context();
        String user = context.host().settings().slurmUser;
        if (context.host().uid() != 0 && context.host().uid() != context.host().userId(user)) {
            throw context.bad(
                    options.exitError(1), "Use of --slurmd-debug is allowed only for root and SlurmUser(" + user + ")");
        }
        return Integer.toString(level);
    }

    private static boolean isName(String text) {
        return !text.isEmpty() && !(text.charAt(0) >= '0' && text.charAt(0) <= '9');
    }

    private static String accelerators(JobOptions options, JobOption option, String value) throws UsageException {
        if (!value.matches("[gGmMnNvV]+")) {
            throw invalid(options, option);
        }
        if (!value.matches("[gGvV]*")) {
            throw options.context()
                    .bad(
                            options.exitError(1),
                            "--accel-bind binds to GPUs only (g) in this version of Muster, not " + value);
        }
        return Texts.lower(value);
    }

    private static String special(JobOptions options, JobOption option, String value) throws UsageException {
        CommandContext context = options.context();
        Host host = context.host();
        return switch (option) {
            case ACCEL_BIND -> accelerators(options, option, value);
            case IGNORE_SIGNALS -> ignored(options, option, value);
            case ACCTG_FREQ -> samplings(options, option, value);
            case BCAST -> value;
            case REQUEUE -> requeue(options, option, value);
            case BBF -> bufferFile(options, option, value);
            case CLUSTER, CLUSTERS -> cluster(options, value);
            case SEND_LIBS -> value.isEmpty() ? "yes" : oneOf(options, option, value, "yes", "no");
            case CPU_FREQ -> cpuFreq(options, value);
            case GPU_FREQ -> gpuFreq(options, value);
            case CPU_BIND, MEM_BIND -> BindOptions.checked(options, option, value);
            case DISTRIBUTION -> distribution(options, option, value);
            case EXCLUDE, NODELIST -> value.indexOf('/') >= 0 ? nodeFile(options, option, value) : value;
            case NODEFILE -> nodeFile(options, option, value);
            case EXCLUSIVE -> exclusive(options, option, value);
            case EXTRA_NODE_INFO -> extraNodeInfo(options, option, value);
            case UID -> id(options, option, host.userId(value), id -> host.userName(id));
            case GID -> id(options, option, host.groupId(value), id -> host.groupName(id));
            case GRES -> generic(options, value);
            case GRES_FLAGS -> gresFlags(options, option, value);
            case HINT -> hint(options, value);
            case IMMEDIATE -> value.isEmpty() ? "1" : number(options, option, value, 0);
            case SEGMENT -> segment(options, option, value);
            case TRES_PER_TASK -> tresPerTask(options, value);
            case JOBID -> jobId(options, option, value);
            case KILL_COMMAND -> signalNumber(options, option, value.isEmpty() ? "TERM" : value);
            case KILL_ON_BAD_EXIT -> killOnBadExit(options, value);
            case EXTERNAL_LAUNCHER -> value.isEmpty() ? "1" : bad(options, option);
            case SLURMD_DEBUG -> debugLevel(options, option, value);
            case RESV_PORTS -> ports(options, value);
            case MEM_UPDATE -> MemUpdate.parse(value).isEmpty() ? bad(options, option) : value;
            case OOM_KILL_STEP -> value.isEmpty() ? "1" : oneOf(options, option, value, "0", "1");
            case KILL_ON_INVALID_DEP -> oneOf(options, option, value, "yes", "no");
            case MAIL_TYPE -> mailType(options, option, value);
            case NICE -> nice(options, value);
            case NO_KILL -> value.isEmpty() || value.equals("set") ? "1" : offOnly(options, option, value);
            case NODES -> nodes(options, value);
            case OPEN_MODE -> openMode(options, option, value);
            case PRIORITY -> priority(options, value);
            case PROFILE -> profile(options, value);
            case PROPAGATE -> value.isEmpty() ? "ALL" : limits(options, value);
            case SIGNAL -> SignalSpec.parse(value, options.command()).isEmpty() ? bad(options, option) : value;
            case SWITCHES -> switches(options, option, value);
            case GPU_BIND -> tresBind(context, "--gpu-bind", "gres/gpu:", value);
            case TRES_BIND -> tresBind(context, "--tres-bind", "", value);
            case X11 -> x11(options, option, value);
            case WAIT_ALL_NODES ->
                value.isEmpty() ? "0" : oneOf(options, option, number(options, option, value, 0), "0", "1");
            default -> throw new IllegalStateException(option.longName);
        };
    }

    private static String exclusive(JobOptions options, JobOption option, String value) throws UsageException {
        return options.command() == 'R' && value.equalsIgnoreCase("allocation")
                ? "allocation"
                : oneOf(options, option, value, "", "user", "mcs", "topo", "oversubscribe");
    }

    private static String segment(JobOptions options, JobOption option, String value) throws UsageException {
        if (value.isEmpty()) {
            return "0";
        }
        return digits(value) >= 0 && digits(value) <= Integer.MAX_VALUE ? value : bad(options, option);
    }

    /** @param kind prefix that the option leaves out of the binding */
    private static String tresBind(CommandContext context, String option, String kind, String value)
            throws UsageException {
        if (!TresBind.isValid(kind + value)) {
            throw context.bad(SPEC_EXIT, "Invalid " + option + " argument: " + value);
        }
        return value;
    }

    private static String x11(JobOptions options, JobOption option, String value) throws UsageException {
        if (value.isEmpty()) {
            return "all";
        }
        if (dev.muster.model.job.X11.nodes(value).isEmpty()) {
            throw invalid(options, option);
        }
        return Texts.lower(value);
    }

    private static String killOnBadExit(JobOptions options, String value) throws UsageException {
        if (!value.isEmpty() && digits(value) < 0) {
            throw options.context().bad(NUMBER_EXIT, "Invalid numeric value \"" + value + "\" for --kill-on-bad-exit.");
        }
        return value.isEmpty() || Digits.parseNumber(value) > 0 ? "1" : "0";
    }

    private static final List<String> LIMITS =
            List.of("ALL", "NONE", "AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RSS", "STACK");

    private static String limits(JobOptions options, String value) throws UsageException {
        for (String name : Texts.split(value, ',')) {
            String plain =
                    Texts.upper(name).startsWith("RLIMIT_") ? Texts.upper(name).substring(7) : Texts.upper(name);
            if (!LIMITS.contains(plain)) {
                String program = options.context().name() + ": error: ";
                throw new UsageException(
                        options.exitError(1),
                        List.of(
                                program + "Bad rlimit name: " + name,
                                program + "--propagate=" + value + " is not valid."));
            }
        }
        return value;
    }

    private static String bad(JobOptions options, JobOption option) throws UsageException {
        throw invalid(options, option);
    }

    private static String samplings(JobOptions options, JobOption option, String value) throws UsageException {
        for (String part : value.split(",", -1)) {
            if (!part.isEmpty() && !part.matches("((task|energy|network|filesystem)=)?[0-9]{1,9}")) {
                throw options.context().bad(SPEC_EXIT, "Invalid --" + option.longName + " specification: " + part);
            }
        }
        return value;
    }

    private static String oneOf(JobOptions options, JobOption option, String value, String... words)
            throws UsageException {
        for (String w : words) {
            if (w.equalsIgnoreCase(value)) {
                return w;
            }
        }
        return bad(options, option);
    }

    private static String offOnly(JobOptions options, JobOption option, String value) throws UsageException {
        return value.equalsIgnoreCase("off") || value.equalsIgnoreCase("no") ? "0" : bad(options, option);
    }

    private static String id(JobOptions options, JobOption option, int id, IntFunction<String> name)
            throws UsageException {
        if (options.context().host().uid() != 0) {
            throw options.context().bad(SPEC_EXIT, "--" + option.longName + " only permitted by root user");
        }
        return id < 0 || id == NOBODY || name.apply(id).isEmpty() ? bad(options, option) : Integer.toString(id);
    }

    private static String file(JobOptions options, JobOption option, String path) throws UsageException {
        try {
            return RawText.decode(options.context().host().readFile(path, NODEFILE_BYTES_MAX));
        } catch (IOException e) {
            throw options.context().bad(options.exitError(1), "Invalid --" + option.longName + " specification");
        }
    }

    /** Refuses an empty burst buffer file. */
    private static String bufferFile(JobOptions options, JobOption option, String path) throws UsageException {
        String text = file(options, option, path);
        if (text.isEmpty()) {
            throw options.context().bad(options.exitError(1), "Invalid --" + option.longName + " specification");
        }
        return text;
    }

    private static String nodeFile(JobOptions options, JobOption option, String path) throws UsageException {
        try {
            return HostFile.list(options.context(), path);
        } catch (IOException e) {
            String opening = options.context().name() + ": error: slurm_allocate_resources error opening file " + path
                    + ", No such file or directory";
            throw new UsageException(
                    SPEC_EXIT,
                    option == JobOption.NODELIST
                            ? List.of(opening)
                            : List.of(
                                    opening,
                                    options.context().name() + ": error: Invalid --" + option.longName + " node file"));
        }
    }

    private static String cluster(JobOptions options, String value) throws UsageException {
        if (Clusters.needSlurmdbd(options.context(), value)) {
            return Texts.lower(value); // the submitting command finds their directory
        }
        for (String name : Texts.split(value, ',')) {
            if (!options.context().host().clusters().contains(name)) {
                throw options.context()
                        .bad(
                                options.exitError(1),
                                "'" + name + "' can't be reached now, or it is an "
                                        + "invalid entry for --cluster.  Use 'sacctmgr list clusters' to see "
                                        + "available clusters.");
            }
        }
        return value;
    }

    private static String distribution(JobOptions options, JobOption option, String value) throws UsageException {
        boolean plane = Texts.lower(value).startsWith("plane");
        boolean sized =
                value.indexOf('=') >= 0 || Digits.parseNumber(options.context().env("SLURM_DIST_PLANESIZE")) > 0;
        if (Distribution.parse(value).isPresent() && !value.isEmpty() && (!plane || sized)) {
            return value;
        }
        if (plane) {
            options.context().error("Invalid plane size or size not specified");
        }
        return bad(options, option);
    }

    private static String extraNodeInfo(JobOptions options, JobOption option, String value) throws UsageException {
        String[] parts = value.split(":", -1);
        List<String> names = List.of("first", "second", "third");
        if (parts.length > names.size() || value.isEmpty()) {
            return bad(options, option);
        }
        for (int i = 0; i < parts.length; i++) {
            if (parts[i].isEmpty()) {
                parts[i] = "*";
            }
            if (!parts[i].equals("*") && digits(parts[i]) < 1) {
                throw options.context()
                        .bad(
                                NUMBER_EXIT,
                                "Invalid numeric value \"" + parts[i] + "\" for " + names.get(i) + " arg of -B.");
            }
        }
        return String.join(":", parts);
    }

    /** expedite, or nothing; what the variable has otherwise says no more than that it is set. */
    private static String requeue(JobOptions options, JobOption option, String value) throws UsageException {
        if (value.equalsIgnoreCase("expedite")) {
            return "expedite";
        }
        if (value.isEmpty()) {
            return "yes";
        }
        return bad(options, option);
    }

    /** Words of --gres-flags; the mutually exclusive pairs come first. */
    private static final List<String> GRES_FLAGS = List.of(
            "disable-binding",
            "enforce-binding",
            "multiple-tasks-per-sharing",
            "one-task-per-sharing",
            "allow-task-sharing");

    private static String gresFlags(JobOptions options, JobOption option, String value) throws UsageException {
        CommandContext context = options.context();
        List<String> words = Texts.split(Texts.lower(value), ',');
        for (String unknown :
                words.stream().filter(w -> !GRES_FLAGS.contains(w)).toList()) {
            throw context.bad(SPEC_EXIT, "Invalid --" + option.longName + " specification: " + unknown);
        }
        for (List<String> pair : List.of(GRES_FLAGS.subList(0, 2), GRES_FLAGS.subList(2, 4))) {
            if (words.containsAll(pair)) {
                throw context.bad(
                        SPEC_EXIT,
                        "Invalid --" + option.longName + " combo: " + String.join(" and ", pair)
                                + " are mutually exclusive.");
            }
        }
        if (words.contains("allow-task-sharing") && options.command() != 'R') {
            throw context.bad(SPEC_EXIT, "--" + option.longName + "=allow-task-sharing is only used with srun.");
        }
        return String.join(",", words);
    }

    private static String cpuFreq(JobOptions options, String value) throws UsageException {
        String error = CpuFreq.mistake(value);
        if (error.isEmpty()) {
            CpuFreq freq = CpuFreq.parse(value).orElseThrow();
            boolean allowed = freq.governor().isEmpty()
                    || freq.isGovernorImplied()
                    || options.context().host().settings().cpuFreqGovernors.contains(Texts.lower(freq.governor()));
            if (allowed) {
                return freq.text();
            }
            error = "governor of " + value + " is not allowed in slurm.conf";
        }
        String name = options.context().name();
        String last = name + ": error: Invalid --cpu-freq argument";
        throw new UsageException(
                FREQ_EXIT, value.isEmpty() ? List.of(last) : List.of(name + ": error: " + error, last));
    }

    private static String gpuFreq(JobOptions options, String value) throws UsageException {
        if (!TresFreq.isValid("gpu:" + value)) {
            throw options.context().bad(FREQ_EXIT, "Invalid --gpu-freq argument: gpu:" + value);
        }
        return value;
    }

    private static String hint(JobOptions options, String value) throws UsageException {
        BindOptions.help(options, JobOption.HINT, value);
        List<String> hints = List.of("compute_bound", "memory_bound", "multithread", "nomultithread");
        if (hints.contains(Texts.lower(value))) {
            return Texts.lower(value);
        }
        String error = Texts.split(value, ',').stream()
                .filter(w -> !hints.contains(Texts.lower(w)))
                .findFirst()
                .orElse(value);
        throw options.context()
                .bad(options.exitError(1), "unrecognized --hint argument \"" + error + "\", see --hint=help");
    }

    private static String signalNumber(JobOptions options, JobOption option, String value) throws UsageException {
        int n = Signals.number(value);
        return n <= 0 ? bad(options, option) : Integer.toString(n);
    }

    private static final List<Integer> IGNORABLE = List.of(1, 2, 3, 10, 12, 15);

    /** Numbers of the signals that srun is to take no notice of. */
    private static String ignored(JobOptions options, JobOption option, String value) throws UsageException {
        Set<String> out = new java.util.TreeSet<>();
        for (String w : Texts.split(value, ',')) {
            int n = Signals.number(w.strip());
            if (!IGNORABLE.contains(n)) {
                return bad(options, option);
            }
            out.add(Integer.toString(n));
        }
        return out.isEmpty() ? bad(options, option) : String.join(",", out);
    }

    private static String mailType(JobOptions options, JobOption option, String value) throws UsageException {
        Set<String> types = new HashSet<>();
        for (String w : Texts.split(value, ',')) {
            String up = Texts.upper(w);
            // Slurm ignores unknown words beside known ones
            if (MAIL_TYPES.contains(up)) {
                types.addAll(up.equals("ALL") ? MAIL_ALL : List.of(up));
            }
        }
        if (types.isEmpty()) {
            return bad(options, option);
        }
        return types.contains("NONE")
                ? "NONE"
                : MAIL_SHOWN.stream().filter(types::contains).collect(Collectors.joining(","));
    }

    private static String nice(JobOptions options, String value) throws UsageException {
        if (value.isEmpty()) {
            return "100";
        }
        long v = leadingNumber(value);
        if (Math.abs(v) > NICE_MAX) {
            throw options.context().bad(SPEC_EXIT, "Invalid --nice value, out of range (+/- " + NICE_MAX + ")");
        }
        return Long.toString(v);
    }

    private static final Pattern LEADING_NUMBER = Pattern.compile("\\s*([+-]?[0-9]+)");
    private static final int LONG_DIGITS_MAX = 18;

    /** Reads a number as C's strtoll does, whatever follows it: 0 where no digit is. */
    private static long leadingNumber(String text) {
        Matcher number = LEADING_NUMBER.matcher(text);
        if (!number.lookingAt()) {
            return 0;
        }
        String digits = number.group(1);
        if (digits.length() <= LONG_DIGITS_MAX) {
            return Long.parseLong(digits);
        }
        if (digits.startsWith("-")) {
            return -Long.MAX_VALUE;
        }
        return Long.MAX_VALUE;
    }

    private static String nodes(JobOptions options, String value) throws UsageException {
        Optional<NodeCounts> counts = NodeCounts.parse(value, Digits::parseNumber);
        if (counts.isPresent()) {
            return counts.get().least() == counts.get().most()
                    ? Integer.toString(counts.get().least())
                    : counts.get().least() + "-" + counts.get().most();
        }
        int dash = value.indexOf('-');
        long min = Digits.parseNumber(dash < 0 ? value : value.substring(0, dash));
        long max;
        if (dash < 0) {
            max = min;
        } else if (dash == value.length() - 1) {
            max = -1;
        } else {
            max = Digits.parseNumber(value.substring(dash + 1));
        }

        throw options.context()
                .bad(
                        SPEC_EXIT,
                        min >= 0 && max < min && (max >= 0 || dash == value.length() - 1)
                                ? "Maximum node count " + max + " is less than minimum node count " + min
                                : "\"" + value + "\" is not a valid node count");
    }

    /** Checks that the CPUs per task are a number. */
    private static String tresPerTask(JobOptions options, String value) throws UsageException {
        for (String item : Texts.split(value, ',')) {
            if (item.matches("cpu([=:].*)?") && (item.length() < 5 || Digits.parseNumber(item.substring(4)) < 1)) {
                throw new UsageException(
                        NUMBER_EXIT, List.of(options.context().name() + ": fatal: Invalid --tres-per-task=cpu=0"));
            }
        }
        return value;
    }

    /** A number, a task of an array or an SLUID: the number of the job it is. */
    private static String jobId(JobOptions options, JobOption option, String value) throws UsageException {
        JobIds.check(options.context(), value, CommandContext.FATAL_EXIT);
        if (Digits.parseNumber(value) >= 1) {
            return number(options, option, value, 1);
        }
        String job = value.indexOf('.') < 0 ? value : value.substring(0, value.indexOf('.'));
        String sentence = SlurmErrno.INVALID_JOB_ID.sentence();
        try {
            int id = JobIds.resolve(options.context(), job);
            if (id > 0) {
                return Integer.toString(id);
            }
        } catch (SlurmException e) {
            sentence = e.getMessage();
        }
        throw options.context()
                .bad(options.exitError(1), "Unable to confirm allocation for job " + job + ": " + sentence);
    }

    private static String openMode(JobOptions options, JobOption option, String value) throws UsageException {
        return switch (value) {
            case "a", "append" -> "append";
            case "t", "truncate" -> "truncate";
            default -> bad(options, option);
        };
    }

    private static String priority(JobOptions options, String value) throws UsageException {
        if (value.equalsIgnoreCase("TOP")) {
            return Long.toString(PRIORITY_TOP);
        }
        long v = leadingNumber(value);
        if (v < 0 || v >= PRIORITY_MAX) {
            throw options.context()
                    .bad(SPEC_EXIT, v < 0 ? "Priority must be >= 0" : "Priority must be < " + PRIORITY_MAX);
        }
        return Long.toString(v);
    }

    private static final List<String> PROFILES =
            List.of("none", "all", "energy", "task", "lustre", "filesystem", "network");

    private static String profile(JobOptions options, String value) throws UsageException {
        // Slurm ignores unknown words beside known ones
        String known = Texts.split(value, ',').stream()
                .filter(w -> PROFILES.contains(Texts.lower(w)))
                .collect(Collectors.joining(","));
        if (known.isEmpty()) {
            throw options.context().bad(SPEC_EXIT, "invalid --profile=" + value + " option");
        }
        return known;
    }

    private static String switches(JobOptions options, JobOption option, String value) throws UsageException {
        int index = value.indexOf('@');
        number(options, option, index < 0 ? value : value.substring(0, index), 1);
        // a time that is none is no time: the job waits for the switches as long as the cluster lets it
        return index >= 0 && Durations.parseSeconds(value.substring(index + 1)).isEmpty()
                ? value.substring(0, index)
                : value;
    }

    /** The value as {@code -v} shows it. */
    public static String shown(JobOption option, String value) {
        return switch (option.kind) {
            case FLAG -> "set";
            case TIME -> Durations.fullMinutes(Long.parseLong(value));
            case MEM -> MemorySize.print(Long.parseLong(value));
            case TEXT, COUNT, NUMBER, MOMENT, GRES, SPECIAL, REFUSED ->
                option == JobOption.EXCLUSIVE && value.isEmpty() ? "exclusive" : value;
        };
    }
}
