package dev.muster.cli;

import dev.muster.cli.command.Host;
import dev.muster.cli.connection.ProcessHost;
import dev.muster.cli.shape.Names;
import java.util.Map;
import java.util.Optional;

/** Opens slurmctld and slurmdbd to programs that act for a user: slurmrestd. */
public final class Access {
    /** A program can wait by itself, so the command gives up soon. */
    private static final int BACK_OFF_S = 3;

    private Access() {}

    /**
     * @param environment SLURM_CONF and SLURM_JWT as commands take them; nothing else of the process's own environment
     *     counts
     */
    public static Host of(Map<String, String> environment) {
        return new ProcessHost(environment, Optional.empty(), BACK_OFF_S);
    }

    public static Names names(Host host) {
        return new Names(host.clusters().isEmpty() ? "" : host.clusters().getFirst(), host::userName);
    }
}
