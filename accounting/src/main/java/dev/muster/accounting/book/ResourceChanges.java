package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.RemoteLicense;
import dev.muster.model.accounting.Entities.Resource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Licenses of servers outside, and the share of them that each cluster has. */
final class ResourceChanges {
    /** The one kind that there is. */
    private static final String TYPE = "License";
    /** A flag of resources: what clusters may have is counted, not in hundredths. */
    private static final String ABSOLUTE = "Absolute";

    private static final String SHARED = "SharedPool";

    private final ChangeContext c;
    private final Book book;

    ResourceChanges(ChangeContext changes) {
        this.c = changes;
        this.book = changes.book;
    }

    void run() {
        if (!legible()) {
            return;
        }
        switch (c.change.verb()) {
            case "add" -> add();
            case "modify" -> modify();
            default -> delete();
        }
    }

    /** A cluster's share of each, {@code name@server:count}; parts are cut off. */
    static List<String> licenses(Book book, String cluster) {
        return book.resourcesEver().stream()
                .filter(r -> !r.deleted() && r.allowed().containsKey(cluster))
                .map(r -> r.name() + "@" + r.server() + ":" + shareOf(r, cluster))
                .sorted()
                .toList();
    }

    /** Licenses of a resource that a cluster may use. */
    private static long shareOf(Resource r, String cluster) {
        if (shared(r.flags())) {
            return r.count();
        }
        long allowed = number(r.allowed().getOrDefault(cluster, ""), 0);
        return absolute(r.flags()) ? allowed : r.count() * allowed / 100;
    }

    /** Counts of these licenses on their servers, in the same order. */
    static List<RemoteLicense> remotes(Book book, String cluster) {
        return book.resourcesEver().stream()
                .filter(r -> !r.deleted() && r.allowed().containsKey(cluster))
                .map(r -> new RemoteLicense(
                        r.name() + "@" + r.server(),
                        r.count(),
                        r.consumed(),
                        0,
                        Math.max(r.consumedAt(), r.modified())))
                .sorted(java.util.Comparator.comparing(RemoteLicense::name))
                .toList();
    }

    private static long number(String text, long otherwise) {
        return text.isEmpty() ? otherwise : Long.parseLong(text);
    }

    /** Whether what is set can be read as numbers; a sentence is noted for what cannot. */
    private boolean legible() {
        for (String key : List.of("count", "allowed", "lastconsumed")) {
            if (!c.set(key).matches("\\d{0,9}")) {
                c.errors.add(" Invalid value for " + key + " (" + c.set(key) + ")");
            }
        }
        for (String flag : c.set("flags").isEmpty()
                ? List.<String>of()
                : List.of(c.set("flags").split(","))) {
            if (!flag.equalsIgnoreCase(ABSOLUTE) && !flag.equalsIgnoreCase(SHARED)) {
                c.errors.add(" Unknown resource flag: " + flag);
            }
        }
        return c.errors.isEmpty();
    }

    /** Every cluster may have all of it. */
    private static boolean shared(String flags) {
        return List.of(flags.split(",")).stream().anyMatch(SHARED::equalsIgnoreCase);
    }

    private static boolean absolute(String flags) {
        return List.of(flags.split(",")).stream().anyMatch(ABSOLUTE::equalsIgnoreCase);
    }

    /** AllResourcesAbsolute: new ones are counted so whether that is said or not. */
    private String flags() {
        List<String> out = new ArrayList<>();
        if (shared(c.set("flags"))) {
            out.add(SHARED);
        }
        if (absolute(c.set("flags")) || c.rules.absolute()) {
            out.add(ABSOLUTE);
        }
        return String.join(",", out);
    }

    /** Whether the clusters' shares of a resource are no more than all of it. */
    private boolean checkShares(String name, String server, Map<String, String> allowed, String flags, long count) {
        if (shared(flags)) {
            String all = Long.toString(absolute(flags) ? count : 100);
            if (!allowed.values().stream().allMatch(v -> v.equals("0") || v.equals(all))) {
                c.errors.add(
                        " With SharedPool a cluster is allowed 0 or all of resource '" + name + "@" + server + "'");
                return false;
            }
            return true;
        }
        if (absolute(flags)) {
            if (allowed.values().stream().mapToLong(v -> number(v, 0)).sum() > count) {
                c.errors.add(" Total count allowed for resource '" + name + "@" + server + "' exceeds " + count);
                return false;
            }
            return true;
        }
        if (allowed.values().stream().mapToLong(v -> number(v, 0)).sum() > 100) {
            c.errors.add(" Total percentage allowed for resource '" + name + "@" + server + "' exceeds 100%");
            return false;
        }
        return true;
    }

    private long consumed(Optional<Resource> known) {
        return number(c.set("lastconsumed"), known.map(Resource::consumed).orElse(0L));
    }

    private Optional<Resource> find(String name, String server) {
        return book.resourcesEver().stream()
                .filter(r -> !r.deleted() && r.name().equals(name) && r.server().equals(server))
                .findFirst();
    }

    private void add() {
        List<String> names = c.where("name");
        String server = c.set("server").isEmpty() ? "slurmdb" : c.set("server").toLowerCase(java.util.Locale.ROOT);
        if (names.isEmpty()) {
            c.errors.add(" Need name of resource to add.");
            return;
        }
        for (String cluster : c.where("cluster")) {
            if (book.cluster(cluster).isEmpty()) {
                c.errors.add(" The cluster " + cluster + " doesn't exist. Please add first.");
            }
        }
        if (!c.set("type").isEmpty() && !c.set("type").equalsIgnoreCase(TYPE)) {
            c.errors.add(" Unknown resource type: '" + c.set("type") + "'  Valid resources is License.");
            return;
        }
        for (String name : names) {
            if (!addOrExtend(name, server)) {
                return;
            }
        }
        if (c.names.isEmpty() && c.errors.isEmpty()) {
            c.errors.add(" Nothing new added.");
        }
    }

    /**
     * Adds a resource, or shares of a known one for more clusters.
     *
     * @return false if that was refused, with the reason in the errors
     */
    private boolean addOrExtend(String name, String server) {
        Optional<Resource> known = find(name, server);
        TreeMap<String, String> allowed =
                new TreeMap<>(known.map(Resource::allowed).orElse(Map.of()));
        String flags =
                c.sets("flags") || known.isEmpty() ? flags() : known.get().flags();
        long count = number(c.set("count"), known.map(Resource::count).orElse(0L));
        if (known.isEmpty() && !c.sets("count")) {
            c.errors.add(" Need to specify a count on resource '" + name + "@" + server + "'");
            return false;
        }
        boolean changed = known.isEmpty();
        for (String cluster : c.where("cluster")) {
            if (allowed.putIfAbsent(cluster, Long.toString(number(c.set("allowed"), 0))) == null) {
                c.more.add("   Cluster - " + cluster + "\t" + allowed.get(cluster) + (absolute(flags) ? "" : "%"));
                changed = true;
            }
        }
        if (!checkShares(name, server, allowed, flags, count)) {
            return false;
        }
        if (changed) {
            book.put(new Resource(
                    known.map(Resource::id).orElseGet(book::nextResource),
                    name,
                    server,
                    TYPE,
                    count,
                    said("description", known.map(Resource::description).orElse(name)),
                    flags,
                    said("servertype", known.map(Resource::manager).orElse("")),
                    allowed,
                    known.map(Resource::created).orElse(c.now),
                    c.now,
                    false,
                    consumed(known),
                    c.now));
            c.names.add(name + "@" + server);
            c.log("Add Resource", "", name, c.info());
        }
        return true;
    }

    private String said(String key, String otherwise) {
        return c.set(key).isEmpty() ? otherwise : c.set(key);
    }

    private List<Resource> meant() {
        return List.copyOf(book.resourcesEver()).stream()
                .filter(r -> !r.deleted() && c.fits("name", r.name()) && c.fits("server", r.server()))
                .toList();
    }

    private void modify() {
        if (c.sets("allowed") && c.where("cluster").isEmpty()) {
            c.errors.add("Can't change \"allowed\" without specifying a cluster.");
            return;
        }
        for (Resource r : meant()) {
            TreeMap<String, String> allowed = new TreeMap<>(r.allowed());
            if (c.sets("allowed") && c.where("cluster").stream().noneMatch(allowed::containsKey)) {
                continue;
            }
            for (String cluster : c.where("cluster")) {
                if (c.sets("allowed") && allowed.containsKey(cluster)) {
                    allowed.put(cluster, Long.toString(number(c.set("allowed"), 0)));
                }
            }
            String flags = c.sets("flags") ? flags() : r.flags();
            if (!checkShares(r.name(), r.server(), allowed, flags, number(c.set("count"), r.count()))) {
                return;
            }
            book.put(new Resource(
                    r.id(),
                    r.name(),
                    r.server(),
                    r.type(),
                    number(c.set("count"), r.count()),
                    c.sets("description") ? c.set("description") : r.description(),
                    flags,
                    c.sets("servertype") ? c.set("servertype") : r.manager(),
                    allowed,
                    r.created(),
                    c.now,
                    false,
                    consumed(Optional.of(r)),
                    c.sets("lastconsumed") ? c.now : r.consumedAt()));
            c.names.add(r.name() + "@" + r.server());
            c.log("Modify Resource", "", r.name(), c.info());
        }
    }

    private void delete() {
        for (Resource r : meant()) {
            if (c.where("cluster").isEmpty()) {
                book.put(new Resource(
                        r.id(),
                        r.name(),
                        r.server(),
                        r.type(),
                        r.count(),
                        r.description(),
                        r.flags(),
                        r.manager(),
                        Map.of(),
                        r.created(),
                        c.now,
                        true,
                        0,
                        0));
                c.names.add(r.name() + "@" + r.server());
            } else {
                TreeMap<String, String> allowed = new TreeMap<>(r.allowed());
                c.where("cluster").forEach(cluster -> {
                    if (allowed.remove(cluster) != null) {
                        c.names.add("Cluster - " + cluster + " : Resource - " + r.name() + "@" + r.server());
                    }
                });
                book.put(new Resource(
                        r.id(),
                        r.name(),
                        r.server(),
                        r.type(),
                        r.count(),
                        r.description(),
                        r.flags(),
                        r.manager(),
                        allowed,
                        r.created(),
                        c.now,
                        false,
                        r.consumed(),
                        r.consumedAt()));
            }
            c.log("Remove Resource", "", r.name(), "");
        }
    }
}
