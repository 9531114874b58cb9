package dev.muster.core.state;

import dev.muster.core.command.Command;
import java.util.List;

/**
 * A program to run when something happens ({@code strigger}).
 *
 * @param events in strigger's words: {@code down}, {@code up}, {@code drained}, {@code fail}, {@code idle},
 *     {@code reconfig}; {@code time}, {@code fini} of a job; those of {@link #OF_DAEMONS}
 * @param jobId 0 if it is about nodes
 * @param nodes hostlist, "" for all (with a job: for all of the job's)
 * @param offsetS seconds after the event; negative before it
 * @param uid the owner; the program runs as this user
 * @param program with its arguments
 * @param permanent stays when it has fired
 * @param dueTime when the program is to run for what has happened; 0 if nothing has
 * @param cause object of the event: names of nodes, or the number of the job
 */
public record Trigger(
        int id,
        List<String> events,
        int jobId,
        String nodes,
        int offsetS,
        int uid,
        String user,
        String program,
        boolean permanent,
        long dueTime,
        String cause) {
    public static final List<String> OF_NODES = List.of("down", "up", "drained", "draining", "resume", "fail", "idle");
    public static final List<String> OF_JOBS = List.of("time", "fini");
    public static final String RECONFIG = "reconfig";
    public static final String BURST_BUFFER = "burst_buffer";
    public static final String CONTROL_RESUMED = "primary_slurmctld_resumed_control";
    public static final String OPERATION_RESUMED = "primary_slurmctld_resumed_operation";
    public static final String PRIMARY_FAILED = "primary_slurmctld_failure";
    public static final String BACKUP_FAILED = "backup_slurmctld_failure";
    public static final String BACKUP_RESUMED = "backup_slurmctld_resumed_operation";
    public static final String BACKUP_CONTROLS = "backup_slurmctld_assumed_control";
    /** Events that only a cluster with several controllers has. */
    public static final List<String> OF_BACKUPS =
            List.of(PRIMARY_FAILED, BACKUP_FAILED, BACKUP_RESUMED, BACKUP_CONTROLS);

    public static final String ROWS_FULL = "primary_slurmctld_acct_buffer_full";
    public static final String DBD_FAILED = "primary_slurmdbd_failure";
    public static final String DBD_RESUMED = "primary_slurmdbd_resumed_operation";
    public static final String DATABASE_FAILED = "primary_database_failure";
    public static final String DATABASE_RESUMED = "primary_database_resumed_operation";
    /** Events that the daemon itself notices: {@link Command.Happened}. */
    public static final List<String> OF_DAEMONS = List.of(
            CONTROL_RESUMED,
            OPERATION_RESUMED,
            ROWS_FULL,
            DBD_FAILED,
            DBD_RESUMED,
            DATABASE_FAILED,
            DATABASE_RESUMED,
            BURST_BUFFER);

    public boolean is(String event) {
        return events.contains(event);
    }

    public boolean isOfNodes() {
        return events.stream().anyMatch(OF_NODES::contains);
    }

    public Trigger due(long time, String why) {
        return new Trigger(id, events, jobId, nodes, offsetS, uid, user, program, permanent, time, why);
    }

    /** All triggers, and the highest number that there ever was. */
    public record All(int lastId, Table<Integer, Trigger> byId) {
        public static final All NONE = new All(0, Table.empty());

        All with(Trigger t) {
            return new All(Math.max(lastId, t.id()), byId.with(t.id(), t));
        }

        /** Returns the triggers without one, whose number is not given again. */
        All without(int id) {
            return new All(Math.max(lastId, id), byId.without(id));
        }

        All fired(int id) {
            return byId.find(id)
                    .filter(Trigger::permanent)
                    .map(t -> with(t.due(0, "")))
                    .orElseGet(() -> without(id));
        }
    }
}
