package dev.muster.accounting.dbd;

import dev.muster.config.SlurmdbdConf;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The place of this host's slurmdbd in slurmdbd.conf, which is the same file on both hosts. */
public enum DbdRole {
    /** That of DbdHost. */
    PRIMARY,
    /** That of DbdBackupHost. */
    BACKUP;

    private static final String LOCALHOST = "localhost";

    /**
     * Finds this host by the kernel's names, the short and the long one, as Slurm does: no resolver is asked.
     *
     * @throws IOException in Slurm's words, if the file names other hosts
     */
    public static DbdRole ofThisHost(SlurmdbdConf conf) throws IOException {
        return of(conf, Files.readString(Path.of("/proc/sys/kernel/hostname")).strip());
    }

    static DbdRole of(SlurmdbdConf conf, String kernelName) throws IOException {
        String shortName = kernelName.split("\\.")[0];
        List<String> own = List.of(shortName, kernelName);
        String primary = primary(conf);
        String backup = conf.dbdBackupHost();
        if (own.contains(primary)) {
            return PRIMARY;
        }
        if (own.contains(backup)) {
            return BACKUP;
        }
        if (primary.equals(LOCALHOST)) {
            return PRIMARY;
        }
        throw new IOException("This host not configured to run SlurmDBD ((" + shortName + " or " + kernelName + ") != "
                + primary + " | (backup) " + (backup.isEmpty() ? "(null)" : backup) + ")");
    }

    private static String primary(SlurmdbdConf conf) {
        return conf.given("DbdHost") ? conf.dbdHost() : LOCALHOST;
    }

    /** Returns the name of the host in slurmdbd.conf. */
    String host(SlurmdbdConf conf) {
        return this == PRIMARY ? primary(conf) : conf.dbdBackupHost();
    }

    /** Returns the address that slurmdbd binds its port to; "" for all. */
    String boundAddress(SlurmdbdConf conf) {
        if (!DbdConfig.bindsOwnAddress(conf)) {
            return "";
        }
        return this == PRIMARY ? conf.dbdAddress() : conf.dbdBackupHost();
    }
}
