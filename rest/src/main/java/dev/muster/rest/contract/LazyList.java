package dev.muster.rest.contract;

import dev.muster.json.Json;
import java.util.function.Consumer;

/** A list of an answer; its elements are made one by one while it is written. */
public interface LazyList {
    void each(Consumer<Json.Obj> element);
}
