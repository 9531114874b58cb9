package dev.muster.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import dev.muster.rest.contract.Contract;
import dev.muster.rest.http.Http;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * No field of a body and no value of it is passed over in silence, whatever the version: with it something else is
 * asked of slurmctld or slurmdbd than without, or the answer refuses it, or has a warning. What means nothing for a
 * change is in a list here, with why.
 */
public class PassedOverTest {
    /** Operation, and the least that it does something with. Fields are put into the first element of its lists. */
    private static final Map<String, String> LEAST = least();
    /**
     * What a list says of a record and no body changes: its number, how it came to be, what belongs to it, what a
     * cluster registered with, the same in another field; and words that mean what is so without them.
     */
    private static final Pattern SAID = Pattern.compile(String.join(
            "|",
            ".*/accounting/.*",
            "(qos|associations|wckeys)/id .*",
            "associations/lineage .*",
            "(users|accounts)/associations/id .*",
            "clusters/(controller|nodes|select_plugin|associations|rpc_version|tres|flags).*",
            "TRES .*",
            "qos/flags ...:.\"(NOT_SET|ADD|REMOVE)\"..",
            "derived_exit_code/status .*",
            "job_rec/derived_exit_code/status .*",
            ".*/?admin(istrator_)?level ...:.\"Not Set\"..",
            "accounts/flags ...:.\"With.*",
            "users/flags ...:.\"NONE\"..",
            "users/coordinators/direct .*",
            "job/flags ...:.\"(HAS_STATE_DIRECTORY|SEND_JOB_ENVIRONMENT|EXACT_.*|USING_DEFAULT_.*)\"..",
            "job/flags ...:.\"(JOB_WAS_RUNNING|PARTITION_ASSIGNED|JOB_IMPLICIT_MAX_NODES)\"..",
            "job/kill_on_node_fail .*",
            "job/profile ...:.\"NOT_SET\"..",
            "job/kill_warning_(flags|delay) .*",
            "flags ...:.\"VERBOSE\"..",
            "partitions/(cluster|cpus/total|node_sets|nodes/total|tres/configured|select_type) .*",
            "partitions/maximums/oversubscribe/jobs .*",
            "partitions/preempt_mode ...:.\"CLUSTER_GLOBAL\"..",
            "job/minimum_boards_per_node .*"));

    private static Map<String, String> least() {
        Map<String, String> out = new TreeMap<>();
        out.put("slurm_{v}_post_job_submit", "{'script':'#!/bin/sh','job':{'environment':['A=b']}}");
        out.put("slurm_{v}_post_job_allocate", "{'job':{'environment':['A=b']}}");
        out.put("slurm_{v}_post_job", "{'comment':'x'}");
        out.put("slurm_{v}_delete_jobs", "{'jobs':['7']}");
        out.put("slurm_{v}_post_jobs_requeue", "{'jobs':['7']}");
        out.put("slurm_{v}_post_node", "{'comment':'x'}");
        out.put("slurm_{v}_post_nodes", "{'name':['n1'],'comment':'x'}");
        out.put("slurm_{v}_post_new_node", "{'node_conf':'NodeName=x'}");
        out.put("slurm_{v}_post_partitions", "{'partitions':[{'name':'fresh'}]}");
        out.put("slurm_{v}_post_reservation", "{'name':'r','start_time':7,'duration':2,'partition':'p'}");
        out.put(
                "slurm_{v}_post_reservations",
                "{'reservations':[{'name':'r','start_time':7,'duration':2,'partition':'p'}]}");
        out.put("slurmdb_{v}_post_job", "{'comment':{'job':'x'}}");
        out.put("slurmdb_{v}_post_jobs", "{'job_id_list':['7'],'job_rec':{'comment':{'job':'x'}}}");
        out.put("slurmdb_{v}_post_qos", "{'qos':[{'name':'q','description':'x'}]}");
        out.put("slurmdb_{v}_post_associations", "{'associations':[{'account':'a','user':'u'}]}");
        out.put(
                "slurmdb_{v}_post_users_association",
                "{'association_condition':{'accounts':['a'],'users':['u'],'association':{}},'user':{}}");
        out.put(
                "slurmdb_{v}_post_accounts_association",
                "{'association_condition':{'accounts':['a'],'association':{}},'account':{}}");
        out.put("slurmdb_{v}_post_users", "{'users':[{'name':'u','default':{'account':'a'}}]}");
        out.put("slurmdb_{v}_post_clusters", "{'clusters':[{'name':'c'}]}");
        out.put("slurmdb_{v}_post_wckeys", "{'wckeys':[{'name':'w','user':'ann','cluster':'test'}]}");
        out.put("slurmdb_{v}_post_accounts", "{'accounts':[{'name':'fresh','description':'x','organization':'o'}]}");
        out.put("slurmdb_{v}_post_tres", "{'TRES':[{'type':'cpu'}]}");
        out.put("slurmdb_{v}_post_config", "{'qos':[{'name':'q','description':'x'}]}");
        return out;
    }

    /** The least body of an operation; "" where it has none. */
    public static String least(String operation) {
        return LEAST.getOrDefault(operation, "").replace('\'', '"');
    }

    /** A place in a body, and its schema. */
    private record Leaf(List<String> path, Json.Obj schema) {
        String name() {
            return String.join("/", path);
        }
    }

    private static boolean optional(Json.Obj s) {
        return s.obj("properties").has("set") && s.obj("properties").has("number");
    }

    private static void leaves(Contract contract, int version, Json.Obj schema, List<String> path, List<Leaf> out) {
        Json.Obj s = contract.resolved(version, schema);
        Json.Obj items = s.text("type").equals("array") ? contract.resolved(version, s.obj("items")) : new Json.Obj();
        Json.Obj inner =
                items.text("type").equals("object") && !items.obj("properties").has("count") ? items : s;
        if (!inner.has("properties") || optional(inner)) {
            out.add(new Leaf(path, s));
            return;
        }
        for (Map.Entry<String, Object> p : inner.obj("properties").fields().entrySet()) {
            List<String> deeper = new ArrayList<>(path);
            deeper.add(p.getKey());
            leaves(contract, version, (Json.Obj) p.getValue(), deeper, out);
        }
    }

    /** One of each kind that the schema takes. */
    private static List<Object> values(Contract contract, int version, Json.Obj schema) {
        Json.Obj s = contract.resolved(version, schema);
        if (optional(s)) {
            return List.of(
                    new Json.Obj().put("set", true).put("number", 9L),
                    new Json.Obj().put("set", false).put("infinite", true));
        }
        return switch (s.text("type")) {
            case "array" -> {
                List<Object> out = new ArrayList<>();
                values(contract, version, s.obj("items")).forEach(v -> out.add(new ArrayList<>(List.of(v))));
                yield out;
            }
            case "object" ->
                List.of(new Json.Obj().put("type", "cpu").put("name", "").put("count", 9L));
            case "boolean" -> List.of(true);
            case "integer", "number" -> List.of(9L);
            default -> s.list("enum").isEmpty() ? List.of("9") : s.list("enum");
        };
    }

    @SuppressWarnings("unchecked")
    private static void put(
            Json.Obj body, Contract contract, int version, Json.Obj schema, List<String> path, Object value) {
        Json.Obj s = contract.resolved(version, schema);
        String head = path.getFirst();
        if (path.size() == 1) {
            body.put(head, value);
            return;
        }
        Json.Obj next = contract.resolved(version, s.obj("properties").obj(head));
        if (next.text("type").equals("array")) {
            if (!body.has(head)) {
                body.put(head, new ArrayList<>(List.of(new Json.Obj())));
            }
            put(
                    ((List<Json.Obj>) body.raw(head)).getFirst(),
                    contract,
                    version,
                    next.obj("items"),
                    path.subList(1, path.size()),
                    value);
            return;
        }
        if (!body.has(head)) {
            body.put(head, new Json.Obj());
        }
        put(body.obj(head), contract, version, next, path.subList(1, path.size()), value);
    }

    private record Done(int status, String answer, String asked, boolean warned) {}

    private static Done done(Contract.Operation o, int version, String body) throws IOException {
        return done(o, version, "", body);
    }

    /** @param query with its question mark; "" for none */
    private static Done done(Contract.Operation o, int version, String query, String body) throws IOException {
        Rig rig = new Rig();
        Samples.fill(rig.answers);
        rig.answers.put("Submit", new Json.Obj().put("jobId", 12L));
        String target = o.path().replace("{v}", "v0.0." + version).replaceAll("\\{\\w+}", "7");
        Http.Reply reply = rig.ask(o.method().toUpperCase(Locale.ROOT), target + query, body);
        String answer = new String(reply.body(), StandardCharsets.UTF_8);
        return new Done(
                reply.status(),
                answer,
                String.join("\n", rig.asked),
                reply.body().length > 0
                        && !Json.object(reply.body()).list("warnings").isEmpty());
    }

    @ParameterizedTest
    @MethodSource("dev.muster.rest.contract.ContractTest#versions")
    void everyBodyFieldIsAppliedOrWarnedAbout(int version) throws IOException {
        Contract contract = Contract.read();
        Set<String> silent = new LinkedHashSet<>();
        int asked = 0;
        for (Contract.Operation o : contract.operations(version)) {
            if (o.body().isEmpty() || o.id().startsWith("util")) {
                continue;
            }
            assertThat(LEAST).containsKey(o.id());
            String least = LEAST.get(o.id()).replace('\'', '"');
            Json.Obj schema = new Json.Obj().put("$ref", o.body());
            Done before = done(o, version, least);
            assertThat(before.status()).as(o.id() + " " + before.answer()).isEqualTo(200);
            List<Leaf> leaves = new ArrayList<>();
            leaves(contract, version, schema, List.of(), leaves);
            for (Leaf leaf : leaves) {
                if (List.of("meta", "errors", "warnings").contains(leaf.path().getFirst())) {
                    continue;
                }
                for (Object value : values(contract, version, leaf.schema())) {
                    Json.Obj body = Json.object(least.getBytes(StandardCharsets.UTF_8));
                    put(body, contract, version, schema, leaf.path(), value);
                    Done with = done(o, version, new String(Json.print(body), StandardCharsets.UTF_8));
                    asked++;
                    if (with.status() < 400
                            && with.asked().equals(before.asked())
                            && with.warned() == before.warned()) {
                        String what = leaf.name() + " "
                                + new String(
                                        Json.print(value instanceof Json.Obj v ? v : new Json.Obj().put("", value)),
                                        StandardCharsets.UTF_8);
                        if (!SAID.matcher(what).matches()) {
                            silent.add(o.id() + " " + what);
                        }
                    }
                }
            }
        }
        assertThat(String.join("\n", silent)).isEmpty();
        assertThat(asked).isGreaterThan(1500);
    }

    /**
     * Words of queries that mean what is so without them: lists show all, times are not cut, there are no instances to
     * choose from.
     */
    private static final Pattern SO_ALREADY = Pattern.compile(String.join(
            "|",
            "slurm_..._get_(jobs?|nodes?|partitions?) .flags=(ALL|DETAIL|MIXED|LOCAL|FUTURE)",
            "slurmdb_..._get_jobs .disable_truncate_usage_time=true",
            "slurmdb_..._get_instances? .*",
            "slurmdb_..._get_users .without_defaults=true"));

    /** What a query may say by a parameter: each of its words; without any a number, which is a name as well. */
    private static List<String> words(Contract.Param p) {
        return !p.values().isEmpty()
                ? p.values()
                : List.of(p.empty() ? "true" : p.name().equals("update_time") ? "99999999999" : "9");
    }

    /** Every part of a query is applied, answered otherwise, or named in a warning. */
    @ParameterizedTest
    @MethodSource("dev.muster.rest.contract.ContractTest#versions")
    void everyQueryParameterIsAppliedOrWarnedAbout(int version) throws IOException {
        Set<String> silent = new LinkedHashSet<>();
        int asked = 0;
        for (Contract.Operation o : Contract.read().operations(version)) {
            String least = LEAST.getOrDefault(o.id(), "").replace('\'', '"');
            Done before = done(o, version, o.id().contains("delete_assoc") ? "?user=7" : "", least);
            for (Contract.Param p : o.params()) {
                for (String word : p.inPath() ? List.<String>of() : words(p)) {
                    String query = (o.id().contains("delete_assoc") && !p.name().equals("user") ? "?user=7&" : "?")
                            + p.name().replace(' ', '+') + "=" + word.replace(' ', '+');
                    Done with = done(o, version, query, least);
                    asked++;
                    if (with.status() < 400
                            && with.asked().equals(before.asked())
                            && with.answer().equals(before.answer())) {
                        silent.add(o.id() + " " + query);
                        silent.removeIf(w -> SO_ALREADY.matcher(w).matches());
                    }
                }
            }
        }
        assertThat(String.join("\n", silent)).isEmpty();
        assertThat(asked).isGreaterThan(150);
    }
}
