package dev.muster.json;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.model.api.JobMessages;
import dev.muster.model.job.JobDesc;
import java.io.IOException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Compares generated code with method handles and trees: both write and read each record of model alike. The test is in
 * the codec's package because it uses {@code RecordAdapter}, which is private to that package.
 */
class ModelRecordsCodecTest {
    private static final int DEPTH = 5;
    private final Random random = new Random(7);

    @Test
    void everyRecordIsWrittenAndReadAlikeBothWays() throws IOException {
        int compiled = 0;
        int values = 0;
        for (Class<?> type : records()) {
            RecordAdapter plain = new RecordAdapter(type);
            RecordAdapter made = (RecordAdapter) JsonAdapter.of(type);
            compiled += made.compile() ? 1 : 0;
            for (int i = 0; i < 20; i++) {
                Optional<Object> value = value(type, DEPTH);
                if (value.isEmpty()) {
                    continue;
                }
                values++;
                byte[] json = written(plain, value.get());
                assertThat(text(written(made, value.get()))).as(type.getName()).isEqualTo(text(json));
                Object read = plain.read(Json.parse(json));
                assertThat(made.read(new JsonReader(json, 0, json.length)))
                        .as(text(json))
                        .isEqualTo(read);
                assertThat(plain.read(new JsonReader(json, 0, json.length)))
                        .as(text(json))
                        .isEqualTo(read);
                Json.Writer some = new Json.Writer();
                Json.Writer same = new Json.Writer();
                int[] places = random.ints(0, made.all().length + 1)
                        .limit(3)
                        .filter(p -> p < made.all().length)
                        .sorted()
                        .distinct()
                        .toArray();
                plain.write(some, value.get(), places);
                made.write(same, value.get(), places);
                assertThat(text(same.toByteArray())).isEqualTo(text(some.toByteArray()));
            }
        }
        assertThat(compiled).isGreaterThan(150);
        assertThat(values).isGreaterThan(3000);
    }

    /** Coders of an installation are class files of their own, which are found by name. */
    @Test
    void codersOfTheInstallationDoTheSame() throws IOException, IllegalAccessException {
        int found = 0;
        for (Class<?> type : records()) {
            RecordAdapter plain = new RecordAdapter(type);
            Optional<byte[]> code = RecordCodecGenerator.classFile(plain);
            assertThat(code.isPresent()).as(type.getName()).isEqualTo(new RecordAdapter(type).compile());
            assertThat(RecordCodecGenerator.named(plain))
                    .as("before it is there")
                    .isEmpty();
            Optional<Object> value = value(type, DEPTH);
            if (code.isEmpty() || value.isEmpty()) {
                continue;
            }
            java.lang.invoke.MethodHandles.lookup().defineClass(code.get());
            RecordCodec coder = RecordCodecGenerator.named(plain).orElseThrow();
            byte[] json = written(plain, value.get());
            Json.Writer out = new Json.Writer();
            out.raw(coder.write(out, value.get(), '{') == '{' ? "{}" : "}");
            assertThat(text(out.toByteArray())).as(type.getName()).isEqualTo(text(json));
            JsonReader in = new JsonReader(json, 0, json.length);
            assertThat(coder.read(in, in.first(plain.fields()))).as(text(json)).isEqualTo(plain.read(Json.parse(json)));
            found++;
        }
        assertThat(found).isGreaterThan(150);
    }

    /** Whatever becomes of the bytes: the value, or the exception with its words, is the tree's. */
    @Test
    void spoiltBytesGiveTheSameOutcomeAsTheTree() {
        ((RecordAdapter) JsonAdapter.of(JobMessages.Submit.class)).compile();
        ((RecordAdapter) JsonAdapter.of(JobDesc.class)).compile();
        int refused = 0;
        for (int i = 0; i < 4000; i++) {
            Object value = value(JobMessages.Submit.class, DEPTH).orElseThrow();
            byte[] json = written((RecordAdapter) JsonAdapter.of(JobMessages.Submit.class), value);
            byte[] spoilt = spoilt(json);
            String tree = outcome(() -> Codec.bind(Json.parse(spoilt), JobMessages.Submit.class));
            assertThat(outcome(() -> Codec.decode(spoilt, JobMessages.Submit.class)))
                    .as(text(spoilt))
                    .isEqualTo(tree);
            refused += tree.startsWith("refused") ? 1 : 0;
        }
        assertThat(refused).isBetween(500, 3900);
    }

    @Test
    void recordIsReadWithBlanksNullsAndUnknownFields() {
        ((RecordAdapter) JsonAdapter.of(JobMessages.Submit.class)).compile();
        for (String json : List.of(
                "{\"script\":\"YQ==\",\"requestId\":\"r\"}",
                " { \"requestId\" : \"r\" , \"script\" : \"YQ==\" } ",
                "{\"requestId\":\"r\",\"script\":null,\"script\":\"YQ==\",\"environment\":null}",
                "{\"requestId\":\"x\",\"requestId\":\"r\",\"script\":\"YQ==\"}",
                "{\"new\":{\"a\":[1,{}]},\"requestId\":\"r\",\"other\":[],\"script\":\"YQ==\",\"last\":-1.5e3}",
                "{\"requestId\":\"\\u0072\",\"script\":\"YQ==\"}")) {
            JobMessages.Submit read = Codec.decode(json.getBytes(StandardCharsets.UTF_8), JobMessages.Submit.class);
            assertThat(read.requestId()).as(json).isEqualTo("r");
            assertThat(read.script()).as(json).isEqualTo(Bytes.of("a"));
        }
        byte[] many = ("{" + "\"x\":1,".repeat(200_000) + "\"requestId\":\"r\"}").getBytes(StandardCharsets.UTF_8);
        assertThat(Codec.decode(many, JobMessages.Submit.class).requestId()).isEqualTo("r");
    }

    private byte[] spoilt(byte[] json) {
        byte[] out = json.clone();
        switch (random.nextInt(4)) {
            case 0 -> out[random.nextInt(out.length)] = (byte) random.nextInt(32, 127);
            case 1 -> out = java.util.Arrays.copyOf(out, random.nextInt(out.length));
            case 2 -> {
                String s = text(json);
                String[] from = {":", "\"", "1", "true", "[", "{", ","};
                String[] to = {" : ", "\\u0022", "1.5", "null", "[null,", "{\"y\":{},", ", "};
                int which = random.nextInt(from.length);
                out = s.replace(from[which], to[which]).getBytes(StandardCharsets.UTF_8);
            }
            default -> {}
        }
        return out;
    }

    private static String outcome(java.util.function.Supplier<Object> read) {
        try {
            return String.valueOf(read.get());
        } catch (Json.MalformedException e) {
            return "refused " + e.getMessage();
        }
    }

    private static byte[] written(RecordAdapter shape, Object value) {
        Json.Writer out = new Json.Writer();
        shape.write(out, value);
        return out.toByteArray();
    }

    private static String text(byte[] json) {
        return new String(json, StandardCharsets.UTF_8);
    }

    private static List<Class<?>> records() throws IOException {
        Path root = Path.of("target/classes");
        List<Class<?>> out = new ArrayList<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path p :
                    files.filter(f -> f.toString().endsWith(".class")).sorted().toList()) {
                String name = root.relativize(p).toString().replace('/', '.').replaceAll("\\.class$", "");
                try {
                    Class<?> c = Class.forName(name, false, ModelRecordsCodecTest.class.getClassLoader());
                    if (c.isRecord() && java.lang.reflect.Modifier.isPublic(c.getModifiers())) {
                        new RecordAdapter(c).absent();
                        out.add(c);
                    }
                } catch (ClassNotFoundException | RuntimeException e) {
                    // not one that has a JSON form
                }
            }
        }
        return out;
    }

    private Optional<Object> value(Type type, int depth) {
        try {
            return Optional.ofNullable(random(type, depth));
        } catch (IllegalArgumentException | IllegalStateException | NullPointerException | Json.MalformedException e) {
            return Optional.empty();
        }
    }

    private Object random(Type type, int depth) {
        if (type instanceof ParameterizedType p) {
            Type last = p.getActualTypeArguments()[p.getActualTypeArguments().length - 1];
            int n = depth > 0 ? random.nextInt(3) : 0;
            List<Object> items = new ArrayList<>();
            TreeMap<String, Object> map = new TreeMap<>();
            for (int i = 0; i < n; i++) {
                value(last, depth - 1).ifPresent(items::add);
            }
            items.forEach(x -> map.put(word(), x));
            return Map.class.isAssignableFrom((Class<?>) p.getRawType()) ? map : List.copyOf(items);
        }
        Class<?> c = (Class<?>) type;
        if (c == String.class) {
            return random.nextBoolean() ? word() : "";
        } else if (c == int.class || c == Integer.class) {
            return random.nextBoolean() ? 0 : random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(100);
        } else if (c == long.class || c == Long.class) {
            return random.nextBoolean() ? 0L : random.nextInt(3) == 0 ? random.nextLong() : random.nextInt(100);
        } else if (c == double.class || c == Double.class) {
            return random.nextBoolean() ? 0.0 : random.nextInt(5) == 0 ? -0.0 : random.nextDouble() * 1e9;
        } else if (c == boolean.class || c == Boolean.class) {
            return random.nextBoolean();
        } else if (c == Bytes.class) {
            return Bytes.of(word());
        } else if (c == Json.Obj.class) {
            return random.nextBoolean()
                    ? new Json.Obj()
                    : new Json.Obj().put("a", 1L).put(word(), List.of("x"));
        } else if (c.isEnum()) {
            return c.getEnumConstants()[random.nextInt(c.getEnumConstants().length)];
        } else if (c.isRecord()) {
            return depth > 0 && random.nextInt(4) != 0
                    ? record(c, depth)
                    : JsonAdapter.of(c).absent();
        } else if (c.isSealed()) {
            Class<?>[] of = c.getPermittedSubclasses();
            return random(of[random.nextInt(of.length)], depth);
        }
        return JsonAdapter.of(c).absent();
    }

    private Object record(Class<?> c, int depth) {
        RecordComponent[] components = c.getRecordComponents();
        Json.Obj tree = new Json.Obj();
        for (RecordComponent component : components) {
            value(component.getGenericType(), depth - 1).ifPresent(v -> {
                Json.Writer out = new Json.Writer();
                JsonAdapter.of(component.getGenericType()).write(out, v);
                tree.put(component.getName(), Json.parse(out.toByteArray()));
            });
        }
        return new RecordAdapter(c).read(tree);
    }

    private String word() {
        String[] words = {
            "a",
            "node-1",
            "q\"\\\n\u0001é\uD83D\uDE00",
            "/home/user/a/longer/path/than/thirty-two/characters",
            "0",
            "ünï"
        };
        return words[random.nextInt(words.length)] + random.nextInt(3);
    }
}
