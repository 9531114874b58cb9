package dev.muster.model.job;

import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.json.RecordEditor;
import dev.muster.model.Identity;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * A job as it was asked for. Components are grouped into records that many jobs share, so that equal groups can be one
 * object in memory. Times are seconds since 1970; 0 or "" means "not said" unless a component says otherwise.
 *
 * @param partition one, or several with commas while the job waits
 * @param partitions all of several that were asked for, once the job runs in one of them
 */
public record JobDesc(
        Kind kind,
        String name,
        String partition,
        Identity owner,
        Charge charge,
        ResourceRequest request,
        Timing timing,
        Files files,
        Extras extras,
        Payload payload,
        String partitions) {

    /** Returns the partition that is tried first. */
    public String firstPartition() {
        return first(partition);
    }

    /** @param partitions with commas, in the order in which they are tried */
    public static String first(String partitions) {
        int comma = partitions.indexOf(',');
        return comma < 0 ? partitions : partitions.substring(0, comma);
    }

    /** Returns all partitions in which the job may run, in the order in which they are tried. */
    public List<String> partitionList() {
        return partition.indexOf(',') < 0 ? List.of(partition) : List.of(partition.split(","));
    }

    /** How the job came to be. */
    public enum Kind {
        /** sbatch: a script runs on the first node. */
        BATCH,
        /** salloc: the client runs a command on its own host. */
        ALLOCATION,
        /** srun outside an allocation: the job lives as long as its one step. */
        RUN
    }

    /** Returns the description of a job that sets nothing. */
    public static JobDesc empty() {
        return Empty.DESC;
    }

    /** The empty description, made when it is first asked for: commands need none. */
    private static final class Empty {
        static final JobDesc DESC = Codec.bind(new Json.Obj(), JobDesc.class);
    }

    /**
     * Account, QOS, wckey and reservation of a job.
     *
     * @param qos of a job that waits, several with commas, the one that is tried first in front
     * @param drawn it did not ask for its reservation, which is a magnetic one
     * @param qosAsked the QOS that its user named; "" where it has a default one
     * @param defaulted which of ACCOUNT, PARTITION, QOS and WCKEY its user did not name at submission, with commas
     */
    public record Charge(
            String account,
            String qos,
            String wckey,
            String reservation,
            String licensesTag,
            boolean drawn,
            String qosAsked,
            String defaulted) {
        public Charge(String account, String qos, String wckey, String reservation, String licensesTag) {
            this(account, qos, wckey, reservation, licensesTag, false, "", "");
        }

        /** Returns the charge as its user asks for it, before defaults are filled in. */
        public Charge asked(String partition) {
            Map<String, String> named =
                    new TreeMap<>(Map.of("ACCOUNT", account, "PARTITION", partition, "QOS", qos, "WCKEY", wckey));
            named.values().removeIf(value -> !value.isEmpty());
            return new Charge(
                    account,
                    qos,
                    wckey,
                    reservation,
                    licensesTag,
                    drawn,
                    qos.toLowerCase(Locale.ROOT),
                    String.join(",", named.keySet()));
        }

        /** The QOS by which a job stands in the queue, or under which it runs; "" for none. */
        public String firstQos() {
            int comma = qos.indexOf(',');
            return comma < 0 ? qos : qos.substring(0, comma);
        }

        /** Every QOS that the job may run under; one "" for none. */
        public List<String> eachQos() {
            return qos.indexOf(',') < 0 ? List.of(qos) : List.of(qos.split(","));
        }

        /**
         * Names of accounts, QOS and workload characterization keys are lower case everywhere, whatever their case on
         * the command line.
         */
        public Charge lowerCase() {
            return new Charge(
                    account.toLowerCase(Locale.ROOT),
                    qos.toLowerCase(Locale.ROOT),
                    wckey.toLowerCase(Locale.ROOT),
                    reservation,
                    licensesTag,
                    drawn,
                    qosAsked,
                    defaulted);
        }

        public Charge withQos(String name) {
            return new Charge(account, name, wckey, reservation, licensesTag, drawn, qosAsked, defaulted);
        }

        public Charge withWckey(String key) {
            return new Charge(account, qos, key, reservation, licensesTag, drawn, qosAsked, defaulted);
        }

        /** Returns the charge in a reservation that the job runs in; "" for none. */
        public Charge in(String name) {
            return new Charge(
                    account,
                    qos,
                    wckey,
                    name,
                    licensesTag,
                    !name.isEmpty() && (drawn || reservation.isEmpty()),
                    qosAsked,
                    defaulted);
        }
    }

    /**
     * @param timeLimitMin {@code -t}, minutes; 0 not said; -1 for no limit
     * @param timeMinMin {@code --time-min}
     * @param beginTime {@code --begin}
     * @param deadline {@code --deadline}
     * @param dependency {@code -d} as written
     * @param array {@code -a} as written, "" for none
     * @param hold {@code -H}
     * @param prioritySet {@code --priority} was given
     * @param siteFactor added to a computed priority, set by administrators
     * @param requeue {@code --requeue} given as YES, {@code --no-requeue} as NO
     * @param expedite {@code --requeue=expedite}
     */
    public record Timing(
            int timeLimitMin,
            int timeMinMin,
            long beginTime,
            long deadline,
            String dependency,
            String array,
            int nice,
            boolean hold,
            boolean prioritySet,
            long priority,
            Choice requeue,
            Choice killOnInvalidDependency,
            int delayBootMin,
            int siteFactor,
            boolean expedite) {
        public Timing withTimeLimitMin(int minutes) {
            return RecordEditor.of(this).set("timeLimitMin", minutes).record();
        }

        public Timing withBeginTime(long seconds) {
            return RecordEditor.of(this).set("beginTime", seconds).record();
        }

        public Timing withNice(int value) {
            return RecordEditor.of(this).set("nice", value).record();
        }

        /** Returns the timing with a computed priority in place of a set one. */
        public Timing withComputedPriority() {
            return RecordEditor.of(this)
                    .set("prioritySet", false)
                    .set("priority", 0L)
                    .record();
        }
    }

    /** A tri-state option. */
    public enum Choice {
        UNSET,
        YES,
        NO
    }

    /**
     * Where a batch job's streams go. Patterns as written ({@code %j} and friends); "" means the default.
     *
     * @param openMode {@code append}, {@code truncate} or ""
     */
    public record Files(Bytes workDir, Bytes stdin, Bytes stdout, Bytes stderr, String openMode) {}

    /**
     * Things most jobs never say; one shared value for all that do not.
     *
     * @param x11 see {@link X11#text}
     * @param stepMgr {@code --stepmgr}, or the cluster has it for all jobs
     * @param noShell no command has the allocation
     * @param containerType {@code --container-type} as written
     * @param resvPorts {@code --resv-ports} of a job: number of ports of MpiParams that it reserves on its nodes; -1
     *     for one more than the tasks of its fullest node
     * @param memUpdateMargin {@code --mem-update}: percent of what it uses that it keeps beside that
     * @param memUpdateMin minutes after its start at which it keeps no more; 0 for never
     * @param warnReserve {@code --signal=R:}: it gives way, whatever becomes of others of its partition or QOS
     */
    public record Extras(
            String comment,
            String adminComment,
            String extra,
            String cluster,
            String mailUser,
            String mailType,
            String signal,
            String container,
            String containerId,
            String burstBuffer,
            String mcsLabel,
            String batchFeatures,
            String acctgFreq,
            String cpuFreq,
            String tresBind,
            String tresFreq,
            String profile,
            String power,
            String x11,
            boolean noKill,
            boolean waitAllNodes,
            boolean reboot,
            boolean getUserEnv,
            boolean stepMgr,
            int warnSignal,
            int warnSeconds,
            boolean warnBatchOnly,
            String oomKillStep,
            boolean noShell,
            String containerType,
            int resvPorts,
            int memUpdateMargin,
            int memUpdateMin,
            boolean warnReserve) {
        /** @param frequency {@code --acctg-freq} as written */
        public Extras withAcctgFreq(String frequency) {
            return with(adminComment, burstBuffer, mcsLabel, frequency, stepMgr);
        }

        public Extras withAdminComment(String words) {
            return with(words, burstBuffer, mcsLabel, acctgFreq, stepMgr);
        }

        public Extras withBurstBuffer(String directives) {
            return with(adminComment, directives, mcsLabel, acctgFreq, stepMgr);
        }

        public Extras withMcsLabel(String label) {
            return with(adminComment, burstBuffer, label, acctgFreq, stepMgr);
        }

        public Extras withStepMgr(boolean enabled) {
            return with(adminComment, burstBuffer, mcsLabel, acctgFreq, enabled);
        }

        private Extras with(String words, String directives, String label, String frequency, boolean managed) {
            return new Extras(
                    comment,
                    words,
                    extra,
                    cluster,
                    mailUser,
                    mailType,
                    signal,
                    container,
                    containerId,
                    directives,
                    label,
                    batchFeatures,
                    frequency,
                    cpuFreq,
                    tresBind,
                    tresFreq,
                    profile,
                    power,
                    x11,
                    noKill,
                    waitAllNodes,
                    reboot,
                    getUserEnv,
                    managed,
                    warnSignal,
                    warnSeconds,
                    warnBatchOnly,
                    oomKillStep,
                    noShell,
                    containerType,
                    resvPorts,
                    memUpdateMargin,
                    memUpdateMin,
                    warnReserve);
        }
    }

    /**
     * What the job runs and where it was asked for. Script and environment are content-addressed blobs (hex SHA-256).
     *
     * @param arguments of the batch script
     * @param umask of the submitting process
     * @param limits resource limits to set in the job (RLIMIT name without prefix → soft limit; -1 unlimited)
     */
    public record Payload(
            String scriptHash,
            String envHash,
            List<Bytes> arguments,
            String submitHost,
            int submitPid,
            Bytes submitLine,
            int umask,
            Map<String, Long> limits) {}

    /** Returns the running job's description: in one of the partitions that it named. */
    public JobDesc inPartition(String one) {
        return new JobDesc(
                kind,
                name,
                one,
                owner,
                charge,
                request,
                timing,
                files,
                extras,
                payload,
                partitions.isEmpty() && !one.equals(partition) ? partition : partitions);
    }

    /** Returns the waiting job's description: in any of the partitions that it named. */
    public JobDesc anywhere() {
        return partitions.isEmpty()
                ? this
                : new JobDesc(kind, name, partitions, owner, charge, request, timing, files, extras, payload, "");
    }

    public JobDesc withRequest(ResourceRequest r) {
        return new JobDesc(kind, name, partition, owner, charge, r, timing, files, extras, payload, partitions);
    }

    public JobDesc withTiming(Timing t) {
        return new JobDesc(kind, name, partition, owner, charge, request, t, files, extras, payload, partitions);
    }

    public JobDesc withPayload(Payload p) {
        return new JobDesc(kind, name, partition, owner, charge, request, timing, files, extras, p, partitions);
    }

    public JobDesc withOwner(Identity o) {
        return new JobDesc(kind, name, partition, o, charge, request, timing, files, extras, payload, partitions);
    }

    public JobDesc withPartition(String p) {
        return new JobDesc(kind, name, p, owner, charge, request, timing, files, extras, payload, partitions);
    }

    public JobDesc withName(String n) {
        return new JobDesc(kind, n, partition, owner, charge, request, timing, files, extras, payload, partitions);
    }

    public JobDesc withExtras(Extras e) {
        return new JobDesc(kind, name, partition, owner, charge, request, timing, files, e, payload, partitions);
    }

    public JobDesc withFiles(Files f) {
        return new JobDesc(kind, name, partition, owner, charge, request, timing, f, extras, payload, partitions);
    }

    public JobDesc withCharge(Charge c) {
        return new JobDesc(kind, name, partition, owner, c, request, timing, files, extras, payload, partitions);
    }
}
