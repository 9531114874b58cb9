package dev.muster.controller.edge;

import dev.muster.controller.accounting.Accounting;
import dev.muster.controller.engine.CoreThread;
import dev.muster.controller.nodes.NodeLinks;
import dev.muster.controller.stats.RpcNames;
import dev.muster.controller.stats.Statistics;
import dev.muster.core.state.State;
import dev.muster.daemon.Identities;
import dev.muster.daemon.Requests;
import dev.muster.model.api.ClusterMessages;
import dev.muster.model.api.ClusterMessages.RpcCount;
import dev.muster.scheduler.Scheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** The statistics that sdiag shows, gathered from the parts of slurmctld that count. */
public final class Diagnostics {
    private final CoreThread thread;
    private final Scheduler scheduler;
    private final Statistics statistics;
    private final Requests requests;
    private final NodeLinks links;
    private final Accounting accounting;
    private final Identities identities;

    public Diagnostics(
            CoreThread thread,
            Scheduler scheduler,
            Statistics statistics,
            Requests requests,
            NodeLinks links,
            Accounting accounting,
            Identities identities) {
        this.thread = thread;
        this.scheduler = scheduler;
        this.statistics = statistics;
        this.requests = requests;
        this.links = links;
        this.accounting = accounting;
        this.identities = identities;
    }

    /** Counts, and the calls by message and by user, at this moment. */
    public ClusterMessages.DiagnosticsReply reply() {
        State state = thread.durable();
        TreeMap<String, Long> v = new TreeMap<>();
        statistics.put(v, state);
        v.put("jobs_known", (long) state.jobs().size());
        v.put("jobs_ended", (long) state.ended().size());
        v.put("queue_length", (long) scheduler.queueLength());
        v.put("nodes", (long) state.nodes().size());
        v.put("nodes_connected", (long) links.connectedCount());
        v.put("schedule_cycle_counter", thread.passes());
        v.put("server_thread_count", (long) requests.underWay());
        v.put("journal_index", thread.durableIndex());
        v.put("agent_queue_size", (long) links.queued());
        v.put("agent_count", (long) links.busy());
        v.put("agent_thread_count", (long) links.busy());
        v.put(
                "dbd_agent_queue_size",
                accounting.projected() == Long.MAX_VALUE
                        ? 0
                        : Math.max(0, thread.durableIndex() - accounting.projected()));
        long before = System.nanoTime();
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            sum += System.currentTimeMillis() & 1;
        }
        v.put("gettimeofday_latency", sum < 0 ? 0 : (System.nanoTime() - before) / 1000);
        List<RpcCount> messages = RpcNames.counts(requests);
        List<RpcCount> users = new ArrayList<>();
        requests.forEachUser((uid, c) -> users.add(
                new RpcCount(uid == Requests.OTHERS ? "others" : identities.userName(uid), uid, c.calls(), c.us())));
        return new ClusterMessages.DiagnosticsReply(v, messages, users);
    }
}
