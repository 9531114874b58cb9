package dev.muster.model.job;

/**
 * Use of the single tasks of a step: the most and the least of each resource with the task that used it, and sums of
 * each task's most, for averages. CPU time in microseconds, memory in KiB, reads and writes in bytes.
 *
 * @param tasks how many were measured; 0 where nothing is known of single tasks
 */
public record TaskPeaks(
        int tasks,
        Range cpuUs,
        Range rssKb,
        Range vmKb,
        Range pages,
        Range readBytes,
        Range writeBytes,
        long sumRssKb,
        long sumVmKb,
        long sumPages) {
    public static final TaskPeaks NONE =
            new TaskPeaks(0, Range.NONE, Range.NONE, Range.NONE, Range.NONE, Range.NONE, Range.NONE, 0, 0, 0);

    /** The most and the least that a task had, each with the task's rank. */
    public record Range(long max, int maxTask, long min, int minTask) {
        public static final Range NONE = new Range(0, 0, 0, 0);

        private Range and(boolean first, long value, int rank) {
            boolean more = first || value > max;
            boolean less = first || value < min;
            return new Range(more ? value : max, more ? rank : maxTask, less ? value : min, less ? rank : minTask);
        }
    }

    /** One task's use; memory and pages at their highest. */
    public record Task(int rank, long cpuUs, long rssKb, long vmKb, long pages, long readBytes, long writeBytes) {
        /** Combines two samples of the same task: the higher of each value. */
        public Task and(Task other) {
            return new Task(
                    rank,
                    Math.max(cpuUs, other.cpuUs),
                    Math.max(rssKb, other.rssKb),
                    Math.max(vmKb, other.vmKb),
                    Math.max(pages, other.pages),
                    Math.max(readBytes, other.readBytes),
                    Math.max(writeBytes, other.writeBytes));
        }
    }

    /** Adds one more task. Of equal values the first counts. */
    public TaskPeaks and(Task task) {
        boolean first = tasks == 0;
        return new TaskPeaks(
                tasks + 1,
                cpuUs.and(first, task.cpuUs, task.rank),
                rssKb.and(first, task.rssKb, task.rank),
                vmKb.and(first, task.vmKb, task.rank),
                pages.and(first, task.pages, task.rank),
                readBytes.and(first, task.readBytes, task.rank),
                writeBytes.and(first, task.writeBytes, task.rank),
                sumRssKb + task.rssKb,
                sumVmKb + task.vmKb,
                sumPages + task.pages);
    }
}
