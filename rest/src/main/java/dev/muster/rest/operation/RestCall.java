package dev.muster.rest.operation;

import static java.util.Objects.requireNonNull;

import dev.muster.cli.command.Controller;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.shape.Names;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Times;
import dev.muster.rest.contract.Contract;
import dev.muster.rest.contract.RestException;
import dev.muster.rest.contract.Words;
import dev.muster.rest.http.Request;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An operation on its way.
 *
 * @param path what stands for the names in the path
 * @param query with a lower-case key that has no blanks
 * @param body read by the schema; empty without one
 * @param host asks as the caller
 * @param names for shapes
 */
public record RestCall(
        Contract.Operation operation,
        int version,
        Map<String, String> path,
        Map<String, String> query,
        Json.Obj body,
        Host host,
        Names names,
        Request.User user,
        Envelope out) {
    private static final List<String> NO = List.of("", "false", "no", "0", "off");

    /** Does an operation and fills its answer. */
    public interface Handler {
        void serve(RestCall call) throws RestException, SlurmException;
    }

    /** A parameter of the operation's own path: the contract has it there. */
    String path(String name) {
        return requireNonNull(path.get(name), name);
    }

    Json.Obj controller(String message, Json.Obj request) throws SlurmException {
        return host.controller().call(message, request);
    }

    Json.Obj controller(String message) throws SlurmException {
        return controller(message, new Json.Obj());
    }

    /**
     * Replies that are written from at a time: each may be many megabytes, so that together they must fit into a third
     * of the memory.
     */
    private static final int LONG_MAX = 6;

    private static final int LONG_WAIT_S = 60;
    private static final int LONG_MB =
            (int) Math.max(LONG_MAX, Math.min(1 << 20, Runtime.getRuntime().maxMemory() / 3 >> 20));
    private static final Semaphore LONG = new Semaphore(LONG_MB, true);
    /** The longest that was seen: the next one will be about that. */
    private static final AtomicLong LONGEST = new AtomicLong();

    /** A reply with a list that may be long. It is held until the answer is sent. */
    Controller.Rows rows(String message, Json.Obj request, String list) throws SlurmException, RestException {
        return held(host, out, message, request, list);
    }

    /** @param out when it is over, the reply is no more held */
    public static Controller.Rows held(Host host, Envelope out, String message, Json.Obj request, String list)
            throws SlurmException, RestException {
        int megabytes = (int) Math.min(LONG_MB, Math.max(LONG_MB / LONG_MAX, 1 + (LONGEST.get() >> 20)));
        try {
            if (!LONG.tryAcquire(megabytes, LONG_WAIT_S, TimeUnit.SECONDS)) {
                throw new RestException(
                        503,
                        SlurmErrno.PROTOCOL_SOCKET_IMPL_TIMEOUT.number(),
                        "slurmrestd is busy",
                        "As many long lists are being read as there is memory for, and none came to its end within "
                                + LONG_WAIT_S + " s",
                        "slurmrestd");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RestException(
                    503,
                    SlurmErrno.PROTOCOL_SOCKET_IMPL_TIMEOUT.number(),
                    "slurmrestd is going away",
                    "",
                    "slurmrestd");
        }
        out.whenOver(() -> LONG.release(megabytes));
        try {
            Controller.Rows rows = host.controller().rows(message, request, list);
            LONGEST.accumulateAndGet(rows.bytes(), Math::max);
            return rows;
        } catch (SlurmException | RuntimeException e) {
            out.close();
            throw e;
        }
    }

    /** Returns with the id that makes a repetition harmless. */
    Json.Obj change() {
        return new Json.Obj().put("requestId", host.requestId());
    }

    String asked(String name) {
        return query.getOrDefault(name, "");
    }

    /** A flag of the query: given, and not as false. */
    boolean flag(String name) {
        return query.containsKey(name) && !NO.contains(asked(name).toLowerCase(java.util.Locale.ROOT));
    }

    /** A flag as users write it, {@code ?name} alone included; or a word. */
    boolean given(String name) {
        return query.containsKey(name) && (asked(name).isEmpty() || flag(name));
    }

    List<String> list(String name) {
        return Words.of(asked(name));
    }

    public static List<Object> objects(List<?> all) {
        return new ArrayList<>(all);
    }

    /** @throws RestException for what is no number */
    long number(String name) throws RestException {
        String text = asked(name);
        if (text.isEmpty()) {
            return 0;
        }
        if (!text.matches("[0-9]{1,18}")) {
            throw RestException.query("\"" + text + "\" is no number", "#/" + name + "/");
        }
        return Long.parseLong(text);
    }

    /** Parses seconds since 1970 or one of Slurm's time formats: {@code 2026-11-01T08:00:00}, {@code now-1days}. */
    long time(String name) throws RestException {
        String text = asked(name);
        if (text.isEmpty() || text.matches("[0-9]{1,18}")) {
            return number(name);
        }
        return switch (Times.parse(text, host.nowMs() / 1000, ZoneId.systemDefault(), true)) {
            case Times.Parsed.Ok ok -> ok.epochSec();
            case Times.Parsed.Invalid invalid ->
                throw new RestException(
                        422,
                        RestException.CONVERSION,
                        "Unable to convert Data type",
                        "Parsing of " + text + " for timestamp failed",
                        "#/" + name + "/");
        };
    }

    RestException refused(SlurmErrno errno, String description) {
        return RestException.of(errno, description, operation.id().replace("_{v}", "") + "()");
    }

    /** Names of the original's functions by the entity of a list: the inner one and the outer one. */
    private static final Map<String, String[]> LISTS = Map.of(
            "accounts",
            new String[] {"slurmdb_accounts_get", "_dump_accounts"},
            "users",
            new String[] {"slurmdb_users_get", "_dump_users"},
            "qos",
            new String[] {"slurmdb_qos_get", "_op_handler_qos"},
            "clusters",
            new String[] {"slurmdb_clusters_get", "_dump_clusters"},
            "associations",
            new String[] {"slurmdb_associations_get", "_dump_assoc_cond"},
            "wckeys",
            new String[] {"slurmdb_wckeys_get", "_dump_wckeys"},
            "instances",
            new String[] {"slurmdb_instances_get", "_dump_instance_cond"},
            "jobs",
            new String[] {"slurmdb_jobs_get", "_dump_jobs"},
            "deleted_wckeys",
            new String[] {"slurmdb_wckeys_remove", "_delete_wckey"});

    /** Adds the warning that the answer is empty. */
    void nothing(String kind) {
        String[] known = LISTS.getOrDefault(kind, new String[] {
            operation.id().replace("_{v}", ""), operation.id().replace("_{v}", "") + "()"
        });
        out.warning(known[0] + "() found nothing", known[1]);
    }

    /** A flag as keys of documents name it. */
    public static String key(String name) {
        return name.toLowerCase(Locale.ROOT).replace(' ', '_');
    }
}
