package dev.muster.rest.operation;

import dev.muster.cli.shape.Tree;
import dev.muster.json.Json;
import dev.muster.model.Release;
import dev.muster.rest.contract.LazyList;
import dev.muster.rest.contract.Listing;
import dev.muster.rest.contract.RestException;
import dev.muster.rest.http.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** An answer with what went wrong or should be known. */
public final class Envelope {
    private final Json.Obj answer = new Json.Obj();
    private final List<Object> errors = new ArrayList<>();
    private final List<Object> warnings = new ArrayList<>();
    private int status = 200;
    private Optional<Runnable> after = Optional.empty();

    /**
     * Takes the shape's fields over.
     *
     * @return this
     */
    Envelope with(Json.Obj shape) {
        shape.fields().forEach(answer::put);
        return this;
    }

    /** Returns this. */
    Envelope put(String name, Object value) {
        answer.put(name, value);
        return this;
    }

    /** @param free what is to be done when the answer has gone out, or will not */
    void whenOver(Runnable free) {
        after = Optional.of(free);
    }

    /** The answer has gone out, or will not. */
    public void close() {
        Optional<Runnable> free = after;
        after = Optional.empty();
        free.ifPresent(Runnable::run);
    }

    /** Whether it has a list that is better written in pieces. */
    public boolean isLong() {
        return answer.fields().values().stream().anyMatch(v -> v instanceof Listing || v instanceof LazyList);
    }

    /** Returns this. */
    public Envelope error(RestException e) {
        errors.add(new Json.Obj()
                .put("description", e.description())
                .put("error_number", (long) e.errno())
                .put("error", e.getMessage())
                .put("source", e.source()));
        status = status == 200 ? e.status() : status;
        return this;
    }

    /** Returns this. */
    public Envelope warning(String description, String source) {
        warnings.add(new Json.Obj().put("description", description).put("source", source));
        return this;
    }

    /** Returns this. */
    public Envelope status(int code) {
        status = code;
        return this;
    }

    public int status() {
        return status;
    }

    /**
     * The whole, in the shape of the newest version.
     *
     * @param plugin {@code openapi/slurmctld}
     * @param source {@code 127.0.0.1:4711}
     */
    public Json.Obj whole(String plugin, int version, String source, Request.User user, String cluster) {
        Json.Obj meta = new Json.Obj()
                .put(
                        "plugin",
                        new Json.Obj()
                                .put("type", plugin)
                                .put("name", title(plugin))
                                .put("data_parser", "data_parser/v0.0." + version)
                                .put("accounting_storage", ""))
                .put(
                        "client",
                        new Json.Obj()
                                .put("source", source)
                                .put("user", user.name())
                                .put("group", user.group()))
                .put("command", new ArrayList<>())
                .put(
                        "slurm",
                        new Json.Obj()
                                .put("version", Tree.release())
                                .put("release", Release.VERSION)
                                .put("cluster", cluster));
        return answer.put("meta", meta).put("errors", errors).put("warnings", warnings);
    }

    private static String title(String plugin) {
        if (plugin.contains("dbd")) {
            return "Slurm OpenAPI slurmdbd";
        }
        return plugin.contains("ctld") ? "Slurm OpenAPI slurmctld" : "Slurm OpenAPI util";
    }
}
