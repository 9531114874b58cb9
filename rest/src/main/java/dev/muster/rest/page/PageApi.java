package dev.muster.rest.page;

import dev.muster.cli.RemoteSubmit;
import dev.muster.cli.command.Controller;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.SlurmException;
import dev.muster.daemon.Identities;
import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.model.Identity;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import dev.muster.rest.contract.RestException;
import dev.muster.rest.contract.Words;
import dev.muster.rest.http.Http;
import dev.muster.rest.http.Request;
import dev.muster.rest.operation.Auth;
import dev.muster.rest.operation.EndedPages;
import dev.muster.rest.operation.Envelope;
import dev.muster.rest.operation.RestCall;
import dev.muster.rest.operation.Sessions;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * {@code /muster/v1/…}: the interface of the page, which Slurm's API does not have: streams of events, lists in a short
 * form for clients that follow them, and sessions. Callers authenticate as for other paths, and slurmctld checks their
 * rights. Thread-safe.
 */
public final class PageApi {
    public static final String PLACE = "/muster/v1/";
    /** Streams at a time; each is a connection and a waiting thread. */
    static final int STREAMS_MAX = 1024;

    private static final int JOBS_MAX = 2_000;
    /** Plans reach no further. */
    private static final int PLAN_HOURS_MAX = 168;
    /** The id of an event of a log: attempt, offset, file. */
    private static final Pattern SEEN = Pattern.compile("([0-9]{1,9})\\.([0-9]{1,18})(?:\\.([0-9:-]{1,60}))?");

    private static final Pattern MOMENT = Pattern.compile("@([0-9]{1,12})@");

    private final Auth auth;
    private final Sessions sessions;
    private final Identities identities = new Identities();
    private final Feeds feeds = new Feeds();
    private final Semaphore streams = new Semaphore(STREAMS_MAX);

    public PageApi(Auth auth, Sessions sessions) {
        this.auth = auth;
        this.sessions = sessions;
    }

    Feeds feeds() {
        return feeds;
    }

    /** @param path below {@link #PLACE} */
    public Http.Reply answer(Request request, String path, Optional<Request.Peer> peer)
            throws RestException, SlurmException {
        String[] words = path.split("/", -1);
        return switch (route(request.method(), words)) {
            case "POST session" -> login(request);
            case "GET session" -> session(request);
            case "DELETE session" -> logout(request);
            case "POST session/*" -> {
                if (!words[1].equals("codes")) {
                    throw unknownUrl(request);
                }
                yield code(request, peer);
            }
            case "GET events" -> events(caller(request, peer), request);
            case "GET jobs" -> jobs(caller(request, peer), request);
            case "GET nodes" -> list(caller(request, peer), "QueryNodes", new Json.Obj(), "nodes", OwnRows.NODES);
            case "GET jobs/*/log" -> log(caller(request, peer), request, job(words[1]));
            case "GET jobs/*/script" -> script(caller(request, peer), job(words[1]));
            case "GET jobs/*/environment" -> environment(caller(request, peer), job(words[1]));
            case "POST submit" -> submit(auth.caller(request, peer), request);
            case "GET ended" -> ended(caller(request, peer), request);
            case "GET topology" -> json(200, topology(caller(request, peer)));
            case "GET limits" -> limits(caller(request, peer));
            case "GET jobs/*/steps" -> steps(caller(request, peer), job(words[1]));
            case "GET jobs/*/usage" -> usage(caller(request, peer), job(words[1]));
            case "GET utilization" -> json(200, UtilizationSeries.of(caller(request, peer), request.query()));
            case "GET plan" -> plan(caller(request, peer), request);
            case "GET jobs/*/why" -> why(caller(request, peer), job(words[1]));
            default -> throw unknownUrl(request);
        };
    }

    /** Method and path of a request, a star instead of the second word: {@code GET jobs/*}{@code /log}. */
    private static String route(String method, String[] words) {
        String path = words[0];
        if (words.length > 1) {
            path += "/*";
        }
        for (int i = 2; i < words.length; i++) {
            path += "/" + words[i];
        }
        return (method.equals("HEAD") ? "GET" : method) + " " + path;
    }

    private static RestException unknownUrl(Request request) {
        return new RestException(
                404,
                RestException.UNKNOWN_URL,
                "Unable find requested URL",
                "Unable find requested URL",
                request.path());
    }

    private static Http.Reply script(Host host, long job) throws SlurmException {
        Json.Obj reply = host.controller().call("QueryScript", new Json.Obj().put("jobId", job));
        byte[] script = Bytes.fromBase64(reply.text("script")).toArray();
        return json(200, new Json.Obj().put("script", new String(script, StandardCharsets.UTF_8)));
    }

    private static Http.Reply steps(Host host, long job) throws SlurmException {
        return json(
                200,
                host.controller()
                        .call(
                                "QuerySteps",
                                new Json.Obj()
                                        .put("jobIds", new ArrayList<Object>(List.of(job)))
                                        .put("stepId", -1L)
                                        .put("allUsers", true)));
    }

    private Host caller(Request request, Optional<Request.Peer> peer) throws RestException {
        return auth.caller(request, peer).host();
    }

    private static long job(String text) throws RestException {
        if (!text.matches("[0-9]{1,9}")) {
            throw RestException.query("\"" + text + "\" is no number of a job", "#/job_id/");
        }
        return Long.parseLong(text);
    }

    static Http.Reply json(int status, Json.Obj tree) {
        return new Http.Reply(status, "application/json", Json.print(tree)).with(Map.of("Cache-Control", "no-store"));
    }

    /**
     * Returns the error with the HTTP status of Muster's own paths, where slurmctld's refusals are 400 or 403. Slurm's
     * paths have 422.
     */
    public static RestException refused(SlurmException e, String source) {
        RestException as = RestException.of(e, source);
        int status;
        if (as.status() != 500 && as.status() != 422) {
            status = as.status();
        } else if (mayNot(e)) {
            status = 403;
        } else if (e.errno() == SlurmErrno.INVALID_JOB_ID.number()) {
            status = 404;
        } else if (Feed.isConnection(e)) {
            status = 503;
        } else {
            status = 400;
        }

        return new RestException(status, e.errno(), e.getMessage(), e.getMessage(), source);
    }

    /** Returns the error of a request to one of Muster's own paths, where a wrong query or body is 400. */
    public static RestException refused(RestException e) {
        return e.status() == 422 ? new RestException(400, e.errno(), e.getMessage(), e.description(), e.source()) : e;
    }

    /** Whether an error is one of the two sentences for a caller without the right. */
    private static boolean mayNot(SlurmException e) {
        return e.errno() == SlurmErrno.ACCESS_DENIED.number() || e.errno() == SlurmErrno.USER_ID_MISSING.number();
    }

    // ---- sessions

    private Http.Reply login(Request request) throws RestException, SlurmException {
        // a form of another site cannot say this type
        if (!request.type("content-type").equals("application/json")) {
            throw new RestException(
                    415,
                    RestException.UNKNOWN_TYPE,
                    "MIME type is unknown to any loaded plugins",
                    "A login is application/json",
                    "slurmrestd");
        }
        String site = request.header("sec-fetch-site");
        if (!site.isEmpty() && !site.equals("same-origin") && !site.equals("none")) {
            throw new RestException(
                    403, 1007, "Protocol authentication error", "A login comes from the page itself", "slurmrestd");
        }
        Json.Obj body;
        try {
            body = Json.object(request.body());
        } catch (Json.MalformedException e) {
            throw RestException.incomplete("The body is no JSON: " + e.getMessage());
        }
        long now = System.currentTimeMillis();
        String token = body.has("code")
                ? sessions.spend(body.text("code"), now)
                        .orElseThrow(() -> Auth.refused(
                                "the link was used already, or is older than " + Sessions.CODE_MS / 1000 + " s"))
                : body.text("token").strip().replaceFirst("^SLURM_JWT=", "");
        Request shown =
                new Request("GET", request.path(), Map.of(), Map.of("x-slurm-user-token", token), new byte[0], true);
        Auth.Caller caller = auth.caller(shown, Optional.empty());
        Json.Obj look = Feeds.look(caller.host());
        Sessions.Session session = sessions.open(token, look.text("user"), now);
        return json(200, about(caller.host(), look, session).put("key", session.key()))
                .with(Map.of(
                        "Set-Cookie",
                        Sessions.cookie(request, Optional.of(session), now),
                        "Cache-Control",
                        "no-store"));
    }

    private Json.Obj about(Host host, Json.Obj look, Sessions.Session session) {
        return Feed.head(look)
                .put(
                        "home",
                        identities.byName(look.text("user")).map(Identity::home).orElse(""))
                .put("cluster", host.clusters().isEmpty() ? "" : host.clusters().getFirst())
                .put("until", session.untilMs() / 1000);
    }

    private Sessions.Session ownSession(Request request) throws RestException {
        return sessions.of(request, System.currentTimeMillis()).orElseThrow(() -> Auth.refused("nobody is logged in"));
    }

    private Http.Reply session(Request request) throws RestException, SlurmException {
        Sessions.Session s = ownSession(request);
        Host host = auth.caller(sessions.withToken(request, System.currentTimeMillis()), Optional.empty())
                .host();
        return json(200, about(host, Feeds.look(host), s));
    }

    private Http.Reply logout(Request request) throws RestException {
        Sessions.Session session = ownSession(request);
        sessions.close(session);
        return json(200, new Json.Obj())
                .with(Map.of("Set-Cookie", Sessions.cookie(request, Optional.empty(), System.currentTimeMillis())));
    }

    /**
     * Makes a code for a caller with a token that wants to log in elsewhere: a browser exchanges the code for a
     * session.
     */
    private Http.Reply code(Request request, Optional<Request.Peer> peer) throws RestException, SlurmException {
        String token = Auth.token(request);
        Host host = caller(request, peer);
        Feeds.look(host);
        if (token.isEmpty()) {
            throw Auth.refused("a code stands for a token");
        }
        return json(
                200,
                new Json.Obj()
                        .put("code", sessions.code(token, System.currentTimeMillis()))
                        .put("seconds", Sessions.CODE_MS / 1000));
    }

    // ---- streams

    private Http.Reply stream(Http.Written body) throws RestException {
        if (!streams.tryAcquire()) {
            body.close();
            throw new RestException(
                    503,
                    SlurmErrno.PROTOCOL_SOCKET_IMPL_TIMEOUT.number(),
                    "slurmrestd is busy",
                    "There are " + STREAMS_MAX + " streams already",
                    "slurmrestd");
        }
        Http.Written counted = new Http.Written() {
            @Override
            public void to(OutputStream out) throws IOException {
                body.to(out);
            }

            @Override
            public void close() {
                body.close();
                streams.release();
            }
        };
        return new Http.Reply(200, Http.STREAM, counted)
                .with(Map.of("Cache-Control", "no-store", "X-Accel-Buffering", "no"));
    }

    private Http.Reply events(Host host, Request request) throws RestException, SlurmException {
        String seen = request.header("last-event-id").isEmpty()
                ? request.query().getOrDefault("last_event_id", "")
                : request.header("last-event-id");
        return stream(feeds.stream(host, seen));
    }

    private Http.Reply log(Host host, Request request, long job) throws RestException, SlurmException {
        String stream = request.query().getOrDefault("stream", "stdout");
        String seen = request.header("last-event-id");
        Matcher seenMatcher = SEEN.matcher(seen);
        String at = seenMatcher.matches()
                ? seenMatcher.group(2)
                : request.query().getOrDefault("offset", "-" + LogTail.BYTES_MAX);
        if (!at.matches("-?[0-9]{1,18}")) {
            throw RestException.query("\"" + at + "\" is no offset", "#/offset/");
        }
        long attempt = seenMatcher.matches() ? Long.parseLong(seenMatcher.group(1)) : 0;
        String file = seenMatcher.matches() && seenMatcher.group(3) != null ? seenMatcher.group(3) : "";
        return stream(new LogTail(host, job, stream, Long.parseLong(at), attempt, file).start());
    }

    // ---- a new job

    /** Submits {@code script} with sbatch's {@code options}, a list as they are typed in a terminal. */
    private Http.Reply submit(Auth.Caller caller, Request request) throws RestException {
        Json.Obj body;
        try {
            body = Json.object(request.body());
        } catch (Json.MalformedException e) {
            throw RestException.incomplete("The body is no JSON: " + e.getMessage());
        }
        String name = caller.user().name();
        String home = identities
                .byName(name)
                .map(Identity::home)
                .filter(h -> !h.isEmpty())
                .orElse("/tmp");
        RemoteSubmit.Result result = RemoteSubmit.run(
                caller.host(), new RemoteSubmit.Submitter(name, home), body.texts("options"), body.text("script"));
        if (result.jobId() == 0) {
            throw new RestException(
                    400,
                    SlurmErrno.NOT_SUPPORTED.number(),
                    "Batch job submission failed",
                    String.join("\n", result.messages()),
                    "#/");
        }
        return json(
                200,
                new Json.Obj()
                        .put("job_id", (long) result.jobId())
                        .put("messages", new ArrayList<Object>(result.messages())));
    }

    // ---- lists

    private Http.Reply jobs(Host host, Request request) throws RestException, SlurmException {
        Json.Obj query = new Json.Obj()
                .put("allStates", true)
                .put("allPartitions", true)
                .put("details", true)
                .put("fields", OwnRows.JOBS.wanted());
        List<String> ids = Words.of(request.query().getOrDefault("job_id", ""));
        if (ids.size() > JOBS_MAX) {
            throw RestException.query("At most " + JOBS_MAX + " jobs", "#/job_id/");
        }
        if (!ids.isEmpty()) {
            query.put("jobs", RestCall.objects(ids));
        }
        return list(host, "QueryJobs", query, "jobs", OwnRows.JOBS);
    }

    /** Written row by row, as long lists are. */
    private static Http.Reply list(Host host, String message, Json.Obj request, String list, OwnRows columns)
            throws RestException, SlurmException {
        Envelope over = new Envelope();
        Controller.Rows rows = RestCall.held(host, over, message, request, list);
        return new Http.Reply(200, "application/json", new Http.Written() {
                    @Override
                    public void to(OutputStream out) throws IOException {
                        Json.Writer writer = new Json.Writer();
                        writer.raw("{\"now\":")
                                .number(rows.head().number("now"))
                                .raw(",\"fields\":")
                                .value(columns.names())
                                .raw(",\"rows\":[");
                        boolean[] more = new boolean[1];
                        try {
                            rows.each(row -> {
                                writer.raw(more[0] ? "," : "");
                                more[0] = true;
                                columns.write(writer, row);
                                if (writer.size() > LogTail.BYTES_MAX) {
                                    sent(out, writer);
                                }
                            });
                        } catch (java.io.UncheckedIOException e) {
                            throw e.getCause();
                        }
                        writer.raw("]}");
                        sent(out, writer);
                    }

                    @Override
                    public void close() {
                        over.close();
                    }
                })
                .with(Map.of("Cache-Control", "no-store"));
    }

    private static void sent(OutputStream out, Json.Writer writer) {
        try {
            out.write(writer.take());
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /**
     * Returns the samples that nodes took of a job's steps: for each step on each node rows of time, CPU ms, resident
     * KiB, bytes read and written.
     */
    private static Http.Reply usage(Host host, long job) throws SlurmException {
        Json.Obj reply = host.controller().call("QueryUse", new Json.Obj().put("jobId", job));
        List<Object> series = new ArrayList<>();
        for (Json.Obj user : reply.objects("uses")) {
            List<Object> points = new ArrayList<>();
            user.objects("points")
                    .forEach(p -> points.add(new ArrayList<Object>(List.of(
                            p.number("time"),
                            p.number("cpuMs"),
                            p.number("residentKb"),
                            p.number("readBytes"),
                            p.number("writtenBytes")))));
            series.add(new Json.Obj()
                    .put("node", user.text("node"))
                    .put("step", user.text("step"))
                    .put("points", points));
        }
        long every = series.isEmpty() && !config(host, "JobAcctGatherType").matches(".*[a-z_]/.*(?<!none)")
                ? 0
                : reply.number("every");
        return json(
                200,
                new Json.Obj()
                        .put("job_id", job)
                        .put("state", reply.text("state"))
                        .put("every", every)
                        .put(
                                "fields",
                                new ArrayList<Object>(
                                        List.of("time", "cpu_ms", "resident_kib", "read_bytes", "written_bytes")))
                        .put("series", series)
                        .put("without", new ArrayList<Object>(reply.texts("nodes"))));
    }

    /** Running jobs and planned starts. */
    private static Http.Reply plan(Host host, Request request) throws RestException, SlurmException {
        String hours = request.query().getOrDefault("hours", "24");
        if (!hours.matches("[0-9]{1,3}") || Integer.parseInt(hours) < 1 || Integer.parseInt(hours) > PLAN_HOURS_MAX) {
            throw RestException.query("hours are from 1 to " + PLAN_HOURS_MAX, "#/hours/");
        }
        Json.Obj reply = host.controller()
                .call(
                        "QueryPlan",
                        new Json.Obj()
                                .put("until", System.currentTimeMillis() / 1000 + Integer.parseInt(hours) * 3600L)
                                .put("partition", request.query().getOrDefault("partition", "")));
        List<Object> bars = new ArrayList<>();
        reply.objects("bars")
                .forEach(b -> bars.add(new Json.Obj()
                        .put("job_id", b.number("jobId"))
                        .put("job", b.text("shown"))
                        .put("user_name", b.text("user"))
                        .put("name", b.text("name"))
                        .put("partition", b.text("partition"))
                        .put("running", b.flag("running"))
                        .put("start_time", b.number("start"))
                        .put("end_time", b.number("end"))
                        .put("nodes", b.text("nodes"))
                        .put("cpus", b.number("cpus"))));
        return json(
                200,
                new Json.Obj()
                        .put("now", reply.number("now"))
                        .put("waiting", reply.number("waiting"))
                        .put("planned", reply.number("planned"))
                        .put("jobs", bars)
                        .put("more", reply.number("more")));
    }

    private static Http.Reply environment(Host host, long job) throws SlurmException {
        Json.Obj reply = host.controller()
                .call("QueryScript", new Json.Obj().put("jobId", job).put("environment", true));
        String all = new String(Bytes.fromBase64(reply.text("script")).toArray(), StandardCharsets.UTF_8);
        return json(200, new Json.Obj().put("environment", new ArrayList<Object>(List.of(all.split("\0")))));
    }

    private static final List<Object> ENDED = List.of(
            "user_name",
            "account",
            "partition",
            "qos",
            "state",
            "submit_time",
            "start_time",
            "end_time",
            "suspended",
            "cpus",
            "gpus");
    private static final List<Object> ENDED_FROM = List.of(
            "userName",
            "account",
            "partition",
            "qos",
            "state",
            "submitTime",
            "startTime",
            "endTime",
            "suspendedSeconds",
            "cpusAllocated",
            "tresAllocated");

    /** Rows of all jobs since a time, with the fields that reports add up. */
    private static Http.Reply ended(Host host, Request request) throws RestException, SlurmException {
        String from = request.query().getOrDefault("from", "");
        if (!from.matches("[0-9]{1,12}")) {
            throw RestException.query("from is a moment in seconds since 1970", "#/from/");
        }
        EndedPages pages = new EndedPages(
                host,
                new Json.Obj()
                        .put("allUsers", true)
                        .put("from", Long.parseLong(from))
                        .put("allocationsOnly", true)
                        .put("fields", ENDED_FROM));
        return new Http.Reply(200, "application/json", (Http.Written) out -> {
                    Json.Writer writer = new Json.Writer();
                    writer.raw("{\"now\":")
                            .number(pages.head().number("now"))
                            .raw(",\"fields\":")
                            .value(ENDED)
                            .raw(",\"rows\":[");
                    boolean[] more = new boolean[1];
                    String[] error = {""};
                    try {
                        pages.each(reply -> {
                            for (Json.Obj e : reply.objects("jobs")) {
                                writer.raw(more[0] ? "," : "").value(endedRow(e.obj("job")));
                                more[0] = true;
                            }
                            sent(out, writer);
                        });
                    } catch (SlurmException e) {
                        error[0] = e.getMessage();
                    } catch (java.io.UncheckedIOException e) {
                        throw e.getCause();
                    }
                    writer.raw("],\"error\":").value(error[0]).raw("}");
                    sent(out, writer);
                })
                .with(Map.of("Cache-Control", "no-store"));
    }

    private static List<Object> endedRow(Json.Obj job) {
        List<Object> row = new ArrayList<>();
        for (Object field : ENDED_FROM.subList(0, ENDED_FROM.size() - 1)) {
            Object value = job.raw(String.valueOf(field));
            if (value == null) {
                value = ENDED_TEXTS.contains(field) ? "" : (Object) 0L;
            }
            row.add(value);
        }
        Matcher gpus = GPUS.matcher(job.text("tresAllocated"));
        row.add(gpus.find() ? Long.parseLong(gpus.group(1)) : 0L);
        return row;
    }

    private static final List<String> ENDED_TEXTS = List.of("userName", "account", "partition", "qos", "state");
    private static final Pattern GPUS = Pattern.compile("(?:^|,)gres/gpu=([0-9]{1,9})(?:,|$)");

    /** Leaf switches and blocks with their nodes: what hangs closest together. */
    private static Json.Obj topology(Host host) throws SlurmException {
        List<Object> all = new ArrayList<>();
        for (Json.Obj t :
                host.controller().call("QueryTopology", new Json.Obj()).objects("topologies")) {
            List<Object> units = new ArrayList<>();
            for (Json.Obj unit : t.text("kind").equals("BLOCK") ? t.objects("blocks") : t.objects("switches")) {
                if (unit.number("level") == 0) {
                    units.add(new Json.Obj()
                            .put("name", unit.text("name"))
                            .put("nodes", HostList.of(unit.texts("nodes")).compressed()));
                }
            }
            all.add(new Json.Obj()
                    .put("name", t.text("name"))
                    .put("kind", t.text("kind").toLowerCase(java.util.Locale.ROOT))
                    .put("units", units));
        }
        return new Json.Obj().put("topologies", all);
    }

    /** Words of AccountingStorageEnforce that limits are enforced by. */
    private static final Pattern ENFORCED = Pattern.compile("\\b(limits|safe|all)\\b");

    /** Associations and QOS with their limits, by the words of sacctmgr, and what counts against them now. */
    private static Http.Reply limits(Host host) throws SlurmException {
        Json.Obj reply = host.controller().call("QueryAssocMgr", new Json.Obj());
        List<Object> assocs = new ArrayList<>();
        List<Object> qos = new ArrayList<>();
        reply.objects("assocs")
                .forEach(a -> assocs.add(counted(a)
                        .put("account", a.obj("share").text("account"))
                        .put("user_name", a.obj("share").text("user"))
                        .put("partition", a.obj("share").text("partition"))
                        .put("depth", a.obj("share").number("depth"))));
        reply.objects("qos").forEach(q -> qos.add(counted(q).put("name", q.text("name"))));
        boolean enforced =
                ENFORCED.matcher(config(host, "AccountingStorageEnforce")).find();
        return json(
                200, new Json.Obj().put("associations", assocs).put("qos", qos).put("enforced", enforced));
    }

    /** A value of slurm.conf as scontrol shows it, "" where it is not shown. */
    private static String config(Host host, String key) throws SlurmException {
        return host.controller().call("QueryConfig", new Json.Obj()).texts("lines").stream()
                .filter(line -> line.startsWith(key + " "))
                .map(line -> line.substring(line.indexOf('=') + 1).strip())
                .findFirst()
                .orElse("");
    }

    private static Json.Obj counted(Json.Obj row) {
        return new Json.Obj()
                .put("limits", row.obj("limits"))
                .put("running", row.number("running"))
                .put("submitted", row.number("submitted"))
                .put("tres", row.obj("tres"))
                .put("tres_run_minutes", row.obj("runMins"))
                .put("accruing", row.number("accruing"))
                .put("tres_minutes", row.obj("usedMins"))
                .put("wall_minutes", row.real("wallMin"));
    }

    private static String inUtc(String sentence) {
        return MOMENT.matcher(sentence)
                .replaceAll(m -> java.time.Instant.ofEpochSecond(Long.parseLong(m.group(1)))
                        .toString());
    }

    /** Why a job waits, when it would start, and what its priority is made of. Moments in its sentences are in UTC. */
    private static Http.Reply why(Host host, long job) throws SlurmException {
        Json.Obj reply = host.controller()
                .call(
                        "QueryJobs",
                        new Json.Obj()
                                .put("jobs", new ArrayList<Object>(List.of(Long.toString(job))))
                                .put("allStates", true)
                                .put("allPartitions", true)
                                .put(
                                        "fields",
                                        new ArrayList<Object>(List.of(
                                                "state",
                                                "reason",
                                                "reasonText",
                                                "startTime",
                                                "schedNodes",
                                                "dependency",
                                                "priority"))));
        Json.Obj row = reply.objects("jobs").isEmpty()
                ? new Json.Obj()
                : reply.objects("jobs").getFirst();
        Json.Obj out = new Json.Obj()
                .put("reason", row.text("reason"))
                .put("description", row.text("reasonText"))
                .put("dependency", row.text("dependency"))
                .put("start_time", row.number("startTime"))
                .put("nodes", row.text("schedNodes"));
        if (!row.text("state").equals("PENDING")) {
            return json(200, out);
        }
        Json.Obj explanation = host.controller()
                .call("QueryWhy", new Json.Obj().put("jobId", job).put("task", -1L));
        out.put("says", inUtc(explanation.text("says")))
                .put("change", inUtc(explanation.text("change")))
                .put(
                        "evidence",
                        new ArrayList<Object>(explanation.texts("evidence").stream()
                                .map(PageApi::inUtc)
                                .toList()));
        if (explanation.number("start") != 0) {
            out.put(
                    "estimate",
                    new Json.Obj()
                            .put("start_time", explanation.number("start"))
                            .put("nodes", explanation.text("nodes"))
                            .put("partition", "")
                            .put("planned", true));
        } else if (FOR_NODES.contains(explanation.text("reason"))) {
            estimate(host, job, out);
        }
        Json.Obj priorities = host.controller()
                .call("QueryPriorities", new Json.Obj().put("jobs", new ArrayList<Object>(List.of(job))));
        return json(
                200,
                out.put("weights", priorities.obj("weights"))
                        .put("factors", new ArrayList<Object>(priorities.objects("rows"))));
    }

    /**
     * Reasons of jobs that wait for nodes alone. A hold, a limit, a dependency or a begin time is unknown to the test
     * of {@link #estimate}.
     */
    private static final Set<String> FOR_NODES = Set.of("Resources", "Priority");

    /** Adds the time at which a job without a planned start could start if it waited alone. */
    private static void estimate(Host host, long job, Json.Obj out) throws SlurmException {
        try {
            Json.Obj test = host.controller().call("TestJob", new Json.Obj().put("jobId", job));
            out.put(
                    "estimate",
                    new Json.Obj()
                            .put("start_time", test.number("testStart"))
                            .put("nodes", test.text("testNodes"))
                            .put("partition", test.text("testPartition"))
                            .put("planned", false));
        } catch (SlurmException e) {
            // a caller that may not ask for an estimate sees the plan of the scheduler
            if (e.errno() != SlurmErrno.ACCESS_DENIED.number()) {
                out.put("no_estimate", e.getMessage());
            }
        }
    }
}
