package dev.muster.controller.stats;

import dev.muster.daemon.Requests;
import dev.muster.model.api.ClusterMessages;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Our messages by the names and numbers that readers of sdiag know; a message Slurm has not shows as itself with number
 * 0.
 */
public final class RpcNames {
    private record Rpc(String name, int number) {}

    private static final Map<String, Rpc> NAMES = Map.ofEntries(
            Map.entry("Ping", new Rpc("REQUEST_PING", 1008)),
            Map.entry("Submit", new Rpc("REQUEST_SUBMIT_BATCH_JOB", 4003)),
            Map.entry("QueryJobs", new Rpc("REQUEST_JOB_INFO", 2003)),
            Map.entry("QuerySteps", new Rpc("REQUEST_JOB_STEP_INFO", 2005)),
            Map.entry("QueryScript", new Rpc("REQUEST_BATCH_SCRIPT", 2051)),
            Map.entry("Cancel", new Rpc("REQUEST_KILL_JOB", 5032)),
            Map.entry("suspend", new Rpc("REQUEST_SUSPEND", 5014)),
            Map.entry("requeue", new Rpc("REQUEST_JOB_REQUEUE", 5023)),
            Map.entry("top", new Rpc("REQUEST_TOP_JOB", 5038)),
            Map.entry("notify", new Rpc("REQUEST_JOB_NOTIFY", 4022)),
            Map.entry("allocate", new Rpc("REQUEST_RESOURCE_ALLOCATION", 4001)),
            Map.entry("CreateHetStep", new Rpc("REQUEST_JOB_STEP_CREATE", 5001)),
            Map.entry("flags", new Rpc("REQUEST_SET_DEBUG_FLAGS", 1014)),
            Map.entry("schedlog", new Rpc("REQUEST_SET_SCHEDLOG_LEVEL", 1013)),
            Map.entry("UpdateJob", new Rpc("REQUEST_UPDATE_JOB", 3001)),
            Map.entry("AwaitChange", new Rpc("REQUEST_JOB_INFO_SINGLE", 2021)),
            Map.entry("AwaitSteps", new Rpc("REQUEST_JOB_STEP_INFO", 2005)),
            Map.entry("QueryAccounting", new Rpc("REQUEST_DBD_RELAY", 1028)),
            Map.entry("AwaitAllocation", new Rpc("REQUEST_JOB_READY", 4019)),
            Map.entry("CreateStep", new Rpc("REQUEST_JOB_STEP_CREATE", 5001)),
            Map.entry("CompleteAllocation", new Rpc("REQUEST_COMPLETE_JOB_ALLOCATION", 5017)),
            Map.entry("QueryNodes", new Rpc("REQUEST_NODE_INFO", 2007)),
            Map.entry("QueryPartitions", new Rpc("REQUEST_PARTITION_INFO", 2009)),
            Map.entry("QueryConfig", new Rpc("REQUEST_BUILD_INFO", 2001)),
            Map.entry("QueryDiagnostics", new Rpc("REQUEST_STATS_INFO", 2035)),
            Map.entry("UpdateNode", new Rpc("REQUEST_UPDATE_NODE", 3002)),
            Map.entry("CreatePartition", new Rpc("REQUEST_CREATE_PARTITION", 3003)),
            Map.entry("DeletePartition", new Rpc("REQUEST_DELETE_PARTITION", 3004)),
            Map.entry("CreateNodes", new Rpc("REQUEST_CREATE_NODE", 3015)),
            Map.entry("DeleteNodes", new Rpc("REQUEST_DELETE_NODE", 3014)),
            Map.entry("UpdatePartition", new Rpc("REQUEST_UPDATE_PARTITION", 3005)),
            Map.entry("Reconfigure", new Rpc("REQUEST_RECONFIGURE", 1003)),
            Map.entry("CreateToken", new Rpc("REQUEST_AUTH_TOKEN", 5039)),
            Map.entry("Shutdown", new Rpc("REQUEST_SHUTDOWN", 1005)),
            Map.entry("SubmitHet", new Rpc("REQUEST_SUBMIT_BATCH_HET_JOB", 4028)),
            Map.entry("QueryBurstStatus", new Rpc("REQUEST_BURST_BUFFER_STATUS", 2055)),
            Map.entry("QueryBurstBuffers", new Rpc("REQUEST_BURST_BUFFER_INFO", 2037)),
            Map.entry("CreateReservation", new Rpc("REQUEST_CREATE_RESERVATION", 3006)),
            Map.entry("UpdateReservation", new Rpc("REQUEST_UPDATE_RESERVATION", 3009)),
            Map.entry("DeleteReservation", new Rpc("REQUEST_DELETE_RESERVATION", 3008)),
            Map.entry("QueryReservations", new Rpc("REQUEST_RESERVATION_INFO", 2024)),
            Map.entry("QueryPriorities", new Rpc("REQUEST_PRIORITY_FACTORS", 2026)),
            Map.entry("QueryTopology", new Rpc("REQUEST_TOPO_INFO", 2028)),
            Map.entry("QueryShares", new Rpc("REQUEST_SHARE_INFO", 2022)),
            Map.entry("SetTrigger", new Rpc("REQUEST_TRIGGER_SET", 2017)),
            Map.entry("QueryTriggers", new Rpc("REQUEST_TRIGGER_GET", 2018)),
            Map.entry("ClearTriggers", new Rpc("REQUEST_TRIGGER_CLEAR", 2019)),
            Map.entry("QueryLicenses", new Rpc("REQUEST_LICENSE_INFO", 1021)),
            Map.entry("QueryAssocMgr", new Rpc("REQUEST_ASSOC_MGR_INFO", 2043)),
            Map.entry("TestJob", new Rpc("REQUEST_JOB_WILL_RUN", 4012)),
            Map.entry("SetDebug", new Rpc("REQUEST_SET_DEBUG_LEVEL", 1010)));

    private RpcNames() {}

    /** Returns the name under which an action on jobs counts: holding and releasing are changes of a job. */
    public static String ofAction(String action) {
        return switch (action) {
            case "hold", "uhold", "release" -> "UpdateJob";
            case "requeue", "requeuehold" -> "requeue";
            case "suspend", "resume" -> "suspend";
            case "top", "notify" -> action;
            default -> "JobAction";
        };
    }

    public static String of(ClusterMessages.SetDebug m) {
        if (!m.flags().isEmpty()) {
            return "flags";
        }
        if (!m.scheduler().isEmpty()) {
            return "schedlog";
        }
        return "SetDebug";
    }

    /** Counts by message as the original counts them: some of its own are several here. */
    public static List<ClusterMessages.RpcCount> counts(Requests requests) {
        Map<String, ClusterMessages.RpcCount> out = new LinkedHashMap<>();
        requests.forEachMessage((message, c) -> out.merge(
                name(message),
                new ClusterMessages.RpcCount(name(message), number(message), c.calls(), c.us()),
                (a, b) -> new ClusterMessages.RpcCount(
                        a.name(), a.number(), a.count() + b.count(), a.totalUs() + b.totalUs())));
        return new ArrayList<>(out.values());
    }

    static String name(String message) {
        Rpc rpc = NAMES.get(message);
        return rpc == null ? message : rpc.name;
    }

    static int number(String message) {
        Rpc rpc = NAMES.get(message);
        return rpc == null ? 0 : rpc.number;
    }
}
