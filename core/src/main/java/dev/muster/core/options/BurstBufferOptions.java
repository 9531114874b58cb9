package dev.muster.core.options;

/**
 * Burst buffers.
 *
 * @param kind {@code lua}; "", the default, for none
 * @param tearsDownFailed burst_buffer.conf's Flags=TeardownFailure: a buffer whose stage failed is torn down, not kept;
 *     no by default
 * @param arrayStageMax bb_array_stage_cnt: tasks of an array that have buffers ahead of their start, 1 to 9,999; 10 by
 *     default
 */
public record BurstBufferOptions(String kind, boolean tearsDownFailed, int arrayStageMax) {
    /** The burst buffer's kind, {@code lua}. */
    public static final String BURST_BUFFER = "burst_buffer";
    /** {@code true} with burst_buffer.conf's Flags=TeardownFailure. */
    public static final String BUFFER_TEARDOWN_FAILURE = "burst_buffer_teardown_failure";

    static BurstBufferOptions of(OptionParser text) {
        return new BurstBufferOptions(text.text(BURST_BUFFER), text.isTrue(BUFFER_TEARDOWN_FAILURE), (int)
                Math.max(1, text.digits("bb_array_stage_cnt", 4, 10)));
    }
}
