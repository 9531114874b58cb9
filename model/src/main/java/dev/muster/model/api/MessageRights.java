package dev.muster.model.api;

import dev.muster.model.SlurmErrno;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Table of the rights to send each message to each daemon. Every message stands in it once, followed by a word of its
 * body if that word decides. A daemon refuses messages that are not in the table. If the need depends on the caller
 * alone ({@link Need#OPERATOR}, {@link Need#ADMINISTRATOR}, {@link Need#DAEMON}), the daemon's edge refuses by this
 * table before it reads the body. If the need depends on the job or other object of the message, the rule that finds
 * the object refuses.
 */
public final class MessageRights {
    /** The least privilege that a caller needs. */
    public enum Need {
        /** Any caller that has proved its identity. */
        ANYBODY,
        /** Each user for itself; root and SlurmUser for others. */
        SELF,
        /** Each user for itself; operators for others. */
        SELF_OR_OPERATOR,
        /** A job's owner, root and SlurmUser: what it writes, its variables. */
        OWNER_ALONE,
        /** A job's owner, coordinators of its account, operators. */
        OWNER,
        /** Coordinators of what is changed, operators; {@code ChangeRights} of slurmdbd has change by change. */
        COORDINATOR,
        /** Operators, and users that the object or the configuration names. */
        OPERATOR_OR_NAMED,
        OPERATOR,
        ADMINISTRATOR,
        /** SlurmUser, where that is not root. */
        SLURM_USER,
        /** The user that created the object, and root. */
        MAKER,
        /** root and SlurmUser, the users of daemons. */
        DAEMON
    }

    /**
     * @param hiddenBy words of PrivateData that hide the objects of other users from all but operators
     * @param denial error of the daemon's edge for a caller without the right
     */
    public record Rule(Need need, List<String> hiddenBy, SlurmErrno denial) {}

    /**
     * Messages that change the cluster itself. Slurm refuses them with an invalid user id, and all others with access
     * denied.
     */
    private static final Set<String> CLUSTERS_OWN = Set.of(
            "CreateReservation",
            "UpdateNode",
            "CreateNodes",
            "DeleteNodes",
            "UpdatePartition",
            "CreatePartition",
            "DeletePartition",
            "Reconfigure",
            "Shutdown");

    private static final Map<String, Rule> CONTROLLER = new TreeMap<>();
    private static final Map<String, Rule> ACCOUNTING = new TreeMap<>();
    private static final Map<String, Rule> NODE = new TreeMap<>();

    static {
        put(
                CONTROLLER,
                Need.ANYBODY,
                "Ping",
                "QueryTopology",
                "QueryBurstBuffers",
                "QueryBurstStatus",
                "QueryLicenses",
                "QueryConfig",
                "QueryDiagnostics",
                "QueryTriggers",
                "FetchConfig");
        hidden(CONTROLLER, "jobs", "QueryJobs", "QuerySteps", "QueryAccounting", "QueryPriorities", "QueryWhy");
        hidden(CONTROLLER, "jobs,nodes", "Follow", "QueryPlan");
        hidden(CONTROLLER, "nodes", "QueryNodes");
        hidden(CONTROLLER, "partitions", "QueryPartitions");
        hidden(CONTROLLER, "reservations", "QueryReservations");
        hidden(CONTROLLER, "usage", "QueryShares");
        hidden(CONTROLLER, "users", "QueryAssocMgr");
        put(CONTROLLER, Need.SELF, "Submit", "SubmitHet", "CreateStep", "CreateHetStep", "SetCrontab", "CreateToken");
        put(CONTROLLER, Need.SELF_OR_OPERATOR, "QueryCrontab");
        put(CONTROLLER, Need.OWNER_ALONE, "QueryScript environment", "ReadOutput");
        put(
                CONTROLLER,
                Need.OWNER,
                "QueryScript",
                "Cancel",
                "TestJob",
                "UpdateJob",
                "AwaitAllocation",
                "AwaitChange",
                "AwaitSteps",
                "CompleteAllocation",
                "QueryUse",
                "JobAction hold",
                "JobAction uhold",
                "JobAction release",
                "JobAction requeue",
                "JobAction requeuehold",
                "JobAction notify");
        put(CONTROLLER, Need.OPERATOR_OR_NAMED, "JobAction top", "UpdateReservation", "DeleteReservation");
        put(CONTROLLER, Need.OPERATOR, "JobAction suspend", "JobAction resume", "CreateReservation");
        put(
                CONTROLLER,
                Need.ADMINISTRATOR,
                "UpdateNode",
                "RebootNodes",
                "CreateNodes",
                "DeleteNodes",
                "AssignNode",
                "SignCertificate",
                "UpdateSetting",
                "UpdatePartition",
                "CreatePartition",
                "DeletePartition",
                "QueryDiagnostics reset",
                "Reconfigure",
                "Shutdown",
                "Takeover",
                "SetDebug");
        put(CONTROLLER, Need.SLURM_USER, "SetTrigger");
        put(CONTROLLER, Need.MAKER, "ClearTriggers");

        put(
                ACCOUNTING,
                Need.ANYBODY,
                "Ping",
                "Show cluster",
                "Show qos",
                "Show tres",
                "Show resource",
                "Show transaction",
                "Show configuration");
        hidden(ACCOUNTING, "accounts", "Show account");
        hidden(ACCOUNTING, "users", "Show user", "Show coordinator", "Show association", "Show wckey");
        hidden(ACCOUNTING, "events", "Show event", "Show instance");
        hidden(ACCOUNTING, "reservations", "Show reservation", "Report reservations");
        hidden(ACCOUNTING, "jobs", "QueryAccounting", "Report sizes");
        hidden(ACCOUNTING, "usage", "Report accounts", "Report qos", "Report wckeys");
        put(ACCOUNTING, Need.ANYBODY, "Report utilization");
        put(ACCOUNTING, Need.OWNER, "Change modify job");
        put(ACCOUNTING, Need.COORDINATOR, "Change", "ChangeAll");
        put(ACCOUNTING, Need.OPERATOR, "Show problem", "Show runawayjob", "EndRunaways", "RollUsage");
        put(
                ACCOUNTING,
                Need.ADMINISTRATOR,
                "Show stats",
                "ClearStats",
                "LoadArchive",
                "DumpArchive",
                "Reconfigure",
                "Shutdown");
        put(ACCOUNTING, Need.DAEMON, "Register", "Append", "ReadRow", "Sync");

        put(NODE, Need.ANYBODY, "QueryDaemon");
        put(NODE, Need.SELF, "CreateStep", "CreateHetStep");
        put(NODE, Need.OWNER_ALONE, "QueryProcesses", "AwaitAllocation", "SignalStep", "SignalUnallocated");
        put(NODE, Need.DAEMON, "RunUnallocated", "QueryJobSteps", "TakeStep", "DropStep", "FollowController");
    }

    private MessageRights() {}

    private static void put(Map<String, Rule> table, Need need, String... messages) {
        for (String m : messages) {
            table.put(m, new Rule(need, List.of(), table == CONTROLLER ? denial(m) : SlurmErrno.ACCESS_DENIED));
        }
    }

    /** The error of slurmctld for a caller without the right. */
    public static SlurmErrno denial(String message) {
        return CLUSTERS_OWN.contains(message) ? SlurmErrno.USER_ID_MISSING : SlurmErrno.ACCESS_DENIED;
    }

    private static void hidden(Map<String, Rule> table, String words, String... messages) {
        for (String m : messages) {
            table.put(m, new Rule(Need.ANYBODY, List.of(words.split(",")), SlurmErrno.ACCESS_DENIED));
        }
    }

    /** The messages of slurmctld. */
    public static Map<String, Rule> controller() {
        return Collections.unmodifiableMap(CONTROLLER);
    }

    /** The messages of slurmdbd. */
    public static Map<String, Rule> accounting() {
        return Collections.unmodifiableMap(ACCOUNTING);
    }

    /** The messages of slurmd. */
    public static Map<String, Rule> node() {
        return Collections.unmodifiableMap(NODE);
    }

    /**
     * The rule for a message, by the word of its body where there is one for that.
     *
     * @param word "" for none
     */
    public static Optional<Rule> rule(Map<String, Rule> table, String message, String word) {
        return Optional.ofNullable(table.getOrDefault(message + " " + word, table.get(message)));
    }
}
