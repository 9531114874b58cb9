package dev.muster.cli.step;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.submit.AllocationClient;
import dev.muster.config.SlurmConf;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.JobMessages.Cancel;
import dev.muster.model.job.StepId;
import java.io.File;
import java.util.List;

/**
 * Chooses the daemon that decides on steps: slurmctld; while it is away, slurmd on the first node of a job that has a
 * step manager.
 */
final class StepManager {
    private StepManager() {}

    /**
     * Sends a request about a step. If the step manager refuses because slurmctld is back, the first error of slurmctld
     * is thrown.
     */
    static Json.Obj call(CommandContext context, String message, Json.Obj query) throws SlurmException {
        try {
            return context.host().controller().call(message, query);
        } catch (SlurmException e) {
            String node = context.env("SLURM_STEPMGR");
            if (node.isEmpty() || !isAway(e)) {
                throw e;
            }
            return manager(context, node, message, query, e);
        }
    }

    private static boolean isAway(SlurmException e) {
        return e.errno() == SlurmErrno.CTLD_CONNECT.number() || e.errno() == SlurmErrno.CTLD_RECV.number();
    }

    /** To the tasks of a step; without slurmctld each of its nodes hears it from here. */
    static void cancel(CommandContext context, Json.Obj query, List<Json.Obj> parts) throws SlurmException {
        try {
            context.host().controller().call("Cancel", query);
        } catch (SlurmException e) {
            if (context.env("SLURM_STEPMGR").isEmpty() || !isAway(e)) {
                throw e;
            }
            for (Json.Obj started : parts) {
                Json.Obj order = new Json.Obj()
                        .put("jobId", started.number("jobId"))
                        .put("stepId", started.number("stepId"))
                        .put("signal", (long) Cancel.plain(query.integer("signal")));
                for (Json.Obj share : started.objects("shares")) {
                    context.host().callNode(share.text("address"), share.integer("port"), "SignalStep", order);
                }
            }
        }
    }

    /**
     * Ends a step that its srun cannot serve.
     *
     * @param ownAllocation the job was made for the step, and ends with it
     */
    static void abandon(CommandContext context, int jobId, Json.Obj started, boolean ownAllocation) {
        if (ownAllocation) {
            AllocationClient.cancel(context, jobId);
        } else {
            String step = jobId + "." + StepId.name(started.integer("stepId"));
            try {
                cancel(
                        context,
                        new Json.Obj()
                                .put("requestId", context.host().requestId())
                                .put("jobs", List.of(step)),
                        List.of(started));
            } catch (SlurmException e) {
                context.error("Unable to cancel StepId=" + step + ": " + e.getMessage());
            }
        }
    }

    private static Json.Obj manager(
            CommandContext context, String node, String message, Json.Obj query, SlurmException otherwise)
            throws SlurmException {
        context.host().needsOwnProcess();
        var known = SlurmConf.read(new File(context.host().settings().path)) instanceof SlurmConf.Parsed.Ok ok
                ? ok.conf().node(node)
                : java.util.Optional.<dev.muster.config.NodeConf>empty();
        if (known.isEmpty()) {
            throw otherwise;
        }
        try {
            return context.host().callNode(known.get().address(), known.get().port(), message, query);
        } catch (SlurmException e) {
            throw isAway(e) ? otherwise : e;
        }
    }
}
