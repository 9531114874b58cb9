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
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.shape.ControlJson;
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
    public int run(CommandContext c) throws SlurmException, UsageException {
        // what follows setdebugflags may begin with a minus
        boolean flags = !c.args().isEmpty() && Texts.lower(c.args().getFirst()).startsWith("setdebugf");
        GetOpt.Parsed p = GetOpt.parse(OPTIONS, c.args(), flags);
        ScontrolSwitches s = new ScontrolSwitches();
        s.all = c.env().containsKey("SCONTROL_ALL");
        s.future = c.env().containsKey("SCONTROL_FUTURE");
        if (!p.error().isEmpty()) {
            throw new UsageException(
                    1, List.of(c.program() + ": " + p.error(), "Try \"scontrol --help\" for more information"));
        }
        for (GetOpt.Hit h : p.hits()) {
            switch (h.opt().name()) {
                case "all" -> s.all = true;
                case "hide" -> s.all = false;
                case "cluster", "clusters" -> Clusters.requireKnown(c, h.value());
                case "detail", "details" -> s.details = true;
                case "future" -> s.future = true;
                case "oneliner" -> s.oneLine = true;
                case "quiet" -> s.quiet = true;
                case "verbose" -> s.verbose = true;
                case "json", "yaml" -> {
                    s.json = h.opt().name();
                    s.parser = JsonOutput.requireParser(c, s.json, h.value());
                }
                case "federation", "local", "sibling" -> {}
                case "uid" -> throw c.bad(1, "--uid is not supported by this cluster");
                case "version" -> {
                    c.out().println(Release.LINE);
                    return 0;
                }
                default -> {
                    ScontrolHelp.print(c, OPTIONS);
                    return 0;
                }
            }
        }
        if (p.operands().isEmpty()) {
            return interactive(c, s);
        }
        return command(c, s, p.operands());
    }

    private static int interactive(CommandContext c, ScontrolSwitches s) {
        return InteractiveShell.run(
                c,
                false,
                first -> first.equals("quit") || first.equals("exit") || first.equals("q"),
                words -> command(c, s, words));
    }

    private static boolean isAbbreviation(String typed, String keyword, int least) {
        String t = Texts.lower(typed);
        return t.length() >= least && keyword.startsWith(t);
    }

    private static int command(CommandContext c, ScontrolSwitches s, List<String> words)
            throws SlurmException, UsageException {
        String typed = words.getFirst();
        String k = Texts.lower(typed);
        List<String> rest = words.subList(1, words.size());
        if (rest.size() > mostWords(typed)) {
            c.err().println("too many arguments for keyword:" + typed);
            return 1;
        }
        switch (k) {
            case "all" -> s.all = true;
            case "hide" -> s.all = false;
            case "details" -> s.details = true;
            case "oneliner" -> s.oneLine = true;
            case "quiet" -> s.quiet = true;
            case "verbose" -> {
                s.quiet = false;
                s.verbose = true;
            }
            case "version" -> c.out().println(Release.LINE);
            case "exit", "quit", "q" -> {} // there is nothing to end
            case "help" -> ScontrolHelp.print(c, OPTIONS);
            case "listjobs" -> {
                return ScontrolNode.list(c, s, rest, false);
            }
            case "liststeps" -> {
                return ScontrolNode.list(c, s, rest, true);
            }
            case "listpids" -> {
                return ScontrolNode.listPids(c, s, rest);
            }
            case "pidinfo" -> {
                return ScontrolNode.pidInfo(c, rest);
            }
            case "cluster" -> {
                return cluster(c, rest);
            }
            case "takeover" -> {
                return takeover(c, rest);
            }
            case "fsdampeningfactor" -> {
                return dampening(c, rest);
            }
            case "getent" -> {
                return ScontrolNode.getent(c, rest);
            }
            case "errnumstr" -> {
                return errnumstr(c, rest);
            }
            case "completing" -> {
                return completing(c);
            }
            default -> {
                return more(c, s, typed, k, rest);
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
    private static int cluster(CommandContext c, List<String> rest) throws SlurmException, UsageException {
        if (rest.size() != 1) {
            c.err().println("scontrol: error: cluster: one name is needed");
            return 1;
        }
        List<String> names = List.of(Texts.lower(rest.getFirst()));
        if (c.host().clusters().containsAll(names)) {
            return 0;
        }
        if (!Clusters.needSlurmdbd(c, names.getFirst())) {
            Clusters.requireKnown(c, names.getFirst());
        }
        c.host().needsOwnProcess();
        c.host().selectCluster(Clusters.lookUp(c, names).getFirst());
        return 0;
    }

    private static int more(CommandContext c, ScontrolSwitches s, String typed, String k, List<String> rest)
            throws SlurmException, UsageException {
        if (isAbbreviation(typed, "show", 1) && !k.equals("s")) {
            if (isTooMuchToShow(rest)) {
                c.err().println("too many arguments for keyword:show");
                return 1;
            }
            return show(c, s, rest);
        }
        if (isAbbreviation(typed, "update", 2)) {
            return ScontrolUpdate.update(c, rest, s.quiet);
        }
        if (isAbbreviation(typed, "create", 2)) {
            return ScontrolUpdate.create(c, rest);
        }
        if (isAbbreviation(typed, "delete", 2)) {
            return ScontrolUpdate.delete(c, rest);
        }
        return switch (k) {
            case "hold", "holdu", "uhold", "release", "requeue", "requeuehold", "suspend", "resume", "top" ->
                ScontrolUpdate.action(c, k, rest, s.quiet);
            case "getaddrs" -> ScontrolNode.addresses(c, rest);
            case "notify" -> ScontrolUpdate.notifyJob(c, rest);
            case "ping" -> ping(c, s);
            case "token" -> ScontrolToken.token(c, rest);
            case "reboot" -> ScontrolPower.reboot(c, rest);
            case "cancel_reboot" -> ScontrolPower.cancelReboot(c, rest);
            case "power" -> ScontrolPower.power(c, rest);
            case "reconfigure" -> simple(c, "Reconfigure", new Json.Obj(), "slurm_reconfigure error");
            case "shutdown" -> {
                if (!rest.isEmpty() && !isAbbreviation(rest.getFirst(), "slurmctld", 5)) {
                    c.err().println("invalid shutdown argument:" + rest.getFirst());
                    yield 1;
                }
                Json.Obj q = new Json.Obj();
                JobRequest.put(q, "controllerOnly", !rest.isEmpty() && isAbbreviation(rest.getFirst(), "slurmctld", 5));
                yield simple(c, "Shutdown", q, "slurm_shutdown error");
            }
            case "setdebug" -> setDebug(c, rest);
            case "schedloglevel" -> schedLogLevel(c, rest);
            case "setdebugflags" -> setDebugFlags(c, rest);
            case "wait_job" -> waitJob(c, rest);
            case "write" -> write(c, rest);
            default -> {
                c.err().println("invalid keyword: " + typed);
                yield 1;
            }
        };
    }

    /** Reports a missing right in the words of the operating system, as the original does here. */
    private static int debug(CommandContext c, String message, Json.Obj request, String what) {
        request.put("requestId", c.host().requestId());
        try {
            warnings(c, c.host().controller().call(message, request));
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(
                    c,
                    what,
                    e.errno() == SlurmErrno.ACCESS_DENIED.number()
                            ? new SlurmException(e.errno(), "Permission denied")
                            : e);
        }
    }

    static int simple(CommandContext c, String message, Json.Obj request, String what) {
        request.put("requestId", c.host().requestId());
        try {
            warnings(c, c.host().controller().call(message, request));
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, what, e);
        }
    }

    static void warnings(CommandContext c, Json.Obj reply) {
        for (String w : reply.texts("warnings")) {
            c.info(w);
        }
    }

    static int tooFew(CommandContext c, String keyword) {
        c.err().println("too few arguments for keyword:" + keyword);
        return 1;
    }

    /** There is no second controller that could. */
    private static int takeover(CommandContext c, List<String> rest) {
        if (rest.isEmpty()) {
            c.err().println("slurm_takeover error: no backup controller is configured");
        } else if (rest.size() > 1) {
            c.err().println("takeover: too many arguments");
        } else {
            c.err().println("takeover: invalid backup controller index (" + rest.getFirst() + ")");
        }
        return 1;
    }

    private static int dampening(CommandContext c, List<String> rest) {
        if (rest.isEmpty()) {
            return tooFew(c, "fsdampeningfactor");
        }
        if (Digits.parseNumber(rest.getFirst()) < 1 || Digits.parseNumber(rest.getFirst()) > DAMPENING_MAX) {
            c.err().println("invalid dampening factor: " + rest.getFirst());
            return 1;
        }
        return debug(
                c,
                "UpdateSetting",
                new Json.Obj().put("key", "fairsharedampeningfactor").put("value", rest.getFirst()),
                "slurm_set_fs_dampeningfactor error");
    }

    private static int errnumstr(CommandContext c, List<String> rest) {
        if (rest.size() != 1) {
            c.err().println("one arguments required for keyword:errnumstr");
            return 1;
        }
        long number = Digits.parseNumber(rest.getFirst());
        if (number < 0 || number > Integer.MAX_VALUE) {
            c.err().println("numeric arguments required for keyword:errnumstr");
            return 1;
        }
        SlurmErrno known = SlurmErrno.of((int) number);
        c.out().println(known.number() == number ? known.sentence() : "Unknown error " + number);
        return 0;
    }

    private static int setDebug(CommandContext c, List<String> rest) {
        if (rest.isEmpty()) {
            return tooFew(c, "setdebug");
        }
        String nodes = nodes(rest.getLast());
        if (rest.size() > (nodes.isEmpty() ? 1 : 2)) {
            c.err().println("too many arguments for keyword:setdebug");
            return 1;
        }
        int level = LogLevels.of(rest.getFirst());
        if (level < 0) {
            c.err().println("invalid debug level: " + rest.getFirst());
            return 1;
        }
        Json.Obj q = new Json.Obj();
        q.put("level", LogLevels.word(level));
        q.put("nodes", nodes);
        return debug(c, "SetDebug", q, "slurm_set_debug_level error");
    }

    /** Returns the node of the addressed slurmd, "" for slurmctld. */
    private static String nodes(String word) {
        return Texts.lower(word).startsWith("nodes=") || Texts.lower(word).startsWith("node=")
                ? word.substring(word.indexOf('=') + 1)
                : "";
    }

    private static int schedLogLevel(CommandContext c, List<String> rest) {
        if (rest.size() != 1) {
            c.err()
                    .println((rest.isEmpty() ? "too few arguments for keyword:" : "too many arguments for keyword:")
                            + "schedloglevel");
            return 1;
        }
        String level = Texts.lower(rest.getFirst());
        String number;
        if (level.equals("enable")) {
            number = "1";
        } else if (level.equals("disable")) {
            number = "0";
        } else {
            number = level;
        }

        if (!number.equals("0") && !number.equals("1")) {
            c.err().println("invalid schedlog level: " + rest.getFirst());
            return 1;
        }
        return debug(c, "SetDebug", new Json.Obj().put("scheduler", number), "slurm_set_schedlog_level error");
    }

    private static int setDebugFlags(CommandContext c, List<String> rest) {
        if (rest.isEmpty()) {
            return tooFew(c, "setdebugflags");
        }
        if (!nodes(rest.getLast()).isEmpty()) {
            c.error("setdebugflags: slurmd has no debug flags that can be changed");
            return 1;
        }
        int rc = 0;
        for (String text : rest) {
            rc = Math.max(rc, setDebugFlags(c, text));
        }
        return rc;
    }

    private static int setDebugFlags(CommandContext c, String text) {
        if (!text.startsWith("+") && !text.startsWith("-")) {
            c.err().println("invalid debug flag: " + text);
            c.err().println("Usage: setdebugflags {+|-}NAME [{+|-}NAME] [nodes=<NODES>]");
            return 1;
        }
        List<String> names = new java.util.ArrayList<>();
        for (String word : Texts.split(text.substring(1), ',')) {
            String known = "";
            for (String flag : dev.muster.config.SlurmConf.knownDebugFlags()) {
                known = flag.equalsIgnoreCase(word) ? flag : known;
            }
            if (known.isEmpty()) {
                c.error("Invalid DebugFlag: " + word);
                c.err().println("invalid debug flag: " + text);
                return 1;
            }
            names.add(known);
        }
        Json.Obj q = new Json.Obj();
        q.put("flags", text.charAt(0) + String.join(",", names));
        return debug(c, "SetDebug", q, "slurm_set_debug_flags error");
    }

    private static int ping(CommandContext c, ScontrolSwitches s) throws UsageException {
        String host =
                c.host().controllers().isEmpty() ? "" : c.host().controllers().getFirst();
        boolean up = false;
        long beganNs = System.nanoTime();
        try {
            Json.Obj reply = c.host().controller().call("Ping", new Json.Obj());
            up = true;
            host = reply.text("host").isEmpty() ? host : reply.text("host");
        } catch (SlurmException e) {
            up = false;
        }
        if (!s.json.isEmpty()) {
            JsonOutput.print(
                    c,
                    s.json,
                    s.parser,
                    ControlJson.slurmctldPing(
                            host, up, (System.nanoTime() - beganNs) / 1000, JsonOutput.version(s.parser)));
            return up ? 0 : 1;
        }
        c.out().println("Slurmctld(primary) at " + host + " is " + (up ? "UP" : "DOWN"));
        return up ? 0 : 1;
    }

    /** Between two looks at a job that is not the asker's. */
    private static final long WAIT_PACE_MS = 1_000;

    private static int waitJob(CommandContext c, List<String> rest) throws SlurmException {
        if (rest.isEmpty()) {
            return tooFew(c, "wait_job");
        }
        String id = rest.getFirst();
        if (Digits.parseNumber(id) <= 0) {
            c.err().print("Invalid job_id " + id); // the original ends no line here
            return 1;
        }
        Json.Obj q = new Json.Obj().put("jobId", Digits.parseNumber(id)).put("waitMs", 0L);
        while (true) {
            Json.Obj a;
            try {
                a = c.host().controller().call("AwaitAllocation", q);
            } catch (SlurmException e) {
                a = e.errno() == SlurmErrno.ACCESS_DENIED.number() ? stateInQueue(c, id) : new Json.Obj();
                if (!a.has("state")) {
                    c.info("Problem running job " + id);
                    return 1;
                }
            }
            if (AllocationClient.isOver(a) || AllocationClient.isPending(a)) {
                c.info("Job " + id + " no longer running");
                return 1;
            }
            if (a.flag("ready")) {
                c.info("Nodes are ready for job " + id);
                return 0;
            }
            q.put("waitMs", 20_000L);
        }
    }

    /** The state of another user's job as far as the queue shows it; empty if the queue hides the job. */
    private static Json.Obj stateInQueue(CommandContext c, String id) {
        Json.Obj q = new Json.Obj()
                .put("jobs", List.of(id))
                .put("allStates", Boolean.TRUE)
                .put("fields", List.of("jobId", "state", "flags"));
        try {
            for (Json.Obj j : c.host().controller().call("QueryJobs", q).objects("jobs")) {
                boolean ready = !j.texts("flags").contains("CONFIGURING")
                        && j.text("state").equals("RUNNING");
                if (ready
                        || AllocationClient.isOver(j)
                        || AllocationClient.isPending(j)
                        || c.host().pause(WAIT_PACE_MS)) {
                    return j.put("ready", ready);
                }
            }
        } catch (SlurmException e) {
            // as of a job that is not there
        }
        return new Json.Obj();
    }

    private static int write(CommandContext c, List<String> rest) throws SlurmException {
        if (rest.isEmpty()) {
            return tooFew(c, "write");
        }
        if (isAbbreviation(rest.getFirst(), "config", 1)) {
            return ScontrolWrite.config(c, rest.size() > 1 ? rest.get(1) : "");
        }
        boolean known = isAbbreviation(rest.getFirst(), "batch_script", 1);
        if (!known || rest.size() < 2) {
            c.err()
                    .println(
                            known
                                    ? "too few arguments for keyword:write"
                                    : "invalid write argument:" + rest.getFirst());
            return 1;
        }
        // a task of an array has the script of all of them
        String id = rest.get(1).replaceFirst("[_.+].*", "");
        try {
            Json.Obj q = new Json.Obj();
            q.put("jobId", (long) Math.max(0, JobIds.resolve(c, id)));
            byte[] script = dev.muster.json.Bytes.fromBase64(
                            c.host().controller().call("QueryScript", q).text("script"))
                    .toArray();
            String path = rest.size() > 2 ? rest.get(2) : "slurm-" + id + ".sh";
            if (path.equals("-")) {
                c.out().write(script, 0, script.length);
                return 0;
            }
            c.host().writeFile(Texts.absolute(path, c.host().workDir()), script, 0700);
            c.out().println("batch script for job " + id + " written to " + path);
            return 0;
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "job script retrieval failed", e);
        } catch (IOException e) {
            c.err().println("failed to open file `" + rest.get(2) + "`: " + ErrorSentence.of(e));
            return 1;
        }
    }

    private static int completing(CommandContext c) throws SlurmException {
        Json.Obj q = new Json.Obj();
        q.put("states", List.of("COMPLETING"));
        for (Json.Obj j : c.host().controller().call("QueryJobs", q).objects("jobs")) {
            c.out()
                    .println("JobId=" + JobRows.id(j, 0) + " EndTime="
                            + Times.isoOr(j.number("endTime"), c.host().zone(), "Unknown") + " Nodes="
                            + j.text("nodes"));
        }
        return 0;
    }

    /** Entities that take a list of conditions, or words for the script of burst buffers. */
    private static final List<String> SHOWN_BY_PARTS = List.of("assoc_mgr", "topology", "topoconf", "bbstat", "dwstat");

    private static boolean isTooMuchToShow(List<String> rest) {
        return rest.size() > 1 && isAbbreviation(rest.getFirst(), "daemons", 2)
                || rest.size() > 2
                        && SHOWN_BY_PARTS.stream().noneMatch(entity -> isAbbreviation(rest.getFirst(), entity, 4));
    }

    private static int show(CommandContext c, ScontrolSwitches s, List<String> rest)
            throws SlurmException, UsageException {
        if (rest.isEmpty()) {
            return tooFew(c, "show");
        }
        String e = rest.getFirst();
        List<String> ids = rest.subList(1, rest.size());
        String id = ids.isEmpty() ? "" : ids.getFirst();
        int eq = e.indexOf('=');
        if (eq > 0) {
            // "show job=12" is "show job 12"
            id = e.substring(eq + 1);
            e = e.substring(0, eq);
        }
        return switch (shownEntity(e)) {
            case "jobs", "jobid" -> ScontrolShow.jobs(c, s, id);
            case "nodes" -> ScontrolShow.nodes(c, s, id);
            case "partitions", "partitionname" -> ScontrolShow.partitions(c, s, id);
            case "reservations", "reservationname" -> ScontrolReservation.show(c, s, id);
            case "assoc_mgr" -> ScontrolAssoc.show(c, s, ids);
            case "steps" -> ScontrolShow.steps(c, s, id);
            case "aliases" -> ScontrolShow.aliases(c, id);
            case "licenses" -> ScontrolLicenses.show(c, s, id);
            case "config" -> ScontrolShow.config(c, s, id);
            case "burstbuffer" -> ScontrolBurst.show(c, s.oneLine);
            case "bbstat", "dwstat" -> ScontrolBurst.status(c, ids);
            case "hostnames" -> hostNames(c, NodeCalls.expanded(c, id));
            case "hostlist" -> hostList(c, NodeCalls.expanded(c, id), false);
            case "hostlistsorted" -> hostList(c, NodeCalls.expanded(c, id), true);
            case "slurmd" -> ScontrolNode.daemon(c, id);
            case "topoconf" -> ScontrolTopology.conf(c);
            case "topology" -> ScontrolTopology.show(c, ids);
            default -> ScontrolShow.others(c, e);
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

    private static String given(CommandContext c, String id) {
        if (id.isEmpty()) {
            if (c.env("SLURM_JOB_NODELIST").isEmpty()) {
                return c.env("SLURM_NODELIST");
            }
            return c.env("SLURM_JOB_NODELIST");
        }
        return id;
    }

    private static int hostNames(CommandContext c, String id) {
        String text = given(c, id);
        if (text.isEmpty()) {
            c.error("host list is empty");
            return 0;
        }
        return switch (HostList.parse(text)) {
            case HostList.Parsed.Ok ok -> {
                for (String n : ok.list().names()) {
                    c.out().println(n);
                }
                yield 0;
            }
            case HostList.Parsed.Invalid bad -> invalidHosts(c, text, bad);
        };
    }

    private static int invalidHosts(CommandContext c, String text, HostList.Parsed.Invalid bad) {
        if (!bad.detail().isEmpty()) {
            c.error("_parse_single_range: " + bad.detail());
        }
        c.err().println("Invalid hostlist: " + text);
        return 0;
    }

    private static int hostList(CommandContext c, String id, boolean sorted) {
        String text = id;
        if (text.isEmpty()) {
            c.err().println("invalid encode argument");
            return 1;
        }
        if (text.startsWith("/") || text.equals("-")) {
            try {
                text = RawText.decode(
                        text.equals("-")
                                ? c.in().readNBytes(HOSTLIST_BYTES_MAX)
                                : c.host().readFile(text, HOSTLIST_BYTES_MAX));
            } catch (IOException e) {
                c.err().println("Can not open " + text);
                return 1;
            }
        }
        String expression = text;
        return switch (HostList.parse(expression)) {
            case HostList.Parsed.Ok ok -> {
                c.out().println((sorted ? ok.list().sorted() : ok.list()).compressed());
                yield 0;
            }
            case HostList.Parsed.Invalid bad -> invalidHosts(c, expression, bad);
        };
    }
}
