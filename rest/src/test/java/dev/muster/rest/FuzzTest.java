package dev.muster.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.rest.contract.Contract;
import dev.muster.rest.http.Http;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Requests that fit their schema, and ones that nearly do, in front of a slurmctld and slurmdbd that have more or less
 * to say: whatever comes is answered in the form of its schema, and never by a mistake of slurmrestd's own. From a
 * seed, -Dseed=N for another.
 */
class FuzzTest {
    private static final int ROUNDS = Integer.getInteger("rounds", 12);
    private static final long SEED = Long.getLong("seed", 1);
    private static final List<Object> ODD = List.of(
            "",
            " ",
            "0",
            "-1",
            "1",
            "4294967295",
            "99999999999999999999",
            "INFINITE",
            "UNLIMITED",
            "a,b,,c",
            "n[1-3",
            "n[1-99999999]",
            "\u0000",
            "ä€😀",
            "x".repeat(5000),
            "1-00:00:00",
            "2026-13-45T99:99",
            "%s%n",
            "../../etc/passwd",
            "gres:gpu:-2",
            "1@",
            "@",
            ":",
            "[]",
            "{}",
            "null",
            -1L,
            0L,
            1L,
            1L << 40,
            Long.MIN_VALUE,
            0.5,
            -1e300,
            Boolean.TRUE,
            Boolean.FALSE);

    private final Random random = new Random(SEED);

    private Object odd() {
        return ODD.get(random.nextInt(ODD.size()));
    }

    /** A value for the schema; now and then one that is not. */
    private Object value(Contract contract, int version, Json.Obj schema, int depth) {
        Json.Obj s = contract.resolved(version, schema);
        if (random.nextInt(25) == 0) {
            return random.nextInt(3) == 0
                    ? new ArrayList<>(List.of(odd()))
                    : random.nextBoolean() ? odd() : new Json.Obj().put("x", odd());
        }
        return switch (s.text("type")) {
            case "object" -> object(contract, version, s, depth);
            case "array" -> {
                List<Object> out = new ArrayList<>();
                for (int i = random.nextInt(3); i > 0 && depth < 8; i--) {
                    out.add(value(contract, version, s.obj("items"), depth + 1));
                }
                yield out;
            }
            case "string" ->
                s.list("enum").isEmpty()
                        ? String.valueOf(odd())
                        : s.list("enum").get(random.nextInt(s.list("enum").size()));
            case "integer" -> random.nextBoolean() ? (Object) (long) random.nextInt(100) : random.nextLong();
            case "number" -> random.nextDouble() * 1e6;
            case "boolean" -> random.nextBoolean();
            default -> odd();
        };
    }

    private Json.Obj object(Contract contract, int version, Json.Obj s, int depth) {
        Json.Obj out = new Json.Obj();
        // few fields at a time: one that is refused would hide the others
        double some = depth == 0 ? 0.9 : random.nextDouble() * random.nextDouble();
        for (Map.Entry<String, Object> p : s.obj("properties").fields().entrySet()) {
            if (depth < 8 && random.nextDouble() < some) {
                out.put(p.getKey(), value(contract, version, (Json.Obj) p.getValue(), depth + 1));
            }
        }
        return random.nextInt(10) == 0 ? out.put(String.valueOf(odd()), odd()) : out;
    }

    private static String encoded(Object value) {
        // a zero byte is refused before there is a request
        return URLEncoder.encode(String.valueOf(value).replace("\0", ""), StandardCharsets.UTF_8);
    }

    private String target(Contract.Operation o, int version) {
        StringBuilder out = new StringBuilder(o.path()
                .replace("{v}", "v0.0." + version)
                .replaceAll("\\{\\w+}", random.nextBoolean() ? "1" : "n1,x%20%C3%A4%5B1-2%5D"));
        char separator = '?';
        for (Contract.Param p : o.params()) {
            if (!p.inPath() && random.nextInt(4) == 0) {
                Object value = !p.values().isEmpty() && random.nextInt(4) > 0
                        ? p.values().get(random.nextInt(p.values().size()))
                        : odd();
                out.append(separator).append(encoded(p.name())).append('=').append(encoded(value));
                separator = '&';
            }
        }
        return out.toString();
    }

    /** Rows lose fields, which then read as their defaults. */
    private void thin(Object tree) {
        if (tree instanceof Json.Obj o) {
            o.fields().values().forEach(this::thin);
            o.fields().entrySet().removeIf(e -> random.nextInt(6) == 0);
        } else if (tree instanceof List<?> l) {
            l.forEach(this::thin);
        }
    }

    @ParameterizedTest
    @MethodSource("dev.muster.rest.contract.ContractTest#versions")
    void randomRequestIsAnsweredWithinItsSchema(int version) throws IOException {
        List<String> wrong = new ArrayList<>();
        int served = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Rig rig = new Rig();
            Samples.fill(rig.answers);
            if (round % 2 == 1) {
                rig.answers.values().forEach(this::thin);
            }
            for (Contract.Operation o : rig.contract.operations(version)) {
                String target = target(o, version);
                String body = o.body().isEmpty()
                        ? ""
                        : new String(
                                Json.print(value(rig.contract, version, new Json.Obj().put("$ref", o.body()), 0)),
                                StandardCharsets.UTF_8);
                Http.Reply reply = rig.ask(o.method().toUpperCase(Locale.ROOT), target, body);
                served++;
                Json.Obj tree = reply.body().length == 0 ? new Json.Obj() : Json.object(reply.body());
                String unfit = reply.status() == 304
                        ? ""
                        : rig.unfit(version, new Json.Obj().put("$ref", o.answer()), tree, "");
                boolean own = tree.objects("errors").stream()
                        .anyMatch(e -> e.number("error_number") == SlurmErrno.INTERNAL.number());
                boolean said = reply.status() < 400
                        || !tree.objects("errors").isEmpty()
                                && tree.objects("errors").stream()
                                        .allMatch(e -> e.number("error_number") > 0
                                                && !e.text("error").isEmpty());
                if (!unfit.isEmpty() || own || !said) {
                    wrong.add(o.method() + " " + target + " " + body + "\n  " + reply.status() + ": " + unfit
                            + tree.list("errors"));
                }
            }
        }
        assertThat(wrong.stream().limit(5)).isEmpty();
        assertThat(served).isGreaterThan(ROUNDS * 50);
    }

    /** What Slurm's API has not: each path with words in it that fit and such as do not. Streams are begun and left. */
    @Test
    void randomRequestOnOwnPathsIsAnswered() throws IOException {
        List<String> wrong = new ArrayList<>();
        for (int round = 0; round < 20 * ROUNDS; round++) {
            Rig rig = new Rig();
            Samples.fill(rig.answers);
            if (round % 2 == 1) {
                rig.answers.values().forEach(this::thin);
            }
            for (String path : List.of(
                    "events",
                    "jobs",
                    "nodes",
                    "jobs/%/log",
                    "jobs/%/script",
                    "jobs/%/environment",
                    "jobs/%/steps",
                    "jobs/%/why",
                    "jobs/%/usage",
                    "ended",
                    "topology",
                    "limits",
                    "utilization",
                    "plan",
                    "session",
                    "session/codes",
                    "%",
                    "jobs/%/%",
                    "")) {
                StringBuilder target = new StringBuilder(
                        "/muster/v1/" + path.replace("%", random.nextBoolean() ? "7" : encoded(odd())));
                char separator = '?';
                for (String name : List.of(
                        "job_id",
                        "from",
                        "step",
                        "spans",
                        "hours",
                        "partition",
                        "stream",
                        "offset",
                        "last_event_id",
                        "task")) {
                    if (random.nextInt(3) == 0) {
                        target.append(separator)
                                .append(name)
                                .append('=')
                                .append(encoded(random.nextBoolean() ? odd() : random.nextInt(5000)));
                        separator = '&';
                    }
                }
                String method =
                        List.of("GET", "GET", "GET", "POST", "DELETE", "PUT").get(random.nextInt(6));
                int status = rig.begun(method, target.toString(), random.nextBoolean() ? "{}" : String.valueOf(odd()));
                if (status < 200 || status >= 500 && status != 503) {
                    wrong.add(method + " " + target + ": " + status);
                }
            }
        }
        assertThat(wrong.stream().limit(5)).isEmpty();
    }

    /**
     * Bytes that are nearly HTTP: an answer or an end, never an exception; what follows a whole request is still read.
     */
    @Test
    void nearlyHttpBytesAreAnsweredOrDropped() throws IOException {
        Rig rig = new Rig();
        Samples.fill(rig.answers);
        String good = "POST /slurm/v0.0.45/job/submit HTTP/1.1\r\nHost: x\r\nX-SLURM-USER-TOKEN: "
                + "a.b.c\r\nContent-Type: application/json\r\n"
                + "Content-Length: 2\r\n\r\n{}";
        int answered = 0;
        for (int i = 0; i < 3000; i++) {
            StringBuilder text = new StringBuilder(good);
            for (int n = random.nextInt(4); n >= 0; n--) {
                int at = random.nextInt(text.length());
                switch (random.nextInt(4)) {
                    case 0 -> text.setCharAt(at, (char) random.nextInt(256));
                    case 1 -> text.delete(at, Math.min(text.length(), at + 1 + random.nextInt(9)));
                    case 2 -> text.insert(at, text.substring(at, Math.min(text.length(), at + random.nextInt(30))));
                    default -> text.insert(at, String.valueOf(odd()));
                }
            }
            String answer = rig.raw(text.toString());
            assertThat(answer)
                    .as(text.toString())
                    .matches("(?s)|HTTP/1\\.1 [1-5]\\d\\d .*")
                    .doesNotContain("\"error_number\":" + SlurmErrno.INTERNAL.number());
            answered += answer.isEmpty() ? 0 : 1;
        }
        assertThat(answered).isGreaterThan(2000);
    }
}
