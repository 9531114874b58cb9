package dev.muster.accounting;

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

/**
 * A table whose columns are the components of a record, in their order; the components of a record inside it are
 * columns with its name in front. A test compares this with the migrations.
 */
final class RowTable<T extends Record> {
    private record Column(String name, Class<?> type, List<Method> path) {
    }

    private final Class<T> type;
    private final String table;
    private final List<String> keys;
    private final List<Column> columns = new ArrayList<>();
    private final Shape shape;

    RowTable(Class<T> type, String table, String... keys) {
        this.type = type;
        this.table = table;
        this.keys = List.of(keys);
        this.shape = Shape.of(type);
        collect(type, "", List.of());
    }

    private void collect(Class<?> record, String prefix, List<Method> path) {
        for (RecordComponent component : record.getRecordComponents()) {
            List<Method> full = new ArrayList<>(path);
            full.add(component.getAccessor());
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

    List<String> columnNames() {
        return columns.stream().map(Column::name).toList();
    }

    /** With {@code cluster_key} as the first parameter. */
    String mergeSql(Database.Dialect dialect) {
        return dialect.merge(table, "\"cluster_key\", " + quoted(columnNames(), ""), "\"cluster_key\", " + quoted(keys, ""),
            "?" + ", ?".repeat(columns.size()));
    }

    /** The columns for a select, of the table under an alias. */
    String selectList(String alias) {
        return quoted(columnNames(), alias + ".");
    }

    private static String quoted(List<String> names, String prefix) {
        return String.join(", ", names.stream().map(n -> prefix + "\"" + n + "\"").toList());
    }

    void bind(PreparedStatement to, int clusterKey, T row) throws SQLException {
        to.setInt(1, clusterKey);
        for (int i = 0; i < columns.size(); i++) {
            Object value = row;
            for (Method accessor : columns.get(i).path) {
                value = invoke(accessor, value);
            }
            to.setObject(i + 2, value);
        }
    }

    private static Object invoke(Method accessor, Object on) {
        try {
            return accessor.invoke(on);
        } catch (IllegalAccessException | InvocationTargetException e) {
            throw new AssertionError(e);
        }
    }

    T read(ResultSet from) throws SQLException {
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
                throw new AssertionError(e);
            }
        }

        Object build(ResultSet from, int[] column) throws SQLException {
            Object[] values = new Object[columns.size()];
            for (int i = 0; i < values.length; i++) {
                Shape inner = nested.get(i);
                values[i] = inner == null ? value(columns.get(i), from, column[0]++) : inner.build(from, column);
            }
            try {
                return constructor.newInstance(values);
            } catch (ReflectiveOperationException e) {
                throw new AssertionError(e);
            }
        }
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
