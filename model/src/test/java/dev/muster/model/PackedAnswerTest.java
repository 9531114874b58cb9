package dev.muster.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.json.Json;
import dev.muster.model.accounting.PackedAnswer;
import dev.muster.model.accounting.PackedAnswer.Column;
import dev.muster.model.accounting.PackedAnswer.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class PackedAnswerTest {
    private static final List<Column> JOBS = List.of(
            new Column("jobId", Kind.NUMBER),
            new Column("name", Kind.TEXT),
            new Column("batch", Kind.FLAG),
            new Column("exit.code", Kind.NUMBER),
            new Column("exit.signal", Kind.NUMBER));
    private static final List<Column> STEPS =
            List.of(new Column("stepId", Kind.NUMBER), new Column("usage.node", Kind.TEXT));

    private static void job(PackedAnswer.Writer to, String cluster, long id, String name, boolean batch, int code) {
        to.job(cluster);
        to.value(id);
        to.value(name);
        to.value(batch ? 1 : 0);
        to.value(code);
        to.value(-code);
    }

    private static List<String> rows(byte[] answer) {
        PackedAnswer.Reader r = new PackedAnswer.Reader(answer);
        List<String> out = new ArrayList<>();
        while (r.advance()) {
            out.add(r.jobCluster() + " " + r.job() + r.steps());
        }
        out.add("now " + r.now() + " of " + r.cluster() + " next " + r.next());
        return out;
    }

    @Test
    void rowsComeBackAsTheyWent() {
        PackedAnswer.Writer w = new PackedAnswer.Writer(1_795_254_380L, "c", JOBS, STEPS);
        job(w, "", Integer.MAX_VALUE, "näme \0\n", true, 1);
        w.step();
        w.value(-5);
        w.value("n1");
        w.step();
        w.value(0);
        w.value("");
        job(w, "far", 1, "", false, -1);
        job(w, "far", Long.MIN_VALUE, "näme \0\n", true, 0);
        w.step();
        w.value(Long.MAX_VALUE);
        w.value("n1");
        assertThat(rows(w.end(7)))
                .containsExactly(
                        " {\"exit\":{\"code\":1,\"signal\":-1},\"jobId\":2147483647,\"name\":\"näme "
                                + "\\u0000\\n\",\"batch\":true}"
                                + "[{\"usage\":{\"node\":\"n1\"},\"stepId\":-5}, "
                                + "{\"usage\":{\"node\":\"\"},\"stepId\":0}]",
                        "far {\"exit\":{\"code\":-1,\"signal\":1},\"jobId\":1,\"name\":\"\",\"batch\":false}[]",
                        "far {\"exit\":{\"code\":0,\"signal\":0},\"jobId\":-9223372036854775808,"
                                + "\"name\":\"näme \\u0000\\n\",\"batch\":true}"
                                + "[{\"usage\":{\"node\":\"n1\"},\"stepId\":9223372036854775807}]",
                        "now 1795254380 of c next 7");
    }

    /** More different texts than are remembered, and each of them again. */
    @Test
    void textsBeyondTheTableAreReadBack() {
        PackedAnswer.Writer w = new PackedAnswer.Writer(0, "", JOBS, STEPS);
        int many = (1 << 16) + 100;
        for (int i = 0; i < 2 * many; i++) {
            job(w, "", i, "name " + i % many, false, 0);
            job(w, "", i, "name " + i % many, false, 0);
        }
        PackedAnswer.Reader r = new PackedAnswer.Reader(w.end(0));
        for (int i = 0; i < 2 * many; i++) {
            for (int twice = 0; twice < 2; twice++) {
                assertThat(r.advance()).isTrue();
                assertThat(r.job().text("name")).isEqualTo("name " + i % many);
            }
        }
        assertThat(r.advance()).isFalse();
    }

    @Test
    void alikeRowsTakeFewBytes() {
        PackedAnswer.Writer w = new PackedAnswer.Writer(0, "", JOBS, STEPS);
        for (int i = 0; i < 1000; i++) {
            job(w, "", i, "a name of some length that many jobs have", true, 0);
        }
        assertThat(w.size()).isLessThan(1000 * 12 + 200);
    }

    @Test
    void cutOrChangedAnswerIsRefused() {
        PackedAnswer.Writer w = new PackedAnswer.Writer(5, "c", JOBS, STEPS);
        job(w, "", 3, "x", true, 0);
        byte[] whole = w.end(0);
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThatThrownBy(() -> rows(cut))
                    .as("after " + length + " bytes")
                    .isInstanceOf(Json.MalformedException.class);
        }
        assertThat(PackedAnswer.isPacked("{}".getBytes(java.nio.charset.StandardCharsets.UTF_8)))
                .isFalse();
        byte[] other = whole.clone();
        other[whole.length - 2] = 9;
        assertThatThrownBy(() -> rows(other)).isInstanceOf(Json.MalformedException.class);
    }
}
