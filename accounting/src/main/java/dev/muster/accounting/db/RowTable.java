package dev.muster.accounting.db;

import dev.muster.model.accounting.PackedAnswer;
import dev.muster.model.format.ErrorSentence;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Maps a record to a table: its components are the columns, in their order; components of a nested record are columns
 * with its name in front. A test compares this with the migrations.
 */
public final class RowTable<T extends Record> {
    private record Column(String name, Class<?> type, List<Method> path) {}

    private final Class<T> type;
    private final String table;
    private final List<String> keys;
    private final List<Column> columns = new ArrayList<>();
    private final Shape shape;

    public RowTable(Class<T> type, String table, String... keys) {
        this.type = type;
        this.table = table;
        this.keys = List.of(keys);
        this.shape = Shape.of(type);
        collect(type, "", List.of());
    }

    private void collect(Class<?> record, String prefix, List<Method> path) {
        for (RecordComponent component : record.getRecordComponents()) {
            List<Method> full = new ArrayList<>(path);
            Method accessor = component.getAccessor();
            // called for each value of each row: without this, each call checks its caller
            accessor.setAccessible(true);
            full.add(accessor);
            String name = prefix + snake(component.getName());
            if (component.getType().isRecord()) {
                collect(component.getType(), name + "_", full);
            } else {
                columns.add(new Column(name, component.getType(), List.copyOf(full)));
            }
        }
    }

    private static String snake(String name) {
        return name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
    }

    public List<String> columnNames() {
        return columns.stream().map(Column::name).toList();
    }

    /** SQL that inserts or updates a row, with {@code cluster_key} as the first parameter. */
    public String mergeSql(Database.Dialect dialect) {
        return dialect.merge(
                table,
                "\"cluster_key\", " + quoted(columnNames(), ""),
                "\"cluster_key\", " + quoted(keys, ""),
                "?" + ", ?".repeat(columns.size()));
    }

    /** The columns for a select, of the table under an alias. */
    public String selectList(String alias) {
        return quoted(columnNames(), alias + ".");
    }

    /** Which columns are those of the components with these names. */
    public boolean[] only(Set<String> components) {
        boolean[] out = new boolean[columns.size()];
        for (int i = 0; i < out.length; i++) {
            String first = columns.get(i).path.getFirst().getName();
            out[i] = components.contains(first);
        }
        return out;
    }

    public String selectList(String alias, boolean[] wanted) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < wanted.length; i++) {
            if (wanted[i]) {
                names.add(columns.get(i).name);
            }
        }
        return quoted(names, alias + ".");
    }

    public boolean[] every() {
        boolean[] out = new boolean[columns.size()];
        java.util.Arrays.fill(out, true);
        return out;
    }

    /** The chosen columns as a packed answer names them. */
    public List<PackedAnswer.Column> packed(boolean[] wanted) {
        List<PackedAnswer.Column> out = new ArrayList<>();
        for (int i = 0; i < wanted.length; i++) {
            if (wanted[i]) {
                out.add(new PackedAnswer.Column(
                        String.join(
                                ".",
                                columns.get(i).path.stream()
                                        .map(Method::getName)
                                        .toList()),
                        kind(columns.get(i).type)));
            }
        }
        return out;
    }

    private static PackedAnswer.Kind kind(Class<?> type) {
        if (type == String.class) {
            return PackedAnswer.Kind.TEXT;
        }
        return type == boolean.class ? PackedAnswer.Kind.FLAG : PackedAnswer.Kind.NUMBER;
    }

    /** Writes the chosen columns of a row. */
    public void pack(PackedAnswer.Writer to, T row, boolean[] wanted) {
        for (int i = 0; i < wanted.length; i++) {
            if (wanted[i]) {
                Object value = row;
                for (Method accessor : columns.get(i).path) {
                    value = invoke(accessor, value);
                }
                switch (value) {
                    case String text -> to.value(text);
                    case Boolean flag -> to.value(flag ? 1 : 0);
                    default -> to.value(((Number) value).longValue());
                }
            }
        }
    }

    public static int count(boolean[] wanted) {
        int n = 0;
        for (boolean w : wanted) {
            n += w ? 1 : 0;
        }
        return n;
    }

    /** A row of which only these columns were selected; the others are as in a row that says nothing. */
    public T read(ResultSet from, boolean[] wanted) throws SQLException {
        return type.cast(shape.build(from, new int[] {1}, wanted, new int[] {0}));
    }

    private static String quoted(List<String> names, String prefix) {
        return String.join(
                ", ", names.stream().map(n -> prefix + "\"" + n + "\"").toList());
    }

    public void bind(PreparedStatement statement, int clusterKey, T row) throws SQLException {
        statement.setInt(1, clusterKey);
        for (int i = 0; i < columns.size(); i++) {
            Object value = row;
            for (Method accessor : columns.get(i).path) {
                value = invoke(accessor, value);
            }
            // no text of a database may hold this one, and PostgreSQL says so
            statement.setObject(
                    i + 2, value instanceof String text && text.indexOf(0) >= 0 ? text.replace("\0", "") : value);
        }
    }

    private static Object invoke(Method accessor, Object on) {
        try {
            return accessor.invoke(on);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new LinkageError(ErrorSentence.of(e), e);
        }
    }

    public T read(ResultSet from) throws SQLException {
        return type.cast(shape.build(from, new int[] {1}));
    }

    /** How a record is put together again: a column, or another record, for each of its components. */
    private record Shape(Constructor<?> constructor, List<Class<?>> columns, List<Shape> nested) {

        static Shape of(Class<?> record) {
            List<Class<?>> types = new ArrayList<>();
            List<Shape> nested = new ArrayList<>();
            for (RecordComponent component : record.getRecordComponents()) {
                types.add(component.getType());
                nested.add(component.getType().isRecord() ? of(component.getType()) : null);
            }
            try {
                return new Shape(record.getDeclaredConstructor(types.toArray(new Class<?>[0])), types, nested);
            } catch (NoSuchMethodException e) {
                throw new LinkageError(ErrorSentence.of(e), e);
            }
        }

        /** @param column of the answer that is next; leaf: of all columns of the table */
        Object build(ResultSet from, int[] column, boolean[] wanted, int[] leaf) throws SQLException {
            Object[] values = new Object[columns.size()];
            for (int i = 0; i < values.length; i++) {
                Shape inner = nested.get(i);
                if (inner != null) {
                    values[i] = inner.build(from, column, wanted, leaf);
                } else if (wanted[leaf[0]++]) {
                    values[i] = value(columns.get(i), from, column[0]++);
                } else {
                    values[i] = nothing(columns.get(i));
                }
            }
            return made(values);
        }

        Object build(ResultSet from, int[] column) throws SQLException {
            Object[] values = new Object[columns.size()];
            for (int i = 0; i < values.length; i++) {
                Shape inner = nested.get(i);
                values[i] = inner == null ? value(columns.get(i), from, column[0]++) : inner.build(from, column);
            }
            return made(values);
        }

        private Object made(Object[] values) {
            try {
                return constructor.newInstance(values);
            } catch (ReflectiveOperationException e) {
                throw new LinkageError(ErrorSentence.of(e), e);
            }
        }
    }

    private static Object nothing(Class<?> type) {
        if (type == int.class) {
            return (Object) 0;
        }
        if (type == long.class) {
            return (Object) 0L;
        }
        if (type == boolean.class) {
            return (Object) Boolean.FALSE;
        }
        return "";
    }

    private static Object value(Class<?> type, ResultSet from, int column) throws SQLException {
        if (type == int.class) {
            return from.getInt(column);
        }
        if (type == long.class) {
            return from.getLong(column);
        }
        if (type == boolean.class) {
            return from.getBoolean(column);
        }
        if (type == String.class) {
            return from.getString(column);
        }
        throw new AssertionError("no column type for " + type);
    }
}
