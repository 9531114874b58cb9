package dev.muster.core.tres;

import dev.muster.core.options.LicenseRequest;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.accounting.DbdMessages.RemoteLicense;
import dev.muster.model.cluster.LayeredResource;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Licenses: what the cluster has of them, and what a job asks for with {@code -L} or {@code --resources}. A layer of a
 * {@link LayeredResource} is counted as a license of its own, under the name {@link LayeredResource#pool}.
 */
public final class Licenses {
    /** Number of licenses of a layer without bound: more than all jobs together can ask for. */
    private static final int ENDLESS = Integer.MAX_VALUE;

    private Licenses() {}

    /**
     * The licenses that the cluster has under one name.
     *
     * @param name as a job's allocation names it
     * @param title as it is shown: of a layer its resource's
     * @param nodes of a layer
     * @param total -1 without bound
     * @param base of that, what others than jobs take at all times
     * @param remote what slurmdbd says of it; empty for the cluster's own
     */
    public record Pool(
            String name, String title, List<String> nodes, int total, int base, Optional<RemoteLicense> remote) {
        /** Returns how many of these licenses jobs may have together. */
        public int capacity() {
            return total < 0 ? ENDLESS : Math.max(0, total - base - missing());
        }

        /** Returns the licenses that are used outside of the cluster. */
        public int missing() {
            return remote.map(RemoteLicense::deficit).orElse(0);
        }
    }

    // ---- what there is

    private static Map<String, Integer> own(State state) {
        return state.settings().options().licenses().own();
    }

    /**
     * Returns all licenses of the cluster: slurm.conf's, its share of what is served outside ({@code name@server}), and
     * layers in their file's order.
     */
    public static List<Pool> pools(State state) {
        Map<String, Pool> out = new TreeMap<>();
        own(state).forEach((name, count) -> out.put(name, new Pool(name, name, List.of(), count, 0, Optional.empty())));
        Map<String, RemoteLicense> known = new HashMap<>();
        state.accounts().remotes().forEach(r -> known.put(r.name(), r));
        state.accounts()
                .licenses()
                .forEach(text -> LicenseRequest.item(text)
                        .ifPresent(i -> out.put(
                                i.name(),
                                new Pool(
                                        i.name(),
                                        i.name(),
                                        List.of(),
                                        i.count(),
                                        0,
                                        Optional.of(known.getOrDefault(
                                                i.name(), new RemoteLicense(i.name(), i.count(), 0, 0, 0)))))));
        List<Pool> all = new ArrayList<>(out.values());
        for (LayeredResource r : state.settings().layered()) {
            r.layers()
                    .forEach(l -> all.add(
                            new Pool(r.pool(l), r.name(), l.nodes(), l.count(), r.baseOf(l), Optional.empty())));
        }
        return all;
    }

    /** Returns how many licenses jobs may have together, by {@link Pool#name}. */
    public static Map<String, Integer> capacities(State state) {
        Map<String, Integer> out = new LinkedHashMap<>();
        pools(state).forEach(p -> out.put(p.name, p.capacity()));
        return out;
    }

    /** Returns the licenses that could ever be had, by name: also those that are missing at the moment. */
    private static Map<String, Integer> configured(State state) {
        Map<String, Integer> out = new HashMap<>();
        pools(state).forEach(p -> out.put(p.name, p.total < 0 ? ENDLESS : p.total - p.base));
        return out;
    }

    /** Returns the layered resource of that name. */
    public static Optional<LayeredResource> layered(State state, String name) {
        return state.settings().layered().stream()
                .filter(r -> r.name().equals(name))
                .findFirst();
    }

    // ---- what is asked for

    /**
     * A request as it is kept: words that stand for a count are that count. Where LicenseParameters=RemoteFuzzyMatch
     * allows it, a name without its server is the cluster's own license, else that of the only server that has one.
     */
    public static String resolved(State state, String text) {
        boolean plain = state.settings().layered().isEmpty()
                && !state.settings().options().licenses().bareNames();
        if (text.isEmpty() || hasEqualsSign(text) || plain) {
            return text;
        }
        char separator = LicenseRequest.parts(text, '|').size() > 1 ? '|' : ',';
        return String.join(
                String.valueOf(separator),
                LicenseRequest.parts(text, separator).stream()
                        .map(p -> one(state, p))
                        .toList());
    }

    private static String one(State state, String part) {
        int sign = LicenseRequest.sign(part);
        String name = sign < 0 ? part : part.substring(0, sign);
        Optional<LayeredResource> layered = layered(state, name);
        if (layered.isPresent()) {
            Integer count = sign < 0 ? null : layered.get().variables().get(part.substring(sign + 1));
            return count == null ? part : name + ":" + count;
        }
        if (!state.settings().options().licenses().bareNames() || name.indexOf('@') >= 0) {
            return part;
        }
        String count = sign < 0 ? "1" : part.substring(sign + 1);
        if (own(state).containsKey(name)) {
            return name + ":" + count;
        }
        List<String> served = pools(state).stream()
                .filter(p -> p.remote.isPresent() && p.name.startsWith(name + "@"))
                .map(Pool::name)
                .toList();
        return served.size() == 1 ? served.getFirst() + ":" + count : part;
    }

    /** Tests for an equals sign: a request has the form {@code name:count} and is not valid with one. */
    public static boolean hasEqualsSign(String text) {
        return text.indexOf('=') >= 0;
    }

    /** Tests whether the text is no request, or asks for what the cluster does not have at all. */
    public static boolean isWrong(State state, String text) {
        Optional<LicenseRequest.Wanted> wanted = LicenseRequest.parse(text);
        if (wanted.isEmpty() || hasEqualsSign(text)) {
            return true;
        }
        Map<String, Integer> all = configured(state);
        boolean more = state.settings().options().licenses().excess();
        int perNode = 0;
        for (LicenseRequest.Item i : wanted.get().items()) {
            Optional<LayeredResource> layered = layered(state, i.name());
            perNode += layered.isPresent() && layered.get().mode() == 3 ? 1 : 0;
            boolean wrong = layered.isPresent()
                    ? wanted.get().any() || i.count() > most(layered.get())
                    : i.name().indexOf('(') >= 0
                            || !all.containsKey(i.name())
                            || i.count() > all.get(i.name()) && !more;
            if (wrong) {
                return true;
            }
        }
        // nodes are chosen for one of those that are counted by node
        return perNode > 1;
    }

    /** Returns the most that a job on one node can have of it. */
    private static int most(LayeredResource r) {
        int largest = 0;
        for (LayeredResource.Layer outer : r.layers()) {
            for (String node : r.mode() == 1
                    ? outer.nodes().subList(0, Math.min(1, outer.nodes().size()))
                    : outer.nodes()) {
                largest = Math.max(
                        largest,
                        r.of(node).stream()
                                .mapToInt(l -> l.count() < 0 ? ENDLESS : Math.max(0, l.count() - r.baseOf(l)))
                                .reduce(r.mode() == 1 ? Math::max : Math::min)
                                .orElse(0));
            }
        }
        return largest;
    }

    /**
     * A reservation's text: as typed, but with layers under their names, {@code flat(n[01-04]):4}, whatever way the
     * nodes are written. Empty where it names no layer of a layered resource, or what cannot be reserved.
     */
    public static Optional<String> reserved(State state, String text) {
        List<LicenseRequest.Item> out = new ArrayList<>();
        Map<String, Integer> all = configured(state);
        String names = resolved(state, text);
        boolean asTyped = names.equals(text);
        for (LicenseRequest.Item i : LicenseRequest.parse(names)
                .filter(w -> !w.any())
                .map(LicenseRequest.Wanted::items)
                .orElse(List.of())) {
            int open = i.name().endsWith(")") ? i.name().indexOf('(') : -1;
            Optional<LayeredResource> layered =
                    layered(state, open < 0 ? i.name() : i.name().substring(0, open));
            String name = i.name();
            if (layered.isPresent()) {
                HashSet<String> nodes = new HashSet<>(
                        open >= 0
                                        && HostList.parse(i.name()
                                                        .substring(
                                                                open + 1,
                                                                i.name().length() - 1))
                                                instanceof HostList.Parsed.Ok ok
                                ? ok.list().names()
                                : List.of());
                name = layered.get().layers().stream()
                        .filter(l -> nodes.equals(new HashSet<>(l.nodes())))
                        .map(layered.get()::pool)
                        .findFirst()
                        .orElse("");
            }
            if (i.count() > all.getOrDefault(name, -1)) {
                return Optional.empty();
            }
            asTyped &= name.equals(i.name());
            out.add(new LicenseRequest.Item(name, i.count()));
        }
        if (hasEqualsSign(text) || out.isEmpty() && !text.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(asTyped ? text : LicenseRequest.text(out));
    }

    /**
     * Tests whether a job that runs may have these licenses in place of its own: whether others' are left as they are.
     */
    public static boolean leaves(State state, Job job, List<LicenseRequest.Item> items) {
        Map<String, Integer> all = configured(state);
        Map<String, Integer> used = new java.util.HashMap<>();
        state.jobs().values().stream()
                .filter(j -> j.id() != job.id())
                .flatMap(j -> held(j).stream())
                .forEach(i -> used.merge(i.name(), i.count(), Integer::sum));
        return items.stream()
                .allMatch(i -> i.count() <= all.getOrDefault(i.name(), -1) - used.getOrDefault(i.name(), 0));
    }

    /** Returns the licenses that a job holds; none once it has ended, whatever is left on its nodes. */
    public static List<LicenseRequest.Item> held(Job job) {
        return job.state().isActive()
                ? LicenseRequest.parse(job.run().allocation().licenses())
                        .orElse(LicenseRequest.Wanted.NONE)
                        .items()
                : List.of();
    }
}
