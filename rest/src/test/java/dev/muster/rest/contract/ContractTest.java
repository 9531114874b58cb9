package dev.muster.rest.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import dev.muster.rest.ContractMaker;
import dev.muster.rest.PassedOverTest;
import dev.muster.rest.Rig;
import dev.muster.rest.Samples;
import dev.muster.rest.http.Http;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every operation of every version: it is served, and what it answers fits its schema. */
class ContractTest {
    static Stream<Integer> versions() {
        return Contract.VERSIONS.stream();
    }

    @Test
    void everyOperationHasItsHandlerAndNoOther() throws IOException {
        Rig rig = new Rig();
        Set<String> ids = new TreeSet<>();
        Contract.VERSIONS.forEach(v -> rig.contract.operations(v).forEach(o -> ids.add(o.id())));
        assertThat(new TreeSet<>(rig.router.served())).isEqualTo(ids);
    }

    /** Whatever slurmctld and slurmdbd have, or have not: no answer breaks its schema, with a body or without. */
    @ParameterizedTest
    @MethodSource("versions")
    void answersFitTheirSchemas(int version) throws IOException {
        List<String> wrong = new ArrayList<>();
        for (String body : List.of(
                "{}",
                "[]",
                "{\"script\":5,\"job\":{\"time_limit\":\"x\"}}",
                "nonsense",
                "{\"script\":\"#!/bin/sh\",\"job\":{\"environment\":[\"A=b\"]},\"jobs\":null,\"hostlist\":\"n1\","
                        + "\"environment\":[\"A=b\"]}")) {
            Rig rig = new Rig();
            Samples.fill(rig.answers);
            for (Contract.Operation o : rig.contract.operations(version)) {
                String path = o.path().replace("{v}", "v0.0." + version).replaceAll("\\{\\w+}", "1");
                Http.Reply reply = rig.ask(o.method().toUpperCase(java.util.Locale.ROOT), path, body);
                // there was no entity to delete
                if (reply.status() == 304) {
                    assertThat(reply.body()).isEmpty();
                    continue;
                }
                Json.Obj tree = Json.object(reply.body());
                String unfit = rig.unfit(version, new Json.Obj().put("$ref", o.answer()), tree, "");
                boolean failed = o.method().equals("get") && reply.status() != 200
                        || tree.list("errors").toString().contains("internal error");
                if (!unfit.isEmpty() || failed) {
                    wrong.add(o.id() + " " + body + " " + reply.status() + ": " + unfit + tree.list("errors"));
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    /** An error, of the caller or of the daemon, has the form of the operation's schema, in JSON and in YAML. */
    @ParameterizedTest
    @MethodSource("versions")
    void errorAnswersFitTheirSchemas(int version) throws Exception {
        List<String> wrong = new ArrayList<>();
        Rig rig = new Rig();
        Rig alone = new Rig();
        alone.away = true;
        for (Contract.Operation o : rig.contract.operations(version)) {
            String path = o.path().replace("{v}", "v0.0." + version).replaceAll("\\{\\w+}", "1");
            String method = o.method().toUpperCase(java.util.Locale.ROOT);
            Map<String, Http.Reply> all = new LinkedHashMap<>();
            all.put("401", rig.ask(method, path, "{}", "x-slurm-user-token", ""));
            all.put("401 ", rig.ask(method, path, "{}", "x-slurm-user-token", "", "accept", "application/yaml"));
            if (!o.tag().equals("util") && !o.id().endsWith("_get_ping")) {
                all.put("400|422|500", alone.ask(method, path, PassedOverTest.least(o.id())));
                all.put(
                        "400|422|500 ",
                        alone.ask(method, path, PassedOverTest.least(o.id()), "accept", "application/yaml"));
            }
            if (!o.body().isEmpty()) {
                all.put("400", rig.ask(method, path, "{"));
                all.put("415", rig.ask(method, path, "{}", "content-type", "image/png"));
            }
            all.put("406", rig.ask(method, path, "{}", "accept", "image/png"));
            for (Map.Entry<String, Http.Reply> one : all.entrySet()) {
                Http.Reply reply = one.getValue();
                Json.Obj tree =
                        one.getKey().endsWith(" ") ? (Json.Obj) Yaml.parse(reply.body()) : Json.object(reply.body());
                String unfit = rig.unfit(version, new Json.Obj().put("$ref", o.answer()), tree, "");
                boolean other = !List.of(one.getKey().strip().split("\\|")).contains(Integer.toString(reply.status()));
                if (!unfit.isEmpty() || other || tree.list("errors").isEmpty()) {
                    wrong.add(o.id() + " " + one.getKey() + ": " + reply.status() + " " + unfit + tree.list("errors"));
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("versions")
    void documentNamesWhatIsServed(int version) throws IOException {
        Rig rig = new Rig();
        Json.Obj document = new Document(rig.contract, Set.of("slurm", "slurmdb"), Set.of(version)).make();
        assertThat(document.obj("paths").fields().keySet())
                .isNotEmpty()
                .allMatch(p -> p.contains("/v0.0." + version + "/"));
        assertThat(document.obj("components").obj("schemas").fields().keySet())
                .containsAll(rig.contract.operations(version).stream()
                        .filter(o -> !o.tag().equals("util"))
                        .map(o -> "v0.0." + version + "_" + o.answer())
                        .toList());
        assertThat(new String(Json.print(document), java.nio.charset.StandardCharsets.UTF_8))
                .doesNotContain("\"description\":\"\"");
    }

    /**
     * The contract can be made again from the served documents, word by word: they leave nothing out and add nothing.
     */
    @Test
    void documentsSayAllOfTheContract() throws IOException {
        Rig rig = new Rig();
        Path dir = Files.createTempDirectory("contract");
        List<String> args = new ArrayList<>(List.of(dir.resolve("contract.json").toString()));
        for (int version : Contract.VERSIONS) {
            Path file = dir.resolve(version + ".json");
            Files.write(
                    file, Json.print(new Document(rig.contract, Set.of("slurm", "slurmdb"), Set.of(version)).make()));
            args.add("v0.0." + version + "=" + file);
        }
        ContractMaker.main(args.toArray(String[]::new));
        try (InputStream contract = Contract.class.getResourceAsStream("contract.json")) {
            List<String> known = new String(contract.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .sorted()
                    .toList();
            assertThat(Files.readString(dir.resolve("contract.json"))
                            .lines()
                            .sorted()
                            .toList())
                    .isEqualTo(known);
        }
        try (Stream<Path> files = Files.list(dir)) {
            files.forEach(f -> f.toFile().delete());
        }
        Files.delete(dir);
    }

    /** Parts that each operation's document has: both media types of each answer, errors, and the security schemes. */
    @ParameterizedTest
    @MethodSource("versions")
    void documentsAreWholeWithoutTheContract(int version) throws IOException {
        Json.Obj document = new Document(new Rig().contract, Set.of("slurm", "slurmdb"), Set.of(version)).make();
        Set<String> schemas = document.obj("components").obj("schemas").fields().keySet();
        Set<String> asked = new TreeSet<>();
        document.obj("paths")
                .fields()
                .values()
                .forEach(path -> ((Json.Obj) path).fields().values().forEach(o -> {
                    Json.Obj responses = ((Json.Obj) o).obj("responses");
                    assertThat(responses.fields().keySet()).containsExactlyInAnyOrder("200", "default");
                    for (String answer : List.of("200", "default")) {
                        for (String type : List.of("application/json", "application/yaml")) {
                            asked.add(responses
                                    .obj(answer)
                                    .obj("content")
                                    .obj(type)
                                    .obj("schema")
                                    .text("$ref")
                                    .replace("#/components/schemas/", ""));
                        }
                    }
                }));
        assertThat(schemas).containsAll(asked);
        assertThat(document.obj("components").obj("securitySchemes").fields().keySet())
                .containsExactlyInAnyOrder("user", "token", "bearerAuth");
        assertThat(document.text("openapi")).isEqualTo("3.0.3");
    }
}
