package dev.muster.core.options;

import dev.muster.model.format.Digits;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Reads options by name. A text that is not what an option wants reads as its default. */
final class OptionParser {
    private final Map<String, String> texts;

    OptionParser(Map<String, String> texts) {
        this.texts = texts;
    }

    /** Tests whether a word is there; one without a value is there and empty. */
    boolean has(String name) {
        return texts.containsKey(name);
    }

    String text(String name) {
        return texts.getOrDefault(name, "");
    }

    String text(String name, String otherwise) {
        return texts.getOrDefault(name, otherwise);
    }

    boolean isTrue(String name) {
        return Boolean.parseBoolean(texts.get(name));
    }

    /** Returns a whole number with a sign. */
    long number(String name, long otherwise) {
        return parsed(text(name), otherwise);
    }

    /** Returns a whole number of 32 bits with a sign. */
    int count(String name, int otherwise) {
        long value = number(name, otherwise);
        return value == (int) value ? (int) value : otherwise;
    }

    /** Returns a number of at most that many digits, without a sign. */
    long digits(String name, int digitsMax, long otherwise) {
        String text = text(name);
        return Digits.only(text, digitsMax) ? Long.parseLong(text) : otherwise;
    }

    /** Returns a number of at most that many digits, without a sign and without a zero in front. */
    long positive(String name, int digitsMax, long otherwise) {
        return text(name).startsWith("0") ? otherwise : digits(name, digitsMax, otherwise);
    }

    /** Returns the items between commas; no empty ones. */
    List<String> list(String name) {
        return items(text(name), ",");
    }

    /** Returns the options whose names begin with the prefix; each key is the name without it. */
    Stream<Map.Entry<String, String>> below(String prefix) {
        return texts.entrySet().stream()
                .filter(e -> e.getKey().startsWith(prefix))
                .map(e -> Map.entry(e.getKey().substring(prefix.length()), e.getValue()));
    }

    static List<String> items(String text, String separator) {
        return Stream.of(text.split(separator)).filter(item -> !item.isEmpty()).toList();
    }

    static long parsed(String text, long otherwise) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }
}
