package dev.muster.rest;

import dev.muster.cli.command.Controller;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.SlurmException;
import dev.muster.daemon.DaemonLog;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.rest.contract.Contract;
import dev.muster.rest.contract.Forms;
import dev.muster.rest.contract.RestException;
import dev.muster.rest.http.Connection;
import dev.muster.rest.http.Http;
import dev.muster.rest.http.Request;
import dev.muster.rest.operation.Auth;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * A slurmrestd without sockets, in front of a slurmctld and slurmdbd that answer from a table and note what they were
 * asked.
 */
public final class Rig {
    public final Contract contract = Contract.read();
    public final Map<String, Json.Obj> answers = new TreeMap<>();
    public final List<String> asked = new ArrayList<>();
    /** No slurmctld answers. */
    public boolean away;

    public final Router router;

    public Rig() throws IOException {
        this(new Forms(false, false, true));
    }

    public Rig(Forms forms) throws IOException {
        Auth auth = new Auth(Set.of(Auth.JWT), "", "nobody") {
            @Override
            public Caller caller(Request request, Optional<Request.Peer> peer) throws RestException {
                if (request.header("x-slurm-user-token").isEmpty()) {
                    throw refused("no token");
                }
                return new Caller(host(), new Request.User("root", "root"));
            }
        };
        router = new Router(
                contract,
                auth,
                Set.of("slurm", "slurmdb", "util"),
                Set.copyOf(Contract.VERSIONS),
                4,
                true,
                forms,
                new DaemonLog("slurmrestd", "", false, 0, ""));
    }

    private Host host() {
        Controller controller = (message, request) -> {
            asked.add(message + " " + new String(Json.print(request), StandardCharsets.UTF_8));
            if (away) {
                throw new SlurmException(SlurmErrno.CTLD_CONNECT.number(), SlurmErrno.CTLD_CONNECT.sentence());
            }
            String which = request.has("fromJob") ? "from " + request.number("fromJob") : request.text("entity");
            return answers.getOrDefault(message + " " + which, answers.getOrDefault(message, new Json.Obj()));
        };
        return (Host) Proxy.newProxyInstance(
                Host.class.getClassLoader(),
                new Class<?>[] {Host.class},
                (p, method, args) -> switch (method.getName()) {
                    case "controller", "accounting" -> controller;
                    case "clusters", "controllers" -> List.of("test");
                    case "nowMs" -> 1_800_000_000_000L;
                    case "userId", "groupId" ->
                        String.valueOf(args[0]).equals("nobody")
                                ? 65534
                                : String.valueOf(args[0]).equals("root") ? 0 : -1;
                    case "userName" -> "user" + args[0];
                    case "requestId" -> "0123456789abcdef0123456789abcdef";
                    case "hostName" -> "here";
                    case "settings" -> dev.muster.cli.command.ClientConf.standard();
                    case "accountingHost", "accountingType" -> "";
                    case "accountingHosts" -> List.of("");
                    case "callAccounting" -> controller.call((String) args[1], (Json.Obj) args[2]);
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    /** @param text a request as it stands on the wire; @return what is answered to all of it */
    public String raw(String text) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new Connection(router, "test", Optional.empty())
                .serve(new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)), out);
        return out.toString(StandardCharsets.UTF_8);
    }

    public Http.Reply ask(String method, String target, String body, String... headers) {
        Map<String, String> all = new TreeMap<>(Map.of("x-slurm-user-token", "a.b.c"));
        for (int i = 0; i < headers.length; i += 2) {
            all.put(headers[i], headers[i + 1]);
        }
        int mark = target.indexOf('?');
        Map<String, String> query =
                Request.query(mark < 0 ? "" : target.substring(mark + 1)).orElseThrow();
        Request r = new Request(
                method,
                mark < 0 ? target : target.substring(0, mark),
                query,
                all,
                body.getBytes(StandardCharsets.UTF_8),
                true);
        try {
            Http.Reply reply = router.answer(r, "test", Optional.empty());
            Http.Reply whole = reply.whole();
            reply.close();
            return whole;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /**
     * Asks, and reads nothing of an answer that is still to be written.
     *
     * @return its status
     */
    int begun(String method, String target, String body) {
        int mark = target.indexOf('?');
        Map<String, String> query =
                Request.query(mark < 0 ? "" : target.substring(mark + 1)).orElseThrow();
        Http.Reply reply = router.answer(
                new Request(
                        method,
                        mark < 0 ? target : target.substring(0, mark),
                        query,
                        Map.of("x-slurm-user-token", "a.b.c"),
                        body.getBytes(StandardCharsets.UTF_8),
                        true),
                "test",
                Optional.empty());
        reply.close();
        return reply.status();
    }

    public Json.Obj tree(String method, String target, String body) {
        return Json.object(ask(method, target, body).body());
    }

    /** What is wrong with a value by a schema; "" for nothing. */
    public String unfit(int version, Json.Obj schema, Object value, String at) {
        Json.Obj s = contract.resolved(version, schema);
        boolean kind = switch (s.text("type")) {
            case "object" -> value instanceof Json.Obj;
            case "array" -> value instanceof List<?>;
            case "string" ->
                value instanceof String
                        && (s.list("enum").isEmpty() || s.list("enum").contains(value));
            case "integer" -> value instanceof Long || value instanceof Integer;
            case "number" -> value instanceof Number;
            case "boolean" -> value instanceof Boolean;
            default -> true;
        };
        if (!kind) {
            return at + " is " + value + " and not " + s.text("type") + s.list("enum");
        }
        if (value instanceof List<?> l) {
            for (int i = 0; i < l.size(); i++) {
                String wrong = unfit(version, s.obj("items"), l.get(i), at + i + "/");
                if (!wrong.isEmpty()) {
                    return wrong;
                }
            }
        }
        if (value instanceof Json.Obj o && s.has("properties")) {
            for (String name : s.texts("required")) {
                if (!o.has(name)) {
                    return at + name + " is missing";
                }
            }
            for (Map.Entry<String, Object> e : o.fields().entrySet()) {
                boolean known = s.obj("properties").has(e.getKey())
                        || s.texts("required").contains(e.getKey());
                String wrong = !known
                        ? at + e.getKey() + " is not in the schema"
                        : unfit(version, s.obj("properties").obj(e.getKey()), e.getValue(), at + e.getKey() + "/");
                if (!wrong.isEmpty()) {
                    return wrong;
                }
            }
        }
        return "";
    }
}
