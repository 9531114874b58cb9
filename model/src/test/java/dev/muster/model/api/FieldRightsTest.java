package dev.muster.model.api;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.api.FieldRights.Setter;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.StepDesc;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The table of fields against the records: a component without a row fails here. */
class FieldRightsTest {
    /** Paths of all components that are no records. */
    private static List<String> paths(Class<?> type, String prefix) {
        List<String> out = new ArrayList<>();
        for (RecordComponent c : type.getRecordComponents()) {
            if (c.getType().isRecord()) {
                out.addAll(paths(c.getType(), prefix + c.getName() + "."));
            } else {
                out.add(prefix + c.getName());
            }
        }
        return out;
    }

    @Test
    void everyJobAndStepFieldHasItsRights() {
        assertThat(FieldRights.job().keySet()).isEqualTo(new TreeSet<>(paths(JobDesc.class, "")));
        assertThat(FieldRights.step().keySet()).isEqualTo(new TreeSet<>(paths(StepDesc.class, "")));
    }

    private static RecordComponent component(String path) {
        Class<?> type = JobDesc.class;
        RecordComponent last = null;
        for (String name : path.split("\\.")) {
            last = Stream.of(type.getRecordComponents())
                    .filter(c -> c.getName().equals(name))
                    .findFirst()
                    .orElseThrow();
            type = last.getType();
        }
        return last;
    }

    /** A description in which that field alone is set. */
    static JobDesc with(String path) {
        RecordComponent c = component(path);
        Object value = c.getType() == boolean.class
                ? Boolean.TRUE
                : c.getType() == int.class || c.getType() == long.class
                        ? (Object) 1L
                        : c.getType() == List.class
                                ? new ArrayList<Object>(List.of(
                                        ((ParameterizedType) c.getGenericType()).getActualTypeArguments()[0]
                                                        == Integer.class
                                                ? (Object) 1L
                                                : "YQ=="))
                                : "YQ==";
        Json.Obj root = new Json.Obj();
        Json.Obj at = root;
        String[] names = path.split("\\.");
        for (int i = 0; i + 1 < names.length; i++) {
            Json.Obj inner = new Json.Obj();
            at.put(names[i], inner);
            at = inner;
        }
        at.put(names[names.length - 1], value);
        return Codec.bind(root, JobDesc.class);
    }

    @TestFactory
    Stream<DynamicTest> aRestrictedFieldIsSeenWhereItIsSet() {
        return FieldRights.job().entrySet().stream()
                .filter(e -> e.getValue().compareTo(Setter.OPERATOR) >= 0)
                .map(e -> DynamicTest.dynamicTest(e.getKey(), () -> {
                    assertThat(FieldRights.restricted(with(e.getKey()))).isEqualTo(Map.of(e.getKey(), e.getValue()));
                    assertThat(FieldRights.restricted(Codec.bind(new Json.Obj(), JobDesc.class)))
                            .isEmpty();
                }));
    }

    private static long binaryComponents(Class<?> type) {
        long out = 0;
        for (RecordComponent c : type.getRecordComponents()) {
            boolean many = c.getType() == List.class
                    && ((ParameterizedType) c.getGenericType()).getActualTypeArguments()[0] == Bytes.class;
            out += c.getType().isRecord() && c.getType() != Bytes.class
                    ? binaryComponents(c.getType())
                    : c.getType() == Bytes.class || many ? 1 : 0;
        }
        return out;
    }

    @Test
    void everyBinaryValueIsChecked() {
        Bytes a = Bytes.of("a");
        JobDesc job = Codec.bind(
                Json.object(
                        ("{\"files\":{\"workDir\":\"YQ==\",\"stdin\":\"YQ==\",\"stdout\":\"YQ==\",\"stderr\":\"YQ==\"},"
                                        + "\"payload\":{\"arguments\":[\"YQ==\"],\"submitLine\":\"YQ==\"}}")
                                .getBytes(StandardCharsets.UTF_8)),
                JobDesc.class);
        assertThat(FieldRights.texts(new JobMessages.Submit("", job, a, List.of(a), false, false)))
                .hasSize((int) binaryComponents(JobMessages.Submit.class))
                .containsOnly(a);
        StepDesc step = Codec.bind(
                Json.object(("{\"arguments\":[\"YQ==\"],\"multiProg\":\"YQ==\",\"environment\":[\"YQ==\"],"
                                + "\"workDir\":\"YQ==\","
                                + "\"taskProlog\":\"YQ==\",\"taskEpilog\":\"YQ==\",\"submitLine\":\"YQ==\","
                                + "\"io\":{\"stdin\":\"YQ==\",\"stdout\":\"YQ==\","
                                + "\"stderr\":\"YQ==\"}}")
                        .getBytes(StandardCharsets.UTF_8)),
                StepDesc.class);
        assertThat(FieldRights.texts(step))
                .hasSize((int) binaryComponents(StepDesc.class))
                .containsOnly(a);
    }
}
