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
    private static final String[] SI = {"KB", "MB", "GB", "TB", "PB"};

    private ScontrolBurst() {}

    static int show(CommandContext c, boolean oneLine) {
        Json.Obj r;
        try {
            r = c.host().controller().call("QueryBurstBuffers", new Json.Obj());
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_load_burst_buffer error", e);
        }
        if (r.text("name").isEmpty()) {
            return 0;
        }
        StringBuilder out = new StringBuilder();
        out.append("Name=")
                .append(r.text("name"))
                .append(" DefaultPool=(null) Granularity=1 TotalSpace=0 FreeSpace=0 UsedSpace=0\n");
        int i = 0;
        for (Json.Obj p : r.objects("pools")) {
            out.append("  PoolName[")
                    .append(i++)
                    .append("]=")
                    .append(p.text("name"))
                    .append(" Granularity=")
                    .append(size(p.number("granularity")))
                    .append(" TotalSpace=")
                    .append(size(p.number("total")))
                    .append(" FreeSpace=")
                    .append(size(Math.max(0, p.number("total") - p.number("used"))))
                    .append(" UsedSpace=")
                    .append(size(p.number("used")))
                    .append('\n');
        }
        out.append("  Flags=").append(r.text("flags")).append('\n');
        out.append("  StageInTimeout=")
                .append(r.number("stageIn"))
                .append(" StageOutTimeout=")
                .append(r.number("stageOut"))
                .append(" ValidateTimeout=")
                .append(r.number("validate"))
                .append(" OtherTimeout=")
                .append(r.number("other"))
                .append('\n');
        if (!r.text("allowUsers").isEmpty()) {
            out.append("  AllowUsers=").append(r.text("allowUsers")).append('\n');
        }
        if (!r.text("denyUsers").isEmpty()) {
            out.append("  DenyUsers=").append(r.text("denyUsers")).append('\n');
        }
        out.append("  GetSysState=(null)\n  GetSysStatus=(null)\n");
        buffers(out, r.objects("buffers"), c);
        c.out().println(oneLine ? out.toString().strip().replaceAll("\\n +", " ") : out.toString());
        return 0;
    }

    private static void buffers(StringBuilder out, List<Json.Obj> buffers, CommandContext c) {
        if (buffers.isEmpty()) {
            return;
        }
        Map<String, Long> used = new TreeMap<>();
        out.append("  Allocated Buffers:\n");
        for (Json.Obj b : buffers) {
            String user = b.text("user") + "(" + b.number("userId") + ")";
            used.merge(user, b.number("size"), Long::sum);
            out.append("    JobID=")
                    .append(b.number("jobId"))
                    .append(" CreateTime=")
                    .append(c.time(b.number("createTime")))
                    .append(" Pool=")
                    .append(JobRows.orNull(b.text("pool")))
                    .append(" Size=")
                    .append(size(b.number("size")))
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
                return n / decimal + SI[power - 1];
            }
        }
        return Long.toString(n);
    }

    /** Prints the status that the site's script reports. */
    static int status(CommandContext c, List<String> words) {
        try {
            c.out()
                    .print(c.host()
                            .controller()
                            .call("QueryBurstStatus", new Json.Obj().put("arguments", words))
                            .text("text"));
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_load_burst_buffer_stat error", e);
        }
    }
}
