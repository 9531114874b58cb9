package dev.muster.cli.request;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import java.util.ArrayList;
import java.util.List;

/** Checks and lists the kinds of {@code --mpi}. The installation's mpi-helper names them. */
public final class MpiKinds {
    private static final String NONE = "none";

    private MpiKinds() {}

    /** Returns the step's kind of MPI: the option, else MpiDefault; "" for none. */
    public static String of(JobOptions options) {
        String mpi = options.has(JobOption.MPI)
                ? options.text(JobOption.MPI)
                : options.context().host().settings().mpiDefault;
        return mpi.equals(NONE) ? "" : mpi;
    }

    /** @throws UsageException where there is no such kind */
    public static void check(CommandContext context, JobOptions options) throws UsageException {
        String mpi = of(options);
        if (!mpi.isEmpty() && !allKinds(context).contains(mpi)) {
            throw new UsageException(
                    options.exitError(1),
                    List.of(
                            "srun: error: Couldn't find the specified plugin name for mpi/" + mpi
                                    + " looking at all files",
                            "srun: error: cannot find mpi plugin for mpi/" + mpi,
                            "srun: error: MPI: Cannot create context for mpi/" + mpi,
                            "srun: error: MPI: Unable to load any plugin",
                            "srun: error: Invalid MPI type '" + mpi + "', --mpi=list for acceptable types"));
        }
    }

    public static void list(CommandContext context) {
        context.out().println("MPI plugin types are...");
        List<String> versions = new ArrayList<>();
        for (String kind : allKinds(context)) {
            if (kind.contains("_")) {
                versions.add(kind);
            } else {
                context.out().println("\t" + kind);
            }
        }
        if (!versions.isEmpty()) {
            context.out().println("specific pmix plugin versions available: " + String.join(",", versions));
        }
    }

    private static List<String> allKinds(CommandContext context) {
        List<String> kinds = context.host().mpiKinds();
        return kinds.isEmpty() ? List.of(NONE) : kinds;
    }
}
