package dev.muster.core;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/** Licences: what the cluster has of them, and what a job asks for with {@code -L}. */
public final class Licences {
    /** An option of {@link Settings}: slurm.conf's Licenses as written. */
    public static final String OPTION = "licenses";
    private static final int COUNT_MAX = 1_000_000_000;

    private Licences() {}

    /** So many of one. */
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

    /** Reads {@code fluent:2,matlab} or {@code fluent:2|abaqus:1}; empty if it is neither. */
    public static Optional<Wanted> parse(String text) {
        if (text.isEmpty()) {
            return Optional.of(Wanted.NONE);
        }
        boolean any = text.indexOf('|') >= 0;
        if (any && text.indexOf(',') >= 0) {
            return Optional.empty();
        }
        Map<String, Integer> sums = new TreeMap<>();
        List<Item> alternatives = new ArrayList<>();
        for (String part : text.split(any ? "\\|" : ",", -1)) {
            Optional<Item> item = item(part.strip());
            if (item.isEmpty()) {
                return Optional.empty();
            }
            alternatives.add(item.get());
            sums.merge(item.get().name, item.get().count, (a, b) -> (int) Math.min(COUNT_MAX, (long) a + b));
        }
        return Optional.of(any ? new Wanted(List.copyOf(alternatives), true)
                : new Wanted(sums.entrySet().stream().map(e -> new Item(e.getKey(), e.getValue())).toList(), false));
    }

    private static Optional<Item> item(String text) {
        int sign = Math.max(text.lastIndexOf(':'), text.lastIndexOf('='));
        String name = sign < 0 ? text : text.substring(0, sign);
        try {
            int count = sign < 0 ? 1 : Integer.parseInt(text.substring(sign + 1));
            return name.isEmpty() || count < 0 || count > COUNT_MAX ? Optional.empty() : Optional.of(new Item(name, count));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** What the cluster has, by name: of its own, and by {@code name@server} its share of what is served outside. */
    public static SortedMap<String, Integer> configured(State state) {
        SortedMap<String, Integer> out = new TreeMap<>();
        parse(state.settings().options().getOrDefault(OPTION, "")).ifPresent(w -> w.items.forEach(i -> out.put(i.name, i.count)));
        state.accounts().licences().forEach(text -> item(text).ifPresent(i -> out.put(i.name, i.count)));
        return out;
    }

    /** Served outside. */
    public static boolean isRemote(String name) {
        return name.indexOf('@') >= 0;
    }

    /** The text is no request, or asks for what the cluster does not have at all. */
    public static boolean isWrong(State state, String text) {
        SortedMap<String, Integer> all = configured(state);
        return parse(text).map(w -> w.items.stream().anyMatch(i -> !all.containsKey(i.name) || i.count > all.get(i.name))).orElse(true);
    }

    /** As {@code Licenses=} shows it. */
    public static String text(List<Item> items) {
        return String.join(",", items.stream().map(Item::toString).toList());
    }

    /** What a job holds; none once it has ended, whatever is left on its nodes. */
    public static List<Item> held(Job job) {
        return job.state().isActive() ? parse(job.run().allocation().licences()).orElse(Wanted.NONE).items : List.of();
    }
}
