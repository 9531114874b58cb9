package dev.muster.core;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** Trackable resources as text: {@code gres/gpu:a100:2,gres/nic:1} and the older {@code gpu:2}. */
public final class Tres {
    private Tres() {}

    /** @param type "" for any */
    public record Item(String name, String type, int count) {}

    /** The GRES named in a specification; malformed parts are skipped: {@link #isValid} says so at submission. */
    public static List<Item> gres(String text) {
        List<Item> out = new ArrayList<>();
        if (text.isEmpty()) {
            return out;
        }
        for (String part : text.split(",")) {
            item(part).ifPresent(out::add);
        }
        return out;
    }

    public static boolean isValid(String text) {
        if (text.isEmpty()) {
            return true;
        }
        for (String part : text.split(",", -1)) {
            if (item(part).isEmpty()) {
                return false;
            }
        }
        return true;
    }

    private static final String NUMBERS = "[0-9]{1,6}(\\*[0-9]{1,6})?(,[0-9]{1,6}(\\*[0-9]{1,6})?)*";
    private static final String MASKS = "(0x)?[0-9a-fA-F]+(\\*[0-9]{1,6})?(,(0x)?[0-9a-fA-F]+(\\*[0-9]{1,6})?)*";
    private static final String BIND = "(gres/)?[A-Za-z_][A-Za-z0-9_]*:(v(erbose)?,)?(closest|none|(single|per_task):[0-9]{1,6}"
            + "|map(_gpu)?:(" + NUMBERS + ")?|mask(_gpu)?:(" + MASKS + ")?)";
    private static final java.util.regex.Pattern BINDS = java.util.regex.Pattern.compile("(" + BIND + "([,+]" + BIND + ")*)?");

    /** {@code gres/gpu:map:0,1}: how tasks get their devices. */
    public static boolean isBinding(String text) {
        return text.length() < 4096 && BINDS.matcher(text).matches();
    }

    private static java.util.Optional<Item> item(String part) {
        String rest = part.startsWith("gres/") ? part.substring(5) : part.startsWith("gres:") ? part.substring(5) : part;
        String[] words = rest.replace('=', ':').split(":", -1);
        if (words.length > 3 || java.util.Arrays.asList(words).contains("")) {
            return java.util.Optional.empty();
        }
        if (words.length == 1) {
            return java.util.Optional.of(new Item(words[0], "", 1));
        }
        OptionalInt last = count(words[words.length - 1]);
        if (words.length == 2) {
            return java.util.Optional.of(last.isPresent() ? new Item(words[0], "", last.getAsInt()) : new Item(words[0], words[1], 1));
        }
        return last.isPresent() ? java.util.Optional.of(new Item(words[0], words[1], last.getAsInt())) : java.util.Optional.empty();
    }

    private static OptionalInt count(String word) {
        if (word.isEmpty() || word.length() > 8) {
            return OptionalInt.empty();
        }
        int value = 0;
        for (int i = 0; i < word.length(); i++) {
            int digit = word.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return OptionalInt.empty();
            }
            value = value * 10 + digit;
        }
        return OptionalInt.of(value);
    }
}
