package dev.muster.rest.contract;

import dev.muster.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The paths and schemas of the API by version of the data parser, from contract.json: facts of the interface. Immutable
 * once read.
 */
public final class Contract {
    /** The last part of v0.0.N. */
    public static final List<Integer> VERSIONS = List.of(42, 43, 44, 45);

    private static final String RESOURCE = "contract.json";

    /** @param values the only ones that are accepted, if any */
    public record Param(
            String name, boolean inPath, boolean empty, List<String> values, boolean described, boolean deprecated) {}

    /**
     * @param path {@code /slurm/{v}/job/{job_id}}
     * @param method lower case
     * @param body name of the schema, "" without one
     * @param answer name of the schema
     */
    public record Operation(
            String path,
            String method,
            String id,
            String tag,
            String summary,
            List<Param> params,
            String body,
            String answer,
            boolean described,
            Set<Integer> versions) {}

    /** An operation that a request means, and what stands for the names in its path. */
    public record Match(Operation operation, Map<String, String> names) {}

    private final List<Operation> operations = new ArrayList<>();
    private final Map<String, Json.Obj> schemas = new HashMap<>();

    private Contract() {}

    public static Contract read() {
        Json.Obj all;
        try (InputStream in = Contract.class.getResourceAsStream(RESOURCE)) {
            all = Json.object(in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Contract contract = new Contract();
        all.objects("paths").forEach(p -> contract.operations.add(operation(p)));
        for (Json.Obj step : all.objects("schemas")) {
            for (Object version : step.list("in")) {
                contract.schemas.put(version + " " + step.text("name"), step.obj("schema"));
            }
        }
        return contract;
    }

    private static Operation operation(Json.Obj partition) {
        List<Param> params = new ArrayList<>();
        for (Json.Obj query : partition.objects("params")) {
            params.add(new Param(
                    query.text("name"),
                    query.flag("path"),
                    query.flag("empty"),
                    query.texts("enum"),
                    query.flag("described"),
                    query.flag("deprecated")));
        }
        return new Operation(
                partition.text("path"),
                partition.text("method"),
                partition.text("id"),
                partition.text("tag"),
                partition.text("summary"),
                params,
                partition.text("body"),
                partition.text("answer"),
                partition.flag("described"),
                versions(partition.list("in")));
    }

    private static Set<Integer> versions(List<Object> list) {
        Set<Integer> out = new TreeSet<>();
        list.forEach(v -> out.add(((Number) v).intValue()));
        return out;
    }

    public List<Operation> operations(int version) {
        return operations.stream().filter(o -> o.versions.contains(version)).toList();
    }

    /** Returns the schema with that name in the version; what it refers to are such names. */
    Json.Obj schema(int version, String name) {
        Json.Obj found = schemas.get(version + " " + name);
        if (found == null) {
            throw new IllegalArgumentException("no schema " + name + " in v0.0." + version);
        }
        return found;
    }

    /** Returns what the schema refers to, if it is a reference. */
    public Json.Obj resolved(int version, Json.Obj schema) {
        Json.Obj step = schema;
        while (step.has("$ref")) {
            step = schema(version, step.text("$ref"));
        }
        return step;
    }

    /**
     * Finds the operation of a request; a slash at the end makes no difference.
     *
     * @param path decoded
     */
    public Optional<Match> find(int version, String method, String path) {
        for (Operation operation : operations) {
            if (operation.versions.contains(version) && operation.method.equalsIgnoreCase(method)) {
                Optional<Map<String, String>> found =
                        fit(operation.path.replace("{v}", "v0.0." + version).split("/"), path.split("/"));
                if (found.isPresent()) {
                    return Optional.of(new Match(operation, found.get()));
                }
            }
        }
        return Optional.empty();
    }

    /** Methods of a path in upper case; empty for an unknown path. */
    public Set<String> methods(int version, String path) {
        Set<String> out = new TreeSet<>();
        for (String method : List.of("GET", "POST", "DELETE")) {
            if (find(version, method, path).isPresent()) {
                out.add(method);
            }
        }
        if (out.contains("GET")) {
            out.add("HEAD");
        }
        return out;
    }

    private static Optional<Map<String, String>> fit(String[] pattern, String[] path) {
        if (pattern.length != path.length) {
            return Optional.empty();
        }
        Map<String, String> out = new LinkedHashMap<>();
        for (int i = 0; i < pattern.length; i++) {
            if (pattern[i].startsWith("{")) {
                out.put(pattern[i].substring(1, pattern[i].length() - 1), path[i]);
            } else if (!pattern[i].equals(path[i])) {
                return Optional.empty();
            }
        }
        return Optional.of(out);
    }
}
