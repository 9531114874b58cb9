package dev.muster.cli.list;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.Output;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.shape.DiagJson;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.json.Json;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** Runs sdiag, which shows the controller's statistics. */
public final class Sdiag implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "all:a:n",
            "cluster:M:r",
            "json::o",
            "no-trunc::n",
            "reset:r:n",
            "sort-by-id:i:n",
            "sort-by-time:t:n",
            "sort-by-time2:T:n",
            "version:V:n",
            "yaml::o",
            "help:h:n",
            "usage::n");
    private static final String STARS = "*******************************************************";
    private static final DateTimeFormatter MOMENT =
            DateTimeFormatter.ofPattern("EEE MMM dd HH:mm:ss yyyy", Locale.ROOT);

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = CommonOptions.parse(c, OPTIONS);
        boolean reset = false;
        String json = "";
        String parser = "";
        String sort = "";
        for (GetOpt.Hit h : p.hits()) {
            if (CommonOptions.answer(c, OPTIONS, "", h)) {
                return 0;
            }
            switch (h.opt().name()) {
                case "all" -> reset = false;
                case "reset" -> reset = true;
                // lines are as long as they are
                case "no-trunc" -> {}
                case "cluster" -> Clusters.requireKnown(c, h.value());
                case "json", "yaml" -> {
                    json = h.opt().name();
                    parser = JsonOutput.requireParser(c, json, h.value());
                }
                default -> sort = h.opt().name();
            }
        }
        Json.Obj q = new Json.Obj();
        JobRequest.put(q, "reset", reset);
        Json.Obj reply;
        try {
            reply = c.host().controller().call("QueryDiagnostics", q);
        } catch (SlurmException e) {
            c.err().println("slurm_reset_statistics: " + e.getMessage());
            return 1;
        }
        if (reset) {
            c.out().println("Reset scheduling statistics");
            return 0;
        }
        if (!json.isEmpty()) {
            return JsonOutput.print(c, json, parser, DiagJson.of(reply));
        }
        print(c, reply, sort);
        return 0;
    }

    private static String moment(CommandContext c, long seconds) {
        return MOMENT.format(Instant.ofEpochSecond(seconds).atZone(c.host().zone())) + " (" + seconds + ")";
    }

    private static void print(CommandContext c, Json.Obj reply, String sort) {
        Json.Obj v = reply.obj("values");
        Output out = c.out();
        out.println(STARS);
        out.println("sdiag output at " + moment(c, v.number("req_time")));
        out.println("Data since      " + moment(c, v.number("req_time_start")));
        out.println(STARS);
        out.println("Server thread count:  " + v.number("server_thread_count"));
        out.println("RPC queue enabled:    0");
        out.println("Agent queue size:     " + v.number("agent_queue_size"));
        out.println("Agent count:          " + v.number("agent_count"));
        out.println("Agent thread count:   " + v.number("agent_thread_count"));
        out.println("DBD Agent queue size: " + v.number("dbd_agent_queue_size") + "\n");
        for (String name : List.of("submitted", "started", "completed", "canceled", "failed")) {
            out.println(("Jobs " + name + ":" + " ".repeat(10 - name.length())).substring(0, 16)
                    + v.number("jobs_" + name));
        }
        out.println("\nJob states ts:  " + moment(c, v.number("job_states_ts")));
        out.println("Jobs pending:   " + v.number("jobs_pending"));
        out.println("Jobs running:   " + v.number("jobs_running") + "\n");
        out.println("Main schedule statistics (microseconds):");
        out.println("\tLast cycle:   " + v.number("schedule_cycle_last"));
        out.println("\tMax cycle:    " + v.number("schedule_cycle_max"));
        out.println("\tTotal cycles: " + v.number("schedule_cycle_total"));
        out.println("\tMean cycle:   " + v.number("schedule_cycle_mean"));
        out.println("\tMean depth cycle:  " + v.number("schedule_cycle_mean_depth"));
        out.println("\tCycles per minute: " + v.number("schedule_cycle_per_minute"));
        out.println("\tLast queue length: " + v.number("schedule_queue_length") + "\n");
        exits(
                out,
                v,
                "Main scheduler exit:",
                "schedule_exit_",
                "End of job queue",
                "end_job_queue",
                "Hit default_queue_depth",
                "default_queue_depth",
                "Hit sched_max_job_start",
                "max_job_start",
                "Blocked on licenses",
                "licenses",
                "Hit max_rpc_cnt",
                "max_rpc_cnt",
                "Timeout (max_sched_time)",
                "max_sched_time");
        backfill(c, out, v);
        out.println(
                "Latency for 1000 calls to gettimeofday(): " + v.number("gettimeofday_latency") + " microseconds\n");
        out.println("Remote Procedure Call statistics by message type");
        rows(out, reply.objects("rpcs"), sort, 40, 5);
        out.println("\nRemote Procedure Call statistics by user");
        rows(out, reply.objects("users"), sort, 16, 8);
        out.println("\nPending RPC statistics");
        out.println(
                v.number("agent_queue_size") == 0
                        ? "\tNo pending RPCs"
                        : String.format(
                                Locale.ROOT, "\t%-40s(%5d) count:%d", "to nodes", 0, v.number("agent_queue_size")));
    }

    private static void exits(Output out, Json.Obj v, String head, String prefix, String... lines) {
        out.println(head);
        for (int i = 0; i < lines.length; i += 2) {
            out.println("\t" + lines[i] + ":" + String.format(Locale.ROOT, "%2d", v.number(prefix + lines[i + 1])));
        }
        out.println("");
    }

    /** The plans of the whole queue; means only where there is something to make them of. */
    private static void backfill(CommandContext c, Output out, Json.Obj v) {
        boolean any = v.number("bf_cycle_counter") > 0;
        out.println("Backfilling stats");
        out.println("\tTotal backfilled jobs (since last slurm start): " + v.number("bf_backfilled_jobs"));
        out.println("\tTotal backfilled jobs (since last stats cycle start): " + v.number("bf_last_backfilled_jobs"));
        out.println("\tTotal backfilled heterogeneous job components: " + v.number("bf_backfilled_het_jobs"));
        out.println("\tTotal cycles: " + v.number("bf_cycle_counter"));
        out.println("\tLast cycle when: "
                + (v.number("bf_when_last_cycle") == 0 ? "N/A" : moment(c, v.number("bf_when_last_cycle"))));
        out.println("\tLast cycle: " + v.number("bf_cycle_last"));
        out.println("\tMax cycle:  " + v.number("bf_cycle_max"));
        if (any) {
            out.println("\tMean cycle: " + v.number("bf_cycle_mean"));
        }
        out.println("\tLast depth cycle: " + v.number("bf_last_depth"));
        out.println("\tLast depth cycle (try sched): " + v.number("bf_last_depth_try"));
        if (any) {
            out.println("\tDepth Mean: " + v.number("bf_depth_mean"));
            out.println("\tDepth Mean (try depth): " + v.number("bf_depth_mean_try"));
        }
        out.println("\tLast queue length: " + v.number("bf_queue_len"));
        if (any) {
            out.println("\tQueue length mean: " + v.number("bf_queue_len_mean"));
        }
        out.println("\tLast table size: " + v.number("bf_table_size"));
        if (any) {
            out.println("\tMean table size: " + v.number("bf_table_size_mean"));
        }
        out.println("");
        exits(
                out,
                v,
                "Backfill exit",
                "bf_exit_",
                "End of job queue",
                "end_job_queue",
                "Hit bf_max_job_start",
                "bf_max_job_start",
                "Hit bf_max_job_test",
                "bf_max_job_test",
                "System state changed",
                "state_changed",
                "Hit table size limit (bf_node_space_size)",
                "bf_node_space_size",
                "Timeout (bf_max_time)",
                "bf_max_time");
    }

    private static void rows(Output out, List<Json.Obj> rows, String sort, int nameWidth, int numberWidth) {
        List<Json.Obj> sorted = new ArrayList<>(rows);
        sorted.sort(order(sort));
        for (Json.Obj r : sorted) {
            out.println(String.format(
                    Locale.ROOT,
                    "\t%-" + nameWidth + "s(%" + numberWidth + "d) count:%-6d ave_time:%-6d total_time:%d",
                    r.text("name"),
                    r.number("number"),
                    r.number("count"),
                    mean(r),
                    r.number("totalUs")));
        }
    }

    static long mean(Json.Obj r) {
        return r.number("count") == 0 ? 0 : r.number("totalUs") / r.number("count");
    }

    private static Comparator<Json.Obj> order(String sort) {
        return switch (sort) {
            case "sort-by-id" -> Comparator.comparingLong(r -> r.number("number"));
            case "sort-by-time" -> Comparator.comparingLong(r -> -r.number("totalUs"));
            case "sort-by-time2" -> Comparator.comparingLong(r -> -mean(r));
            default -> Comparator.comparingLong(r -> -r.number("count"));
        };
    }
}
