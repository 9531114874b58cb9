package dev.muster.rest;

import dev.muster.json.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes contract.json from OpenAPI documents, one for each version of the data parser: each path and schema once, with
 * the versions it holds for, and without the documents' words. {@code ContractMaker OUT v0.0.42=FILE v0.0.43=FILE …}
 */
public final class ContractMaker {
    private ContractMaker() {}

    public static void main(String[] args) throws IOException {
        Map<String, List<Integer>> paths = new LinkedHashMap<>();
        Map<String, List<Integer>> schemas = new LinkedHashMap<>();
        // the newest first: its order is kept
        for (int i = args.length - 1; i > 0; i--) {
            String version = args[i].substring(0, args[i].indexOf('='));
            int number = Integer.parseInt(version.substring(version.lastIndexOf('.') + 1));
            Json.Obj document = Json.object(Files.readAllBytes(Path.of(args[i].substring(args[i].indexOf('=') + 1))));
            for (Map.Entry<String, Object> path : document.obj("paths").fields().entrySet()) {
                for (Map.Entry<String, Object> operation :
                        ((Json.Obj) path.getValue()).fields().entrySet()) {
                    String line = text(operation(
                            path.getKey().replace(version, "{v}"),
                            operation.getKey(),
                            (Json.Obj) operation.getValue(),
                            version));
                    paths.computeIfAbsent(line, l -> new ArrayList<>()).addFirst(number);
                }
            }
            for (Map.Entry<String, Object> schema :
                    document.obj("components").obj("schemas").fields().entrySet()) {
                Json.Obj named = new Json.Obj()
                        .put("name", schema.getKey().substring(version.length() + 1))
                        .put("schema", stripped(schema.getValue(), version));
                schemas.computeIfAbsent(text(named), l -> new ArrayList<>()).addFirst(number);
            }
        }
        util(paths, schemas);
        Files.writeString(
                Path.of(args[0]),
                "{\"paths\": [\n" + lines(paths) + "\n], \"schemas\": [\n" + lines(schemas) + "\n]}\n");
    }

    /** What slurmrestd does by itself is in none of the documents. */
    private static void util(Map<String, List<Integer>> paths, Map<String, List<Integer>> schemas) {
        String[][] both = {{"hostnames", "hostlist", "array"}, {"hostlist", "hostnames", "string"}};
        for (String[] b : both) {
            paths.put(
                    text(new Json.Obj()
                            .put("path", "/util/{v}/" + b[0] + "/")
                            .put("method", "post")
                            .put("id", "util_{v}_post_" + b[0])
                            .put("tag", "util")
                            .put("summary", b[0] + " of " + b[1])
                            .put("params", new ArrayList<>())
                            .put("body", "openapi_" + b[1] + "_req_resp")
                            .put("answer", "openapi_" + b[0] + "_req_resp")),
                    new ArrayList<>(List.of(44, 45)));
            Json.Obj kind = new Json.Obj().put("type", b[2]);
            if (b[2].equals("array")) {
                kind.put("items", new Json.Obj().put("type", "string"));
            }
            schemas.put(
                    text(new Json.Obj()
                            .put("name", "openapi_" + b[0] + "_req_resp")
                            .put(
                                    "schema",
                                    new Json.Obj()
                                            .put("type", "object")
                                            .put("required", new ArrayList<Object>(List.of(b[0])))
                                            .put(
                                                    "properties",
                                                    new Json.Obj()
                                                            .put(b[0], kind)
                                                            .put("meta", new Json.Obj().put("$ref", "openapi_meta"))
                                                            .put("errors", new Json.Obj().put("$ref", "openapi_errors"))
                                                            .put(
                                                                    "warnings",
                                                                    new Json.Obj().put("$ref", "openapi_warnings"))))),
                    new ArrayList<>(List.of(44, 45)));
        }
    }

    private static String lines(Map<String, List<Integer>> all) {
        List<String> out = new ArrayList<>();
        all.forEach((line, versions) ->
                out.add("{\"in\":" + versions.toString().replace(" ", "") + "," + line.substring(1)));
        return String.join(",\n", out);
    }

    private static String text(Json.Obj o) {
        return new String(Json.print(o), StandardCharsets.UTF_8);
    }

    private static Json.Obj operation(String path, String method, Json.Obj op, String version) {
        List<Object> params = new ArrayList<>();
        for (Json.Obj p : op.objects("parameters")) {
            Json.Obj out = new Json.Obj().put("name", p.text("name"));
            flag(out, "path", p.text("in").equals("path"));
            flag(out, "empty", p.flag("allowEmptyValue"));
            flag(out, "described", p.has("description"));
            flag(out, "deprecated", p.flag("deprecated"));
            if (p.obj("schema").has("enum")) {
                out.put("enum", p.obj("schema").list("enum"));
            }
            params.add(out);
        }
        Json.Obj out = new Json.Obj()
                .put("path", path)
                .put("method", method)
                .put("id", op.text("operationId").replace(version.replace(".", ""), "{v}"))
                .put("tag", op.texts("tags").getFirst())
                .put("summary", op.text("summary"))
                .put("params", params)
                .put("body", ref(op.obj("requestBody"), version))
                .put("answer", ref(op.obj("responses").obj("200"), version));
        flag(out, "described", op.has("description"));
        return out;
    }

    private static void flag(Json.Obj out, String name, boolean on) {
        if (on) {
            out.put(name, Boolean.TRUE);
        }
    }

    private static String ref(Json.Obj content, String version) {
        return content.obj("content")
                .obj("application/json")
                .obj("schema")
                .text("$ref")
                .replace("#/components/schemas/" + version + "_", "");
    }

    /** Returns the value without words; an empty description stands where there were some. */
    private static Object stripped(Object value, String version) {
        if (value instanceof Json.Obj o) {
            Json.Obj out = new Json.Obj();
            o.fields().forEach((k, v) -> {
                if (k.equals("$ref")) {
                    out.put(k, String.valueOf(v).replace("#/components/schemas/" + version + "_", ""));
                } else {
                    out.put(k, k.equals("description") && v instanceof String ? "" : stripped(v, version));
                }
            });
            return out;
        }
        return value instanceof List<?> l
                ? new ArrayList<Object>(
                        l.stream().map(v -> stripped(v, version)).toList())
                : value;
    }
}
