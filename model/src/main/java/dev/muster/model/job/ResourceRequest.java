package dev.muster.model.job;

import dev.muster.json.RecordEditor;

/**
 * What a job or step asks of the nodes. Zero or "" means "not said" everywhere; the class key of the scheduler.
 *
 * @param nodesMin {@code -N min}
 * @param nodesMax {@code -N min-max}; 0 means as nodesMin if that was said, else unbounded
 * @param tasks {@code -n}
 * @param cpusPerTask {@code -c}
 * @param cpusPerNodeMin {@code --mincpus}
 * @param memPerNodeMb {@code --mem}, mebibytes
 * @param memPerCpuMb {@code --mem-per-cpu}, mebibytes
 * @param memPerGpuMb {@code --mem-per-gpu}, mebibytes
 * @param memAll {@code --mem=0}, {@code --mem-per-cpu=0}: all memory of each node
 * @param tmpDiskMb {@code --tmp}, mebibytes
 * @param tresPerNode {@code --gres} and {@code --gpus-per-node} as {@code gres/gpu:a100:2,gres/nic:1}
 * @param tresPerJob {@code --gpus} as {@code gres/gpu:8}
 * @param tresPerTask {@code --gpus-per-task} and {@code --tres-per-task}
 * @param tresPerSocket {@code --gpus-per-socket}
 * @param features {@code -C} as written
 * @param nodeList {@code -w} as written
 * @param excludeList {@code -x} as written
 * @param exclusive {@code --exclusive[=user|mcs|topo]}
 * @param distribution {@code -m} as written
 * @param hint {@code --hint}
 * @param switches {@code --switches} as written
 * @param segment {@code --segment}
 * @param spreadSegments {@code --spread-segments}: no two segments in the same base block
 * @param consolidateSegments {@code --consolidate-segments}: all in one block of blocks
 * @param cpusPerTaskAsked {@code -c} as asked for where MaxMemPerCPU raised cpusPerTask, -1 where none was asked for; 0
 *     where nothing was raised
 * @param nodeSizes the numbers of nodes that will do, where not all from nodesMin to nodesMax do:
 *     {@link NodeCounts#sizes}
 */
public record ResourceRequest(
        int nodesMin,
        int nodesMax,
        int tasks,
        int cpusPerTask,
        int tasksPerNode,
        int tasksPerSocket,
        int tasksPerCore,
        int tasksPerGpu,
        int cpusPerNodeMin,
        int cpusPerGpu,
        long memPerNodeMb,
        long memPerCpuMb,
        long memPerGpuMb,
        boolean memAll,
        long tmpDiskMb,
        String tresPerNode,
        String tresPerJob,
        String tresPerTask,
        String tresPerSocket,
        String features,
        String prefer,
        String nodeList,
        String excludeList,
        Exclusive exclusive,
        boolean oversubscribe,
        boolean overcommit,
        boolean contiguous,
        boolean spread,
        boolean useMinNodes,
        int socketsPerNode,
        int coresPerSocket,
        int threadsPerCore,
        int coreSpec,
        int threadSpec,
        String licenses,
        String network,
        String switches,
        String gresFlags,
        String hint,
        String distribution,
        int segment,
        boolean spreadSegments,
        boolean consolidateSegments,
        String nodeSizes,
        int cpusPerTaskAsked) {

    /** The jobs with which a job shares its nodes. */
    public enum Exclusive {
        SHARED,
        NODE,
        USER,
        MCS,
        TOPO
    }

    /** CPUs per task before MaxMemPerCPU raised them; 0 where the user asked for none. */
    public int cpusPerTaskTyped() {
        return cpusPerTaskAsked == 0 ? cpusPerTask : Math.max(0, cpusPerTaskAsked);
    }

    /** Threads of each core that the job uses, by option or by hint; 0 for all. */
    public int threadsUsed() {
        return hint.equals("nomultithread") || hint.endsWith("_bound") ? 1 : threadsPerCore;
    }

    /** Cores of each socket that are asked for; the one of --hint=memory_bound does not limit the choice of nodes. */
    public int coresUsed() {
        return hint.equals("memory_bound") ? 1 : coresPerSocket;
    }

    /** The request with exclusive nodes. */
    public ResourceRequest alone() {
        return exclusive == Exclusive.SHARED
                ? edit().set("exclusive", Exclusive.NODE)
                        .set("oversubscribe", false)
                        .record()
                : this;
    }

    /** Leaves no cores or threads alone. */
    public ResourceRequest withoutSpecialized() {
        return edit().set("coreSpec", 0).set("threadSpec", 0).record();
    }

    public ResourceRequest withLicenses(String text) {
        return text.equals(licenses) ? this : edit().set("licenses", text).record();
    }

    public ResourceRequest withNodes(int min, int max) {
        return edit().set("nodesMin", min).set("nodesMax", max).record();
    }

    public ResourceRequest withTasks(int count) {
        return edit().set("tasks", count).record();
    }

    public ResourceRequest withTasksPerNode(int count) {
        return edit().set("tasksPerNode", count).record();
    }

    /** @param tres as {@code gres/gpu:8} */
    public ResourceRequest withTresPerJob(String tres) {
        return edit().set("tresPerJob", tres).record();
    }

    /** Returns the request with what each GPU brings along. */
    public ResourceRequest withPerGpu(int cpus, long memoryMb) {
        return edit().set("cpusPerGpu", cpus).set("memPerGpuMb", memoryMb).record();
    }

    /**
     * Returns the request with the CPUs that memory needs.
     *
     * @param requested see {@link #cpusPerTaskAsked}
     */
    public ResourceRequest withCpus(int perTask, int perNodeMin, int requested) {
        return edit().set("cpusPerTask", perTask)
                .set("cpusPerNodeMin", perNodeMin)
                .set("cpusPerTaskAsked", requested)
                .record();
    }

    public ResourceRequest withMemPerCpuMb(long mb) {
        return edit().set("memPerCpuMb", mb).record();
    }

    private RecordEditor<ResourceRequest> edit() {
        return RecordEditor.of(this);
    }
}
