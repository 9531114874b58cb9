package dev.muster.cli.request;

import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;

/**
 * Completes the options of sbatch, srun and salloc with those that environment variables and the site's filters set.
 */
public final class OptionEnvironment {
    private final JobOptions options;

    private OptionEnvironment(JobOptions options) {
        this.options = options;
    }

    /** Reads the variables that stand for options. The command line was read before and takes precedence. */
    public static void read(JobOptions options) throws UsageException {
        GpuCheck.check(options);
        OptionEnvironment environment = new OptionEnvironment(options);
        environment.readVariables();
        environment.addSwitchWait();
        CliFilter.defaults(options);
        environment.checkTasksPerCore();
    }

    private void readVariables() throws UsageException {
        for (JobOption option : JobOption.values()) {
            if (isOverridden(option)) {
                continue;
            }
            for (String name : option.variables(options.command())) {
                String value = ComponentEnvironment.value(options.context().env(), name, options.hetGroup());
                if (value == null) {
                    continue;
                }
                boolean isUnset = option.arg == GetOpt.Arg.NONE && isNo(value) && option != JobOption.VERBOSE
                        || option == JobOption.JOBID && value.isEmpty();
                if (!isUnset) {
                    options.set(option, value, JobOptions.Origin.ENVIRONMENT);
                }
            }
        }
    }

    /** Returns whether the command line decides the option. */
    private boolean isOverridden(JobOption option) {
        return options.typed(option)
                || option == JobOption.GPUS_PER_NODE && GpuCheck.hasStepGpus(options)
                || option == JobOption.CPUS_PER_TASK && options.typed(JobOption.CPUS_PER_GPU)
                || option == JobOption.CPUS_PER_GPU && options.typed(JobOption.CPUS_PER_TASK);
    }

    private static boolean isNo(String value) {
        return value.equals("0") || value.equals("no") || value.equals("false");
    }

    /** Adds the longest wait for --switches from its variable, unless the option itself has one. */
    private void addSwitchWait() throws UsageException {
        String program;
        if (options.command() == 'B') {
            program = "SBATCH_";
        } else if (options.command() == 'R') {
            program = "SLURM_";
        } else {
            program = "SALLOC_";
        }

        String wait = options.context().env(program + "WAIT4SWITCH");
        String switches = options.text(JobOption.SWITCHES);
        if (!wait.isEmpty() && options.has(JobOption.SWITCHES) && switches.indexOf('@') < 0) {
            options.set(JobOption.SWITCHES, switches + "@" + wait, JobOptions.Origin.COMMAND_LINE);
        }
    }

    private void checkTasksPerCore() throws UsageException {
        long tasks = options.number(JobOption.NTASKS_PER_CORE);
        long threads = options.number(JobOption.THREADS_PER_CORE);
        if (options.has(JobOption.NTASKS_PER_CORE) && options.has(JobOption.THREADS_PER_CORE) && tasks > threads) {
            throw options.context()
                    .bad(
                            options.exitError(1),
                            "--ntasks-per-core (" + tasks + ") can not be bigger than --threads-per-core (" + threads
                                    + ")");
        }
    }
}
