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
    public static String of(JobOptions o) {
        String mpi = o.has(JobOption.MPI)
                ? o.text(JobOption.MPI)
                : o.context().host().settings().mpiDefault;
        return mpi.equals(NONE) ? "" : mpi;
    }

    /** @throws UsageException where there is no such kind */
    public static void check(CommandContext c, JobOptions o) throws UsageException {
        String mpi = of(o);
        if (!mpi.isEmpty() && !allKinds(c).contains(mpi)) {
            throw new UsageException(
                    o.exitError(1),
                    List.of(
                            "srun: error: Couldn't find the specified plugin name for mpi/" + mpi
                                    + " looking at all files",
                            "srun: error: cannot find mpi plugin for mpi/" + mpi,
                            "srun: error: MPI: Cannot create context for mpi/" + mpi,
                            "srun: error: MPI: Unable to load any plugin",
                            "srun: error: Invalid MPI type '" + mpi + "', --mpi=list for acceptable types"));
        }
    }

    public static void list(CommandContext c) {
        c.out().println("MPI plugin types are...");
        List<String> versions = new ArrayList<>();
        for (String kind : allKinds(c)) {
            if (kind.contains("_")) {
                versions.add(kind);
            } else {
                c.out().println("\t" + kind);
            }
        }
        if (!versions.isEmpty()) {
            c.out().println("specific pmix plugin versions available: " + String.join(",", versions));
        }
    }

    private static List<String> allKinds(CommandContext c) {
        List<String> told = c.host().mpiKinds();
        return told.isEmpty() ? List.of(NONE) : told;
    }
}
