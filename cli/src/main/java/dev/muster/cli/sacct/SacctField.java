package dev.muster.cli.sacct;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Texts;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.option.StepFrequency;
import dev.muster.cli.shape.RunTimes;
import dev.muster.cli.shape.SacctJson;
import dev.muster.cli.shape.SacctPaths;
import dev.muster.json.Json;
import dev.muster.model.accounting.Extremes.At;
import dev.muster.model.accounting.Extremes.Measure;
import dev.muster.model.format.Durations;
import dev.muster.model.format.MemorySize;
import dev.muster.model.format.Sluid;
import dev.muster.model.job.CpuFreq;
import dev.muster.model.job.StepId;
import dev.muster.model.job.UsageSample;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongFunction;

/** Columns of sacct: names as in their headings, and default widths (negative: left-aligned). */
public enum SacctField {
    ACCOUNT("Account", 10),
    ADMINCOMMENT("AdminComment", 19, Rows.JOBS),
    ALLOCCPUS("AllocCPUS", 10),
    ALLOCNODES("AllocNodes", 10),
    ALLOCTRES("AllocTRES", 10),
    ASSOCID("AssocID", 7),
    AVECPU("AveCPU", 10, Rows.STEPS),
    AVECPUFREQ("AveCPUFreq", 10, Rows.STEPS),
    AVEDISKREAD("AveDiskRead", 14, Rows.STEPS),
    AVEDISKWRITE("AveDiskWrite", 14, Rows.STEPS),
    AVEPAGES("AvePages", 10, Rows.STEPS),
    AVERSS("AveRSS", 10, Rows.STEPS),
    AVEVMSIZE("AveVMSize", 10, Rows.STEPS),
    BLOCKID("BlockID", 16),
    CLUSTER("Cluster", 10),
    COMMENT("Comment", 14, Rows.JOBS),
    CONSTRAINTS("Constraints", 19, Rows.JOBS),
    CONSUMEDENERGY("ConsumedEnergy", 14),
    CONSUMEDENERGYRAW("ConsumedEnergyRaw", 17),
    CONTAINER("Container", 20),
    CPUTIME("CPUTime", 10),
    CPUTIMERAW("CPUTimeRAW", 10),
    DBINDEX("DBIndex", 20),
    DERIVEDEXITCODE("DerivedExitCode", 15, Rows.JOBS),
    ELAPSED("Elapsed", 10),
    ELAPSEDRAW("ElapsedRaw", 10),
    ELIGIBLE("Eligible", 19),
    END("End", 19),
    EXCLUSIVE("Exclusive", 9, Rows.JOBS),
    EXITCODE("ExitCode", 8),
    EXTRA("Extra", 20, Rows.JOBS),
    FAILEDNODE("FailedNode", 10, Rows.JOBS),
    FLAGS("Flags", 20, Rows.JOBS),
    GID("GID", 6, Rows.JOBS),
    GROUP("Group", 9, Rows.JOBS),
    JOBID("JobID", -12),
    JOBIDRAW("JobIDRaw", -12),
    JOBNAME("JobName", 10),
    LAYOUT("Layout", 9, Rows.STEPS),
    LICENSES("Licenses", 20, Rows.JOBS),
    MAXDISKREAD("MaxDiskRead", 12, Rows.STEPS),
    MAXDISKREADNODE("MaxDiskReadNode", 15, Rows.STEPS),
    MAXDISKREADTASK("MaxDiskReadTask", 15, Rows.STEPS),
    MAXDISKWRITE("MaxDiskWrite", 12, Rows.STEPS),
    MAXDISKWRITENODE("MaxDiskWriteNode", 16, Rows.STEPS),
    MAXDISKWRITETASK("MaxDiskWriteTask", 16, Rows.STEPS),
    MAXPAGES("MaxPages", 8, Rows.STEPS),
    MAXPAGESNODE("MaxPagesNode", 12, Rows.STEPS),
    MAXPAGESTASK("MaxPagesTask", 14, Rows.STEPS),
    MAXRSS("MaxRSS", 10, Rows.STEPS),
    MAXRSSNODE("MaxRSSNode", 10, Rows.STEPS),
    MAXRSSTASK("MaxRSSTask", 10, Rows.STEPS),
    MAXVMSIZE("MaxVMSize", 10, Rows.STEPS),
    MAXVMSIZENODE("MaxVMSizeNode", 14, Rows.STEPS),
    MAXVMSIZETASK("MaxVMSizeTask", 14, Rows.STEPS),
    MCSLABEL("McsLabel", 10, Rows.JOBS),
    MINCPU("MinCPU", 10, Rows.STEPS),
    MINCPUNODE("MinCPUNode", 10, Rows.STEPS),
    MINCPUTASK("MinCPUTask", 10, Rows.STEPS),
    NCPUS("NCPUS", 10),
    NNODES("NNodes", 8),
    NODELIST("NodeList", 15),
    NTASKS("NTasks", 8, Rows.STEPS),
    ORIGINALSLUID("OriginalSLUID", 14),
    OVERSUBSCRIBE("OverSubscribe", 13, Rows.JOBS),
    PARTITION("Partition", 10, Rows.JOBS),
    PLANNED("Planned", 10, Rows.JOBS),
    PLANNEDCPU("PlannedCPU", 10, Rows.JOBS),
    PLANNEDCPURAW("PlannedCPURAW", 13, Rows.JOBS),
    PRIORITY("Priority", 10, Rows.JOBS),
    QOS("QOS", 10, Rows.JOBS),
    QOSRAW("QOSRAW", 10, Rows.JOBS),
    QOSREQ("QOSREQ", 10, Rows.JOBS),
    REASON("Reason", 22, Rows.JOBS),
    REQCPUFREQ("ReqCPUFreq", 10),
    REQCPUFREQGOV("ReqCPUFreqGov", 13),
    REQCPUFREQMAX("ReqCPUFreqMax", 13),
    REQCPUFREQMIN("ReqCPUFreqMin", 13),
    REQCPUS("ReqCPUS", 8),
    REQMEM("ReqMem", 10, Rows.JOBS),
    REQNODES("ReqNodes", 8),
    REQTRES("ReqTRES", 10, Rows.JOBS),
    RESERVATION("Reservation", 20, Rows.JOBS),
    RESERVATIONID("ReservationId", 15, Rows.JOBS),
    REQRESERVATION("ReqReservation", 20, Rows.JOBS),
    RESTARTS("Restarts", 8, Rows.JOBS),
    SEGMENTSIZE("SegmentSize", 12, Rows.JOBS),
    SLUID("SLUID", 14),
    START("Start", 19),
    STATE("State", 10),
    STDERR("StdErr", 20, Rows.JOBS),
    STDIN("StdIn", 20, Rows.JOBS),
    STDOUT("StdOut", 20, Rows.JOBS),
    SUBMIT("Submit", 19),
    SUBMITLINE("SubmitLine", 20),
    SUSPENDED("Suspended", 10),
    SYSTEMCOMMENT("SystemComment", 14, Rows.JOBS),
    SYSTEMCPU("SystemCPU", 10),
    TIMELIMIT("Timelimit", 10, Rows.JOBS),
    TIMELIMITRAW("TimelimitRaw", 12, Rows.JOBS),
    TOTALCPU("TotalCPU", 10),
    TRESUSAGEINAVE("TRESUsageInAve", 14, Rows.STEPS),
    TRESUSAGEINMAX("TRESUsageInMax", 14, Rows.STEPS),
    TRESUSAGEINMAXNODE("TRESUsageInMaxNode", 18, Rows.STEPS),
    TRESUSAGEINMAXTASK("TRESUsageInMaxTask", 18, Rows.STEPS),
    TRESUSAGEINMIN("TRESUsageInMin", 14, Rows.STEPS),
    TRESUSAGEINMINNODE("TRESUsageInMinNode", 18, Rows.STEPS),
    TRESUSAGEINMINTASK("TRESUsageInMinTask", 18, Rows.STEPS),
    TRESUSAGEINTOT("TRESUsageInTot", 14, Rows.STEPS),
    TRESUSAGEOUTAVE("TRESUsageOutAve", 15, Rows.STEPS),
    TRESUSAGEOUTMAX("TRESUsageOutMax", 15, Rows.STEPS),
    TRESUSAGEOUTMAXNODE("TRESUsageOutMaxNode", 19, Rows.STEPS),
    TRESUSAGEOUTMAXTASK("TRESUsageOutMaxTask", 19, Rows.STEPS),
    TRESUSAGEOUTMIN("TRESUsageOutMin", 15, Rows.STEPS),
    TRESUSAGEOUTMINNODE("TRESUsageOutMinNode", 19, Rows.STEPS),
    TRESUSAGEOUTMINTASK("TRESUsageOutMinTask", 19, Rows.STEPS),
    TRESUSAGEOUTTOT("TRESUsageOutTot", 15, Rows.STEPS),
    UID("UID", 6, Rows.JOBS),
    USER("User", 9, Rows.JOBS),
    USERCPU("UserCPU", 10),
    WCKEY("WCKey", 10, Rows.JOBS),
    WCKEYID("WCKeyID", 8, Rows.JOBS),
    WORKDIR("WorkDir", 20, Rows.JOBS);

    private static final long US_PER_MS = 1_000;

    final String title;
    final int width;
    private final Rows rows;

    SacctField(String title, int width) {
        this(title, width, Rows.ALL);
    }

    SacctField(String title, int width, Rows rows) {
        this.title = title;
        this.width = width;
        this.rows = rows;
    }

    /** The rows in which a column has values. */
    private enum Rows {
        ALL,
        JOBS,
        STEPS
    }

    /** Parts of a row that the column needs besides those of every row; empty if any part may be needed. */
    Optional<List<String>> needs() {
        return switch (this) {
            case ACCOUNT,
                    CLUSTER,
                    DBINDEX,
                    ELAPSED,
                    ELAPSEDRAW,
                    END,
                    JOBID,
                    JOBIDRAW,
                    ORIGINALSLUID,
                    PARTITION,
                    RESTARTS,
                    SLUID,
                    START,
                    STATE,
                    SUSPENDED,
                    UID,
                    USER,
                    WCKEY -> Optional.of(List.of());
            case ALLOCCPUS, NCPUS, CPUTIME, CPUTIMERAW -> Optional.of(List.of("nodes", "cpusAllocated", "cpus"));
            case ALLOCNODES -> Optional.of(List.of("nodes", "nodeCount"));
            case ALLOCTRES -> Optional.of(List.of("tresAllocated"));
            case ASSOCID -> Optional.of(List.of("assocId"));
            case COMMENT -> Optional.of(List.of("comment"));
            case DERIVEDEXITCODE -> Optional.of(List.of("derivedExit"));
            case ELIGIBLE -> Optional.of(List.of("eligibleTime"));
            case EXITCODE -> Optional.of(List.of("exit"));
            case GROUP -> Optional.of(List.of("groupName"));
            case JOBNAME -> Optional.of(List.of("name"));
            case NNODES -> Optional.of(List.of("nodeCount"));
            case NODELIST -> Optional.of(List.of("nodes"));
            case NTASKS -> Optional.of(List.of("tasks"));
            case PRIORITY -> Optional.of(List.of("priority"));
            case QOSREQ -> Optional.of(List.of("qosRequested"));
            case QOS, QOSRAW -> Optional.of(List.of("qos"));
            case REASON -> Optional.of(List.of("reason"));
            case REQTRES -> Optional.of(List.of("tresRequested"));
            case REQMEM -> Optional.of(List.of("tresRequested", "memoryRequestedMb"));
            case SUBMIT -> Optional.of(List.of("submitTime"));
            case SUBMITLINE -> Optional.of(List.of("submitLine"));
            case TIMELIMIT, TIMELIMITRAW -> Optional.of(List.of("limitMin"));
            case AVECPU,
                    AVERSS,
                    AVEVMSIZE,
                    CONSUMEDENERGY,
                    CONSUMEDENERGYRAW,
                    MAXPAGES,
                    MAXRSS,
                    MAXRSSNODE,
                    MAXRSSTASK,
                    MAXVMSIZE,
                    MAXVMSIZENODE,
                    MAXVMSIZETASK,
                    SYSTEMCPU,
                    TOTALCPU,
                    USERCPU,
                    AVEPAGES,
                    MAXPAGESNODE,
                    MAXPAGESTASK,
                    MINCPU,
                    MINCPUNODE,
                    MINCPUTASK,
                    MAXDISKREAD,
                    MAXDISKREADNODE,
                    MAXDISKREADTASK,
                    MAXDISKWRITE,
                    MAXDISKWRITENODE,
                    MAXDISKWRITETASK,
                    TRESUSAGEINMAX,
                    TRESUSAGEOUTTOT,
                    TRESUSAGEINMAXNODE,
                    TRESUSAGEINMAXTASK,
                    TRESUSAGEINMIN,
                    TRESUSAGEINMINNODE,
                    TRESUSAGEINMINTASK,
                    TRESUSAGEOUTMAXNODE,
                    TRESUSAGEOUTMAXTASK,
                    TRESUSAGEOUTMIN,
                    TRESUSAGEOUTMINNODE,
                    TRESUSAGEOUTMINTASK,
                    TRESUSAGEOUTMAX -> Optional.of(List.of("usage"));
            case AVEDISKREAD, AVEDISKWRITE, TRESUSAGEINAVE, TRESUSAGEINTOT, TRESUSAGEOUTAVE ->
                Optional.of(List.of("usage", "tasks"));
            case BLOCKID -> Optional.of(List.of());
            case AVECPUFREQ -> Optional.of(List.of("usage"));
            case REQCPUFREQ, REQCPUFREQGOV, REQCPUFREQMAX, REQCPUFREQMIN -> Optional.of(List.of("cpuFreq"));
            case REQRESERVATION -> Optional.of(List.of("reservationRequested"));
            case WORKDIR -> Optional.of(List.of("workDir"));
            default -> Optional.empty();
        };
    }

    /** Finds a field by its name, or else the first one with a name that begins with the word. */
    static Optional<SacctField> of(String name) {
        String wanted = Texts.lower(name);
        Optional<SacctField> begun = Optional.empty();
        for (SacctField field : values()) {
            String title = Texts.lower(field.title);
            if (title.equals(wanted)) {
                return Optional.of(field);
            }
            if (begun.isEmpty() && !wanted.isEmpty() && title.startsWith(wanted)) {
                begun = Optional.of(field);
            }
        }
        return begun;
    }

    /** The surroundings of a value besides the row, and a cache of equal values. */
    static final class View {
        /** Results that are kept of each kind. */
        private static final int KEPT_MAX = 10_000;

        private final CommandContext context;
        private final long now;
        private final char unit;
        private final boolean expand;
        private final boolean localIds;
        private final Map<String, String> qosNumbers;
        private final Map<String, String> tres = new HashMap<>();
        private final StringBuilder line = new StringBuilder(160);
        private String cluster = "";

        /**
         * @param unit K, M, …; 0 for the best fitting, 1 for none
         * @param expand names of files with their % codes filled in
         * @param localIds the uid that the user has on this machine
         * @param qosNumbers by name, where they are shown
         */
        View(
                CommandContext context,
                long now,
                char unit,
                boolean expand,
                boolean localIds,
                Map<String, String> qosNumbers) {
            this.context = context;
            this.now = now;
            this.unit = unit;
            this.expand = expand;
            this.localIds = localIds;
            this.qosNumbers = qosNumbers;
        }

        long now() {
            return now;
        }

        /** Returns the form of amounts in lists of TRES: plain bytes with --noconvert. */
        private LongFunction<String> kilobytes() {
            return unit == 1 ? kb -> Long.toString(kb << 10) : kb -> kb + "K";
        }

        /** Sets the cluster of the rows that follow. */
        void cluster(String name) {
            cluster = name;
        }

        /** The text of the next line, empty. */
        StringBuilder line() {
            line.setLength(0);
            return line;
        }

        /** Resources of a row, which are those of many. */
        String tres(String text) {
            String known = tres.get(text);
            if (known == null) {
                known = SacctField.tres(text, this);
                if (tres.size() < KEPT_MAX) {
                    tres.put(text, known);
                }
            }
            return known;
        }

        String path(Json.Obj job, String field) {
            return expand ? SacctPaths.expanded(job, field) : job.text(field);
        }

        /** Returns the user's uid; the one of accounting if this machine does not know the user. */
        long uid(Json.Obj job) {
            int here = localIds ? context.host().userId(job.text("userName")) : -1;
            return here >= 0 ? here : job.number("userId");
        }

        String time(long t, String none) {
            return t == 0
                    ? none
                    : dev.muster.model.format.Times.print(
                            t, context.host().zone(), context.env("SLURM_TIME_FORMAT"), now);
        }
    }

    /**
     * @param job the job's row
     * @param step the step's, or the job's own again
     */
    String value(Json.Obj job, Json.Obj step, View view) {
        boolean isStep = step != job;
        if (rows == (isStep ? Rows.JOBS : Rows.STEPS)) {
            return "";
        }
        Json.Obj usage = step.obj("usage");
        return switch (this) {
            case ACCOUNT -> job.text("account");
            case ADMINCOMMENT -> job.text("adminComment");
            case ALLOCCPUS, NCPUS -> number(cpus(step, isStep));
            case ALLOCNODES -> number(step.text("nodes").isEmpty() ? 0 : step.number("nodeCount"));
            case ALLOCTRES -> view.tres(step.text("tresAllocated"));
            case ASSOCID -> Long.toString(job.number("assocId"));
            case WCKEYID -> Long.toString(job.number("wckeyId"));
            case QOSRAW -> view.qosNumbers.getOrDefault(job.text("qos"), "");
            // what a row of the tables has that no other has, as it was there before there was a column SLUID for it
            case DBINDEX -> number(Sluid.shown(job.number("sluid"), job.integer("restarts")));
            case AVECPU -> Durations.full(usage.number("aveCpuUs") / (US_PER_MS * 1000));
            case MINCPU -> Durations.full(usage.number("minCpuUs") / (US_PER_MS * 1000));
            case AVERSS -> memory(usage.number("aveRssKb"), view);
            case AVEVMSIZE -> memory(usage.number("aveVmKb"), view);
            case MAXRSS -> memory(usage.number("maxRssKb"), view);
            case MAXVMSIZE -> memory(usage.number("maxVmKb"), view);
            case MAXRSSNODE -> usage.text("maxRssNode");
            case MAXVMSIZENODE -> usage.text("maxVmNode");
            case MAXRSSTASK -> number(usage.number("maxRssTask"));
            case MAXVMSIZETASK -> number(usage.number("maxVmTask"));
            case MAXPAGES -> number(usage.number("maxPages"));
            case MAXDISKREAD -> bytes(SacctUse.most(usage, Measure.READ, "readBytes"), view);
            case MAXDISKWRITE -> bytes(SacctUse.most(usage, Measure.WRITE, "writeBytes"), view);
            case AVEDISKREAD -> bytes(usage.number("readBytes") / Math.max(1, step.number("tasks")), view);
            case AVEDISKWRITE -> bytes(usage.number("writeBytes") / Math.max(1, step.number("tasks")), view);
            case TRESUSAGEINTOT -> SacctUse.total(step, usage, view.kilobytes());
            case TRESUSAGEINMAX -> SacctUse.extreme(usage, true, view.kilobytes());
            case TRESUSAGEINMAXNODE -> SacctUse.places(usage, true, At::node);
            case TRESUSAGEINMAXTASK -> SacctUse.places(usage, true, SacctUse::task);
            case TRESUSAGEINMIN -> SacctUse.extreme(usage, false, view.kilobytes());
            case TRESUSAGEINMINNODE -> SacctUse.places(usage, false, At::node);
            case TRESUSAGEINMINTASK -> SacctUse.places(usage, false, SacctUse::task);
            case TRESUSAGEOUTMAXNODE -> SacctUse.writePlace(usage, true, At::node);
            case TRESUSAGEOUTMAXTASK -> SacctUse.writePlace(usage, true, SacctUse::task);
            case TRESUSAGEOUTMIN -> SacctUse.leastOut(usage);
            case TRESUSAGEOUTMINNODE -> SacctUse.writePlace(usage, false, At::node);
            case TRESUSAGEOUTMINTASK -> SacctUse.writePlace(usage, false, SacctUse::task);
            case TRESUSAGEINAVE -> SacctUse.average(step, usage, view.kilobytes());
            case TRESUSAGEOUTTOT -> SacctUse.out(usage, usage.number("writeBytes"));
            case TRESUSAGEOUTMAX -> SacctUse.out(usage, SacctUse.most(usage, Measure.WRITE, "writeBytes"));
            case TRESUSAGEOUTAVE -> SacctUse.out(usage, usage.number("writeBytes") / Math.max(1, step.number("tasks")));
            case AVEPAGES -> number(usage.number("avePages"));
            case MINCPUNODE -> SacctUse.at(usage, Measure.CPU, false, At::node);
            case MINCPUTASK -> SacctUse.at(usage, Measure.CPU, false, SacctUse::task);
            case MAXPAGESNODE -> SacctUse.at(usage, Measure.PAGES, true, At::node);
            case MAXPAGESTASK -> SacctUse.at(usage, Measure.PAGES, true, SacctUse::task);
            case MAXDISKREADNODE -> SacctUse.at(usage, Measure.READ, true, At::node);
            case MAXDISKREADTASK -> SacctUse.at(usage, Measure.READ, true, SacctUse::task);
            case MAXDISKWRITENODE -> SacctUse.at(usage, Measure.WRITE, true, At::node);
            case MAXDISKWRITETASK -> SacctUse.at(usage, Measure.WRITE, true, SacctUse::task);
            case CONSUMEDENERGY -> energy(usage.number("energyJ"), view.unit);
            case CONSUMEDENERGYRAW -> number(usage.number("energyJ"));
            // blocks were those of Blue Gene machines
            case BLOCKID -> "";
            case AVECPUFREQ -> StepFrequency.average(usage.number("aveCpuKhz"));
            case REQCPUFREQ, REQCPUFREQMAX -> frequency(step, isStep, CpuFreq::max);
            case REQCPUFREQMIN -> frequency(step, isStep, CpuFreq::min);
            case REQCPUFREQGOV -> frequency(step, isStep, CpuFreq::governor);
            case FAILEDNODE -> job.text("failedNode");
            case REQRESERVATION -> job.text("reservationRequested");
            case RESERVATIONID -> job.number("reservationId") == 0 ? "" : number(job.number("reservationId"));
            case SYSTEMCOMMENT -> job.text("systemComment");
            case MCSLABEL -> job.text("mcsLabel");
            case EXCLUSIVE -> job.text("exclusiveUse");
            case SEGMENTSIZE -> Integer.toString(job.integer("segmentSize"));
            case OVERSUBSCRIBE -> job.text("overSubscribe");
            case LICENSES -> job.text("licenses");
            case CLUSTER -> view.cluster;
            case COMMENT -> job.text("comment");
            case CONSTRAINTS -> job.text("features");
            case CONTAINER -> step.text("container");
            case CPUTIME -> Durations.full(RunTimes.elapsed(job, step, view.now) * cpus(step, isStep));
            case CPUTIMERAW -> number(RunTimes.elapsed(job, step, view.now) * cpus(step, isStep));
            case DERIVEDEXITCODE -> exit(job.obj("derivedExit"));
            case ELAPSED -> Durations.full(RunTimes.elapsed(job, step, view.now));
            case ELAPSEDRAW -> number(RunTimes.elapsed(job, step, view.now));
            case ELIGIBLE ->
                isStep
                        ? view.time(step.number("startTime"), "Unknown")
                        : view.time(job.number("eligibleTime"), "Unknown");
            case END -> view.time(step.number("endTime"), "Unknown");
            case EXITCODE -> exit(step.obj("exit"));
            case EXTRA -> job.text("extra");
            case FLAGS -> job.text("flags");
            case GID -> number(job.number("groupId"));
            case GROUP -> job.text("groupName");
            case JOBID -> isStep ? shownId(job) + "." + SacctJson.stepName(step) : shownId(job);
            case JOBIDRAW -> job.integer("jobId") + (isStep ? "." + SacctJson.stepName(step) : "");
            case JOBNAME -> step.text("name");
            case LAYOUT -> step.text("layout");
            case NNODES -> number(step.number("nodeCount"));
            case NODELIST -> step.text("nodes").isEmpty() ? "None assigned" : step.text("nodes");
            case NTASKS -> number(step.number("tasks"));
            case PARTITION -> job.text("partition");
            case PLANNED -> Durations.full(planned(job, view.now));
            case PLANNEDCPU -> Durations.full(planned(job, view.now) * job.number("cpusRequested"));
            case PLANNEDCPURAW -> number(planned(job, view.now) * job.number("cpusRequested"));
            case PRIORITY -> number(job.number("priority"));
            case QOS -> job.text("qos");
            case QOSREQ -> job.text("qosRequested");
            case REASON -> reason(job);
            case REQCPUS -> number(isStep ? cpus(step, true) : job.number("cpusRequested"));
            case REQMEM -> requestedMemory(job, view);
            case REQNODES -> number(step.number("nodeCount"));
            case REQTRES -> view.tres(job.text("tresRequested"));
            case RESERVATION -> job.text("reservation");
            case RESTARTS -> number(job.number("restarts"));
            case SLUID -> Sluid.text(Sluid.shown(step.number("sluid"), job.integer("restarts")));
            case ORIGINALSLUID -> Sluid.text(Sluid.shown(Sluid.original(job.number("sluid")), job.integer("restarts")));
            case START -> view.time(step.number("startTime"), step.number("endTime") != 0 ? "None" : "Unknown");
            case STATE -> state(step);
            case STDERR -> view.path(job, "stderr");
            case STDIN -> view.path(job, "stdin");
            case STDOUT -> view.path(job, "stdout");
            case SUBMIT ->
                isStep
                        ? view.time(step.number("startTime"), "Unknown")
                        : view.time(job.number("submitTime"), "Unknown");
            case SUBMITLINE -> step.text("submitLine");
            case SUSPENDED -> Durations.full(RunTimes.suspended(job, step, view.now));
            case SYSTEMCPU -> cpu(usage.number("systemCpuUs"));
            case TIMELIMIT -> limit(job);
            case TIMELIMITRAW -> job.integer("limitMin") <= 0 ? limit(job) : number(job.number("limitMin"));
            case TOTALCPU -> cpu(usage.number("userCpuUs") + usage.number("systemCpuUs"));
            case UID -> number(view.uid(job));
            case USER -> job.text("userName");
            case USERCPU -> cpu(usage.number("userCpuUs"));
            case WCKEY -> job.text("wckey");
            case WORKDIR -> job.text("workDir");
        };
    }

    private static String number(long n) {
        return Long.toString(n);
    }

    /** Returns the allocated count; 0 for a job that never had an allocation. */
    private static long cpus(Json.Obj row, boolean isStep) {
        if (isStep) {
            return row.number("cpus");
        }
        if (row.text("nodes").isEmpty()) {
            return 0;
        }
        return row.number("cpusAllocated");
    }

    static String shownId(Json.Obj job) {
        return JobRows.id(job, 0);
    }

    private static String exit(Json.Obj e) {
        return e.integer("code") + ":" + e.integer("signal");
    }

    /** Time between being eligible and the start. */
    private static long planned(Json.Obj job, long now) {
        long from = job.number("eligibleTime");
        long to;
        if (job.number("startTime") != 0) {
            to = job.number("startTime");
        } else if (job.number("endTime") != 0) {
            to = job.number("endTime");
        } else {
            to = now;
        }

        return from == 0 ? 0 : Math.max(0, to - from);
    }

    /** Why jobs ended, which is not why they waited. */
    private static final List<String> OF_ENDS = List.of("NonZeroExitCode", "TimeLimit", "OutOfMemory", "RaisedSignal");

    private static String reason(Json.Obj job) {
        return job.text("reason").isEmpty() || OF_ENDS.contains(job.text("reason")) ? "None" : job.text("reason");
    }

    private static String state(Json.Obj row) {
        String text = row.text("state");
        if (text.equals("CANCELLED") && row.has("cancelledBy") && row.integer("cancelledBy") >= 0) {
            return text + " by " + row.integer("cancelledBy");
        }
        if (text.equals("CANCELLED") && !row.has("cancelledBy")) {
            return text + " by 0";
        }
        return text;
    }

    /** A frequency is asked for by steps: a job's is unknown, a batch script has none. */
    private static String frequency(Json.Obj step, boolean isStep, Function<CpuFreq, String> part) {
        if (!isStep) {
            return "Unknown";
        }
        if (step.integer("stepId") == StepId.BATCH) {
            return "0";
        }
        return StepFrequency.asked(step, part);
    }

    private static String limit(Json.Obj job) {
        int min = job.integer("limitMin");
        if (min < 0) {
            return "UNLIMITED";
        }
        if (min == 0) {
            return "Partition_Limit";
        }
        return Durations.fullMinutes(min);
    }

    /** Returns an amount in plain bytes with --noconvert. */
    private static String memory(long kb, View view) {
        if (view.unit == 1) {
            return Long.toString(kb << 10);
        }
        return view.unit == 0 ? MemorySize.print(kb, 'K') : inUnit(kb, "KMGTPEZ".indexOf(view.unit), view.unit);
    }

    private static String inUnit(long kb, int steps, char unit) {
        long scale = 1L << 10 * Math.max(0, steps);
        if (kb % scale == 0) {
            return Long.toString(kb / scale) + unit;
        }
        long hundredths = Math.round(kb * 100.0 / scale);
        return hundredths / 100 + "." + (hundredths % 100 < 10 ? "0" : "") + hundredths % 100 + unit;
    }

    private static String bytes(long n, View view) {
        if (view.unit == 1) {
            return Long.toString(n);
        }
        long hundredths = Math.round(n * 100.0 / (1 << 20));
        if (n == 0) {
            return "0";
        }
        return hundredths / 100 + "." + (hundredths % 100 < 10 ? "0" : "") + hundredths % 100 + "M";
    }

    /** All memory of the request: what its TRES say. */
    private static String requestedMemory(Json.Obj job, View view) {
        for (String item : Texts.split(view.tres(job.text("tresRequested")), ',')) {
            if (item.startsWith("mem=")) {
                return item.substring(4);
            }
        }
        return MemorySize.print(job.number("memoryRequestedMb"));
    }

    /** Here the names are in their order, and memory is in the unit that is wanted. */
    private static String tres(String text, View view) {
        List<String> items = new ArrayList<>(Texts.split(text, ','));
        items.replaceAll(i -> i.startsWith("mem=")
                        && view.unit > 1
                        && MemorySize.parseMb(i.substring(4)).isPresent()
                ? "mem=" + memory(MemorySize.parseMb(i.substring(4)).getAsLong() << 10, view)
                : i);
        items.sort(null);
        return String.join(",", items);
    }

    /** Only where ic/sysfs is accounted. */
    static String network(Json.Obj usage, String direction) {
        return usage.number("netInBytes") + usage.number("netOutBytes") == 0
                ? ""
                : ",ic/sysfs=" + usage.number(direction);
    }

    /** Only where fs/lustre is accounted. */
    static String lustre(UsageSample metered, long bytes) {
        return metered.fsReadBytes() + metered.fsWriteBytes() == 0 ? "" : ",fs/lustre=" + bytes;
    }

    /**
     * GPU memory and use, only for jobs with measured GPUs.
     *
     * @param kb prints kilobytes
     */
    static String gpus(UsageSample metered, long memoryKb, long percent, LongFunction<String> kb) {
        return metered.gpuNodes() == 0 ? "" : ",gres/gpumem=" + kb.apply(memoryKb) + ",gres/gpuutil=" + percent;
    }

    /**
     * Joules with a decimal prefix: {@code 523}, {@code 2K}, {@code 13.50K}.
     *
     * @param wanted K, M, …; 0 for the best fitting, 1 for none
     */
    public static String energy(long joules, char wanted) {
        int steps = 0;
        double value = joules;
        while (wanted != 1 && (wanted == 0 ? value >= 1000 && steps < 5 : steps < " KMGTP".indexOf(wanted))) {
            value /= 1000;
            steps++;
        }
        String unit = steps == 0 ? "" : "KMGTP".substring(steps - 1, steps);
        return value == (long) value ? (long) value + unit : String.format(java.util.Locale.ROOT, "%.2f", value) + unit;
    }

    /** {@code 00:00.012}, {@code 01:02:03}, {@code 1-02:03:04}. */
    static String cpu(long us) {
        long seconds = us / 1_000_000;
        StringBuilder text = new StringBuilder();
        if (seconds >= Durations.HOUR) {
            return Durations.full(seconds);
        }
        long ms = us / US_PER_MS % 1000;
        text.append(seconds / 60 < 10 ? "0" : "")
                .append(seconds / 60)
                .append(':')
                .append(seconds % 60 < 10 ? "0" : "")
                .append(seconds % 60);
        text.append('.').append(ms < 100 ? "0" : "").append(ms < 10 ? "0" : "").append(ms);
        return text.toString();
    }
}
