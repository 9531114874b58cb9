package dev.muster.cli.request;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Splits the command line of a heterogeneous job or step into its components: options between colons. */
public final class HetComponents {
    /**
     * Options that a later component takes from the first where it sets none of its own: those that are not about its
     * resources.
     */
    public static final Set<JobOption> INHERITED = EnumSet.of(
            JobOption.ACCOUNT,
            JobOption.ACCTG_FREQ,
            JobOption.BEGIN,
            JobOption.CHDIR,
            JobOption.CLUSTERS,
            JobOption.COMMENT,
            JobOption.DEADLINE,
            JobOption.DELAY_BOOT,
            JobOption.DEPENDENCY,
            JobOption.DISABLE_STATUS,
            JobOption.EPILOG,
            JobOption.ERROR,
            JobOption.EXCLUDE,
            JobOption.EXPORT,
            JobOption.EXPORT_FILE,
            JobOption.EXTRA,
            JobOption.GET_USER_ENV,
            JobOption.GID,
            JobOption.HOLD,
            JobOption.IMMEDIATE,
            JobOption.INPUT,
            JobOption.JOB_NAME,
            JobOption.JOBID,
            JobOption.KILL_ON_BAD_EXIT,
            JobOption.KILL_ON_INVALID_DEP,
            JobOption.LABEL,
            JobOption.MCS_LABEL,
            JobOption.MEM,
            JobOption.MEM_PER_CPU,
            JobOption.MPI,
            JobOption.NICE,
            JobOption.NO_KILL,
            JobOption.NO_REQUEUE,
            JobOption.OPEN_MODE,
            JobOption.OUTPUT,
            JobOption.OVERCOMMIT,
            JobOption.OVERLAP,
            JobOption.PRESERVE_ENV,
            JobOption.PRIORITY,
            JobOption.PROFILE,
            JobOption.PROLOG,
            JobOption.PROPAGATE,
            JobOption.QOS,
            JobOption.QUIET,
            JobOption.REBOOT,
            JobOption.REQUEUE,
            JobOption.RESERVATION,
            JobOption.SIGNAL,
            JobOption.TASK_EPILOG,
            JobOption.TASK_PROLOG,
            JobOption.TEST_ONLY,
            JobOption.TIME,
            JobOption.TIME_MIN,
            JobOption.UID,
            JobOption.UNBUFFERED,
            JobOption.WAIT_ALL_NODES,
            JobOption.WAIT_SECONDS,
            JobOption.WCKEY);

    private static final String SEPARATOR = ":";

    private HetComponents() {}

    /**
     * The command line cut at its colons. What follows the name of a script or command belongs to that; only of srun's
     * programs each component may have one.
     */
    public static List<List<String>> sections(char command, List<String> args) {
        List<List<String>> out = new ArrayList<>();
        List<String> arguments = args;
        while (true) {
            List<String> operands =
                    GetOpt.parse(JobOption.table(command), arguments, true).operands();
            boolean cut = command == 'R'
                    ? operands.contains(SEPARATOR)
                    : !operands.isEmpty() && operands.getFirst().equals(SEPARATOR);
            if (!cut) {
                out.add(arguments);
                return out;
            }
            int index = arguments.size() - operands.size() + operands.indexOf(SEPARATOR);
            out.add(arguments.subList(0, index));
            arguments = arguments.subList(index + 1, arguments.size());
        }
    }

    /** Options and operands of one section, as typed. */
    public record Typed(JobOptions options, List<String> operands) {}

    public static List<Typed> typed(CommandContext context, char command, List<List<String>> sections)
            throws UsageException {
        List<Typed> out = new ArrayList<>();
        for (List<String> section : sections) {
            JobOptions options = new JobOptions(context, command);
            out.add(new Typed(options, options.readArguments(section)));
        }
        out.forEach(t -> out.getFirst().options().adopt(t.options(), COMMANDS_OWN));
        return out;
    }

    /** Options of the command and not of a component: they apply wherever they are typed. */
    private static final Set<JobOption> COMMANDS_OWN =
            EnumSet.of(JobOption.PARSABLE, JobOption.QUIET, JobOption.TEST_ONLY, JobOption.WAIT);

    /** Reads the environment of all components, and copies options of the first to the others. */
    public static void complete(List<JobOptions> all) throws UsageException {
        for (JobOptions options : all) {
            OptionEnvironment.read(options);
            if (options != all.getFirst()) {
                options.inherit(all.getFirst(), INHERITED);
            }
        }
    }
}
