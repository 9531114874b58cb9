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

    private final ChangeContext context;
    private final AssocTree book;

    ResourceChanges(ChangeContext changes) {
        this.context = changes;
        this.book = changes.book;
    }

    void run() {
        if (!legible()) {
            return;
        }
        switch (context.change.verb()) {
            case "add" -> add();
            case "modify" -> modify();
            default -> delete();
        }
    }

    /** A cluster's share of each, {@code name@server:count}; parts are cut off. */
    static List<String> licenses(AssocTree book, String cluster) {
        return book.resourcesEver().stream()
                .filter(r -> !r.deleted() && r.allowed().containsKey(cluster))
                .map(r -> r.name() + "@" + r.server() + ":" + shareOf(r, cluster))
                .sorted()
                .toList();
    }

    /** Licenses of a resource that a cluster may use. */
    private static long shareOf(Resource resource, String cluster) {
        if (shared(resource.flags())) {
            return resource.count();
        }
        long allowed = number(resource.allowed().getOrDefault(cluster, ""), 0);
        return absolute(resource.flags()) ? allowed : resource.count() * allowed / 100;
    }

    /** Counts of these licenses on their servers, in the same order. */
    static List<RemoteLicense> remotes(AssocTree book, String cluster) {
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
            if (!context.set(key).matches("\\d{0,9}")) {
                context.errors.add(" Invalid value for " + key + " (" + context.set(key) + ")");
            }
        }
        for (String flag : context.set("flags").isEmpty()
                ? List.<String>of()
                : List.of(context.set("flags").split(","))) {
            if (!flag.equalsIgnoreCase(ABSOLUTE) && !flag.equalsIgnoreCase(SHARED)) {
                context.errors.add(" Unknown resource flag: " + flag);
            }
        }
        return context.errors.isEmpty();
    }

    /** Every cluster may have all of it. */
    private static boolean shared(String flags) {
        return List.of(flags.split(",")).stream().anyMatch(SHARED::equalsIgnoreCase);
    }

    private static boolean absolute(String flags) {
        return List.of(flags.split(",")).stream().anyMatch(ABSOLUTE::equalsIgnoreCase);
    }

    /** Flags of a new resource; AllResourcesAbsolute sets Absolute even where it is not given. */
    private String flags() {
        List<String> out = new ArrayList<>();
        if (shared(context.set("flags"))) {
            out.add(SHARED);
        }
        if (absolute(context.set("flags")) || context.rules.absolute()) {
            out.add(ABSOLUTE);
        }
        return String.join(",", out);
    }

    /** Whether the clusters' shares of a resource are no more than all of it. */
    private boolean checkShares(String name, String server, Map<String, String> allowed, String flags, long count) {
        if (shared(flags)) {
            String all = Long.toString(absolute(flags) ? count : 100);
            if (!allowed.values().stream().allMatch(v -> v.equals("0") || v.equals(all))) {
                context.errors.add(
                        " With SharedPool a cluster is allowed 0 or all of resource '" + name + "@" + server + "'");
                return false;
            }
            return true;
        }
        if (absolute(flags)) {
            if (allowed.values().stream().mapToLong(v -> number(v, 0)).sum() > count) {
                context.errors.add(" Total count allowed for resource '" + name + "@" + server + "' exceeds " + count);
                return false;
            }
            return true;
        }
        if (allowed.values().stream().mapToLong(v -> number(v, 0)).sum() > 100) {
            context.errors.add(" Total percentage allowed for resource '" + name + "@" + server + "' exceeds 100%");
            return false;
        }
        return true;
    }

    private long consumed(Optional<Resource> known) {
        return number(context.set("lastconsumed"), known.map(Resource::consumed).orElse(0L));
    }

    private Optional<Resource> find(String name, String server) {
        return book.resourcesEver().stream()
                .filter(r -> !r.deleted() && r.name().equals(name) && r.server().equals(server))
                .findFirst();
    }

    private void add() {
        List<String> names = context.where("name");
        String server = context.set("server").isEmpty()
                ? "slurmdb"
                : context.set("server").toLowerCase(java.util.Locale.ROOT);
        if (names.isEmpty()) {
            context.errors.add(" Need name of resource to add.");
            return;
        }
        for (String cluster : context.where("cluster")) {
            if (book.cluster(cluster).isEmpty()) {
                context.errors.add(" The cluster " + cluster + " doesn't exist. Please add first.");
            }
        }
        if (!context.set("type").isEmpty() && !context.set("type").equalsIgnoreCase(TYPE)) {
            context.errors.add(" Unknown resource type: '" + context.set("type") + "'  Valid resources is License.");
            return;
        }
        for (String name : names) {
            if (!addOrExtend(name, server)) {
                return;
            }
        }
        if (context.names.isEmpty() && context.errors.isEmpty()) {
            context.errors.add(" Nothing new added.");
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
                context.sets("flags") || known.isEmpty() ? flags() : known.get().flags();
        long count = number(context.set("count"), known.map(Resource::count).orElse(0L));
        if (known.isEmpty() && !context.sets("count")) {
            context.errors.add(" Need to specify a count on resource '" + name + "@" + server + "'");
            return false;
        }
        boolean changed = known.isEmpty();
        for (String cluster : context.where("cluster")) {
            if (allowed.putIfAbsent(cluster, Long.toString(number(context.set("allowed"), 0))) == null) {
                context.more.add(
                        "   Cluster - " + cluster + "\t" + allowed.get(cluster) + (absolute(flags) ? "" : "%"));
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
                    valueOr("description", known.map(Resource::description).orElse(name)),
                    flags,
                    valueOr("servertype", known.map(Resource::manager).orElse("")),
                    allowed,
                    known.map(Resource::created).orElse(context.now),
                    context.now,
                    false,
                    consumed(known),
                    context.now));
            context.names.add(name + "@" + server);
            context.log("Add Resource", "", name, context.info());
        }
        return true;
    }

    private String valueOr(String key, String otherwise) {
        return context.set(key).isEmpty() ? otherwise : context.set(key);
    }

    private List<Resource> meant() {
        return List.copyOf(book.resourcesEver()).stream()
                .filter(r -> !r.deleted() && context.fits("name", r.name()) && context.fits("server", r.server()))
                .toList();
    }

    private void modify() {
        if (context.sets("allowed") && context.where("cluster").isEmpty()) {
            context.errors.add("Can't change \"allowed\" without specifying a cluster.");
            return;
        }
        for (Resource resource : meant()) {
            TreeMap<String, String> allowed = new TreeMap<>(resource.allowed());
            if (context.sets("allowed") && context.where("cluster").stream().noneMatch(allowed::containsKey)) {
                continue;
            }
            for (String cluster : context.where("cluster")) {
                if (context.sets("allowed") && allowed.containsKey(cluster)) {
                    allowed.put(cluster, Long.toString(number(context.set("allowed"), 0)));
                }
            }
            String flags = context.sets("flags") ? flags() : resource.flags();
            if (!checkShares(
                    resource.name(),
                    resource.server(),
                    allowed,
                    flags,
                    number(context.set("count"), resource.count()))) {
                return;
            }
            book.put(new Resource(
                    resource.id(),
                    resource.name(),
                    resource.server(),
                    resource.type(),
                    number(context.set("count"), resource.count()),
                    context.sets("description") ? context.set("description") : resource.description(),
                    flags,
                    context.sets("servertype") ? context.set("servertype") : resource.manager(),
                    allowed,
                    resource.created(),
                    context.now,
                    false,
                    consumed(Optional.of(resource)),
                    context.sets("lastconsumed") ? context.now : resource.consumedAt()));
            context.names.add(resource.name() + "@" + resource.server());
            context.log("Modify Resource", "", resource.name(), context.info());
        }
    }

    private void delete() {
        for (Resource resource : meant()) {
            if (context.where("cluster").isEmpty()) {
                book.put(new Resource(
                        resource.id(),
                        resource.name(),
                        resource.server(),
                        resource.type(),
                        resource.count(),
                        resource.description(),
                        resource.flags(),
                        resource.manager(),
                        Map.of(),
                        resource.created(),
                        context.now,
                        true,
                        0,
                        0));
                context.names.add(resource.name() + "@" + resource.server());
            } else {
                TreeMap<String, String> allowed = new TreeMap<>(resource.allowed());
                context.where("cluster").forEach(cluster -> {
                    if (allowed.remove(cluster) != null) {
                        context.names.add(
                                "Cluster - " + cluster + " : Resource - " + resource.name() + "@" + resource.server());
                    }
                });
                book.put(new Resource(
                        resource.id(),
                        resource.name(),
                        resource.server(),
                        resource.type(),
                        resource.count(),
                        resource.description(),
                        resource.flags(),
                        resource.manager(),
                        allowed,
                        resource.created(),
                        context.now,
                        false,
                        resource.consumed(),
                        resource.consumedAt()));
            }
            context.log("Remove Resource", "", resource.name(), "");
        }
    }
}
