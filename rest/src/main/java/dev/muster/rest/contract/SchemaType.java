package dev.muster.rest.contract;

import static java.util.Objects.requireNonNull;

import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** A schema of one version made ready for use: what it refers to is resolved. Immutable once made. */
public final class SchemaType {
    /** Schemas by version and name, each made when it is first asked for. */
    public static final class Book {
        private final Contract contract;
        private final Map<String, SchemaType> known = new ConcurrentHashMap<>();

        public Book(Contract contract) {
            this.contract = contract;
        }

        public SchemaType of(int version, String name) {
            SchemaType there = known.get(version + " " + name);
            if (there != null) {
                return there;
            }
            synchronized (this) {
                return named(version, name, new LinkedHashMap<>());
            }
        }

        /** @param making those that are not whole yet, for schemas that refer to themselves */
        private SchemaType named(int version, String name, Map<String, SchemaType> making) {
            String key = version + " " + name;
            SchemaType there = known.getOrDefault(key, making.get(key));
            if (there != null) {
                return there;
            }
            SchemaType made = new SchemaType();
            making.put(key, made);
            made.fill(this, version, contract.schema(version, name), making);
            known.put(key, made);
            return made;
        }

        private SchemaType kind(int version, Json.Obj schema, Map<String, SchemaType> making) {
            if (schema.has("$ref")) {
                return named(version, schema.text("$ref"), making);
            }
            SchemaType made = new SchemaType();
            made.fill(this, version, schema, making);
            return made;
        }
    }

    /**
     * A field of an object.
     *
     * @param key the name as it stands in JSON
     */
    record Field(String name, String key, SchemaType kind, boolean required) {}

    private String type = "";
    private List<Field> fields = List.of();
    private boolean open;
    private @Nullable SchemaType items;
    private List<Object> words = List.of();
    private Set<Object> wordSet = Set.of();

    private SchemaType() {}

    private void fill(Book book, int version, Json.Obj schema, Map<String, SchemaType> making) {
        Json.Obj step = schema;
        if (step.has("$ref")) {
            step = book.contract.schema(version, step.text("$ref"));
        }
        type = step.text("type");
        words = List.copyOf(step.list("enum"));
        wordSet = Set.copyOf(words);
        open = !step.has("properties");
        List<Field> all = new ArrayList<>();
        Set<String> required = Set.copyOf(step.texts("required"));
        for (Map.Entry<String, Object> p : step.obj("properties").fields().entrySet()) {
            String key = new String(Json.print(p.getKey()), StandardCharsets.UTF_8) + ":";
            all.add(new Field(
                    p.getKey(),
                    key,
                    book.kind(version, (Json.Obj) p.getValue(), making),
                    required.contains(p.getKey())));
        }
        for (String name : step.texts("required")) {
            below(name, all);
        }
        fields = List.copyOf(all);
        items = step.has("items") ? book.kind(version, step.obj("items"), making) : null;
    }

    /**
     * Adds the required fields that a schema names a/b next to a: Slurm's schemas require them, and an answer repeats
     * the nested value there so that it validates.
     */
    private static void below(String name, List<Field> all) {
        List<Field> at = all;
        Field found = null;
        for (String part : name.split("/")) {
            found = at.stream().filter(f -> f.name.equals(part)).findFirst().orElse(null);
            at = found == null ? List.of() : found.kind.fields;
        }
        if (name.indexOf('/') > 0 && found != null) {
            all.add(new Field(name, new String(Json.print(name), StandardCharsets.UTF_8) + ":", found.kind, true));
        }
    }

    /** object, array, string, integer, number, boolean, or "" for anything. */
    String type() {
        return type;
    }

    List<Field> fields() {
        return fields;
    }

    /** An object without a list of its fields. */
    boolean open() {
        return open;
    }

    /** Returns the type of an array's items. */
    SchemaType items() {
        return requireNonNull(items, "the schema of an array has items");
    }

    /** The only values, if any. */
    List<Object> words() {
        return words;
    }

    boolean takes(Object word) {
        return words.isEmpty() || wordSet.contains(word);
    }
}
