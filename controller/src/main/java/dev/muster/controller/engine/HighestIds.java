package dev.muster.controller.engine;

/**
 * The highest numbers that something beside the journal knows: accounting, or the file {@code highest} in
 * StateSaveLocation. Greater than what the journal holds where its newest part was lost, or the directory is an older
 * copy.
 *
 * @param index entry of the journal, 0 for unknown
 * @param jobId highest number given to a job, 0 for unknown
 * @param sluid as {@code jobId}, of {@link dev.muster.model.format.Sluid}
 */
public record HighestIds(long index, int jobId, long sluid) {
    public static final HighestIds NONE = new HighestIds(0, 0, 0);

    /** Returns the higher numbers of both, number by number. */
    public HighestIds and(HighestIds other) {
        return new HighestIds(Math.max(index, other.index), Math.max(jobId, other.jobId), Math.max(sluid, other.sluid));
    }
}
