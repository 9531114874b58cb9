package dev.muster.cli.sacct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.StepFrequency;
import dev.muster.json.Json;
import dev.muster.model.format.Digits;
import dev.muster.model.format.Durations;
import dev.muster.model.format.MemorySize;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.CpuFreq;
import dev.muster.model.job.UsageSample;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** Columns of sstat: names as in their headings, and default widths (negative: left-aligned). */
enum SstatField {
    ALLOCTRES("AllocTRES", 10),
    AVECPU("AveCPU", 10),
    AVECPUFREQ("AveCPUFreq", 10),
    AVEDISKREAD("AveDiskRead", 12),
    AVEDISKWRITE("AveDiskWrite", 12),
    AVEPAGES("AvePages", 10),
    AVERSS("AveRSS", 10),
    AVEVMSIZE("AveVMSize", 10),
    CONSUMEDENERGY("ConsumedEnergy", 14),
    CONSUMEDENERGYRAW("ConsumedEnergyRaw", 17),
    JOBID("JobID", -12),
    MAXDISKREAD("MaxDiskRead", 12),
    MAXDISKREADNODE("MaxDiskReadNode", 15),
    MAXDISKREADTASK("MaxDiskReadTask", 15),
    MAXDISKWRITE("MaxDiskWrite", 12),
    MAXDISKWRITENODE("MaxDiskWriteNode", 16),
    MAXDISKWRITETASK("MaxDiskWriteTask", 16),
    MAXPAGES("MaxPages", 8),
    MAXPAGESNODE("MaxPagesNode", 12),
    MAXPAGESTASK("MaxPagesTask", 14),
    MAXRSS("MaxRSS", 10),
    MAXRSSNODE("MaxRSSNode", 10),
    MAXRSSTASK("MaxRSSTask", 10),
    MAXVMSIZE("MaxVMSize", 10),
    MAXVMSIZENODE("MaxVMSizeNode", 14),
    MAXVMSIZETASK("MaxVMSizeTask", 14),
    MINCPU("MinCPU", 10),
    MINCPUNODE("MinCPUNode", 10),
    MINCPUTASK("MinCPUTask", 10),
    NODELIST("Nodelist", 20),
    NTASKS("NTasks", 8),
    PIDS("Pids", 20),
    REQCPUFREQ("ReqCPUFreq", 13),
    REQCPUFREQMIN("ReqCPUFreqMin", 13),
    REQCPUFREQMAX("ReqCPUFreqMax", 13),
    REQCPUFREQGOV("ReqCPUFreqGov", 13),
    SLUID("SLUID", 14),
    TRESUSAGEINAVE("TRESUsageInAve", 14),
    TRESUSAGEINMAX("TRESUsageInMax", 14),
    TRESUSAGEINMAXNODE("TRESUsageInMaxNode", 18),
    TRESUSAGEINMAXTASK("TRESUsageInMaxTask", 18),
    TRESUSAGEINMIN("TRESUsageInMin", 14),
    TRESUSAGEINMINNODE("TRESUsageInMinNode", 18),
    TRESUSAGEINMINTASK("TRESUsageInMinTask", 18),
    TRESUSAGEINTOT("TRESUsageInTot", 14),
    TRESUSAGEOUTAVE("TRESUsageOutAve", 15),
    TRESUSAGEOUTMAX("TRESUsageOutMax", 15),
    TRESUSAGEOUTMAXNODE("TRESUsageOutMaxNode", 19),
    TRESUSAGEOUTMAXTASK("TRESUsageOutMaxTask", 19),
    TRESUSAGEOUTMIN("TRESUsageOutMin", 15),
    TRESUSAGEOUTMINNODE("TRESUsageOutMinNode", 19),
    TRESUSAGEOUTMINTASK("TRESUsageOutMinTask", 19),
    TRESUSAGEOUTTOT("TRESUsageOutTot", 15);

    static final String STANDARD =
            "JobID,AllocTRES,MaxVMSize,MaxVMSizeNode,MaxVMSizeTask,AveVMSize,MaxRSS,MaxRSSNode,MaxRSSTask,"
                    + "AveRSS,MaxPages,"
                    + "MaxPagesNode,MaxPagesTask,AvePages,MinCPU,MinCPUNode,MinCPUTask,AveCPU,NTasks,AveCPUFreq,"
                    + "ReqCPUFreqMin,ReqCPUFreqMax,"
                    + "ReqCPUFreqGov,ConsumedEnergy,MaxDiskRead,MaxDiskReadNode,MaxDiskReadTask,AveDiskRead,"
                    + "MaxDiskWrite,MaxDiskWriteNode,"
                    + "MaxDiskWriteTask,AveDiskWrite,TRESUsageInAve,TRESUsageInMax,TRESUsageInMaxNode,"
                    + "TRESUsageInMaxTask,TRESUsageInMin,"
                    + "TRESUsageInMinNode,TRESUsageInMinTask,TRESUsageInTot,TRESUsageOutAve,TRESUsageOutMax,"
                    + "TRESUsageOutMaxNode,TRESUsageOutMaxTask,"
                    + "TRESUsageOutMin,TRESUsageOutMinNode,TRESUsageOutMinTask,TRESUsageOutTot";
    private static final int LISTED_PER_LINE = 4;

    /** @param width negative: left side; 0 for the whole value */
    record Column(SstatField field, int width) {}

    private final String title;
    private final int width;

    SstatField(String title, int width) {
        this.title = title;
        this.width = width;
    }

    static void list(CommandContext context) {
        SstatField[] all = values();
        for (int i = 0; i < all.length; i++) {
            context.out().print(all[i].title + " ".repeat(Math.max(1, 20 - all[i].title.length())));
            if (i % LISTED_PER_LINE == LISTED_PER_LINE - 1 || i == all.length - 1) {
                context.out().println("");
            }
        }
    }

    static List<Column> columns(CommandContext context, String format) throws UsageException {
        List<Column> out = new ArrayList<>();
        for (String item : Texts.split(format, ',')) {
            int percent = item.indexOf('%');
            String name = percent < 0 ? item : item.substring(0, percent);
            SstatField found = null;
            for (SstatField f : values()) {
                if (found == null && Texts.lower(f.title).startsWith(Texts.lower(name))
                        || f.title.equalsIgnoreCase(name)) {
                    found = f;
                }
            }
            if (found == null) {
                throw context.bad(1, "Invalid field requested: \"" + name + "\"");
            }
            int width = found.width;
            if (percent >= 0) {
                boolean left = item.startsWith("-", percent + 1);
                int typed = (int) Digits.parseNumber(item.substring(percent + (left ? 2 : 1)));
                if (typed > 0) {
                    width = left ? -typed : typed;
                }
            }
            out.add(new Column(found, width));
        }
        return out;
    }

    static void header(CommandContext context, List<Column> columns, String delimiter, boolean trailing) {
        List<String> titles = new ArrayList<>();
        List<String> lines = new ArrayList<>();
        for (Column col : columns) {
            titles.add(col.field.title);
            lines.add("-".repeat(Math.abs(col.width)));
        }
        print(context, columns, titles, delimiter, trailing);
        if (delimiter.isEmpty()) {
            print(context, columns, lines, delimiter, trailing);
        }
    }

    static void row(
            CommandContext context,
            List<Column> columns,
            Json.Obj step,
            List<Json.Obj> tasks,
            String delimiter,
            boolean trailing,
            boolean raw) {
        List<String> values = new ArrayList<>();
        for (Column col : columns) {
            values.add(col.field.value(step, tasks, raw));
        }
        print(context, columns, values, delimiter, trailing);
    }

    private static void print(
            CommandContext context, List<Column> columns, List<String> values, String delimiter, boolean trailing) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < columns.size(); i++) {
            String value = values.get(i);
            if (!delimiter.isEmpty()) {
                line.append(i == 0 ? "" : delimiter).append(value);
                continue;
            }
            int width = Math.abs(columns.get(i).width);
            String cut;
            if (value.length() <= width) {
                cut = value;
            } else if (columns.get(i).field == PIDS || columns.get(i).field == NODELIST) {
                cut = value;
            } else {
                cut = value.substring(0, width - 1) + "+";
            }

            String pad = " ".repeat(Math.max(0, width - cut.length()));
            line.append(columns.get(i).width < 0 ? cut + pad : pad + cut).append(' ');
        }
        context.out().println(line + (trailing ? delimiter : ""));
    }

    private String value(Json.Obj step, List<Json.Obj> all, boolean raw) {
        List<Json.Obj> tasks = all.stream().filter(t -> t.integer("rank") >= 0).toList();
        return switch (this) {
            case ALLOCTRES -> step.text("tresAlloc");
            case JOBID -> step.integer("jobId") + "." + step.text("stepId");
            case SLUID -> Sluid.text(step.number("sluid"));
            case NODELIST -> step.text("nodes");
            case NTASKS -> Integer.toString(step.integer("tasks"));
            case PIDS -> pids(all);
            case AVECPU -> cpu(mean(tasks, "cpuMs"));
            case MINCPU ->
                cpu(extreme(tasks, "cpuMs", false).map(t -> t.number("cpuMs")).orElse(0L));
            case MINCPUNODE -> node(tasks, "cpuMs", false);
            case MINCPUTASK -> task(tasks, "cpuMs", false);
            case AVERSS -> kb(mean(tasks, "residentKb"), raw);
            case MAXRSS -> kb(most(tasks, "residentKb"), raw);
            case MAXRSSNODE -> node(tasks, "residentKb", true);
            case MAXRSSTASK -> task(tasks, "residentKb", true);
            case AVEVMSIZE -> kb(mean(tasks, "virtualKb"), raw);
            case MAXVMSIZE -> kb(most(tasks, "virtualKb"), raw);
            case MAXVMSIZENODE -> node(tasks, "virtualKb", true);
            case MAXVMSIZETASK -> task(tasks, "virtualKb", true);
            case AVEPAGES -> Long.toString(mean(tasks, "pages"));
            case MAXPAGES -> Long.toString(most(tasks, "pages"));
            case MAXPAGESNODE -> node(tasks, "pages", true);
            case MAXPAGESTASK -> task(tasks, "pages", true);
            case AVEDISKREAD -> Long.toString(mean(tasks, "readBytes"));
            case MAXDISKREAD -> Long.toString(most(tasks, "readBytes"));
            case MAXDISKREADNODE -> node(tasks, "readBytes", true);
            case MAXDISKREADTASK -> task(tasks, "readBytes", true);
            case AVEDISKWRITE -> Long.toString(mean(tasks, "writeBytes"));
            case MAXDISKWRITE -> Long.toString(most(tasks, "writeBytes"));
            case MAXDISKWRITENODE -> node(tasks, "writeBytes", true);
            case MAXDISKWRITETASK -> task(tasks, "writeBytes", true);
            case AVECPUFREQ -> StepFrequency.average(frequency(tasks));
            case REQCPUFREQ, REQCPUFREQMAX -> StepFrequency.asked(step, CpuFreq::max);
            case REQCPUFREQMIN -> StepFrequency.asked(step, CpuFreq::min);
            case REQCPUFREQGOV -> StepFrequency.asked(step, CpuFreq::governor);
            case CONSUMEDENERGY -> SacctField.energy(step.number("energyJ"), raw ? (char) 1 : 0);
            case CONSUMEDENERGYRAW -> Long.toString(step.number("energyJ"));
            case TRESUSAGEINAVE ->
                in(
                        step,
                        f -> mean(tasks, f),
                        m -> m.gpuMemKb() / Math.max(1, tasks.size()),
                        m -> m.gpuPercent() / Math.max(1, tasks.size()),
                        raw);
            case TRESUSAGEINMAX ->
                in(step, f -> most(tasks, f), UsageSample::gpuMostMemKb, UsageSample::gpuMostPercent, raw);
            case TRESUSAGEINMAXNODE -> places(f -> node(tasks, f, true));
            case TRESUSAGEINMAXTASK -> places(f -> task(tasks, f, true));
            case TRESUSAGEINMIN -> in(step, f -> least(tasks, f), m -> -1, m -> -1, raw);
            case TRESUSAGEINMINNODE -> places(f -> node(tasks, f, false));
            case TRESUSAGEINMINTASK -> places(f -> task(tasks, f, false));
            case TRESUSAGEINTOT -> in(step, f -> sum(tasks, f), UsageSample::gpuMemKb, UsageSample::gpuPercent, raw);
            case TRESUSAGEOUTAVE -> out(step, mean(tasks, "writeBytes"));
            case TRESUSAGEOUTMAX -> out(step, most(tasks, "writeBytes"));
            case TRESUSAGEOUTMAXNODE -> writePlace(node(tasks, "writeBytes", true));
            case TRESUSAGEOUTMAXTASK -> writePlace(task(tasks, "writeBytes", true));
            case TRESUSAGEOUTMIN -> out(step, least(tasks, "writeBytes"));
            case TRESUSAGEOUTMINNODE -> writePlace(node(tasks, "writeBytes", false));
            case TRESUSAGEOUTMINTASK -> writePlace(task(tasks, "writeBytes", false));
            case TRESUSAGEOUTTOT -> out(step, sum(tasks, "writeBytes"));
        };
    }

    /** Returns the nodes with the largest or smallest value of a task: {@code cpu=n1,fs/disk=n2,…}. */
    private static String places(Function<String, String> of) {
        List<String> out = new ArrayList<>();
        String[][] all = {
            {"cpu", "cpuMs"}, {"fs/disk", "readBytes"}, {"mem", "residentKb"}, {"pages", "pages"}, {"vmem", "virtualKb"}
        };
        for (String[] one : all) {
            String at = of.apply(one[1]);
            if (!at.isEmpty()) {
                out.add(one[0] + "=" + at);
            }
        }
        return String.join(",", out);
    }

    private static String writePlace(String at) {
        return at.isEmpty() ? "" : "fs/disk=" + at;
    }

    private static long least(List<Json.Obj> tasks, String field) {
        return extreme(tasks, field, false).map(t -> t.number(field)).orElse(0L);
    }

    private static String out(Json.Obj step, long written) {
        UsageSample metered = UsageSample.parse(step.text("metered"));
        return "energy=" + step.number("energyJ") + ",fs/disk=" + written
                + SacctField.lustre(metered, metered.fsWriteBytes()) + SacctField.network(step, "netOutBytes");
    }

    private static String in(
            Json.Obj step,
            ToLongFunction<String> of,
            ToLongFunction<UsageSample> gpuKb,
            ToLongFunction<UsageSample> gpuPercent,
            boolean raw) {
        UsageSample metered = UsageSample.parse(step.text("metered"));
        long percent = gpuPercent.applyAsLong(metered);
        String gpus =
                percent < 0 ? "" : SacctField.gpus(metered, gpuKb.applyAsLong(metered), percent, kb -> whole(kb, raw));
        return "cpu=" + Durations.full(of.applyAsLong("cpuMs") / 1000) + ",energy=" + step.number("energyJ")
                + ",fs/disk="
                + of.applyAsLong("readBytes") + SacctField.lustre(metered, metered.fsReadBytes()) + gpus
                + SacctField.network(step, "netInBytes") + ",mem="
                + whole(of.applyAsLong("residentKb"), raw) + ",pages=" + of.applyAsLong("pages") + ",vmem="
                + whole(of.applyAsLong("virtualKb"), raw);
    }

    private static String pids(List<Json.Obj> tasks) {
        StringBuilder out = new StringBuilder();
        for (Json.Obj t : tasks) {
            for (Object pid : t.list("pids")) {
                out.append(out.isEmpty() ? "" : ",").append(((Number) pid).longValue());
            }
        }
        return out.toString();
    }

    private static long sum(List<Json.Obj> tasks, String field) {
        return tasks.stream().mapToLong(t -> t.number(field)).sum();
    }

    /** Weighted by what each task has used of its CPU. */
    private static long frequency(List<Json.Obj> tasks) {
        long times = 0;
        long cpuMs = 0;
        for (Json.Obj t : tasks) {
            long weight = t.number("khz") > 0 ? Math.max(1, t.number("cpuMs")) : 0;
            times += weight * t.number("khz");
            cpuMs += weight;
        }
        return cpuMs == 0 ? 0 : times / cpuMs;
    }

    private static long mean(List<Json.Obj> tasks, String field) {
        return tasks.isEmpty() ? 0 : sum(tasks, field) / tasks.size();
    }

    private static long most(List<Json.Obj> tasks, String field) {
        return extreme(tasks, field, true).map(t -> t.number(field)).orElse(0L);
    }

    private static java.util.Optional<Json.Obj> extreme(List<Json.Obj> tasks, String field, boolean isMax) {
        Json.Obj found = null;
        for (Json.Obj t : tasks) {
            if (found == null
                    || (isMax ? t.number(field) > found.number(field) : t.number(field) < found.number(field))) {
                found = t;
            }
        }
        return java.util.Optional.ofNullable(found);
    }

    private static String node(List<Json.Obj> tasks, String field, boolean isMax) {
        return extreme(tasks, field, isMax).map(t -> t.text("node")).orElse("");
    }

    private static String task(List<Json.Obj> tasks, String field, boolean isMax) {
        return extreme(tasks, field, isMax)
                .map(t -> Integer.toString(t.integer("rank")))
                .orElse("");
    }

    private static String cpu(long ms) {
        return SacctField.cpu(ms * 1000);
    }

    private static String kb(long kb, boolean raw) {
        return raw || kb == 0 ? Long.toString(kb << 10) : MemorySize.print(kb, 'K');
    }

    private static String whole(long kb, boolean raw) {
        return raw ? Long.toString(kb << 10) : kb + "K";
    }
}
