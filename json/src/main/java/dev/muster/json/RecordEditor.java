package dev.muster.json;

import java.util.TreeMap;

/**
 * A copy of a record in the making, with other values of some components: what {@code withX} methods of large records
 * are made with, and what edits fields that a user names. A component of a record within has a dot before its name:
 * {@code timing.nice}. For one thread.
 */
public final class RecordEditor<R extends Record> {
    private final Class<R> type;
    private final RecordAdapter adapter;
    private final Object[] values;
    /** Edits of records within, by the name of their component. */
    private final TreeMap<String, RecordEditor<?>> parts = new TreeMap<>();

    private RecordEditor(Class<R> type, R record) {
        this.type = type;
        this.adapter = (RecordAdapter) JsonAdapter.of(type);
        this.values = adapter.components(record);
    }

    public static <R extends Record> RecordEditor<R> of(R record) {
        @SuppressWarnings("unchecked") // a record's class has no subclass
        Class<R> type = (Class<R>) record.getClass();
        return new RecordEditor<>(type, record);
    }

    /**
     * Sets a component.
     *
     * @param value of the component's type; of an int also a long, of an enum also the name
     * @throws Json.MalformedException if a long is no int
     * @throws IllegalArgumentException if there is no such component, or the value is of another type
     */
    public RecordEditor<R> set(String path, Object value) {
        int dot = path.indexOf('.');
        if (dot >= 0) {
            part(path.substring(0, dot)).set(path.substring(dot + 1), value);
            return this;
        }
        parts.remove(path);
        values[adapter.place(path)] = adapter.fitting(path, value);
        return this;
    }

    /** The value that a component has now. */
    public Object at(String path) {
        int dot = path.indexOf('.');
        if (dot >= 0) {
            return part(path.substring(0, dot)).at(path.substring(dot + 1));
        }
        return parts.containsKey(path) ? parts.get(path).record() : values[adapter.place(path)];
    }

    /** The value of a component that is a text, or the name of one of an enum. */
    public String text(String path) {
        return at(path) instanceof Enum<?> constant ? constant.name() : (String) at(path);
    }

    /** The value of a component that is a whole number. */
    public long number(String path) {
        return ((Number) at(path)).longValue();
    }

    /** The value of a component that is true or false. */
    public boolean flag(String path) {
        return (Boolean) at(path);
    }

    /** Returns the edit of a nested record; a value that is set there is part of this edit's result. */
    public RecordEditor<?> part(String name) {
        return parts.computeIfAbsent(name, n -> of((Record) values[adapter.place(n)]));
    }

    /** The record with all that is set. */
    public R record() {
        Object[] all = values.clone();
        parts.forEach((name, part) -> all[adapter.place(name)] = part.record());
        return type.cast(adapter.build(all));
    }
}
