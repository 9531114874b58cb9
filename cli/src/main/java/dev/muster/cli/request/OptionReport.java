package dev.muster.cli.request;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.option.OptionCheck;
import dev.muster.json.Json;
import java.util.List;
import java.util.Locale;

/** Prints what {@code -v} and {@code -vv} of sbatch, srun and salloc show of the options. */
public final class OptionReport {
    private static final String RULE = "-------------------- --------------------";
    private static final int NAME_COLUMN = 20;

    private OptionReport() {}

    /**
     * Prints the options that are set, by name. Callers ask for it with {@code -v} only: other commands load no class
     * for it.
     */
    public static void print(JobOptions options) throws UsageException {
        CommandContext context = options.context();
        context.info("defined options");
        context.info(RULE);
        for (JobOption option : JobOption.values()) {
            if (options.has(option)) {
                context.info(padded(option.longName) + ": " + OptionCheck.shown(option, options.text(option)));
            }
        }
        context.info(padded("verbose") + ": " + options.verbose());
        context.info(RULE);
        context.info("end of defined options");
        if (options.verbose() > 1 && options.command() != 'A') {
            printPropagated(options);
        }
    }

    /** Prints the limits that the job takes from the caller's process. */
    private static void printPropagated(JobOptions options) throws UsageException {
        CommandContext context = options.context();
        Json.Obj limits = new JobRequest(options).limits();
        for (String name :
                List.of("CPU", "FSIZE", "DATA", "STACK", "CORE", "RSS", "NPROC", "NOFILE", "MEMLOCK", "AS")) {
            if (limits.has(name)) {
                context.info("debug:  propagating RLIMIT_" + name + "=" + Long.toUnsignedString(limits.number(name)));
            }
        }
        context.info("debug:  propagating SLURM_PRIO_PROCESS=" + context.host().nice());
        context.info(String.format(Locale.ROOT, "debug:  propagating UMASK=%04o", options.umask()));
    }

    private static String padded(String name) {
        return name + " ".repeat(Math.max(0, NAME_COLUMN - name.length()));
    }
}
