package dev.muster.model.api;

import dev.muster.model.SlurmErrno;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Who may ask what of which daemon: the table. Every message stands in it once, with a word of its body behind it where
 * that decides. A daemon answers no message that is not here. Where the need goes by who somebody is
 * ({@link Need#OPERATOR}, {@link Need#ADMINISTRATOR}, {@link Need#DAEMON}) the daemon's edge refuses by this table
 * before it looks at the body; where it goes by what the message is about, the rule that finds that says no.
 */
public final class MessageRights {
    /** The least that somebody must be. */
    public enum Need {
        /** Known: who asks has shown who he is. */
        ANYBODY,
        /** Everybody for himself; root and SlurmUser for others. */
        SELF,
        /** Everybody for himself; operators for others. */
        SELF_OR_OPERATOR,
        /** A job's owner, root and SlurmUser: what it writes, its variables. */
        OWNER_ALONE,
        /** A job's owner, coordinators of its account, operators. */
        OWNER,
        /** Coordinators of what is changed, operators; {@code ChangeRights} of slurmdbd has change by change. */
        COORDINATOR,
        /** Operators, and whom the thing or the configuration names. */
        OPERATOR_OR_NAMED,
        OPERATOR,
        ADMINISTRATOR,
        /** SlurmUser, where that is not root. */
        SLURM_USER,
        /** Who made it, and root. */
        MAKER,
        /** root and SlurmUser, as whom daemons speak. */
        DAEMON
    }

    /**
     * @param hiddenBy words of PrivateData that keep others' things from all but operators
     * @param denial what the daemon's edge says to who may not
     */
    public record Rule(Need need, List<String> hiddenBy, SlurmErrno denial) {}

    /**
     * The cluster's own things: who may not change them is none of its users, says Slurm; of all else that access is
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
        put(NODE, Need.DAEMON, "RunUnallocated", "QueryJobSteps", "TakeStep", "DropStep");
    }

    private MessageRights() {}

    private static void put(Map<String, Rule> table, Need need, String... messages) {
        for (String m : messages) {
            table.put(m, new Rule(need, List.of(), table == CONTROLLER ? denial(m) : SlurmErrno.ACCESS_DENIED));
        }
    }

    /** What slurmctld says to who may not. */
    public static SlurmErrno denial(String message) {
        return CLUSTERS_OWN.contains(message) ? SlurmErrno.USER_ID_MISSING : SlurmErrno.ACCESS_DENIED;
    }

    private static void hidden(Map<String, Rule> table, String words, String... messages) {
        for (String m : messages) {
            table.put(m, new Rule(Need.ANYBODY, List.of(words.split(",")), SlurmErrno.ACCESS_DENIED));
        }
    }

    /** What slurmctld answers. */
    public static Map<String, Rule> controller() {
        return Collections.unmodifiableMap(CONTROLLER);
    }

    /** What slurmdbd answers. */
    public static Map<String, Rule> accounting() {
        return Collections.unmodifiableMap(ACCOUNTING);
    }

    /** What slurmd answers. */
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
