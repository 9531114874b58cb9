package dev.muster.simulator;

import dev.muster.core.state.State;
import java.lang.reflect.RecordComponent;

/** Where two states differ, in words. */
final class StateDifferences {
    private StateDifferences() {}

    static String of(State expected, State actual) {
        StringBuilder out = new StringBuilder();
        try {
            for (RecordComponent c : State.class.getRecordComponents()) {
                Object e = c.getAccessor().invoke(expected);
                Object a = c.getAccessor().invoke(actual);
                if (!e.equals(a)) {
                    out.append("\n  ")
                            .append(c.getName())
                            .append(": expected ")
                            .append(shortened(e))
                            .append("\n    is ")
                            .append(shortened(a));
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
        return out.toString();
    }

    private static String shortened(Object value) {
        String text = value.toString();
        return text.length() > 2000 ? text.substring(0, 2000) + "…" : text;
    }
}
