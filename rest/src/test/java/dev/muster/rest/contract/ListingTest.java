package dev.muster.rest.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.command.Controller;
import dev.muster.cli.shape.Field;
import dev.muster.cli.shape.JobsJson;
import dev.muster.json.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows that are written without a tree say what the tree says, in every version and for whatever slurmctld sends. */
class ListingTest {
    private static final List<String> STATES = List.of("PENDING", "RUNNING", "COMPLETED", "FAILED", "SUSPENDED", "");
    private static final List<String> TASKS = List.of("", "7", "1-9", "1-9:2", "0-30:5", "1-2,5-21:4");
    private static final List<String> TEXTS = List.of(
            "",
            "a",
            "n[1-3]",
            "\"q\\\"\n",
            "ä€😀",
            "1@5:00",
            "low-high:ondemand",
            "cpu=2,billing=7",
            "BEGIN,END",
            "USER");

    private static Json.Obj row(Random random) {
        Json.Obj j = new Json.Obj()
                .put("jobId", (long) random.nextInt(1, 1 << 30))
                .put("state", STATES.get(random.nextInt(STATES.size())));
        for (Field f : JobsJson.fields("c", 45)) {
            switch (f) {
                case Field.Text t
                when random.nextInt(3) > 0 -> j.put(t.from(), TEXTS.get(random.nextInt(TEXTS.size())));
                case Field.Number n
                when random.nextInt(3) > 0 ->
                    j.put(
                            n.from(),
                            new long[] {-1, 0, 1, 9, 10, Integer.MAX_VALUE, 1L << 33, 1_234_567_891L}
                                    [random.nextInt(8)]);
                case Field.Flag g -> j.put(g.from(), random.nextBoolean());
                default -> {}
            }
        }
        for (String name :
                List.of("switches", "cpuFreq", "mailType", "exclusive", "tresAlloc", "reason", "reasonText")) {
            j.put(name, TEXTS.get(random.nextInt(TEXTS.size())));
        }
        j.put("arrayTasks", TASKS.get(random.nextInt(TASKS.size())));
        j.put("flags", new ArrayList<Object>(random.nextBoolean() ? List.of() : List.of("COMPLETING", "NO_SUCH")));
        j.put("exit", new Json.Obj().put("signal", (long) random.nextInt(3)).put("code", (long) random.nextInt(3)));
        if (random.nextBoolean()) {
            j.put("nodes", "n[1-2]")
                    .put(
                            "details",
                            new ArrayList<Object>(List.of(new Json.Obj()
                                    .put("nodes", "n[1-2]")
                                    .put("cpuIds", "0-1")
                                    .put("sockets", 1L)
                                    .put("coresPerSocket", 2L)
                                    .put("cores", "1")
                                    .put("gres", "gpu:1(IDX:0)"))));
        }
        return j;
    }

    @ParameterizedTest
    @ValueSource(ints = {42, 43, 44, 45})
    void mappedRowEqualsItsTree(int version) throws IOException {
        Random random = new Random(version);
        List<Object> rows = new ArrayList<>();
        List<Object> trees = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            Json.Obj row = row(random);
            rows.add(row);
            trees.add(Field.tree(JobsJson.fields("c", 45), row));
        }
        SchemaType kind = new SchemaType.Book(Contract.read()).of(version, "openapi_job_info_resp");
        byte[] reply = Json.print(new Json.Obj().put("lastUpdate", 5L).put("jobs", rows));
        ByteArrayOutputStream pieces = new ByteArrayOutputStream();
        Listing listing = new Listing(Controller.Rows.of(reply, "jobs"), JobsJson.fields("c", 45), "test");
        ResponseWriter.write(pieces, kind, new Json.Obj().put("jobs", listing));
        Json.Obj expected = Json.object(ResponseWriter.json(kind, new Json.Obj().put("jobs", trees)));
        Json.Obj found = Json.object(pieces.toByteArray());
        assertThat(found.list("jobs")).hasSize(400);
        for (int i = 0; i < 400; i++) {
            assertThat(found.list("jobs").get(i))
                    .as(new String(Json.print(rows.get(i)), StandardCharsets.UTF_8))
                    .isEqualTo(expected.list("jobs").get(i));
        }
        assertThat(found).isEqualTo(expected);
    }
}
