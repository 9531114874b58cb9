package dev.muster.rest.contract;

import dev.muster.model.json.Json;
import java.util.function.Consumer;

/** A list in an answer whose elements are made while it is written, one by one. */
public interface LazyList {
    void each(Consumer<Json.Obj> element);
}
