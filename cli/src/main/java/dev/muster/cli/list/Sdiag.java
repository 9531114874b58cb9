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
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = CommonOptions.parse(context, OPTIONS);
        boolean reset = false;
        String json = "";
        String parser = "";
        String sort = "";
        for (GetOpt.Hit hit : parsed.hits()) {
            if (CommonOptions.answer(context, OPTIONS, "", hit)) {
                return 0;
            }
            switch (hit.opt().name()) {
                case "all" -> reset = false;
                case "reset" -> reset = true;
                // lines are as long as they are
                case "no-trunc" -> {}
                case "cluster" -> Clusters.requireKnown(context, hit.value());
                case "json", "yaml" -> {
                    json = hit.opt().name();
                    parser = JsonOutput.requireParser(context, json, hit.value());
                }
                default -> sort = hit.opt().name();
            }
        }
        Json.Obj query = new Json.Obj();
        JobRequest.put(query, "reset", reset);
        Json.Obj reply;
        try {
            reply = context.host().controller().call("QueryDiagnostics", query);
        } catch (SlurmException e) {
            context.err().println("slurm_reset_statistics: " + e.getMessage());
            return 1;
        }
        if (reset) {
            context.out().println("Reset scheduling statistics");
            return 0;
        }
        if (!json.isEmpty()) {
            return JsonOutput.print(context, json, parser, DiagJson.of(reply));
        }
        print(context, reply, sort);
        return 0;
    }

    private static String moment(CommandContext context, long seconds) {
        return MOMENT.format(
                        Instant.ofEpochSecond(seconds).atZone(context.host().zone())) + " (" + seconds + ")";
    }

    private static void print(CommandContext context, Json.Obj reply, String sort) {
        Json.Obj values = reply.obj("values");
        Output out = context.out();
        out.println(STARS);
        out.println("sdiag output at " + moment(context, values.number("req_time")));
        out.println("Data since      " + moment(context, values.number("req_time_start")));
        out.println(STARS);
        out.println("Server thread count:  " + values.number("server_thread_count"));
        out.println("RPC queue enabled:    0");
        out.println("Agent queue size:     " + values.number("agent_queue_size"));
        out.println("Agent count:          " + values.number("agent_count"));
        out.println("Agent thread count:   " + values.number("agent_thread_count"));
        out.println("DBD Agent queue size: " + values.number("dbd_agent_queue_size") + "\n");
        for (String name : List.of("submitted", "started", "completed", "canceled", "failed")) {
            out.println(("Jobs " + name + ":" + " ".repeat(10 - name.length())).substring(0, 16)
                    + values.number("jobs_" + name));
        }
        out.println("\nJob states ts:  " + moment(context, values.number("job_states_ts")));
        out.println("Jobs pending:   " + values.number("jobs_pending"));
        out.println("Jobs running:   " + values.number("jobs_running") + "\n");
        out.println("Main schedule statistics (microseconds):");
        out.println("\tLast cycle:   " + values.number("schedule_cycle_last"));
        out.println("\tMax cycle:    " + values.number("schedule_cycle_max"));
        out.println("\tTotal cycles: " + values.number("schedule_cycle_total"));
        out.println("\tMean cycle:   " + values.number("schedule_cycle_mean"));
        out.println("\tMean depth cycle:  " + values.number("schedule_cycle_mean_depth"));
        out.println("\tCycles per minute: " + values.number("schedule_cycle_per_minute"));
        out.println("\tLast queue length: " + values.number("schedule_queue_length") + "\n");
        exits(
                out,
                values,
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
        backfill(context, out, values);
        out.println("Latency for 1000 calls to gettimeofday(): " + values.number("gettimeofday_latency")
                + " microseconds\n");
        out.println("Remote Procedure Call statistics by message type");
        rows(out, reply.objects("rpcs"), sort, 40, 5);
        out.println("\nRemote Procedure Call statistics by user");
        rows(out, reply.objects("users"), sort, 16, 8);
        out.println("\nPending RPC statistics");
        long queued = values.number("agent_queue_size");
        out.println(
                queued == 0
                        ? "\tNo pending RPCs"
                        : String.format(Locale.ROOT, "\t%-40s(%5d) count:%d", "to nodes", 0, queued));
    }

    private static void exits(Output out, Json.Obj values, String head, String prefix, String... lines) {
        out.println(head);
        for (int i = 0; i < lines.length; i += 2) {
            out.println(
                    "\t" + lines[i] + ":" + String.format(Locale.ROOT, "%2d", values.number(prefix + lines[i + 1])));
        }
        out.println("");
    }

    /** The plans of the whole queue; means only where there is something to make them of. */
    private static void backfill(CommandContext context, Output out, Json.Obj values) {
        boolean any = values.number("bf_cycle_counter") > 0;
        out.println("Backfilling stats");
        out.println("\tTotal backfilled jobs (since last slurm start): " + values.number("bf_backfilled_jobs"));
        out.println(
                "\tTotal backfilled jobs (since last stats cycle start): " + values.number("bf_last_backfilled_jobs"));
        out.println("\tTotal backfilled heterogeneous job components: " + values.number("bf_backfilled_het_jobs"));
        out.println("\tTotal cycles: " + values.number("bf_cycle_counter"));
        out.println("\tLast cycle when: "
                + (values.number("bf_when_last_cycle") == 0
                        ? "N/A"
                        : moment(context, values.number("bf_when_last_cycle"))));
        out.println("\tLast cycle: " + values.number("bf_cycle_last"));
        out.println("\tMax cycle:  " + values.number("bf_cycle_max"));
        if (any) {
            out.println("\tMean cycle: " + values.number("bf_cycle_mean"));
        }
        out.println("\tLast depth cycle: " + values.number("bf_last_depth"));
        out.println("\tLast depth cycle (try sched): " + values.number("bf_last_depth_try"));
        if (any) {
            out.println("\tDepth Mean: " + values.number("bf_depth_mean"));
            out.println("\tDepth Mean (try depth): " + values.number("bf_depth_mean_try"));
        }
        out.println("\tLast queue length: " + values.number("bf_queue_len"));
        if (any) {
            out.println("\tQueue length mean: " + values.number("bf_queue_len_mean"));
        }
        out.println("\tLast table size: " + values.number("bf_table_size"));
        if (any) {
            out.println("\tMean table size: " + values.number("bf_table_size_mean"));
        }
        out.println("");
        exits(
                out,
                values,
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
        for (Json.Obj row : sorted) {
            out.println(String.format(
                    Locale.ROOT,
                    "\t%-" + nameWidth + "s(%" + numberWidth + "d) count:%-6d ave_time:%-6d total_time:%d",
                    row.text("name"),
                    row.number("number"),
                    row.number("count"),
                    mean(row),
                    row.number("totalUs")));
        }
    }

    static long mean(Json.Obj row) {
        return row.number("count") == 0 ? 0 : row.number("totalUs") / row.number("count");
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
