package dev.muster.core.tres;

import dev.muster.core.options.LicenseRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** Trackable resources as text: {@code gres/gpu:a100:2,gres/nic:1} and the older {@code gpu:2}. */
public final class Tres {
    private Tres() {}

    /** @param type "" for any */
    public record Item(String name, String type, int count) {}

    private static final String CPU = "cpu";
    private static final String LICENSE = "license/";

    /**
     * Parses the GRES in a specification. The last item of the same name and type counts. Malformed parts are skipped:
     * {@link #isValid} says so at submission.
     */
    public static List<Item> gres(String text) {
        List<Item> out = new ArrayList<>();
        if (text.isEmpty()) {
            return out;
        }
        for (String part : text.split(",")) {
            item(part).filter(i -> !isOther(i)).ifPresent(i -> {
                out.removeIf(old -> old.name.equals(i.name) && old.type.equals(i.type));
                out.add(i);
            });
        }
        return out;
    }

    /** Tests for CPUs and licenses, which only --tres-per-task may name beside GRES. */
    public static boolean namesOthers(String text) {
        return !text.isEmpty()
                && java.util.Arrays.stream(text.split(","))
                        .flatMap(p -> item(p).stream())
                        .anyMatch(Tres::isOther);
    }

    private static boolean isOther(Item item) {
        return item.name.equals(CPU) || item.name.startsWith(LICENSE);
    }

    /** Returns the licenses of each task, as {@code license/fluent:2} names them. */
    public static List<LicenseRequest.Item> licenses(String text) {
        List<LicenseRequest.Item> out = new ArrayList<>();
        for (String part : text.isEmpty() ? new String[0] : text.split(",")) {
            item(part)
                    .filter(i -> i.name.startsWith(LICENSE))
                    .ifPresent(i -> out.add(new LicenseRequest.Item(i.name.substring(LICENSE.length()), i.count)));
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

    private static java.util.Optional<Item> item(String part) {
        boolean gres = part.startsWith("gres/") || part.startsWith("gres:");
        String[] words = (gres ? part.substring(5) : part).replace('=', ':').split(":", -1);
        if (words.length > 3 || java.util.Arrays.asList(words).contains("")) {
            return java.util.Optional.empty();
        }
        boolean license = part.startsWith(LICENSE) && words[0].length() > LICENSE.length();
        String name = license ? words[0].substring(LICENSE.length()) : words[0];
        if (name.indexOf('/') >= 0 || words.length > 1 && words[1].indexOf('/') >= 0) {
            return java.util.Optional.empty();
        }
        boolean counted = words.length == 2 && count(words[1]).isPresent();
        boolean needsCount = license && words.length > 1 || words[0].equals(CPU);
        return needsCount && !counted ? java.util.Optional.empty() : named(words);
    }

    /** Reads a name with a type, a count or both. */
    private static java.util.Optional<Item> named(String[] words) {
        if (words.length == 1) {
            return java.util.Optional.of(new Item(words[0], "", 1));
        }
        OptionalInt last = count(words[words.length - 1]);
        if (words.length == 2) {
            return java.util.Optional.of(
                    last.isPresent() ? new Item(words[0], "", last.getAsInt()) : new Item(words[0], words[1], 1));
        }
        return last.isPresent()
                ? java.util.Optional.of(new Item(words[0], words[1], last.getAsInt()))
                : java.util.Optional.empty();
    }

    private static OptionalInt count(String word) {
        long value = number(word);
        return value < 0 ? OptionalInt.empty() : OptionalInt.of((int) Math.min(Integer.MAX_VALUE, value));
    }

    /** Parses a count of at most eight digits with an optional suffix {@code kmgtp} (powers of 1024); -1 if invalid. */
    public static long number(String word) {
        int letter = word.isEmpty() ? -1 : "kmgtp".indexOf(Character.toLowerCase(word.charAt(word.length() - 1)));
        int digits = letter < 0 ? word.length() : word.length() - 1;
        if (digits == 0 || digits > 8) {
            return -1;
        }
        long value = 0;
        for (int i = 0; i < digits; i++) {
            int digit = word.charAt(i) - '0';
            if (digit < 0 || digit > 9) {
                return -1;
            }
            value = value * 10 + digit;
        }
        return letter < 0 ? value : Math.min(Long.MAX_VALUE >> 10 * (letter + 1), value) << 10 * (letter + 1);
    }
}
