package dev.muster.model.job;

/**
 * What a step's nodes say of file systems and GPUs in its time.
 *
 * @param fsReadBytes read from the node's Lustre file systems by all processes of the node
 * @param fsWriteBytes written to them by all processes of the node
 * @param gpuNodes number of nodes that measured its GPUs
 * @param gpuPercent how busy its processes kept GPUs on average, all of them together: 200 for two that never rested;
 *     over the nodes' sums
 * @param gpuMostPercent the most that was seen on one node
 * @param gpuMemKb the most memory of GPUs that it had on each node, together
 * @param gpuMostMemKb the most on one node
 */
public record UsageSample(
        long fsReadBytes,
        long fsWriteBytes,
        int gpuNodes,
        long gpuPercent,
        long gpuMostPercent,
        long gpuMemKb,
        long gpuMostMemKb) {
    public static final UsageSample NONE = new UsageSample(0, 0, 0, 0, 0, 0, 0);
    private static final int PARTS = 7;

    /** Adds one more node. */
    public UsageSample and(UsageSample o) {
        return o.equals(NONE)
                ? this
                : new UsageSample(
                        fsReadBytes + o.fsReadBytes,
                        fsWriteBytes + o.fsWriteBytes,
                        gpuNodes + o.gpuNodes,
                        gpuPercent + o.gpuPercent,
                        Math.max(gpuMostPercent, o.gpuMostPercent),
                        gpuMemKb + o.gpuMemKb,
                        Math.max(gpuMostMemKb, o.gpuMostMemKb));
    }

    public UsageSample withFs(long read, long written) {
        return new UsageSample(read, written, gpuNodes, gpuPercent, gpuMostPercent, gpuMemKb, gpuMostMemKb);
    }

    /** Returns the text in a row: its numbers in their order, "" for none. */
    public String text() {
        return equals(NONE)
                ? ""
                : fsReadBytes + "/" + fsWriteBytes + "/" + gpuNodes + "/" + gpuPercent + "/" + gpuMostPercent + "/"
                        + gpuMemKb + "/" + gpuMostMemKb;
    }

    /** Reads the text; an unreadable one gives {@link #NONE}. */
    public static UsageSample parse(String text) {
        String[] p = text.split("/");
        if (p.length != PARTS || !text.matches("[0-9/]{13,160}")) {
            return NONE;
        }
        try {
            return new UsageSample(
                    Long.parseLong(p[0]),
                    Long.parseLong(p[1]),
                    Integer.parseInt(p[2]),
                    Long.parseLong(p[3]),
                    Long.parseLong(p[4]),
                    Long.parseLong(p[5]),
                    Long.parseLong(p[6]));
        } catch (NumberFormatException e) {
            return NONE;
        }
    }
}
