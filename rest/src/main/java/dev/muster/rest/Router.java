package dev.muster.rest;

import static java.util.Objects.requireNonNull;

import dev.muster.cli.Access;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.shape.Names;
import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Identities;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.rest.contract.Body;
import dev.muster.rest.contract.Contract;
import dev.muster.rest.contract.Document;
import dev.muster.rest.contract.Forms;
import dev.muster.rest.contract.OpenApiPlugins;
import dev.muster.rest.contract.ResponseWriter;
import dev.muster.rest.contract.RestException;
import dev.muster.rest.contract.SchemaType;
import dev.muster.rest.contract.Words;
import dev.muster.rest.contract.Yaml;
import dev.muster.rest.http.Http;
import dev.muster.rest.http.Request;
import dev.muster.rest.http.RequestHandler;
import dev.muster.rest.operation.Accounting;
import dev.muster.rest.operation.Auth;
import dev.muster.rest.operation.Cluster;
import dev.muster.rest.operation.Envelope;
import dev.muster.rest.operation.IgnoredFields;
import dev.muster.rest.operation.Jobs;
import dev.muster.rest.operation.RestCall;
import dev.muster.rest.operation.Sessions;
import dev.muster.rest.operation.Util;
import dev.muster.rest.page.Feed;
import dev.muster.rest.page.Page;
import dev.muster.rest.page.PageApi;
import java.io.IOException;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Semaphore;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Answers requests: finds the operation that a request means and the user that it acts as, and answers in the form that
 * it accepts. Thread-safe.
 */
public final class Router implements RequestHandler {
    private static final Pattern VERSIONED = Pattern.compile("/(slurm|slurmdb|util)/v0\\.0\\.([0-9]{1,3})(/.*)?");
    private static final Set<String> DOCUMENTS = Set.of("/openapi", "/openapi.json", "/openapi.yaml", "/openapi/v3");
    private static final Set<String> JSON_TYPES =
            Set.of("application/json", "application/jsonrequest", "application/jsonp");
    private static final Set<String> YAML_TYPES =
            Set.of("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml");

    private final Contract contract;
    private final SchemaType.Book schemas;
    private final Auth auth;
    private final Sessions sessions = new Sessions();
    private final PageApi pageApi;
    private final Optional<Page> page;
    private final Forms forms;
    private final Set<String> tags;
    private final Set<Integer> versions;
    private final DaemonLog log;
    private final Identities identities = new Identities();
    private final Semaphore working;
    private final Map<String, RestCall.Handler> handlers = new HashMap<>();

    /**
     * @param tags and versions that are served
     * @param threads operations at a time
     * @param page whether the page is served as well
     */
    public Router(
            Contract contract,
            Auth auth,
            Set<String> tags,
            Set<Integer> versions,
            int threads,
            boolean page,
            Forms forms,
            DaemonLog log) {
        this.forms = forms;
        this.pageApi = new PageApi(auth, sessions);
        this.page = page ? Optional.of(new Page()) : Optional.empty();
        this.contract = contract;
        this.schemas = new SchemaType.Book(contract);
        this.auth = auth;
        this.tags = tags;
        this.versions = versions;
        this.log = log;
        working = new Semaphore(threads, true);
        handlers.putAll(Jobs.handlers());
        handlers.putAll(Cluster.handlers());
        handlers.putAll(Accounting.handlers());
        handlers.putAll(Util.handlers());
    }

    /** The operations that have a handler: all of the contract's. */
    public Set<String> served() {
        return handlers.keySet();
    }

    Json.Obj document() {
        return new Document(contract, tags, versions).make();
    }

    @Override
    public Http.Reply malformed(Http.Malformed e, String source) {
        log.info(source + ": rejecting what is no HTTP: " + e.getMessage());
        RestException error =
                new RestException(e.status(), RestException.FAIL_PARSING, e.getMessage(), e.getMessage(), "slurmrestd");
        return json(e.status(), refusal(error, source));
    }

    private int newest() {
        return versions.stream().mapToInt(Integer::intValue).max().orElse(0);
    }

    @Override
    public Http.Reply answer(Request request, String source, Optional<Request.Peer> peer) {
        long began = System.nanoTime();
        working.acquireUninterruptibly();
        try {
            Http.Reply made = route(request, source, peer);
            Http.Reply reply = request.path().startsWith(PageApi.PLACE) ? made : forms.of(made);
            log.debug(source + " " + request.method() + " " + request.path() + " " + reply.status() + " "
                    + reply.body().length + " bytes " + (System.nanoTime() - began) / 1000 + " us");
            return reply;
        } finally {
            working.release();
        }
    }

    private Http.Reply route(Request received, String source, Optional<Request.Peer> peer) {
        Optional<Http.Reply> file = page.flatMap(p -> p.answer(received));
        if (file.isPresent()) {
            return file.get();
        }
        Request request;
        try {
            if (received.path().startsWith(PageApi.PLACE)) {
                return pageAnswer(received, source, peer);
            }
            request = sessions.withToken(received, System.currentTimeMillis());
        } catch (RestException e) {
            return json(e.status(), refusal(e, source));
        }
        boolean yaml = false;
        Optional<RestException> unanswerable = Optional.empty();
        try {
            yaml = wantsYaml(request);
        } catch (RestException e) {
            unanswerable = Optional.of(e);
        }
        // several slashes are one, and one at the end is none
        String path = request.path().replaceAll("/+", "/").replaceFirst("(?<=.)/$", "");
        boolean reads = request.method().equals("GET") || request.method().equals("HEAD");
        if (unanswerable.isPresent() && !VERSIONED.matcher(path).matches()) {
            return json(406, refusal(unanswerable.get(), source));
        }
        if (DOCUMENTS.contains(path) && reads) {
            return reply(200, document(), yaml || path.endsWith(".yaml"));
        }
        Optional<Integer> version = servedVersion(path);
        String method = request.method().equals("HEAD") ? "GET" : request.method();
        Optional<Contract.Match> match = version.flatMap(v -> contract.find(v, method, path));
        if (match.isPresent()) {
            return serve(request, match.get(), version.get(), source, peer, yaml, unanswerable);
        }
        Set<String> allowed = version.map(v -> contract.methods(v, path)).orElse(Set.of());
        return withoutOperation(request, DOCUMENTS.contains(path) ? Set.of("GET", "HEAD") : allowed, source, yaml);
    }

    /** The version of a path, empty unless the path's plugin and version are served. */
    private Optional<Integer> servedVersion(String path) {
        Matcher matcher = VERSIONED.matcher(path);
        return Optional.of(matcher)
                .filter(Matcher::matches)
                .filter(v -> tags.contains(v.group(1)))
                .map(v -> Integer.parseInt(v.group(2)))
                .filter(versions::contains);
    }

    /** @param allowed methods of the path, none for an unknown path */
    private Http.Reply withoutOperation(Request request, Set<String> allowed, String source, boolean yaml) {
        if (!allowed.isEmpty()) {
            String methods = String.join(", ", new TreeSet<>(allowed));
            RestException other = new RestException(
                    405,
                    RestException.UNKNOWN_URL,
                    "Unable find requested URL",
                    request.method() + " is none of the methods of this path: " + methods,
                    request.path());
            return reply(405, refusal(other, source), yaml).with(Map.of("Allow", methods));
        }
        RestException unknown = new RestException(
                404,
                RestException.UNKNOWN_URL,
                "Unable find requested URL",
                "Unable find requested URL",
                request.path());
        return reply(404, refusal(unknown, source), yaml);
    }

    /** An answer without a result, for a caller that is not known yet. */
    private Json.Obj refusal(RestException e, String source) {
        return new Envelope().error(e).whole("", newest(), source, Request.User.ANONYMOUS, "");
    }

    /** Answers the interface of the page, which Slurm's API does not have. */
    private Http.Reply pageAnswer(Request request, String source, Optional<Request.Peer> peer) {
        String path = request.path().substring(PageApi.PLACE.length());
        RestException error;
        try {
            Request signed = path.equals("session") ? request : sessions.withToken(request, System.currentTimeMillis());
            return pageApi.answer(signed, path, peer);
        } catch (RestException e) {
            error = PageApi.refused(e);
        } catch (SlurmException e) {
            error = PageApi.refused(e, path);
        } catch (RuntimeException e) {
            error = internal(request, e);
        }
        return json(error.status(), refusal(error, source));
    }

    /** @param unanswerable why nothing can be answered in a form that is wanted */
    private Http.Reply serve(
            Request request,
            Contract.Match match,
            int version,
            String source,
            Optional<Request.Peer> peer,
            boolean yaml,
            Optional<RestException> unanswerable) {
        Contract.Operation operation = match.operation();
        Envelope out = new Envelope();
        Request.User user = Request.User.ANONYMOUS;
        String cluster = "";
        try {
            if (unanswerable.isPresent()) {
                throw unanswerable.get();
            }
            Auth.Caller caller = auth.caller(request, peer);
            user = caller.user().group().isEmpty()
                    ? new Request.User(caller.user().name(), group(caller.user().name()))
                    : caller.user();
            cluster = Access.names(caller.host()).cluster();
            if (!match.names().getOrDefault("job_id", "1").matches("[0-9]+([_+][0-9]+)?")) {
                throw new RestException(
                        422,
                        RestException.INVALID_QUERY,
                        "Query empty or not RFC7320 compliant",
                        "Rejecting request. Failure parsing parameters",
                        "op_handler_job");
            }
            Json.Obj body = body(request, operation, version, out);
            Map<String, String> query = query(request, operation, out);
            RestCall call = new RestCall(
                    operation,
                    version,
                    match.names(),
                    query,
                    body,
                    caller.host(),
                    new Names(cluster, identities::userName),
                    user,
                    out);
            IgnoredFields.look(call);
            requireNonNull(handlers.get(operation.id()), operation.id()).serve(call);
        } catch (RestException e) {
            out.error(e);
        } catch (SlurmException e) {
            out.error(refused(e, operation, match.names()));
        } catch (RuntimeException e) {
            out.error(internal(request, e));
        }
        if (out.status() == 304) {
            out.close();
            return new Http.Reply(304, "", new byte[0]);
        }
        Json.Obj whole = out.whole(plugin(operation.tag()), version, source, user, cluster);
        SchemaType kind = schemas.of(version, operation.answer());
        if (out.isLong()) {
            return formed(new Http.Reply(out.status(), "application/json", new InPieces(kind, whole, out)), yaml);
        }
        // 26.05's document does not mention the users that an answer names
        boolean unmentioned = out.status() == 200 && operation.id().endsWith("_delete_user");
        byte[] json = unmentioned ? Json.print(whole) : ResponseWriter.json(kind, whole);
        out.close();
        return formed(new Http.Reply(out.status(), "application/json", json), yaml);
    }

    private record InPieces(SchemaType kind, Json.Obj whole, Envelope out) implements Http.Written {
        @Override
        public void to(OutputStream stream) throws IOException {
            ResponseWriter.write(stream, kind, whole);
        }

        @Override
        public void close() {
            out.close();
        }
    }

    private String group(String user) {
        return identities.byName(user).map(i -> identities.groupName(i.gid())).orElse("");
    }

    /** Error texts by operation, and the original's function that reports them. Names of the path stand in braces. */
    private static final Map<String, String[]> REFUSALS = Map.of(
            "slurm_{v}_post_job_submit", new String[] {"Batch job submission failed", "slurm_submit_batch_job()"},
            "slurm_{v}_post_job", new String[] {"Job update requested failed", "slurm_update_job2()"},
            "slurm_{v}_get_job", new String[] {"Unable to query JobId={job_id}", "_handle_job_get"},
            "slurm_{v}_get_resources", new String[] {"Unable to query JobId={job_id}", "_handle_get"},
            "slurm_{v}_post_node", new String[] {"Failure to update node {node_name}", "_update_node"},
            "slurm_{v}_delete_node", new String[] {"Failure to delete node {node_name}", "op_handler_node"},
            "slurm_{v}_delete_reservation",
                    new String[] {"Error deleting reservation {reservation_name}", "slurm_delete_reservation"});

    private RestException internal(Request request, RuntimeException e) {
        log.error(request.method() + " " + request.path(), e);
        return new RestException(
                500,
                SlurmErrno.INTERNAL.number(),
                SlurmErrno.INTERNAL.sentence(),
                "It is in slurmrestd's log",
                "slurmrestd");
    }

    private static RestException refused(SlurmException e, Contract.Operation operation, Map<String, String> names) {
        String function = operation.id().replace("_{v}", "") + "()";
        if (operation.id().startsWith("slurmdb_") && Feed.isConnection(e)) {
            return RestException.of(SlurmErrno.DB_CONNECTION, "Failed connecting to slurmdbd", function);
        }
        RestException plain = RestException.of(e, function);
        String[] known = REFUSALS.get(operation.id());
        if (known == null) {
            return plain;
        }
        String description = known[0];
        for (Map.Entry<String, String> name : names.entrySet()) {
            description = description.replace("{" + name.getKey() + "}", name.getValue());
        }
        return new RestException(plain.status(), plain.errno(), e.getMessage(), description, known[1]);
    }

    private static String plugin(String tag) {
        return "openapi/"
                + OpenApiPlugins.TAGS.entrySet().stream()
                        .filter(e -> e.getValue().equals(tag))
                        .map(Map.Entry::getKey)
                        .findFirst()
                        .orElse("");
    }

    private Json.Obj body(Request request, Contract.Operation operation, int version, Envelope out)
            throws RestException {
        if (operation.body().isEmpty()
                || request.body().length == 0 && operation.method().equals("delete")) {
            return new Json.Obj();
        }
        String type = request.type("content-type");
        boolean yaml = YAML_TYPES.contains(type);
        if (!type.isEmpty() && !yaml && !JSON_TYPES.contains(type) && !type.equals("*/*")) {
            throw new RestException(
                    415,
                    RestException.UNKNOWN_TYPE,
                    "MIME type is unknown to any loaded plugins",
                    "A body of type " + type + " is not read: application/json and application/yaml are",
                    "slurmrestd");
        }
        Object tree;
        try {
            // a request without a body equals one with an empty object
            if (request.body().length == 0) {
                tree = new Json.Obj();
            } else if (yaml) {
                tree = Yaml.parse(request.body());
            } else {
                tree = Json.parse(request.body());
            }

        } catch (Yaml.Unreadable e) {
            throw new RestException(
                    400,
                    RestException.FAIL_PARSING,
                    "Failure during parsing",
                    "The body is no YAML: " + e.getMessage(),
                    "#/");
        } catch (Json.MalformedException e) {
            throw new RestException(
                    400,
                    RestException.FAIL_PARSING,
                    "Failure during parsing",
                    "The body is no JSON: " + e.getMessage(),
                    "#/");
        }
        Body reader = new Body(contract, version);
        Json.Obj read = reader.read(operation.body(), tree);
        reader.warnings().forEach(w -> out.warning(w[0], w[1]));
        return read;
    }

    /** Query parameters by the names that handlers use. Parameters that the operation does not have become warnings. */
    private static Map<String, String> query(Request request, Contract.Operation operation, Envelope out)
            throws RestException {
        Map<String, String> all = new LinkedHashMap<>();
        for (Map.Entry<String, String> entry : request.query().entrySet()) {
            Optional<Contract.Param> param = operation.params().stream()
                    .filter(p -> !p.inPath() && RestCall.key(p.name()).equals(RestCall.key(entry.getKey())))
                    .findFirst();
            if (param.isEmpty()) {
                out.warning(
                        "Ignoring unknown field \"" + entry.getKey() + "\" of type string in the query",
                        "#/" + entry.getKey() + "/");
                continue;
            }
            List<String> values = param.get().values();
            List<String> words = values.isEmpty() ? List.of() : Words.of(entry.getValue());
            for (int i = 0; i < words.size(); i++) {
                String word = words.get(i);
                if (values.stream().noneMatch(v -> v.equalsIgnoreCase(word))) {
                    throw RestException.flag(word, RestException.element("#/" + entry.getKey() + "/", i));
                }
            }
            all.put(RestCall.key(entry.getKey()), entry.getValue());
        }
        return all;
    }

    private static boolean wantsYaml(Request request) throws RestException {
        String accept = request.header("accept");
        if (accept.isBlank()) {
            return false;
        }
        for (String item : accept.split(",")) {
            int semicolon = item.indexOf(';');
            String type = (semicolon < 0 ? item : item.substring(0, semicolon))
                    .strip()
                    .toLowerCase(Locale.ROOT);
            if (JSON_TYPES.contains(type) || type.equals("*/*") || type.equals("application/*")) {
                return false;
            }
            if (YAML_TYPES.contains(type)) {
                return true;
            }
        }
        throw new RestException(
                406,
                RestException.UNKNOWN_TYPE,
                "MIME type is unknown to any loaded plugins",
                "None of " + accept + " can be answered: application/json and application/yaml can",
                "slurmrestd");
    }

    private Http.Reply reply(int status, Json.Obj tree, boolean yaml) {
        return formed(json(status, tree), yaml);
    }

    private Http.Reply formed(Http.Reply json, boolean yaml) {
        return yaml ? forms.yaml(json) : json;
    }

    private static Http.Reply json(int status, Json.Obj tree) {
        return new Http.Reply(status, "application/json", Json.print(tree));
    }
}
