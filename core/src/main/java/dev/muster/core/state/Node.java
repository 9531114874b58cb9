package dev.muster.core.state;

import dev.muster.model.format.IndexSet;
import dev.muster.model.node.NodeMessages.Hardware;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A node: its configuration, what it last said of itself, and its state.
 *
 * @param flags bits by {@link Flag#ordinal}
 * @param bootId of its last registration, "" before the first
 * @param jobs numbers of the jobs that hold part of it, ascending
 * @param cpusAllocated by these jobs
 * @param changeable features that a reboot can bring, as the node said; active: those of them that it has; wanted:
 *     those that it is rebooted for
 * @param powerAction program of slurm.conf that the next start, stop or reboot is done with; "" for the usual one
 * @param resumeAfter when it is put back into service, seconds since 1970; 0 never by itself
 * @param powerTime when it was last told to start, stop or reboot, seconds since 1970; 0 never
 */
public record Node(
        Spec spec,
        int flags,
        String reason,
        int reasonUid,
        long reasonTime,
        String bootId,
        String version,
        long startTime,
        Hardware hardware,
        String comment,
        String extra,
        List<Integer> jobs,
        int cpusAllocated,
        long memoryAllocatedMb,
        long lastBusy,
        long resumeAfter,
        long powerTime,
        List<String> changeable,
        List<String> active,
        List<String> wanted,
        String powerAction,
        CloudIdentity marks) {

    public Node {
        // records of before have none
        marks = marks == null ? CloudIdentity.NONE : marks;
    }

    /**
     * Identity of the node as its cloud and its certificates have it.
     *
     * @param instanceId identifier in a cloud, "" if unset
     * @param instanceType type in a cloud, "" if unset
     * @param certToken SHA-256, in hex, of what the node may show to have its certificate signed; "" where none was set
     * @param certRenewal SHA-256, in hex, of the token that slurmctld gave the node for its next certificate, in place
     *     of one that counts once
     * @param certTime when slurmctld last had one signed, seconds since 1970; 0 never
     * @param bootS seconds that it took the last time from being told to start until it was there; 0 where it never was
     */
    public record CloudIdentity(
            String instanceId, String instanceType, String certToken, String certRenewal, long certTime, int bootS) {
        public static final CloudIdentity NONE = new CloudIdentity("", "", "", "", 0, 0);

        public CloudIdentity(
                String instanceId, String instanceType, String certToken, String certRenewal, long certTime) {
            this(instanceId, instanceType, certToken, certRenewal, certTime, 0);
        }

        CloudIdentity booted(int seconds) {
            return new CloudIdentity(instanceId, instanceType, certToken, certRenewal, certTime, seconds);
        }

        /** Returns what is kept of a secret: enough to know it again. SHA-256 in hex. */
        public static String hash(String secret) {
            try {
                return HexFormat.of()
                        .formatHex(
                                MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8)));
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e); // every Java has it
            }
        }

        /** Tests whether a token that was shown is the one that was set, or was given in its place. */
        public boolean knows(String token) {
            return same(certToken, token) || renews(token);
        }

        /** Tests whether the token is the one that slurmctld gave for this time. */
        public boolean renews(String token) {
            return same(certRenewal, token);
        }

        private static boolean same(String set, String token) {
            return !set.isEmpty()
                    && MessageDigest.isEqual(
                            set.getBytes(StandardCharsets.UTF_8), hash(token).getBytes(StandardCharsets.UTF_8));
        }
    }

    /** Conditions over the state that follows from the jobs; names are Slurm's. */
    public enum Flag {
        DOWN,
        DRAIN,
        FAIL,
        NOT_RESPONDING,
        FUTURE,
        MAINT,
        RESERVED,
        PLANNED,
        INVALID_REG,
        REBOOT_REQUESTED,
        REBOOT_ISSUED,
        POWERED_DOWN,
        CLOUD,
        UNKNOWN,
        /** Came into being by registration or scontrol create: the file does not name it. */
        DYNAMIC_NORM,
        /** Took the place of a FUTURE node when its slurmd asked for one. */
        DYNAMIC_FUTURE,
        /** The node is to be powered down as soon as no job has it. */
        POWER_DOWN,
        POWERING_DOWN,
        /** The node is to be powered up as soon as ResumeRate allows. */
        POWER_UP,
        POWERING_UP,
        /** The node's DRAIN came with power_down_asap or reboot ASAP and goes with it. */
        DRAINED_FOR_THIS,
        /** The node is DOWN after its reboot; with NEXT_RESUME it is in service, whatever it was before. */
        NEXT_DOWN,
        NEXT_RESUME,
        /** A node without a slurmd: it runs no jobs, and only administrators change its state. */
        EXTERNAL
    }

    /**
     * A node as configured.
     *
     * @param units what jobs are given of it: cores, or CPUs where each is its own unit
     * @param cpusPerUnit CPUs in one of them
     * @param gres configured devices
     * @param configState State= of slurm.conf: UNKNOWN, DOWN, DRAIN, FUTURE, CLOUD, …
     * @param restrictedPerGpu units for each GPU that only jobs with that GPU may use
     * @param suspendTime seconds without work before it is stopped, INFINITE, or "" where its partitions or the cluster
     *     say
     * @param inactive those of the features that it has not now, as scontrol says
     * @param bcastAddress what sbcast speaks to it by, "" for its address
     * @param topology where it is, against what the files of the network say
     *     ({@link dev.muster.model.cluster.NodeTopology}); "" for nothing of its own
     */
    public record Spec(
            String name,
            String hostname,
            String address,
            int port,
            int cpus,
            int boards,
            int sockets,
            int coresPerSocket,
            int threadsPerCore,
            int units,
            int cpusPerUnit,
            long memoryMb,
            long memSpecLimitMb,
            long tmpDiskMb,
            List<String> features,
            int weight,
            List<Gres> gres,
            IndexSet reservedUnits,
            String configState,
            String configReason,
            int order,
            int restrictedPerGpu,
            String suspendTime,
            List<String> inactive,
            String topology,
            String bcastAddress) {
        public Spec {
            bcastAddress = bcastAddress == null ? "" : bcastAddress;
            // records of before have none
            inactive = inactive == null ? List.of() : inactive;
            topology = topology == null ? "" : topology;
        }

        /** Returns the weight by which nodes are ordered: a number of 32 bits without a sign. */
        public long weightValue() {
            return Integer.toUnsignedLong(weight);
        }

        public Spec(
                String name,
                String hostname,
                String address,
                int port,
                int cpus,
                int boards,
                int sockets,
                int coresPerSocket,
                int threadsPerCore,
                int units,
                int cpusPerUnit,
                long memoryMb,
                long memSpecLimitMb,
                long tmpDiskMb,
                List<String> features,
                int weight,
                List<Gres> gres,
                IndexSet reservedUnits,
                String configState,
                String configReason,
                int order) {
            this(
                    name,
                    hostname,
                    address,
                    port,
                    cpus,
                    boards,
                    sockets,
                    coresPerSocket,
                    threadsPerCore,
                    units,
                    cpusPerUnit,
                    memoryMb,
                    memSpecLimitMb,
                    tmpDiskMb,
                    features,
                    weight,
                    gres,
                    reservedUnits,
                    configState,
                    configReason,
                    order,
                    0,
                    "",
                    List.of(),
                    "",
                    "");
        }
    }

    /**
     * @param file device path pattern, "" if none
     * @param flags of gres.conf
     * @param near the units near each of the devices, from the first one; empty where gres.conf does not say
     * @param links by device, from the first one, its links to all devices of this name as Links has them:
     *     {@code -1,4,0,0}; empty where gres.conf does not say
     * @param parts of mps and shard, how many of these each of the node's GPUs has; empty where they are dealt evenly
     */
    public record Gres(
            String name,
            String type,
            int first,
            int count,
            String file,
            List<String> flags,
            List<IndexSet> near,
            List<String> links,
            List<Integer> parts) {
        public Gres {
            parts = parts == null ? List.of() : parts;
        }

        public Gres(
                String name,
                String type,
                int first,
                int count,
                String file,
                List<String> flags,
                List<IndexSet> near,
                List<String> links) {
            this(name, type, first, count, file, flags, near, links, List.of());
        }

        public Gres(String name, String type, int first, int count, String file, List<String> flags) {
            this(name, type, first, count, file, flags, List.of(), List.of());
        }

        public Gres(String name, String type, int first, int count, String file) {
            this(name, type, first, count, file, List.of());
        }

        /** Tests whether a job gets the devices only on request, not with a whole node. */
        public boolean isExplicit() {
            return flags.contains("explicit");
        }
    }

    public String name() {
        return spec.name;
    }

    public boolean has(Flag flag) {
        return (flags & 1 << flag.ordinal()) != 0;
    }

    /** Tests whether new work may go to the node: registered, up, not drained. */
    public boolean isUsable() {
        int bad = 1 << Flag.DOWN.ordinal()
                | 1 << Flag.DRAIN.ordinal()
                | 1 << Flag.FAIL.ordinal()
                | 1 << Flag.NOT_RESPONDING.ordinal()
                | 1 << Flag.FUTURE.ordinal()
                | 1 << Flag.UNKNOWN.ordinal()
                | 1 << Flag.INVALID_REG.ordinal()
                | 1 << Flag.POWERED_DOWN.ordinal()
                | 1 << Flag.POWERING_DOWN.ordinal()
                | 1 << Flag.POWERING_UP.ordinal()
                | 1 << Flag.REBOOT_ISSUED.ordinal();
        return (flags & bad) == 0 && !bootId.isEmpty();
    }

    /** Tests whether the node is without power or on its way up: it takes jobs, which wait for it. */
    public boolean isAsleep() {
        return (has(Flag.POWERED_DOWN) || has(Flag.POWERING_UP)) && !has(Flag.POWERING_DOWN);
    }

    /** Tests whether the node is started, stopped or rebooted, or is to be. */
    public boolean isPowerOrdered() {
        return has(Flag.REBOOT_REQUESTED) || has(Flag.REBOOT_ISSUED) || isSilentByOrder() || has(Flag.POWER_DOWN);
    }

    /** Tests whether the node is silent, with nothing wrong about that. */
    public boolean isSilentByOrder() {
        return has(Flag.POWERED_DOWN)
                || has(Flag.POWERING_UP)
                || has(Flag.POWERING_DOWN)
                || has(Flag.REBOOT_ISSUED)
                || has(Flag.EXTERNAL);
    }

    /** Returns whether the scheduler never places jobs on the node in its current state. */
    public boolean isClosedToJobs() {
        return has(Flag.FUTURE) || has(Flag.EXTERNAL);
    }

    private static final int POWER_ACTIONS =
            1 << Flag.POWERING_DOWN.ordinal() | 1 << Flag.POWERING_UP.ordinal() | 1 << Flag.REBOOT_ISSUED.ordinal();

    /** Flags each of which says of a node that was on its way up that it has not come, or not yet. */
    private static final int CAME_NOT = 1 << Flag.POWERING_UP.ordinal()
            | 1 << Flag.POWERED_DOWN.ordinal()
            | 1 << Flag.POWERING_DOWN.ordinal()
            | 1 << Flag.DOWN.ordinal();

    /** Flags of which one must be on for the power action that was named for the node to count. */
    private static final int POWER_WISHES = POWER_ACTIONS
            | 1 << Flag.POWER_DOWN.ordinal()
            | 1 << Flag.POWER_UP.ordinal()
            | 1 << Flag.REBOOT_REQUESTED.ordinal();

    Node withMemoryAllocated(long mb) {
        return withAllocation(jobs, cpusAllocated, mb, lastBusy);
    }

    public Node withMarks(CloudIdentity m) {
        return new Node(
                spec,
                flags,
                reason,
                reasonUid,
                reasonTime,
                bootId,
                version,
                startTime,
                hardware,
                comment,
                extra,
                jobs,
                cpusAllocated,
                memoryAllocatedMb,
                lastBusy,
                resumeAfter,
                powerTime,
                changeable,
                active,
                wanted,
                powerAction,
                m);
    }

    public Node withPowerAction(String action) {
        return new Node(
                spec,
                flags,
                reason,
                reasonUid,
                reasonTime,
                bootId,
                version,
                startTime,
                hardware,
                comment,
                extra,
                jobs,
                cpusAllocated,
                memoryAllocatedMb,
                lastBusy,
                resumeAfter,
                powerTime,
                changeable,
                active,
                wanted,
                action,
                marks);
    }

    /** Returns the node with other flags; a new power action begins now. */
    Node turned(int f, long time) {
        Node out = (f & POWER_WISHES) == 0 ? withFlags(f).withPowerAction("") : withFlags(f);
        if (has(Flag.POWERING_UP) && (f & CAME_NOT) == 0 && powerTime > 0) {
            out = out.withMarks(marks.booted((int) Math.max(1, time - powerTime)));
        }
        return (f & ~flags & POWER_ACTIONS) == 0
                ? out
                : new Node(
                        spec,
                        f,
                        reason,
                        reasonUid,
                        reasonTime,
                        bootId,
                        version,
                        startTime,
                        hardware,
                        comment,
                        extra,
                        jobs,
                        cpusAllocated,
                        memoryAllocatedMb,
                        lastBusy,
                        resumeAfter,
                        time,
                        changeable,
                        active,
                        wanted,
                        powerAction,
                        out.marks);
    }

    /** Returns AvailableFeatures: as configured, and those that it can be rebooted with. */
    public List<String> features() {
        return joined(spec.features, changeable);
    }

    /** Returns ActiveFeatures. */
    public List<String> activeFeatures() {
        List<String> own = spec.inactive.isEmpty()
                ? spec.features
                : spec.features.stream().filter(f -> !spec.inactive.contains(f)).toList();
        return changeable.isEmpty()
                ? own
                : joined(own.stream().filter(f -> !changeable.contains(f)).toList(), active);
    }

    private static List<String> joined(List<String> some, List<String> others) {
        return others.isEmpty()
                ? some
                : Stream.concat(some.stream(), others.stream()).distinct().toList();
    }

    Node withFeatures(List<String> can, List<String> has, List<String> shall) {
        return new Node(
                spec,
                flags,
                reason,
                reasonUid,
                reasonTime,
                bootId,
                version,
                startTime,
                hardware,
                comment,
                extra,
                jobs,
                cpusAllocated,
                memoryAllocatedMb,
                lastBusy,
                resumeAfter,
                powerTime,
                can,
                has,
                shall,
                powerAction,
                marks);
    }

    /** Returns the device counts by GRES name, types added up. */
    public int gresCount(String name, String type) {
        int sum = 0;
        for (Gres g : spec.gres) {
            if (g.name.equals(name) && (type.isEmpty() || g.type.equals(type))) {
                sum += g.count;
            }
        }
        return sum;
    }

    /** Returns Slurm's base state word. */
    public String baseState() {
        if (has(Flag.FUTURE)) {
            return "FUTURE";
        }
        if (has(Flag.DOWN)) {
            return "DOWN";
        }
        if (has(Flag.UNKNOWN)) {
            return "UNKNOWN";
        }
        if (cpusAllocated == 0) {
            return "IDLE";
        }
        return cpusAllocated >= spec.cpus ? "ALLOCATED" : "MIXED";
    }

    public Node with(Flag flag, boolean on) {
        int bit = 1 << flag.ordinal();
        return withFlags(on ? flags | bit : flags & ~bit);
    }

    Node withFlags(int f) {
        return new Node(
                spec,
                f,
                reason,
                reasonUid,
                reasonTime,
                bootId,
                version,
                startTime,
                hardware,
                comment,
                extra,
                jobs,
                cpusAllocated,
                memoryAllocatedMb,
                lastBusy,
                resumeAfter,
                powerTime,
                changeable,
                active,
                wanted,
                powerAction,
                marks);
    }

    public Node withReason(String why, int uid, long time) {
        return new Node(
                spec,
                flags,
                why,
                uid,
                time,
                bootId,
                version,
                startTime,
                hardware,
                comment,
                extra,
                jobs,
                cpusAllocated,
                memoryAllocatedMb,
                lastBusy,
                resumeAfter,
                powerTime,
                changeable,
                active,
                wanted,
                powerAction,
                marks);
    }

    public Node withSpec(Spec s) {
        return new Node(
                s,
                flags,
                reason,
                reasonUid,
                reasonTime,
                bootId,
                version,
                startTime,
                hardware,
                comment,
                extra,
                jobs,
                cpusAllocated,
                memoryAllocatedMb,
                lastBusy,
                resumeAfter,
                powerTime,
                changeable,
                active,
                wanted,
                powerAction,
                marks);
    }

    public Node withTexts(String newComment, String newExtra, long newResumeAfter) {
        return new Node(
                spec,
                flags,
                reason,
                reasonUid,
                reasonTime,
                bootId,
                version,
                startTime,
                hardware,
                newComment,
                newExtra,
                jobs,
                cpusAllocated,
                memoryAllocatedMb,
                lastBusy,
                newResumeAfter,
                powerTime,
                changeable,
                active,
                wanted,
                powerAction,
                marks);
    }

    /** Returns the node with these jobs in place of its own. */
    public Node holding(List<Integer> ids) {
        return withAllocation(List.copyOf(ids), cpusAllocated, memoryAllocatedMb, lastBusy);
    }

    Node registered(String boot, String v, long start, Hardware h) {
        return new Node(
                spec,
                flags,
                reason,
                reasonUid,
                reasonTime,
                boot,
                v,
                start,
                h,
                comment,
                extra,
                jobs,
                cpusAllocated,
                memoryAllocatedMb,
                lastBusy,
                resumeAfter,
                powerTime,
                changeable,
                active,
                wanted,
                powerAction,
                marks);
    }

    /** @param lastBusyTime when the last job left, seconds since 1970 */
    private Node withAllocation(List<Integer> jobIds, int cpus, long memoryMb, long lastBusyTime) {
        return new Node(
                spec,
                flags,
                reason,
                reasonUid,
                reasonTime,
                bootId,
                version,
                startTime,
                hardware,
                comment,
                extra,
                jobIds,
                cpus,
                memoryMb,
                lastBusyTime,
                resumeAfter,
                powerTime,
                changeable,
                active,
                wanted,
                powerAction,
                marks);
    }

    Node withJob(int jobId, int cpus, long memoryMb) {
        java.util.ArrayList<Integer> more = new java.util.ArrayList<>(jobs);
        int index = java.util.Collections.binarySearch(more, jobId);
        if (index < 0) {
            more.add(-index - 1, jobId);
        }
        return withAllocation(List.copyOf(more), cpusAllocated + cpus, memoryAllocatedMb + memoryMb, lastBusy);
    }

    Node withoutJob(int jobId, int cpus, long memoryMb, long time) {
        List<Integer> fewer = jobs.stream().filter(j -> j != jobId).toList();
        return withAllocation(fewer, cpusAllocated - cpus, memoryAllocatedMb - memoryMb, time);
    }

    /**
     * Returns a node as slurm.conf has it before its first registration, with the reason that DownNodes or its own line
     * gives.
     *
     * @param time seconds since 1970
     */
    static Node configured(Spec spec, int slurmUid, long time) {
        boolean out = List.of("DOWN", "DRAIN", "FAIL").contains(spec.configState);
        String why;
        if (!spec.configReason.isEmpty()) {
            why = spec.configReason;
        } else if (out) {
            why = "Set in slurm.conf";
        } else {
            why = "";
        }

        return why.isEmpty() ? of(spec) : of(spec).withReason(why, slurmUid, time);
    }

    public static Node of(Spec spec) {
        Node fresh = new Node(
                        spec,
                        0,
                        "",
                        0,
                        0,
                        "",
                        "",
                        0,
                        new Hardware(0, 0, 0, 0, 0, 0, 0, "", "", "", 0),
                        "",
                        "",
                        List.of(),
                        0,
                        0,
                        0,
                        0,
                        0,
                        List.of(),
                        List.of(),
                        List.of(),
                        "",
                        CloudIdentity.NONE)
                .with(Flag.UNKNOWN, true);
        return switch (spec.configState) {
            case "DOWN" -> fresh.with(Flag.UNKNOWN, false).with(Flag.DOWN, true);
            case "DRAIN" -> fresh.with(Flag.DRAIN, true);
            case "FAIL" -> fresh.with(Flag.FAIL, true);
            case "IDLE" ->
                fresh.with(Flag.UNKNOWN, false); // as it is taken to be until it is heard of, or not for too long
            case "FUTURE" -> fresh.with(Flag.UNKNOWN, false).with(Flag.FUTURE, true);
            case "CLOUD" ->
                fresh.with(Flag.UNKNOWN, false).with(Flag.CLOUD, true).with(Flag.POWERED_DOWN, true);
            case "EXTERNAL" -> fresh.with(Flag.UNKNOWN, false).with(Flag.EXTERNAL, true);
            default -> fresh;
        };
    }

    /** Returns the GRES that the node has, by name. */
    public Map<String, Integer> gresTotals() {
        java.util.TreeMap<String, Integer> totals = new java.util.TreeMap<>();
        for (Gres g : spec.gres) {
            totals.merge(g.name, g.count, Integer::sum);
        }
        return totals;
    }
}
