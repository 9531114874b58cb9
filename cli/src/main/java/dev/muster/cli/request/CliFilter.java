package dev.muster.cli.request;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Runs CliFilterPlugins: {@link SubmissionLog} for syslog, {@link FilterScript} for lua, and
 * {@code cli_filter/user_defaults} itself. That reads lines {@code [command:][cluster:]option=value} from the user's
 * own file for options that neither the command line nor the environment nor the script sets. A mistake in the file is
 * reported and skipped, as in Slurm.
 */
public final class CliFilter {
    private static final String FILE = ".slurm/defaults";
    private static final int FILE_BYTES_MAX = 1 << 20;
    private static final List<List<JobOption>> RIVALS = List.of(
            List.of(JobOption.MEM, JobOption.MEM_PER_CPU, JobOption.MEM_PER_GPU),
            List.of(JobOption.REQUEUE, JobOption.NO_REQUEUE),
            List.of(JobOption.EXCLUSIVE, JobOption.OVERSUBSCRIBE, JobOption.OVERLAP),
            List.of(JobOption.BELL, JobOption.NO_BELL),
            List.of(JobOption.CORE_SPEC, JobOption.THREAD_SPEC));

    private final JobOptions options;
    private final CommandContext context;

    private CliFilter(JobOptions options) {
        this.options = options;
        this.context = options.context();
    }

    /** Runs the filters that set defaults. Steps in an allocation take its options instead. */
    static void defaults(JobOptions options) throws UsageException {
        CommandContext context = options.context();
        for (String plugin : context.host().cliFilters()) {
            switch (plugin.startsWith("cli_filter/") ? plugin.substring("cli_filter/".length()) : plugin) {
                case "none" -> {}
                case "user_defaults" -> {
                    if (options.command() != 'R' || !options.has(JobOption.JOBID)) {
                        new CliFilter(options).read();
                    }
                }
                // the caller's own process writes to syslog, after the submission
                case "syslog" -> context.host().needsOwnProcess();
                case "lua" -> {
                    context.host().needsOwnProcess();
                    if (options.command() != 'R' || !options.has(JobOption.JOBID)) {
                        FilterScript.of(context).setup(options);
                    }
                }
                default ->
                    throw new UsageException(
                            options.exitError(1),
                            List.of(
                                    context.name() + ": error: Couldn't find the specified plugin name for " + plugin
                                            + " looking at all files",
                                    context.name() + ": error: cannot find cli_filter plugin for " + plugin,
                                    context.name() + ": error: cannot create cli_filter context for " + plugin,
                                    context.name() + ": error: cli_filter plugin terminated with error"));
            }
        }
    }

    private void read() throws UsageException {
        String home = context.host().home();
        if (home.isEmpty()) {
            context.error("Failed to lookup user homedir to load slurm defaults.");
            return;
        }
        byte[] content;
        try {
            content = context.host().readFile(home + "/" + FILE, FILE_BYTES_MAX);
        } catch (IOException e) {
            // most users have none
            return;
        }
        if (content.length > FILE_BYTES_MAX) {
            throw context.bad(options.exitError(1), "~/" + FILE + " has more than " + FILE_BYTES_MAX + " bytes");
        }
        int number = 0;
        for (String line : RawText.decode(content).split("\n", -1)) {
            number++;
            int equals = line.indexOf('=');
            if (equals > 0 && !line.strip().startsWith("#")) {
                line(
                        number,
                        Arrays.stream(line.substring(0, equals).split(":", -1))
                                .map(String::strip)
                                .toList(),
                        line.substring(equals + 1).strip());
            }
        }
    }

    private void line(int number, List<String> key, String value) {
        String command = key.size() == 3 ? Texts.lower(key.getFirst()) : "*";
        String cluster = key.size() > 1 ? key.get(key.size() - 2) : "*";
        if (!List.of("*", "salloc", "sbatch", "srun").contains(command)) {
            context.error("Unknown command \"" + key.getFirst() + "\" in ~/" + FILE + ", line " + number);
            return;
        }
        boolean meant = key.size() <= 3
                && (command.equals("*") || command.equals(name()))
                && (cluster.equals("*") || cluster.equals(context.host().settings().clusterName));
        Optional<JobOption> option = Arrays.stream(JobOption.values())
                .filter(o -> o.takenBy(options.command()) && o.longName.equals(key.getLast()))
                .findFirst();
        if (!meant || option.isEmpty() || isRequested(options, option.get())) {
            return;
        }
        try {
            options.set(option.get(), value, JobOptions.Origin.DEFAULT);
        } catch (UsageException e) {
            e.lines().forEach(context.err()::println);
        }
    }

    private String name() {
        if (options.command() == 'B') {
            return "sbatch";
        }
        if (options.command() == 'R') {
            return "srun";
        }
        return "salloc";
    }

    /** Returns whether the option or one of its rivals is set by more than the defaults. */
    static boolean isRequested(JobOptions options, JobOption option) {
        return withRivals(option).stream().anyMatch(options::isRequested);
    }

    /** Returns an option and those that it excludes. */
    static List<JobOption> withRivals(JobOption option) {
        return RIVALS.stream().filter(all -> all.contains(option)).findFirst().orElse(List.of(option));
    }

    private static boolean hasScript(CommandContext context) {
        return context.host().cliFilters().stream().anyMatch(p -> p.equals(FilterScript.PLUGIN) || p.equals("lua"));
    }

    /**
     * Runs the filters with all options of a component, before the submission.
     *
     * @param offset of the component
     * @param words script or program, and its arguments
     */
    public static void preSubmit(JobOptions options, int offset, List<String> words) throws UsageException {
        if (hasScript(options.context())) {
            FilterScript.of(options.context()).preSubmit(options, offset, words);
        }
    }

    /** Runs the filters for each component of a job before its submission. */
    public static void preSubmit(List<JobOptions> components, List<String> words) throws UsageException {
        for (int i = 0; i < components.size(); i++) {
            preSubmit(components.get(i), i, words);
        }
    }

    /**
     * Runs the filters after the job or step was accepted.
     *
     * @param components number of components
     */
    public static void postSubmit(JobOptions first, int components, int jobId, long stepId, List<String> words)
            throws UsageException {
        CommandContext context = first.context();
        if (context.host().cliFilters().isEmpty()) {
            return;
        }
        SubmissionLog.log(first, jobId, stepId, words);
        for (int i = 0; i < components && hasScript(context); i++) {
            FilterScript.of(context).postSubmit(i, jobId, stepId);
        }
    }
}
