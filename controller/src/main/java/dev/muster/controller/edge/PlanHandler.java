package dev.muster.controller.edge;

import dev.muster.controller.view.JobViews;
import dev.muster.controller.view.PrivateDataFilter;
import dev.muster.core.command.Planner;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.PlanMessages;
import dev.muster.model.format.HostList;
import dev.muster.scheduler.Explainer;
import dev.muster.scheduler.Scheduler;
import dev.muster.transport.Server.Reply;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Answers queries for the plan of the scheduler and for the reasons why a job waits. */
final class PlanHandler {
    private final State state;
    private final DecisionTime now;
    private final Scheduler scheduler;
    private final PrivateDataFilter privacy;
    private final JobViews views;

    PlanHandler(State state, DecisionTime now, Scheduler scheduler, PrivateDataFilter privacy, JobViews views) {
        this.state = state;
        this.now = now;
        this.scheduler = scheduler;
        this.privacy = privacy;
        this.views = views;
    }

    Reply why(PlanMessages.QueryWhy q) {
        Optional<Job> found = state.job(q.jobId(), q.task()).filter(privacy::shows);
        if (found.isEmpty()) {
            return Reply.error(SlurmErrno.INVALID_JOB_ID);
        }
        Job job = found.get();
        Explainer explainer = new Explainer(state, now, scheduler, privacy::shows, s -> "@" + s + "@");
        Explainer.Explanation e = explainer.of(job, views.reason(job));
        Optional<Planner.Estimate> planned = explainer.planned(job, views.reason(job));
        return Reply.of(new PlanMessages.Why(
                job.id(),
                job.displayId(),
                job.desc().owner().user(),
                job.state().name(),
                job.isPending() ? views.reason(job).word() : "None",
                e.says(),
                e.evidence(),
                e.change(),
                planned.map(Planner.Estimate::start).orElse(0L),
                privacy.hides("nodes")
                        ? ""
                        : planned.map(p -> HostList.of(p.nodes()).compressed()).orElse(""),
                now.seconds()));
    }

    Reply plan(PlanMessages.QueryPlan q) {
        if (privacy.hides("nodes")) {
            return Reply.error(SlurmErrno.ACCESS_DENIED);
        }
        if (!q.partition().isEmpty() && state.partitions().find(q.partition()).isEmpty()) {
            return Reply.error(SlurmErrno.INVALID_PARTITION_NAME);
        }
        Map<String, List<String>> partitions = new HashMap<>();
        state.partitions().values().stream()
                .filter(p -> q.partition().isEmpty() || p.name().equals(q.partition()))
                .forEach(p -> p.nodes()
                        .forEach(n -> partitions
                                .computeIfAbsent(n, k -> new ArrayList<>())
                                .add(p.name())));
        List<PlanMessages.PlanNode> nodes = nodes(partitions);
        List<PlanMessages.Bar> bars = new ArrayList<>();
        int waiting = 0;
        int planned = 0;
        for (Job job : state.jobs().values()) {
            if (job.holdsNodes()) {
                bars.add(running(job));
            } else if (job.isPending()) {
                Optional<Planner.Estimate> e = scheduler.plan(job.id());
                waiting += privacy.shows(job) ? 1 : 0;
                planned += e.isPresent() && privacy.shows(job) ? 1 : 0;
                if (e.isPresent() && e.get().start() <= q.until()) {
                    bars.add(planned(job, e.get()));
                }
            }
        }
        bars.removeIf(b ->
                !q.partition().isEmpty() && !List.of(b.partition().split(",")).contains(q.partition()));
        bars.sort(Comparator.comparingLong(PlanMessages.Bar::start).thenComparingInt(PlanMessages.Bar::jobId));
        int more = Math.max(0, bars.size() - PlanMessages.BARS_MAX);
        return Reply.of(new PlanMessages.Plan(
                now.seconds(), waiting, planned, nodes, bars.subList(0, bars.size() - more), more));
    }

    /** @param partitions the nodes to list, each with the names of its partitions */
    private List<PlanMessages.PlanNode> nodes(Map<String, List<String>> partitions) {
        List<PlanMessages.PlanNode> nodes = new ArrayList<>();
        for (Node n : state.nodes().values()) {
            if (partitions.containsKey(n.name()) && !n.has(Node.Flag.FUTURE)) {
                nodes.add(new PlanMessages.PlanNode(
                        n.name(), partitions.get(n.name()), n.spec().cpus(), n.isUsable() || n.isAsleep()));
            }
        }
        nodes.sort(
                Comparator.comparingInt(n -> state.nodes().at(n.name()).spec().order()));
        return nodes;
    }

    private PlanMessages.Bar running(Job job) {
        long end = job.run().limitTickMs() < 0
                ? 0
                : now.seconds() + Math.max(0, (job.run().limitTickMs() - now.tickMs()) / 1000);
        return bar(
                job,
                true,
                job.run().startTime(),
                end,
                job.run().allocation().hostList(),
                job.run().allocation().cpus());
    }

    private PlanMessages.Bar planned(Job job, Planner.Estimate e) {
        int limitMin = state.partitions()
                .find(e.partition())
                .map(p -> PartitionLimits.timeLimitMin(job.desc(), p))
                .orElse(-1);
        return bar(
                job,
                false,
                e.start(),
                limitMin < 0 ? 0 : e.start() + limitMin * 60L,
                HostList.of(e.nodes()).compressed(),
                e.cpus());
    }

    /** A job that the caller may not see still takes its place, without a name. */
    private PlanMessages.Bar bar(Job job, boolean running, long start, long end, String nodes, int cpus) {
        boolean shown = privacy.shows(job);
        return new PlanMessages.Bar(
                shown ? job.id() : 0,
                shown ? job.displayId() : "",
                shown ? job.desc().owner().user() : "",
                shown ? job.desc().name() : "",
                job.desc().partition(),
                running,
                start,
                end,
                nodes,
                cpus);
    }
}
