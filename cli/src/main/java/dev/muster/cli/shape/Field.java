package dev.muster.cli.shape;

import dev.muster.json.Json;
import java.util.List;
import java.util.function.Function;

/**
 * One field of an answer's rows, and the source of its value. Fields are data: one table serves the tree that commands
 * print, and the plan by which slurmrestd writes large answers without a tree.
 */
public sealed interface Field {
    String name();

    /** Returns the value for a tree; null leaves the field out. */
    Object of(Json.Obj row);

    /** A field with the same value in every row. */
    record Constant(String name, Object value) implements Field {
        @Override
        public Object of(Json.Obj row) {
            return value;
        }
    }

    /** A component that is a text; "" where the row has none. */
    record Text(String name, String from) implements Field {
        @Override
        public Object of(Json.Obj row) {
            return row.text(from);
        }
    }

    /** How a number stands in the answer. */
    enum Form {
        PLAIN {
            @Override
            public Object of(long n) {
                return n;
            }
        },
        NUMBER {
            @Override
            public Object of(long n) {
                return Tree.number(n);
            }
        },
        /** 0 means not set. */
        OR_UNSET {
            @Override
            public Object of(long n) {
                return Tree.orUnset(n);
            }
        },
        /** 0 means no limit. */
        OR_INFINITE {
            @Override
            public Object of(long n) {
                return n == 0 ? Tree.infinite() : Tree.number(n);
            }
        },
        /** A number as of OR_UNSET; below 0 it is no limit. */
        LIMIT {
            @Override
            public Object of(long n) {
                return Tree.limit(n);
            }
        };

        public abstract Object of(long n);
    }

    /** A component that is a whole number; 0 where the row has none. */
    @SuppressWarnings("AvoidCommonTypeNames") // named Field.Number everywhere, beside its siblings
    record Number(String name, String from, Form form) implements Field {
        @Override
        public Object of(Json.Obj row) {
            return form.of(row.number(from));
        }
    }

    record Flag(String name, String from) implements Field {
        @Override
        public Object of(Json.Obj row) {
            return row.flag(from);
        }
    }

    /** A number that is made of several components. */
    record Counted(String name, java.util.function.ToLongFunction<Json.Obj> number, Form form) implements Field {
        @Override
        public Object of(Json.Obj row) {
            return form.of(number.applyAsLong(row));
        }
    }

    /**
     * A field with few different values: rows with the same key have the same value.
     *
     * @param key comparable by equals; it stays
     */
    record Few(String name, Function<Json.Obj, Object> key, Function<Json.Obj, Object> value) implements Field {
        @Override
        public Object of(Json.Obj row) {
            return value.apply(row);
        }
    }

    /**
     * Anything else.
     *
     * @param value null leaves the field out
     */
    record Made(String name, Function<Json.Obj, Object> value) implements Field {
        @Override
        public Object of(Json.Obj row) {
            return value.apply(row);
        }
    }

    static Json.Obj tree(List<Field> fields, Json.Obj row) {
        Json.Obj out = new Json.Obj();
        for (Field f : fields) {
            Object value = f.of(row);
            if (value != null) {
                out.put(f.name(), value);
            }
        }
        return out;
    }
}
