package dev.muster.core.options;

/**
 * The controllers of the cluster.
 *
 * @param hasBackup slurm.conf has more than one SlurmctldHost; no by default
 */
public record ControllerOptions(boolean hasBackup) {
    /** {@code true} with more than one SlurmctldHost. */
    public static final String HAS_BACKUP = "backup_controller";

    static ControllerOptions of(OptionParser text) {
        return new ControllerOptions(text.isTrue(HAS_BACKUP));
    }
}
