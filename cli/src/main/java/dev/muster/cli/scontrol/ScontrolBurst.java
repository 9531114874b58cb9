package dev.muster.cli.scontrol;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.option.CommonOptions;
import dev.muster.json.Json;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Runs {@code scontrol show burstbuffer} and {@code show bbstat}. */
final class ScontrolBurst {
    private static final String[] IEC = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    private static final String[] UNITS = {"KB", "MB", "GB", "TB", "PB"};

    private ScontrolBurst() {}

    static int show(CommandContext context, boolean oneLine) {
        Json.Obj reply;
        try {
            reply = context.host().controller().call("QueryBurstBuffers", new Json.Obj());
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_load_burst_buffer error", e);
        }
        if (reply.text("name").isEmpty()) {
            return 0;
        }
        StringBuilder out = new StringBuilder();
        out.append("Name=")
                .append(reply.text("name"))
                .append(" DefaultPool=(null) Granularity=1 TotalSpace=0 FreeSpace=0 UsedSpace=0\n");
        int i = 0;
        for (Json.Obj pool : reply.objects("pools")) {
            out.append("  PoolName[")
                    .append(i++)
                    .append("]=")
                    .append(pool.text("name"))
                    .append(" Granularity=")
                    .append(size(pool.number("granularity")))
                    .append(" TotalSpace=")
                    .append(size(pool.number("total")))
                    .append(" FreeSpace=")
                    .append(size(Math.max(0, pool.number("total") - pool.number("used"))))
                    .append(" UsedSpace=")
                    .append(size(pool.number("used")))
                    .append('\n');
        }
        out.append("  Flags=").append(reply.text("flags")).append('\n');
        out.append("  StageInTimeout=")
                .append(reply.number("stageIn"))
                .append(" StageOutTimeout=")
                .append(reply.number("stageOut"))
                .append(" ValidateTimeout=")
                .append(reply.number("validate"))
                .append(" OtherTimeout=")
                .append(reply.number("other"))
                .append('\n');
        if (!reply.text("allowUsers").isEmpty()) {
            out.append("  AllowUsers=").append(reply.text("allowUsers")).append('\n');
        }
        if (!reply.text("denyUsers").isEmpty()) {
            out.append("  DenyUsers=").append(reply.text("denyUsers")).append('\n');
        }
        out.append("  GetSysState=(null)\n  GetSysStatus=(null)\n");
        buffers(out, reply.objects("buffers"), context);
        context.out().println(oneLine ? out.toString().strip().replaceAll("\\n +", " ") : out.toString());
        return 0;
    }

    private static void buffers(StringBuilder out, List<Json.Obj> buffers, CommandContext context) {
        if (buffers.isEmpty()) {
            return;
        }
        Map<String, Long> used = new TreeMap<>();
        out.append("  Allocated Buffers:\n");
        for (Json.Obj buffer : buffers) {
            String user = buffer.text("user") + "(" + buffer.number("userId") + ")";
            used.merge(user, buffer.number("size"), Long::sum);
            out.append("    JobID=")
                    .append(buffer.number("jobId"))
                    .append(" CreateTime=")
                    .append(context.time(buffer.number("createTime")))
                    .append(" Pool=")
                    .append(JobRows.orNull(buffer.text("pool")))
                    .append(" Size=")
                    .append(size(buffer.number("size")))
                    .append(" State=allocated UserID=")
                    .append(user)
                    .append('\n');
        }
        out.append("  Per User Buffer Use:\n");
        used.forEach((user, size) -> out.append("    UserID=")
                .append(user)
                .append(" Used=")
                .append(size(size))
                .append('\n'));
    }

    /** Prints a size in the largest unit that divides it. */
    static String size(long n) {
        for (int power = IEC.length; n > 0 && power > 0; power--) {
            long binary = 1L << 10 * power;
            long decimal = (long) Math.pow(1000, power);
            if (n % binary == 0) {
                return n / binary + IEC[power - 1];
            }
            if (n % decimal == 0) {
                return n / decimal + UNITS[power - 1];
            }
        }
        return Long.toString(n);
    }

    /** Prints the status that the site's script reports. */
    static int status(CommandContext context, List<String> words) {
        try {
            context.out()
                    .print(context.host()
                            .controller()
                            .call("QueryBurstStatus", new Json.Obj().put("arguments", words))
                            .text("text"));
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_load_burst_buffer_stat error", e);
        }
    }
}
