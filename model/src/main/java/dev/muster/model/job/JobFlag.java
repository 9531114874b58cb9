package dev.muster.model.job;

/** Flags that {@code squeue} shows over a job's base state, in Slurm's names. */
public enum JobFlag {
    COMPLETING("CG"),
    CONFIGURING("CF"),
    REQUEUED("RQ"),
    REQUEUE_FED("RF"),
    REQUEUE_HOLD("RH"),
    RESIZING("RS"),
    RESV_DEL_HOLD("RD"),
    REVOKED("RV"),
    SIGNALING("SI"),
    SPECIAL_EXIT("SE"),
    STAGE_OUT("SO"),
    STOPPED("ST"),
    UPDATE_DB("UD"),
    /** The job is scheduled before all others, because a node failed under it. */
    EXPEDITING("EX");

    private final String compact;

    JobFlag(String compact) {
        this.compact = compact;
    }

    public String compact() {
        return compact;
    }
}
