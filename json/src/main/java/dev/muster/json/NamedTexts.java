package dev.muster.json;

import java.util.Map;

/**
 * A value that is written as a JSON object of strings. Its class has a static method {@code of(Map<String, String>)},
 * the inverse of {@link #texts()}; without texts it is an absent field.
 */
public interface NamedTexts {
    /** The texts by name, in the order in which they are written. */
    Map<String, String> texts();
}
