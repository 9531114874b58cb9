package dev.muster.model.accounting;

import dev.muster.model.accounting.AccountingRows.Batch;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.StepRow;
import java.util.List;
import java.util.Map;

/** Messages of slurmdbd, named after the records. Times are seconds since 1970 unless a name says otherwise. */
public final class DbdMessages {
    private DbdMessages() {}

    // ---- slurmctld

    /**
     * A controller presents itself, once per connection.
     *
     * @param journal names its journal
     * @param lastSeq the last index of the journal: tables ahead of it go back (its tail was cut)
     * @param tres the cluster's resources, {@code cpu=4,mem=100,…}
     * @param external it keeps its rows elsewhere, and tells only where it is, again and again
     */
    public record Register(
            String cluster,
            String journal,
            long lastSeq,
            String host,
            int port,
            int rpcVersion,
            String tres,
            String nodes,
            int nodeCount,
            List<String> tresNames,
            boolean external) {

        /** The message of a cluster that keeps its rows here. */
        public Register(
                String cluster,
                String journal,
                long lastSeq,
                String host,
                int port,
                int rpcVersion,
                String tres,
                String nodes,
                int nodeCount,
                List<String> tresNames) {
            this(cluster, journal, lastSeq, host, port, rpcVersion, tres, nodes, nodeCount, tresNames, false);
        }

        /** The same cluster where it keeps no rows. */
        public Register abroad() {
            return new Register(cluster, "", 0, host, port, rpcVersion, tres, nodes, nodeCount, List.of(), true);
        }
    }

    /**
     * @param seq everything up to it is in the tables; -1 to an external cluster if the tables have rows of a cluster
     *     with that name
     * @param ahead the entry up to which rows were there, where the journal ends before it; else 0, as the two below
     * @param jobId of the newest job of these rows, with its sluid
     */
    public record Registered(long seq, long ahead, int jobId, long sluid) {
        public Registered(long seq) {
            this(seq, 0, 0, 0);
        }
    }

    /** Rows of one journal, in order. Answered by {@link Registered}. */
    public record Append(String cluster, String journal, List<Batch> batches) {}

    /**
     * The row of one attempt or step.
     *
     * @param stepId {@link #NO_STEP} for the job's
     */
    public record ReadRow(String cluster, String journal, long sluid, int restarts, int stepId) {
        public static final int NO_STEP = Integer.MIN_VALUE;
    }

    /** Lists of one or none. */
    public record RowRead(List<JobRow> jobs, List<StepRow> steps) {}

    /**
     * Tells slurmdbd what a controller has, and waits for more. Answered at once when the controller's policy is old or
     * a query waits for its rows.
     *
     * @param version of the policy it has made durable; 0 for none
     * @param barrier of the last answer: every row up to then has been appended
     */
    public record Sync(String cluster, String journal, long version, long barrier, int waitMs) {}

    /** @param policy the whole of it, absent unless {@code changed} */
    public record SyncReply(long version, long barrier, boolean changed, Policy policy) {}

    /**
     * Associations and QOS of one cluster, with everything inherited resolved.
     *
     * @param licenses of servers outside, as far as they are this cluster's: {@code name@server:count}
     * @param remotes what else is known of these
     */
    public record Policy(
            List<AssocPolicy> assocs,
            List<QosPolicy> qos,
            List<UserPolicy> users,
            List<WckeyPolicy> wckeys,
            List<String> licenses,
            List<RemoteLicense> remotes) {
        public static final Policy NONE = new Policy(List.of(), List.of(), List.of(), List.of());

        public Policy {
            licenses = licenses == null ? List.of() : List.copyOf(licenses);
            remotes = remotes == null ? List.of() : List.copyOf(remotes);
        }

        public Policy withUsers(List<UserPolicy> others) {
            return new Policy(assocs, qos, others, wckeys, licenses, remotes);
        }

        public Policy(List<AssocPolicy> assocs, List<QosPolicy> qos, List<UserPolicy> users, List<WckeyPolicy> wckeys) {
            this(assocs, qos, users, wckeys, List.of(), List.of());
        }
    }

    /**
     * A license of a server outside.
     *
     * @param name {@code name@server}
     * @param count of all clusters
     * @param consumed licenses that the server reports as taken (LastConsumed)
     * @param deficit those of them beyond what this cluster's jobs have and other clusters may have; slurmctld sets it
     * @param updated when the server last reported it, in seconds
     */
    public record RemoteLicense(String name, long count, long consumed, int deficit, long updated) {
        public RemoteLicense missing(int licenses) {
            return new RemoteLicense(name, count, consumed, licenses, updated);
        }
    }

    /**
     * @param parentId 0 for the root
     * @param limits with what is inherited
     * @param qos names allowed
     */
    public record AssocPolicy(
            int id,
            int parentId,
            String account,
            String user,
            String partition,
            boolean isDefault,
            Map<String, String> limits,
            List<String> qos,
            String defaultQos) {}

    public record QosPolicy(int id, String name, Map<String, String> limits) {}

    /**
     * @param coordinates the accounts, with those below them
     * @param uid where the controller knows the user and it may more than others; else 0 or less
     */
    public record UserPolicy(String user, Entities.AdminLevel level, List<String> coordinates, int uid) {
        /** Returns whether the user has a right that not every user has. */
        public boolean isPrivileged() {
            return level != Entities.AdminLevel.NONE || !coordinates.isEmpty();
        }

        public UserPolicy withUid(int number) {
            return new UserPolicy(user, level, coordinates, number);
        }
    }

    public record WckeyPolicy(String user, String name, boolean isDefault) {}

    // ---- sacctmgr and friends

    /**
     * @param options words such as {@code withassoc}
     * @param where by lower-case name, values with commas
     */
    public record Show(String entity, Map<String, String> where, List<String> options) {}

    /**
     * Use in a span of time, for sreport. Answered by {@link Rows}.
     *
     * @param kind one of the words below
     * @param clusters empty for all
     * @param from of the span, seconds; {@code to} is the first that is not in it
     * @param where of {@link #SIZES}: which jobs, and under which name each counts
     * @param step of {@link #UTILIZATION}: seconds of one row, which has {@code From}; 0 for the span as a whole
     */
    public record Report(String kind, List<String> clusters, long from, long to, Map<String, String> where, long step) {
        public static final String UTILIZATION = "utilization";
        public static final String ACCOUNTS = "accounts";
        public static final String WCKEYS = "wckeys";
        public static final String QOS = "qos";
        public static final String SIZES = "sizes";
        public static final String RESERVATIONS = "reservations";
    }

    /** Rows of fields by name, in the kept form of their values. */
    public record Rows(List<Map<String, String>> rows) {}

    /**
     * @param verb add, modify or delete
     * @param set by field name; a value may begin with {@code +=}, {@code -=} or {@code =}
     * @param commit false: say what it would do, and do nothing
     */
    public record Change(
            String verb, String entity, Map<String, String> set, Map<String, String> where, boolean commit) {}

    /**
     * Changes that go together: all of them or none. Answered by {@link Changed}, of the first that is refused or of
     * none.
     */
    public record ChangeAll(List<Change> changes, boolean commit) {}

    /**
     * @param names of what was touched
     * @param assocs associations that were touched
     * @param more of a deletion: names that go with it
     * @param error sentences if it was refused; nothing was done then
     */
    public record Changed(
            List<String> names, List<AssocRef> assocs, List<String> more, List<String> error, int errno) {}

    /** An association as people name it. */
    public record AssocRef(String cluster, String account, String user, String partition, String parent) {}

    /**
     * Ends jobs that no controller knows: each with the latest of its times, as completed.
     *
     * @param keys {@code sluid:restarts}, as a list of them names each
     */
    public record EndRunaways(String cluster, List<String> keys) {}

    /**
     * Brings the rows of a file back.
     *
     * @param file on slurmdbd's host
     * @param insert the text itself, instead of a file
     */
    public record LoadArchive(String file, String insert) {}

    /**
     * Archives and purges now.
     *
     * @param settings keys of slurmdbd.conf that are other than there, this once
     */
    public record DumpArchive(Map<String, String> settings) {}

    /** Asks for sums to be made for a span. There are none that are kept: it only says whether the caller may ask. */
    public record RollUsage(long from, long to) {}

    /** Clears nothing but statistics. */
    public record ClearStats() {}

    public record Reconfigure() {}

    public record Shutdown() {}

    public record Done() {}

    /**
     * The answer to a ping.
     *
     * @param standby whether another slurmdbd serves, or none yet
     */
    public record Pinged(boolean standby) {}
}
