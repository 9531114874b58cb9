package dev.muster.cli.scontrol;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.NodeCalls;
import dev.muster.cli.command.RawText;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.JobRows;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.option.JobIds;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.cli.submit.AllocationClient;
import dev.muster.cli.submit.InteractiveShell;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Digits;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.format.HostList;
import dev.muster.model.format.LogLevels;
import dev.muster.model.format.Times;
import java.io.IOException;
import java.util.List;

/** Runs scontrol, which shows and changes the state of the cluster. */
public final class Scontrol implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "all:a:n",
            "cluster::r",
            "clusters:M:r",
            "details:d:n",
            "federation::n",
            "future:F:n",
            "help:h:n",
            "hide::n",
            "json::o",
            "local::n",
            "oneliner:o:n",
            "quiet:Q:n",
            "sibling::n",
            "uid:u:r",
            "verbose:v:n",
            "version:V:n",
            "yaml::o");
    private static final int DAMPENING_MAX = 65535;
    private static final int HOSTLIST_BYTES_MAX = 16 << 20;

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext context) throws SlurmException, UsageException {
        // what follows setdebugflags may begin with a minus
        boolean flags = !context.args().isEmpty()
                && Texts.lower(context.args().getFirst()).startsWith("setdebugf");
        GetOpt.Parsed parsed = GetOpt.parse(OPTIONS, context.args(), flags);
        ScontrolSwitches switches = new ScontrolSwitches();
        switches.all = context.env().containsKey("SCONTROL_ALL");
        switches.future = context.env().containsKey("SCONTROL_FUTURE");
        if (!parsed.error().isEmpty()) {
            throw new UsageException(
                    1,
                    List.of(context.program() + ": " + parsed.error(), "Try \"scontrol --help\" for more information"));
        }
        for (GetOpt.Hit hit : parsed.hits()) {
            switch (hit.opt().name()) {
                case "all" -> switches.all = true;
                case "hide" -> switches.all = false;
                case "cluster", "clusters" -> Clusters.requireKnown(context, hit.value());
                case "detail", "details" -> switches.details = true;
                case "future" -> switches.future = true;
                case "oneliner" -> switches.oneLine = true;
                case "quiet" -> switches.quiet = true;
                case "verbose" -> switches.verbose = true;
                case "json", "yaml" -> {
                    switches.json = hit.opt().name();
                    switches.parser = JsonOutput.requireParser(context, switches.json, hit.value());
                }
                case "federation", "local", "sibling" -> {}
                case "uid" -> throw context.bad(1, "--uid is not supported by this cluster");
                case "version" -> {
                    context.out().println(Release.LINE);
                    return 0;
                }
                default -> {
                    ScontrolHelp.print(context, OPTIONS);
                    return 0;
                }
            }
        }
        if (parsed.operands().isEmpty()) {
            return interactive(context, switches);
        }
        return command(context, switches, parsed.operands());
    }

    private static int interactive(CommandContext context, ScontrolSwitches switches) {
        return InteractiveShell.run(
                context,
                false,
                first -> first.equals("quit") || first.equals("exit") || first.equals("q"),
                words -> command(context, switches, words));
    }

    private static boolean isAbbreviation(String typed, String keyword, int minimum) {
        String t = Texts.lower(typed);
        return t.length() >= minimum && keyword.startsWith(t);
    }

    private static int command(CommandContext context, ScontrolSwitches switches, List<String> words)
            throws SlurmException, UsageException {
        String typed = words.getFirst();
        String keyword = Texts.lower(typed);
        List<String> operands = words.subList(1, words.size());
        if (operands.size() > mostWords(typed)) {
            context.err().println("too many arguments for keyword:" + typed);
            return 1;
        }
        switch (keyword) {
            case "all" -> switches.all = true;
            case "hide" -> switches.all = false;
            case "details" -> switches.details = true;
            case "oneliner" -> switches.oneLine = true;
            case "quiet" -> switches.quiet = true;
            case "verbose" -> {
                switches.quiet = false;
                switches.verbose = true;
            }
            case "version" -> context.out().println(Release.LINE);
            case "exit", "quit", "q" -> {} // there is nothing to end
            case "help" -> ScontrolHelp.print(context, OPTIONS);
            case "listjobs" -> {
                return ScontrolNode.list(context, switches, operands, false);
            }
            case "liststeps" -> {
                return ScontrolNode.list(context, switches, operands, true);
            }
            case "listpids" -> {
                return ScontrolNode.listPids(context, switches, operands);
            }
            case "pidinfo" -> {
                return ScontrolNode.pidInfo(context, operands);
            }
            case "cluster" -> {
                return cluster(context, operands);
            }
            case "takeover" -> {
                return ScontrolControllers.takeover(context, operands);
            }
            case "fsdampeningfactor" -> {
                return dampening(context, operands);
            }
            case "getent" -> {
                return ScontrolNode.getent(context, operands);
            }
            case "errnumstr" -> {
                return errnumstr(context, operands);
            }
            case "completing" -> {
                return completing(context);
            }
            default -> {
                return more(context, switches, typed, keyword, operands);
            }
        }
        return 0;
    }

    /** Returns how many words may follow. */
    private static int mostWords(String typed) {
        return switch (Texts.lower(typed)) {
            case "all",
                    "hide",
                    "details",
                    "detail",
                    "oneliner",
                    "quiet",
                    "verbose",
                    "version",
                    "help",
                    "exit",
                    "quit",
                    "q",
                    "ping",
                    "completing" -> 0;
            case "wait_job", "schedloglevel", "fsdampeningfactor", "pidinfo", "shutdown" -> 1;
            default -> Integer.MAX_VALUE;
        };
    }

    /** Selects the cluster of the commands that follow in the interactive mode. */
    private static int cluster(CommandContext context, List<String> operands) throws SlurmException, UsageException {
        if (operands.size() != 1) {
            context.err().println("scontrol: error: cluster: one name is needed");
            return 1;
        }
        List<String> names = List.of(Texts.lower(operands.getFirst()));
        if (context.host().clusters().containsAll(names)) {
            return 0;
        }
        if (!Clusters.needSlurmdbd(context, names.getFirst())) {
            Clusters.requireKnown(context, names.getFirst());
        }
        context.host().needsOwnProcess();
        context.host().selectCluster(Clusters.lookUp(context, names).getFirst());
        return 0;
    }

    private static int more(
            CommandContext context, ScontrolSwitches switches, String typed, String keyword, List<String> operands)
            throws SlurmException, UsageException {
        if (isAbbreviation(typed, "show", 1) && !keyword.equals("s")) {
            if (isTooMuchToShow(operands)) {
                context.err().println("too many arguments for keyword:show");
                return 1;
            }
            return show(context, switches, operands);
        }
        if (isAbbreviation(typed, "update", 2)) {
            return ScontrolUpdate.update(context, operands, switches.quiet);
        }
        if (isAbbreviation(typed, "create", 2)) {
            return ScontrolUpdate.create(context, operands);
        }
        if (isAbbreviation(typed, "delete", 2)) {
            return ScontrolUpdate.delete(context, operands);
        }
        return switch (keyword) {
            case "hold", "holdu", "uhold", "release", "requeue", "requeuehold", "suspend", "resume", "top" ->
                ScontrolUpdate.action(context, keyword, operands, switches.quiet);
            case "getaddrs" -> ScontrolNode.addresses(context, operands);
            case "notify" -> ScontrolUpdate.notifyJob(context, operands);
            case "ping" -> ScontrolControllers.ping(context, switches);
            case "token" -> ScontrolToken.token(context, operands);
            case "reboot" -> ScontrolPower.reboot(context, operands);
            case "cancel_reboot" -> ScontrolPower.cancelReboot(context, operands);
            case "power" -> ScontrolPower.power(context, operands);
            case "reconfigure" -> simple(context, "Reconfigure", new Json.Obj(), "slurm_reconfigure error");
            case "shutdown" -> {
                if (!operands.isEmpty() && !isAbbreviation(operands.getFirst(), "slurmctld", 5)) {
                    context.err().println("invalid shutdown argument:" + operands.getFirst());
                    yield 1;
                }
                yield ScontrolControllers.shutdown(context, !operands.isEmpty());
            }
            case "setdebug" -> setDebug(context, operands);
            case "schedloglevel" -> schedLogLevel(context, operands);
            case "setdebugflags" -> setDebugFlags(context, operands);
            case "wait_job" -> waitJob(context, operands);
            case "write" -> write(context, operands);
            default -> {
                context.err().println("invalid keyword: " + typed);
                yield 1;
            }
        };
    }

    /** Reports a missing right in the words of the operating system, as the original does here. */
    private static int debug(CommandContext context, String message, Json.Obj request, String call) {
        request.put("requestId", context.host().requestId());
        try {
            warnings(context, context.host().controller().call(message, request));
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(
                    context,
                    call,
                    e.errno() == SlurmErrno.ACCESS_DENIED.number()
                            ? new SlurmException(e.errno(), "Permission denied")
                            : e);
        }
    }

    static int simple(CommandContext context, String message, Json.Obj request, String call) {
        request.put("requestId", context.host().requestId());
        try {
            warnings(context, context.host().controller().call(message, request));
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, call, e);
        }
    }

    static void warnings(CommandContext context, Json.Obj reply) {
        for (String w : reply.texts("warnings")) {
            context.info(w);
        }
    }

    static int tooFew(CommandContext context, String keyword) {
        context.err().println("too few arguments for keyword:" + keyword);
        return 1;
    }

    private static int dampening(CommandContext context, List<String> operands) {
        if (operands.isEmpty()) {
            return tooFew(context, "fsdampeningfactor");
        }
        if (Digits.parseNumber(operands.getFirst()) < 1 || Digits.parseNumber(operands.getFirst()) > DAMPENING_MAX) {
            context.err().println("invalid dampening factor: " + operands.getFirst());
            return 1;
        }
        return debug(
                context,
                "UpdateSetting",
                new Json.Obj().put("key", "fairsharedampeningfactor").put("value", operands.getFirst()),
                "slurm_set_fs_dampeningfactor error");
    }

    private static int errnumstr(CommandContext context, List<String> operands) {
        if (operands.size() != 1) {
            context.err().println("one arguments required for keyword:errnumstr");
            return 1;
        }
        long number = Digits.parseNumber(operands.getFirst());
        if (number < 0 || number > Integer.MAX_VALUE) {
            context.err().println("numeric arguments required for keyword:errnumstr");
            return 1;
        }
        SlurmErrno known = SlurmErrno.of((int) number);
        context.out().println(known.number() == number ? known.sentence() : "Unknown error " + number);
        return 0;
    }

    private static int setDebug(CommandContext context, List<String> operands) {
        if (operands.isEmpty()) {
            return tooFew(context, "setdebug");
        }
        String nodes = nodes(operands.getLast());
        if (operands.size() > (nodes.isEmpty() ? 1 : 2)) {
            context.err().println("too many arguments for keyword:setdebug");
            return 1;
        }
        int level = LogLevels.of(operands.getFirst());
        if (level < 0) {
            context.err().println("invalid debug level: " + operands.getFirst());
            return 1;
        }
        Json.Obj query = new Json.Obj();
        query.put("level", LogLevels.word(level));
        query.put("nodes", nodes);
        return debug(context, "SetDebug", query, "slurm_set_debug_level error");
    }

    /** Returns the node of the addressed slurmd, "" for slurmctld. */
    private static String nodes(String word) {
        return Texts.lower(word).startsWith("nodes=") || Texts.lower(word).startsWith("node=")
                ? word.substring(word.indexOf('=') + 1)
                : "";
    }

    private static int schedLogLevel(CommandContext context, List<String> operands) {
        if (operands.size() != 1) {
            context.err()
                    .println((operands.isEmpty() ? "too few arguments for keyword:" : "too many arguments for keyword:")
                            + "schedloglevel");
            return 1;
        }
        String level = Texts.lower(operands.getFirst());
        String number;
        if (level.equals("enable")) {
            number = "1";
        } else if (level.equals("disable")) {
            number = "0";
        } else {
            number = level;
        }

        if (!number.equals("0") && !number.equals("1")) {
            context.err().println("invalid schedlog level: " + operands.getFirst());
            return 1;
        }
        return debug(context, "SetDebug", new Json.Obj().put("scheduler", number), "slurm_set_schedlog_level error");
    }

    private static int setDebugFlags(CommandContext context, List<String> operands) {
        if (operands.isEmpty()) {
            return tooFew(context, "setdebugflags");
        }
        if (!nodes(operands.getLast()).isEmpty()) {
            context.error("setdebugflags: slurmd has no debug flags that can be changed");
            return 1;
        }
        int rc = 0;
        for (String text : operands) {
            rc = Math.max(rc, setDebugFlags(context, text));
        }
        return rc;
    }

    private static int setDebugFlags(CommandContext context, String text) {
        if (!text.startsWith("+") && !text.startsWith("-")) {
            context.err().println("invalid debug flag: " + text);
            context.err().println("Usage: setdebugflags {+|-}NAME [{+|-}NAME] [nodes=<NODES>]");
            return 1;
        }
        List<String> names = new java.util.ArrayList<>();
        for (String word : Texts.split(text.substring(1), ',')) {
            String known = "";
            for (String flag : dev.muster.config.SlurmConf.knownDebugFlags()) {
                known = flag.equalsIgnoreCase(word) ? flag : known;
            }
            if (known.isEmpty()) {
                context.error("Invalid DebugFlag: " + word);
                context.err().println("invalid debug flag: " + text);
                return 1;
            }
            names.add(known);
        }
        Json.Obj query = new Json.Obj();
        query.put("flags", text.charAt(0) + String.join(",", names));
        return debug(context, "SetDebug", query, "slurm_set_debug_flags error");
    }

    /** Milliseconds between two queries of a job that belongs to another user. */
    private static final long WAIT_PACE_MS = 1_000;

    private static int waitJob(CommandContext context, List<String> operands) throws SlurmException {
        if (operands.isEmpty()) {
            return tooFew(context, "wait_job");
        }
        String id = operands.getFirst();
        if (Digits.parseNumber(id) <= 0) {
            context.err().print("Invalid job_id " + id); // the original ends no line here
            return 1;
        }
        Json.Obj query = new Json.Obj().put("jobId", Digits.parseNumber(id)).put("waitMs", 0L);
        while (true) {
            Json.Obj a;
            try {
                a = context.host().controller().call("AwaitAllocation", query);
            } catch (SlurmException e) {
                a = e.errno() == SlurmErrno.ACCESS_DENIED.number() ? stateInQueue(context, id) : new Json.Obj();
                if (!a.has("state")) {
                    context.info("Problem running job " + id);
                    return 1;
                }
            }
            if (AllocationClient.isOver(a) || AllocationClient.isPending(a)) {
                context.info("Job " + id + " no longer running");
                return 1;
            }
            if (a.flag("ready")) {
                context.info("Nodes are ready for job " + id);
                return 0;
            }
            query.put("waitMs", 20_000L);
        }
    }

    /** The state of another user's job as far as the queue shows it; empty if the queue hides the job. */
    private static Json.Obj stateInQueue(CommandContext context, String id) {
        Json.Obj query = new Json.Obj()
                .put("jobs", List.of(id))
                .put("allStates", Boolean.TRUE)
                .put("fields", List.of("jobId", "state", "flags"));
        try {
            for (Json.Obj job :
                    context.host().controller().call("QueryJobs", query).objects("jobs")) {
                boolean ready = !job.texts("flags").contains("CONFIGURING")
                        && job.text("state").equals("RUNNING");
                if (ready
                        || AllocationClient.isOver(job)
                        || AllocationClient.isPending(job)
                        || context.host().pause(WAIT_PACE_MS)) {
                    return job.put("ready", ready);
                }
            }
        } catch (SlurmException e) {
            // as of a job that is not there
        }
        return new Json.Obj();
    }

    private static int write(CommandContext context, List<String> operands) throws SlurmException {
        if (operands.isEmpty()) {
            return tooFew(context, "write");
        }
        if (isAbbreviation(operands.getFirst(), "config", 1)) {
            return ScontrolWrite.config(context, operands.size() > 1 ? operands.get(1) : "");
        }
        boolean known = isAbbreviation(operands.getFirst(), "batch_script", 1);
        if (!known || operands.size() < 2) {
            context.err()
                    .println(
                            known
                                    ? "too few arguments for keyword:write"
                                    : "invalid write argument:" + operands.getFirst());
            return 1;
        }
        // a task of an array has the script of all of them
        String id = operands.get(1).replaceFirst("[_.+].*", "");
        try {
            Json.Obj query = new Json.Obj();
            query.put("jobId", (long) Math.max(0, JobIds.resolve(context, id)));
            byte[] script = dev.muster.json.Bytes.fromBase64(context.host()
                            .controller()
                            .call("QueryScript", query)
                            .text("script"))
                    .toArray();
            String path = operands.size() > 2 ? operands.get(2) : "slurm-" + id + ".sh";
            if (path.equals("-")) {
                context.out().write(script, 0, script.length);
                return 0;
            }
            context.host().writeFile(Texts.absolute(path, context.host().workDir()), script, 0700);
            context.out().println("batch script for job " + id + " written to " + path);
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "job script retrieval failed", e);
        } catch (IOException e) {
            context.err().println("failed to open file `" + operands.get(2) + "`: " + ErrorSentence.reason(e));
            return 1;
        }
    }

    private static int completing(CommandContext context) throws SlurmException {
        Json.Obj query = new Json.Obj();
        query.put("states", List.of("COMPLETING"));
        for (Json.Obj job : context.host().controller().call("QueryJobs", query).objects("jobs")) {
            context.out()
                    .println("JobId=" + JobRows.id(job, 0) + " EndTime="
                            + Times.isoOr(job.number("endTime"), context.host().zone(), "Unknown") + " Nodes="
                            + job.text("nodes"));
        }
        return 0;
    }

    /** Entities that take a list of conditions, or words for the script of burst buffers. */
    private static final List<String> SHOWN_BY_PARTS = List.of("assoc_mgr", "topology", "topoconf", "bbstat", "dwstat");

    private static boolean isTooMuchToShow(List<String> operands) {
        return operands.size() > 1 && isAbbreviation(operands.getFirst(), "daemons", 2)
                || operands.size() > 2
                        && SHOWN_BY_PARTS.stream().noneMatch(entity -> isAbbreviation(operands.getFirst(), entity, 4));
    }

    private static int show(CommandContext context, ScontrolSwitches switches, List<String> operands)
            throws SlurmException, UsageException {
        if (operands.isEmpty()) {
            return tooFew(context, "show");
        }
        String e = operands.getFirst();
        List<String> ids = operands.subList(1, operands.size());
        String id = ids.isEmpty() ? "" : ids.getFirst();
        int equalSign = e.indexOf('=');
        if (equalSign > 0) {
            // "show job=12" is "show job 12"
            id = e.substring(equalSign + 1);
            e = e.substring(0, equalSign);
        }
        return switch (shownEntity(e)) {
            case "jobs", "jobid" -> ScontrolShow.jobs(context, switches, id);
            case "nodes" -> ScontrolShow.nodes(context, switches, id);
            case "partitions", "partitionname" -> ScontrolShow.partitions(context, switches, id);
            case "reservations", "reservationname" -> ScontrolReservation.show(context, switches, id);
            case "assoc_mgr" -> ScontrolAssoc.show(context, switches, ids);
            case "steps" -> ScontrolShow.steps(context, switches, id);
            case "aliases" -> ScontrolShow.aliases(context, id);
            case "licenses" -> ScontrolLicenses.show(context, switches, id);
            case "config" -> ScontrolShow.config(context, switches, id);
            case "burstbuffer" -> ScontrolBurst.show(context, switches.oneLine);
            case "bbstat", "dwstat" -> ScontrolBurst.status(context, ids);
            case "hostnames" -> hostNames(context, NodeCalls.expanded(context, id));
            case "hostlist" -> hostList(context, NodeCalls.expanded(context, id), false);
            case "hostlistsorted" -> hostList(context, NodeCalls.expanded(context, id), true);
            case "slurmd" -> ScontrolNode.daemon(context, id);
            case "topoconf" -> ScontrolTopology.conf(context);
            case "topology" -> ScontrolTopology.show(context, ids);
            default -> ScontrolShow.others(context, e);
        };
    }

    /** The entity that {@code show} means by a word or its abbreviation, "" for none. */
    private static String shownEntity(String typed) {
        // entity and the letters that its abbreviations have at least
        String[][] entities = {
            {"jobs", "1"},
            {"jobid", "1"},
            {"nodes", "1"},
            {"partitions", "1"},
            {"partitionname", "1"},
            {"reservations", "3"},
            {"reservationname", "3"},
            {"assoc_mgr", "2"},
            {"steps", "2"},
            {"aliases", "2"},
            {"licenses", "2"},
            {"config", "1"},
            {"burstbuffer", "2"},
            {"bbstat", "2"},
            {"dwstat", "2"},
            {"hostnames", "5"},
            {"hostlist", "8"},
            {"hostlistsorted", "14"},
            {"slurmd", "6"},
            {"topoconf", "5"}
        };
        for (String[] entity : entities) {
            if (isAbbreviation(typed, entity[0], Integer.parseInt(entity[1]))) {
                return entity[0];
            }
        }
        return Texts.lower(typed).startsWith("topo") ? "topology" : "";
    }

    private static String given(CommandContext context, String id) {
        if (id.isEmpty()) {
            if (context.env("SLURM_JOB_NODELIST").isEmpty()) {
                return context.env("SLURM_NODELIST");
            }
            return context.env("SLURM_JOB_NODELIST");
        }
        return id;
    }

    private static int hostNames(CommandContext context, String id) {
        String text = given(context, id);
        if (text.isEmpty()) {
            context.error("host list is empty");
            return 0;
        }
        return switch (HostList.parse(text)) {
            case HostList.Parsed.Ok ok -> {
                for (String n : ok.list().names()) {
                    context.out().println(n);
                }
                yield 0;
            }
            case HostList.Parsed.Invalid invalid -> invalidHosts(context, text, invalid);
        };
    }

    private static int invalidHosts(CommandContext context, String text, HostList.Parsed.Invalid invalid) {
        if (!invalid.detail().isEmpty()) {
            context.error("_parse_single_range: " + invalid.detail());
        }
        context.err().println("Invalid hostlist: " + text);
        return 0;
    }

    private static int hostList(CommandContext context, String id, boolean sorted) {
        String text = id;
        if (text.isEmpty()) {
            context.err().println("invalid encode argument");
            return 1;
        }
        if (text.startsWith("/") || text.equals("-")) {
            try {
                text = RawText.decode(
                        text.equals("-")
                                ? context.in().readNBytes(HOSTLIST_BYTES_MAX)
                                : context.host().readFile(text, HOSTLIST_BYTES_MAX));
            } catch (IOException e) {
                context.err().println("Can not open " + text);
                return 1;
            }
        }
        String expression = text;
        return switch (HostList.parse(expression)) {
            case HostList.Parsed.Ok ok -> {
                context.out().println((sorted ? ok.list().sorted() : ok.list()).compressed());
                yield 0;
            }
            case HostList.Parsed.Invalid invalid -> invalidHosts(context, expression, invalid);
        };
    }
}
