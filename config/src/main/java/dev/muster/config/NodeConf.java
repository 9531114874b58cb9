package dev.muster.config;

import java.util.List;

/**
 * One node as the file describes it.
 *
 * @param hostname what the machine calls itself
 * @param address where to connect; the hostname when the file says nothing else
 * @param port slurmd's port on it
 * @param sockets of all boards together
 * @param gresText the Gres value as written
 * @param state UNKNOWN, DOWN, DRAIN, FAIL, FUTURE, CLOUD, IDLE …
 * @param coreSpecCount cores kept from jobs
 * @param cpuSpecList CPU ids kept from jobs, as written
 * @param suspendTime seconds, INFINITE, or empty where the partitions or the global value count
 * @param file where the line stands
 */
public record NodeConf(
        String name,
        String hostname,
        String address,
        String bcastAddress,
        int port,
        int cpus,
        int boards,
        int sockets,
        int coresPerSocket,
        int threadsPerCore,
        long realMemoryMb,
        long tmpDiskMb,
        List<String> features,
        int weight,
        List<Gres> gres,
        String gresText,
        String state,
        String reason,
        long memSpecLimitMb,
        int coreSpecCount,
        String cpuSpecList,
        String cpuBind,
        String topology,
        int restrictedCoresPerGpu,
        String suspendTime,
        String parameters,
        String file,
        int line) {

    /** A generic resource: {@code gpu:a100:4} is name gpu, type a100, count 4. */
    public record Gres(String name, String type, long count, boolean noConsume) {}

    /** Cores on the node; CPUs are these or their threads. */
    public int cores() {
        return sockets * coresPerSocket;
    }

    /** Its own Parameters have the word, which counts beside those of SlurmdParameters. */
    public boolean has(String parameter) {
        return java.util.Arrays.stream(parameters.split(","))
                .anyMatch(p -> p.strip().equalsIgnoreCase(parameter));
    }
}
