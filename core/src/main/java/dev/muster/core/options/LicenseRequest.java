package dev.muster.core.options;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Licenses as a text names them: of a job, a reservation, or the cluster's own in slurm.conf. */
public final class LicenseRequest {
    private static final int COUNT_MAX = 1_000_000_000;

    private LicenseRequest() {}

    /** A license and its count. */
    public record Item(String name, int count) {
        @Override
        public String toString() {
            return name + ":" + count;
        }
    }

    /** @param any one of the items suffices ({@code |}); otherwise all are needed ({@code ,}) */
    public record Wanted(List<Item> items, boolean any) {
        public static final Wanted NONE = new Wanted(List.of(), false);
    }

    /**
     * Reads {@code fluent:2,matlab}, {@code fluent:2|abaqus:1} or {@code power(n[1-8]):30}; empty if it is none of
     * these. A semicolon is a comma, and nothing between two of them is nothing.
     */
    public static Optional<Wanted> parse(String written) {
        String text = written.replace(';', ',');
        if (text.isEmpty()) {
            return Optional.of(Wanted.NONE);
        }
        List<String> parts = parts(text, '|');
        boolean any = parts.size() > 1;
        if (any && parts(text, ',').size() > 1) {
            return Optional.empty();
        }
        Map<String, Integer> sums = new TreeMap<>();
        List<Item> alternatives = new ArrayList<>();
        for (String part : any ? parts : parts(text, ',')) {
            if (part.isBlank() && !any) {
                continue;
            }
            Optional<Item> item = item(part.strip());
            if (item.isEmpty()) {
                return Optional.empty();
            }
            alternatives.add(item.get());
            sums.merge(item.get().name, item.get().count, (a, b) -> (int) Math.min(COUNT_MAX, (long) a + b));
        }
        return Optional.of(
                any
                        ? new Wanted(List.copyOf(alternatives), true)
                        : new Wanted(
                                sums.entrySet().stream()
                                        .map(e -> new Item(e.getKey(), e.getValue()))
                                        .toList(),
                                false));
    }

    /** Splits a text at separators outside of brackets. */
    public static List<String> parts(String text, char separator) {
        List<String> out = new ArrayList<>();
        int depth = 0;
        int from = 0;
        for (int i = 0; i <= text.length(); i++) {
            char c = i < text.length() ? text.charAt(i) : separator;
            if (c == '(' || c == '[') {
                depth++;
            } else if (c == ')' || c == ']') {
                depth--;
            }
            if (i == text.length() || c == separator && depth == 0) {
                out.add(text.substring(from, i));
                from = i + 1;
            }
        }
        return out;
    }

    public static int sign(String text) {
        return Math.max(text.lastIndexOf(':'), text.lastIndexOf('='));
    }

    public static Optional<Item> item(String text) {
        int sign = sign(text);
        String name = sign < 0 ? text : text.substring(0, sign);
        try {
            int count = sign < 0 ? 1 : Integer.parseInt(text.substring(sign + 1));
            return name.isEmpty() || count < 0 || count > COUNT_MAX
                    ? Optional.empty()
                    : Optional.of(new Item(name, count));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Returns the items as {@code Licenses=} shows them. */
    public static String text(List<Item> items) {
        return String.join(",", items.stream().map(Item::toString).toList());
    }
}
