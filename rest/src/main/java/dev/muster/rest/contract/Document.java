package dev.muster.rest.contract;

import dev.muster.cli.shape.Tree;
import dev.muster.json.Json;
import dev.muster.model.Release;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The OpenAPI document of what this daemon serves. */
public final class Document {
    private final Contract contract;
    private final Set<String> tags;
    private final Set<Integer> versions;

    /** @param tags slurm, slurmdb, util: the parts that are served */
    public Document(Contract contract, Set<String> tags, Set<Integer> versions) {
        this.contract = contract;
        this.tags = tags;
        this.versions = versions;
    }

    public Json.Obj make() {
        Json.Obj paths = new Json.Obj();
        Json.Obj schemas = new Json.Obj();
        for (int version : versions) {
            Set<String> used = new TreeSet<>();
            for (Contract.Operation operation : contract.operations(version)) {
                if (tags.contains(operation.tag())) {
                    String path = operation.path().replace("{v}", "v0.0." + version);
                    if (!paths.has(path)) {
                        paths.put(path, new Json.Obj());
                    }
                    paths.obj(path).put(operation.method(), operation(operation, version));
                    follow(version, operation.body(), used);
                    follow(version, operation.answer(), used);
                }
            }
            used.forEach(name ->
                    schemas.put("v0.0." + version + "_" + name, worded(contract.schema(version, name), version, name)));
        }
        return new Json.Obj()
                .put("openapi", "3.0.3")
                .put("info", info())
                .put(
                        "security",
                        list(
                                new Json.Obj().put("user", list()).put("token", list()),
                                new Json.Obj().put("token", list()),
                                new Json.Obj().put("bearerAuth", list()),
                                new Json.Obj()))
                .put("servers", list(new Json.Obj().put("url", "/")))
                .put("tags", tagList())
                .put("paths", paths)
                .put("components", new Json.Obj().put("schemas", schemas).put("securitySchemes", security()));
    }

    private static List<Object> list(Object... all) {
        return new ArrayList<>(List.of(all));
    }

    private Json.Obj info() {
        List<Object> parsers = new ArrayList<>();
        versions.forEach(
                v -> parsers.add(new Json.Obj().put("plugin", "v0.0." + v).put("flags", list("NONE"))));
        List<Object> parts = new ArrayList<>();
        OpenApiPlugins.TAGS.forEach((plugin, tag) -> {
            if (tags.contains(tag)) {
                parts.add("openapi/" + plugin);
            }
        });
        Json.Obj info = new Json.Obj()
                .put("data_parsers", parsers)
                .put("openapi", parts)
                .put("version", Tree.release())
                .put("release", Release.VERSION);
        return new Json.Obj()
                .put("title", "Slurm REST API")
                .put("description", "API to access and control Slurm")
                .put("termsOfService", "https://github.com/SchedMD/slurm/blob/master/DISCLAIMER")
                .put(
                        "contact",
                        new Json.Obj()
                                .put("name", "SchedMD LLC")
                                .put("url", "https://www.schedmd.com/")
                                .put("email", "sales@schedmd.com"))
                .put(
                        "license",
                        new Json.Obj()
                                .put("name", "Apache 2.0")
                                .put("url", "https://www.apache.org/licenses/LICENSE-2.0.html"))
                .put("version", "Slurm-" + Release.VERSION)
                .put("x-slurm", info);
    }

    private List<Object> tagList() {
        return list(
                tag("slurm", "jobs, nodes and all that slurmctld knows"),
                tag("slurmdb", "accounting: what slurmdbd knows"),
                tag("util", "done by slurmrestd itself"),
                tag("openapi", "this document"));
    }

    private static Json.Obj tag(String name, String words) {
        return new Json.Obj().put("name", name).put("description", words);
    }

    private static Json.Obj security() {
        return new Json.Obj()
                .put(
                        "user",
                        new Json.Obj()
                                .put("type", "apiKey")
                                .put("description", "User name")
                                .put("name", "X-SLURM-USER-NAME")
                                .put("in", "header"))
                .put(
                        "token",
                        new Json.Obj()
                                .put("type", "apiKey")
                                .put("description", "User access token")
                                .put("name", "X-SLURM-USER-TOKEN")
                                .put("in", "header"))
                .put(
                        "bearerAuth",
                        new Json.Obj()
                                .put("type", "http")
                                .put("description", "Bearer Authentication")
                                .put("scheme", "bearer")
                                .put("bearerFormat", "JWT"));
    }

    private Json.Obj operation(Contract.Operation o, int version) {
        Json.Obj out = new Json.Obj().put("tags", list(o.tag())).put("summary", o.summary());
        if (o.described()) {
            out.put("description", o.summary());
        }
        out.put("operationId", o.id().replace("{v}", "v00" + version));
        List<Object> params = new ArrayList<>();
        o.params().forEach(p -> params.add(param(p)));
        if (!params.isEmpty()) {
            out.put("parameters", params);
        }
        if (!o.body().isEmpty()) {
            out.put(
                    "requestBody",
                    new Json.Obj().put("description", words(o.body())).put("content", content(o.body(), version)));
        }
        return out.put(
                "responses",
                new Json.Obj()
                        .put(
                                "200",
                                new Json.Obj()
                                        .put("description", words(o.answer()))
                                        .put("content", content(o.answer(), version)))
                        .put(
                                "default",
                                new Json.Obj()
                                        .put("description", words(o.answer()))
                                        .put("content", content(o.answer(), version))));
    }

    private static Json.Obj param(Contract.Param parameter) {
        Json.Obj kind = new Json.Obj().put("type", "string");
        if (!parameter.values().isEmpty()) {
            kind.put("enum", new ArrayList<Object>(parameter.values()));
        }
        Json.Obj out = new Json.Obj().put("name", parameter.name()).put("in", parameter.inPath() ? "path" : "query");
        if (parameter.described()) {
            out.put("description", words(parameter.name()));
        }
        if (parameter.deprecated()) {
            out.put("deprecated", Boolean.TRUE);
        }
        return out.put("required", parameter.inPath())
                .put("allowEmptyValue", parameter.empty())
                .put("style", parameter.inPath() ? "simple" : "form")
                .put("explode", Boolean.FALSE)
                .put("allowReserved", Boolean.FALSE)
                .put("schema", kind);
    }

    private static Json.Obj content(String schema, int version) {
        Json.Obj out = new Json.Obj();
        for (String type : List.of("application/json", "application/yaml")) {
            out.put(type, new Json.Obj().put("schema", new Json.Obj().put("$ref", ref(version, schema))));
        }
        return out;
    }

    private static String ref(int version, String name) {
        return "#/components/schemas/v0.0." + version + "_" + name;
    }

    static String words(String name) {
        return name.replace("openapi_", "").replace('_', ' ').replace('/', ' ');
    }

    /** References made whole, and descriptions made of names. */
    private static Object worded(Object value, int version, String name) {
        if (value instanceof Json.Obj o) {
            Json.Obj out = new Json.Obj();
            for (Map.Entry<String, Object> entry : o.fields().entrySet()) {
                switch (entry.getKey()) {
                    case "$ref" -> out.put("$ref", ref(version, String.valueOf(entry.getValue())));
                    case "description" ->
                        out.put(
                                "description",
                                entry.getValue() instanceof String
                                        ? words(name)
                                        : worded(entry.getValue(), version, "description"));
                    default ->
                        out.put(
                                entry.getKey(),
                                worded(
                                        entry.getValue(),
                                        version,
                                        entry.getKey().equals("items") ? name : entry.getKey()));
                }
            }
            return out;
        }
        return value instanceof List<?> l
                ? new ArrayList<Object>(
                        l.stream().map(v -> worded(v, version, name)).toList())
                : value;
    }

    private void follow(int version, String name, Set<String> used) {
        if (!name.isEmpty() && used.add(name)) {
            refs(contract.schema(version, name), version, used);
        }
    }

    private void refs(Object value, int version, Set<String> used) {
        if (value instanceof Json.Obj o) {
            o.fields().forEach((k, v) -> {
                if (k.equals("$ref")) {
                    follow(version, String.valueOf(v), used);
                } else {
                    refs(v, version, used);
                }
            });
        } else if (value instanceof List<?> l) {
            l.forEach(v -> refs(v, version, used));
        }
    }
}
