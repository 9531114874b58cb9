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
    static Json.Obj call(CommandContext c, String message, Json.Obj q) throws SlurmException {
        try {
            return c.host().controller().call(message, q);
        } catch (SlurmException e) {
            String node = c.env("SLURM_STEPMGR");
            if (node.isEmpty() || !isAway(e)) {
                throw e;
            }
            return manager(c, node, message, q, e);
        }
    }

    private static boolean isAway(SlurmException e) {
        return e.errno() == SlurmErrno.CTLD_CONNECT.number() || e.errno() == SlurmErrno.CTLD_RECV.number();
    }

    /** To the tasks of a step; without slurmctld each of its nodes hears it from here. */
    static void cancel(CommandContext c, Json.Obj q, List<Json.Obj> parts) throws SlurmException {
        try {
            c.host().controller().call("Cancel", q);
        } catch (SlurmException e) {
            if (c.env("SLURM_STEPMGR").isEmpty() || !isAway(e)) {
                throw e;
            }
            for (Json.Obj started : parts) {
                Json.Obj order = new Json.Obj()
                        .put("jobId", started.number("jobId"))
                        .put("stepId", started.number("stepId"))
                        .put("signal", (long) Cancel.plain(q.integer("signal")));
                for (Json.Obj share : started.objects("shares")) {
                    c.host().callNode(share.text("address"), share.integer("port"), "SignalStep", order);
                }
            }
        }
    }

    /**
     * Ends a step that its srun cannot serve.
     *
     * @param own the job was made for the step, and ends with it
     */
    static void abandon(CommandContext c, int jobId, Json.Obj started, boolean own) {
        if (own) {
            AllocationClient.cancel(c, jobId);
        } else {
            String step = jobId + "." + StepId.name(started.integer("stepId"));
            try {
                cancel(
                        c,
                        new Json.Obj().put("requestId", c.host().requestId()).put("jobs", List.of(step)),
                        List.of(started));
            } catch (SlurmException e) {
                c.error("Unable to cancel StepId=" + step + ": " + e.getMessage());
            }
        }
    }

    private static Json.Obj manager(CommandContext c, String node, String message, Json.Obj q, SlurmException otherwise)
            throws SlurmException {
        c.host().needsOwnProcess();
        var known = SlurmConf.read(new File(c.host().settings().path)) instanceof SlurmConf.Parsed.Ok ok
                ? ok.conf().node(node)
                : java.util.Optional.<dev.muster.config.NodeConf>empty();
        if (known.isEmpty()) {
            throw otherwise;
        }
        try {
            return c.host().callNode(known.get().address(), known.get().port(), message, q);
        } catch (SlurmException e) {
            throw isAway(e) ? otherwise : e;
        }
    }
}
