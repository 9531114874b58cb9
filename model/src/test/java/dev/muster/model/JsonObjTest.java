package dev.muster.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** An object of JSON behaves like an ordered map, few fields or many, asked for one or not. */
class JsonObjTest {
    @Test
    void jsonObjectBehavesLikeAnOrderedMap() {
        Random random = new Random(3);
        for (int round = 0; round < 2000; round++) {
            Json.Obj object = new Json.Obj();
            Map<String, Object> model = new LinkedHashMap<>();
            for (int i = random.nextInt(30); i > 0; i--) {
                // not the same string twice, only equal ones
                String name = new String("f" + random.nextInt(20));
                switch (random.nextInt(12)) {
                    case 0 -> {
                        object.fields().remove(name);
                        model.remove(name);
                    }
                    case 1 -> assertThat(object.fields()).isEqualTo(model);
                    case 2 -> assertThat(object).isEqualTo(Json.parse(Json.print(object)));
                    default -> {
                        Object value = random.nextInt(6) == 0 ? null : (Object) (long) random.nextInt(100);
                        object.put(name, value);
                        model.put(name, value);
                    }
                }
                assertThat(object.has(name)).isEqualTo(model.containsKey(name));
                assertThat(object.raw(name)).isEqualTo(model.get(name));
            }
            StringBuilder text = new StringBuilder();
            model.forEach((k, v) -> text.append(text.isEmpty() ? "" : ",")
                    .append('"')
                    .append(k)
                    .append("\":")
                    .append(v));
            assertThat(object.toString()).isEqualTo("{" + text + "}");
            assertThat(List.copyOf(object.fields().keySet())).isEqualTo(List.copyOf(model.keySet()));
        }
    }
}
