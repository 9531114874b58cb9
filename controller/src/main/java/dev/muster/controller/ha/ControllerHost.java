package dev.muster.controller.ha;

import dev.muster.config.Controller;
import dev.muster.config.SlurmConf;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The names of a host that runs slurmctld. SlurmctldHost has to have one of them: a slurmctld that an administrator
 * starts on another host with the same slurm.conf would otherwise begin an empty state there and answer for the
 * cluster.
 *
 * <p>The names are the kernel's, as in Slurm: no resolver is asked, so that one that does not answer delays no start.
 *
 * @param shortName the kernel's name up to its first dot
 * @param longName the kernel's name
 */
public record ControllerHost(String shortName, String longName) {
    /** Any host is this one. */
    private static final String LOCALHOST = "localhost";

    public static ControllerHost ofThisHost() {
        try {
            return named(Files.readString(Path.of("/proc/sys/kernel/hostname")).strip());
        } catch (IOException e) {
            return named(LOCALHOST);
        }
    }

    public static ControllerHost named(String kernelName) {
        return new ControllerHost(kernelName.split("\\.")[0], kernelName);
    }

    /**
     * Returns Slurm's sentence where none of the configured controllers is this host. Names are compared with their
     * case, as in Slurm.
     */
    public static Optional<String> refusal(SlurmConf conf, ControllerHost host) {
        List<String> named = names(conf);
        boolean isAnyHost = named.size() == 1 && named.contains(LOCALHOST);
        boolean valid = isAnyHost || host.index(conf) >= 0;
        return valid
                ? Optional.empty()
                : Optional.of("This host (" + host.shortName + "/" + host.longName + ") not a valid controller");
    }

    private static List<String> names(SlurmConf conf) {
        return conf.controllers().stream().map(Controller::host).toList();
    }

    /** Returns the position of this host among the controllers; below 0 if it is none of them. */
    public int index(SlurmConf conf) {
        List<String> named = names(conf);
        return Math.max(named.indexOf(shortName), named.indexOf(longName));
    }
}
