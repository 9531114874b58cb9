package dev.muster.core.reservation;

import dev.muster.core.command.Decision;
import dev.muster.core.options.AccountingEnforcement;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.core.tres.Licenses;
import dev.muster.core.tres.Tres;
import dev.muster.model.SlurmErrno;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.UpdateSign;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Takes the words of {@code scontrol create} and {@code update reservation} into a reservation. The edge has written
 * keys in lower case and full, times as seconds, and how a value is meant into the key's last sign: {@code users},
 * {@code users+}, {@code users-}.
 */
public final class ReservationEdit {

    private static final String GRES = "gres/";
    /** Resources that a reservation ignores. */
    private static final Set<String> IGNORED_TRES = Set.of("mem", "energy", "billing", "vmem", "pages");

    private static final String REPLACES_COUNTED =
            "REPLACE or REPLACE_DOWN flags should be used with the NodeCnt reservation option; " + "do not specify ";
    private static final long COUNT_MAX = 9_999_999;
    /** A comma that is in no brackets. */
    private static final Pattern BETWEEN_HOSTS = Pattern.compile(",(?![^\\[]*\\])");

    private static final List<String> DURATIONS = List.of("duration", "duration+", "duration-");
    /** Lists that are kept in the order of their names; the others stay as typed. */
    private static final List<String> SORTED = List.of("qos", "allowedpartitions");
    /** Keys that say which nodes. */
    private static final List<String> NODES =
            List.of("nodes", "nodecnt", "corecnt", "partitionname", "features", "gres", "gresnode");

    private final State state;
    private final boolean fresh;
    private final Map<String, String> values;
    private final Map<String, Integer> gids;
    private Optional<SlurmErrno> wrong = Optional.empty();
    private String sentence = "";

    private ReservationEdit(State state, boolean fresh, Map<String, String> values, Map<String, Integer> gids) {
        this.state = state;
        this.fresh = fresh;
        this.values = new TreeMap<>(values);
        this.values.remove("nodes", "");
        this.gids = gids;
    }

    /**
     * @param preferred nodes that are chosen before others
     * @param fixed the reservation keeps the nodes that are chosen now
     * @param wrong the first error; empty if all is well
     * @param sentence explanation beside the error's own sentence; may be ""
     */
    record Edited(
            Reservation reservation,
            boolean nodesAsked,
            List<String> preferred,
            boolean fixed,
            Optional<SlurmErrno> wrong,
            String sentence) {
        Optional<Decision.Rejected> rejection() {
            return wrong.map(
                    errno -> sentence.isEmpty() ? Decision.reject(errno) : new Decision.Rejected(errno, sentence));
        }
    }

    /** Adds nodes to the reservation's and removes others by their signs: {@code nodes=+n1,-n[3-4]}. */
    private void signedNodes(Reservation old) {
        List<String> items = List.of(BETWEEN_HOSTS.split(values.getOrDefault("nodes", "")));
        List<String> signed = new ArrayList<>(items.stream()
                .filter(n -> n.startsWith("+") || n.startsWith("-"))
                .toList());
        boolean mixed = !signed.isEmpty() && signed.size() < items.size();
        for (String sign : List.of("+", "-")) {
            String plain = values.remove("nodes" + sign);
            signed.addAll(
                    plain == null
                            ? List.of()
                            : Stream.of(BETWEEN_HOSTS.split(plain))
                                    .map(n -> sign + n)
                                    .toList());
        }
        if (signed.isEmpty()) {
            return;
        }
        Set<String> nodes = new LinkedHashSet<>(old.nodes());
        for (String item : signed) {
            if (mixed
                    || !(HostList.parse(item.substring(1)) instanceof HostList.Parsed.Ok ok)
                    || !ok.list().names().stream().allMatch(state.nodes()::has)) {
                wrong(SlurmErrno.INVALID_NODE_NAME);
                return;
            }
            if (item.startsWith("+")) {
                nodes.addAll(ok.list().names());
            } else {
                ok.list().names().forEach(nodes::remove);
            }
        }
        if (nodes.isEmpty()) {
            wrong(SlurmErrno.RESERVATION_INVALID);
            return;
        }
        values.put("nodes", String.join(",", nodes));
    }

    /** Orders the nodes for a lower node count: nodes with jobs are kept first, then the last of the list. */
    private List<String> nodesToKeep(Reservation old) {
        List<String> out = new ArrayList<>(old.nodes());
        Collections.reverse(out);
        out.sort(Comparator.comparing(
                n -> state.nodes().find(n).map(node -> node.jobs().isEmpty()).orElse(true)));
        return out;
    }

    /**
     * Returns the nodes that an update with both nodes and a node count wants first: that count, from the named nodes.
     */
    private List<String> preferredNodes() {
        if (fresh || !values.containsKey("nodes") || !values.containsKey("nodecnt")) {
            return List.of();
        }
        if (HostList.parse(values.remove("nodes")) instanceof HostList.Parsed.Ok ok
                && ok.list().names().stream().allMatch(state.nodes()::has)) {
            return ok.list().names();
        }
        wrong(SlurmErrno.INVALID_NODE_NAME);
        return List.of();
    }

    static Edited edit(
            State state, Reservation old, boolean fresh, Map<String, String> values, Map<String, Integer> gids) {
        ReservationEdit e = new ReservationEdit(state, fresh, values, gids);
        int flags = e.flags(old.flags());
        boolean any = (flags & 1 << ReservationFlag.ANY_NODES.ordinal()) != 0;
        e.signedNodes(old);
        List<String> preferred = e.preferredNodes();
        boolean fixed = !preferred.isEmpty();
        boolean unnamed = !fresh && !any && values.getOrDefault("nodes", "-").isEmpty();
        if (unnamed && !old.want().nodes().isEmpty()) {
            // nodes= without a value: the same number of other nodes
            e.values.putIfAbsent("nodecnt", Integer.toString(old.nodes().size()));
        }
        Reservation.NodeRequest want = e.want(old.want(), any);
        boolean resizedOnly = !fresh && e.values.containsKey("nodecnt") && !values.containsKey("nodes") && !fixed;
        boolean stays = resizedOnly && old.has(ReservationFlag.SPEC_NODES);
        preferred = resizedOnly ? e.nodesToKeep(old) : preferred;
        long start = e.number("starttime", old.start());
        long end = e.end(old, start);
        int nodeFlags = e.nodeFlags(flags, want, stays, values);
        Reservation.AccessList who = e.who(old.who());
        Reservation r = new Reservation(
                old.name(),
                start,
                end,
                want,
                old.nodes(),
                old.units(),
                who,
                nodeFlags,
                values.getOrDefault("comment", old.comment()),
                (int) e.number("maxstartdelay", old.maxStartDelayS()),
                (int) e.number("purge_comp", old.purgeAfterS()),
                old.idleSince(),
                old.begun() && start == old.start(),
                values.getOrDefault("zone", old.zone()),
                old.gres(),
                !e.lasts() && (values.containsKey("endtime") || old.endSaid()),
                old.serial());
        e.check(r);
        return new Edited(r, fresh || e.changesNodes(old), preferred, fixed || stays, e.wrong, e.sentence);
    }

    /**
     * Tests whether the request changes the nodes: it includes the counts that tres= implies; with core counts, the
     * partition is only recorded.
     */
    private boolean changesNodes(Reservation old) {
        boolean cores = !fresh && !old.units().isEmpty();
        return NODES.stream().anyMatch(k -> values.containsKey(k) && !(cores && k.equals("partitionname")));
    }

    /**
     * Returns the flags with those that follow from the nodes: SPEC_NODES, ALL_NODES and PART_NODES.
     *
     * @param stays an update of the node count keeps the nodes named
     * @param request the values as typed, before this edit completes them
     */
    private int nodeFlags(int flags, Reservation.NodeRequest want, boolean stays, Map<String, String> request) {
        int out = clear(flags, ReservationFlag.ALL_NODES);
        out = want.nodes().isEmpty() && !stays
                ? clear(out, ReservationFlag.SPEC_NODES)
                : Reservation.with(out, ReservationFlag.SPEC_NODES);
        boolean all = want.nodes().equalsIgnoreCase("ALL");
        if (all) {
            // ALL means the nodes of its partition if it names one; an update to ALL without one means the cluster's
            boolean named = fresh || request.containsKey("partitionname") && request.containsKey("nodes");
            boolean part = (flags & 1 << ReservationFlag.PART_NODES.ordinal()) != 0
                    || named && !want.partition().isEmpty();
            out = part ? Reservation.with(out, ReservationFlag.PART_NODES) : out;
            out = part ? clear(out, ReservationFlag.ALL_NODES) : Reservation.with(out, ReservationFlag.ALL_NODES);
        }
        boolean wantsPart = (request.getOrDefault("flags", "") + request.getOrDefault("flags+", ""))
                .toUpperCase(java.util.Locale.ROOT)
                .contains("PART_NODES");
        if (wantsPart
                && !(request.containsKey("nodes") && all && !want.partition().isEmpty())) {
            wrong(SlurmErrno.INVALID_NODE_NAME);
        } else if (!all) {
            out = clear(out, ReservationFlag.PART_NODES);
        }
        return out;
    }

    private void wrong(SlurmErrno errno) {
        wrong(errno, "");
    }

    private void wrong(SlurmErrno errno, String why) {
        sentence = wrong.isEmpty() ? why : sentence;
        wrong = wrong.isEmpty() ? Optional.of(errno) : wrong;
    }

    private static int clear(int flags, ReservationFlag flag) {
        return flags & ~(1 << flag.ordinal());
    }

    private long number(String key, long otherwise) {
        String text = values.get(key);
        if (text == null) {
            return otherwise;
        }
        if (!text.matches("-?[0-9]{1,15}")) {
            wrong(SlurmErrno.INVALID_TIME_VALUE);
            return otherwise;
        }
        return Long.parseLong(text);
    }

    private long end(Reservation old, long start) {
        if (values.containsKey("duration")) {
            return start + number("duration", 0);
        }
        if (values.containsKey("endtime")) {
            return number("endtime", old.end());
        }
        long moved = start + old.end() - old.start();
        if (lasts()) {
            return moved + number("duration+", 0) - number("duration-", 0);
        }
        if (fresh || old.endSaid()) {
            return old.end();
        }
        return moved;
    }

    /** Tests whether the request says how long the reservation lasts. */
    private boolean lasts() {
        return DURATIONS.stream().anyMatch(values::containsKey);
    }

    private int flags(int old) {
        int out = old;
        for (String mode : List.of("flags", "flags+", "flags-")) {
            for (String word : values.getOrDefault(mode, "").split(",")) {
                Optional<ReservationFlag> flag = ReservationFlag.of(word);
                if (word.isEmpty()) {
                    continue;
                }
                if (flag.isEmpty()) {
                    wrong(SlurmErrno.RESERVATION_INVALID);
                } else {
                    out = mode.equals("flags-") ? clear(out, flag.get()) : Reservation.with(out, flag.get());
                }
            }
        }
        return out;
    }

    /**
     * Reads the counts of tres=: TRES=cpu=…,node=…,license/…=… is another way to count; TRESPerNode=cpu=… counts on
     * each node.
     */
    private void tres() {
        int perUnit = state.nodes().values().stream()
                .mapToInt(n -> n.spec().cpusPerUnit())
                .max()
                .orElse(1);
        for (String key : List.of("tres", "trespernode")) {
            if (!fresh && values.getOrDefault(key, "-").isEmpty()) {
                wrong(SlurmErrno.INVALID_TRES);
            }
            for (String item : items(values.getOrDefault(key, ""))) {
                tres(key, item, perUnit);
            }
        }
    }

    /** Returns the count of an item without a number: one for a device; all else needs a number (-1). */
    private static int withoutNumber(boolean isGres) {
        return isGres ? 1 : -1;
    }

    private void tres(String key, String item, int perUnit) {
        int eq = item.indexOf('=');
        String name = eq < 0 ? item : item.substring(0, eq).toLowerCase(java.util.Locale.ROOT);
        boolean isGres = name.startsWith(GRES);
        long number = eq < 0 ? withoutNumber(isGres) : Tres.number(item.substring(eq + 1));
        int minCount = isGres ? 1 : 0;
        boolean total = key.equals("tres");
        String count = Long.toString(number);
        if (IGNORED_TRES.contains(name) && number >= 0) {
            return;
        }
        if (number < minCount || number > COUNT_MAX) {
            wrong(SlurmErrno.INVALID_TRES);
        } else if (name.equals("node") && total) {
            values.put("nodecnt", count);
        } else if (name.equals("cpu")) {
            putCores(((int) number + perUnit - 1) / perUnit, total);
        } else if (name.startsWith("license/") && total) {
            append("licenses", name.substring("license/".length()) + ":" + count);
        } else if (isGres && isTracked(name.substring(GRES.length()))) {
            putGres(name + "=" + count, total);
        } else {
            wrong(SlurmErrno.INVALID_TRES);
        }
    }

    private void putCores(int cores, boolean total) {
        int nodes =
                total ? 1 : Math.min(requestedNodes(), Math.max(1, state.nodes().size()));
        values.put("corecnt", String.join(",", Collections.nCopies(nodes, Integer.toString(cores))));
    }

    private void putGres(String item, boolean total) {
        if (!total && fresh) {
            requestedNodes(); // a count for each node needs a number of nodes
        }
        append(total ? "gres" : "gresnode", item);
    }

    private void append(String key, String item) {
        values.merge(key, item, (a, b) -> a.isEmpty() ? b : a + "," + b);
    }

    /** Tests whether AccountingStorageTRES tracks a device; others are refused. A type must be tracked itself. */
    private boolean isTracked(String device) {
        List<String> tracked = state.settings().options().accounting().gres();
        int colon = device.indexOf(':');
        String name = colon < 0 ? device : device.substring(0, colon);
        return state.settings().gresTypes().contains(name) && tracked.contains(device);
    }

    /** Returns the number of nodes that the request counts or names; notes an error where it does neither. */
    private int requestedNodes() {
        String count = values.getOrDefault("nodecnt", "");
        if (count.matches("[0-9]{1,7}")) {
            return Integer.parseInt(count);
        }
        if (HostList.parse(values.getOrDefault("nodes", "")) instanceof HostList.Parsed.Ok ok
                && !ok.list().names().isEmpty()) {
            return ok.list().names().size();
        }
        wrong(SlurmErrno.INVALID_NODE_COUNT);
        return 1;
    }

    /** @param any jobs may use nodes beside its own: it may have none */
    private Reservation.NodeRequest want(Reservation.NodeRequest old, boolean any) {
        if (!values.getOrDefault("burstbuffer", "").isEmpty()) {
            // no script of burst_buffer/lua can reserve an amount
            wrong(SlurmErrno.INVALID_BURST_BUFFER_REQUEST);
        }
        tres();
        String nodes = nodeNames(old.nodes());
        OptionalInt nodeCount = nodeCount(old.nodeCount());
        if (nodeCount.isEmpty()) {
            wrong(SlurmErrno.INVALID_NODE_COUNT);
            return old;
        }
        List<Integer> cores = cores(old.coreCounts());
        int count = any && fresh ? 0 : nodeCount.getAsInt();
        if (!fresh) {
            checkUpdate(old, count);
        }
        String partition = partition(old.partition());
        boolean none = any && nodes.isEmpty() && count == 0;
        if (none && !cores.isEmpty()) {
            wrong(SlurmErrno.INVALID_CPU_COUNT);
        }
        boolean chosen = nodes.isEmpty() || !cores.isEmpty() || wantsGres();
        if (partition.isEmpty() && chosen && !none) {
            partition = defaultPartition();
        }
        return new Reservation.NodeRequest(
                nodes,
                count,
                List.copyOf(cores),
                partition,
                values.getOrDefault("features", old.features()),
                licenses(values.getOrDefault("licenses", old.licenses())),
                values.getOrDefault("gres", old.gres()),
                values.getOrDefault("gresnode", old.gresPerNode()));
    }

    /** Checks an update: the features of a reservation cannot change, nor its node count to 0. */
    private void checkUpdate(Reservation.NodeRequest old, int nodeCount) {
        if (!values.getOrDefault("features", old.features()).equals(old.features())) {
            wrong(SlurmErrno.NOT_SUPPORTED);
        }
        if (values.containsKey("nodecnt") && nodeCount == 0) {
            wrong(SlurmErrno.RESERVATION_INVALID);
        }
    }

    private String nodeNames(String old) {
        boolean counted = values.containsKey("nodecnt") || !fresh && values.containsKey("corecnt");
        return values.getOrDefault("nodes", counted ? "" : old);
    }

    private boolean wantsGres() {
        return values.containsKey("gres") || values.containsKey("gresnode");
    }

    private String defaultPartition() {
        String name = "";
        for (Partition p : state.partitions().values()) {
            name = p.info().isDefault() ? p.name() : name;
        }
        return name;
    }

    /** Returns the sum of nodecnt= or the old count; 0 where nodes are named, empty if a number is not valid. */
    private OptionalInt nodeCount(int old) {
        if (!values.containsKey("nodecnt")) {
            return OptionalInt.of(values.containsKey("nodes") ? 0 : old);
        }
        int count = 0;
        for (String item : values.get("nodecnt").split(",")) {
            if (!item.matches("[0-9]{1,7}")) {
                return OptionalInt.empty();
            }
            count += Integer.parseInt(item);
        }
        return OptionalInt.of(count);
    }

    /** Returns the partition that the nodes come from; "" if the reservation names its nodes or no partition. */
    private String partition(String old) {
        String allowed = values.containsKey("nodes") ? "" : values.getOrDefault("allowedpartitions", "");
        // as in Slurm, the first allowed or denied partition by name
        String first = fresh
                ? items(allowed).stream()
                        .map(item -> item.replaceFirst("^[-+]", ""))
                        .min(Comparator.naturalOrder())
                        .orElse("")
                : old;
        String partition = values.getOrDefault("partitionname", first);
        if (partition.isEmpty() ? !old.isEmpty() : !state.partitions().has(partition)) {
            wrong(SlurmErrno.INVALID_PARTITION_NAME);
        }
        return partition;
    }

    /** Returns the core count; 0 means unset. */
    private List<Integer> cores(List<Integer> old) {
        if (!values.containsKey("corecnt")) {
            return old;
        }
        List<Integer> out = new ArrayList<>();
        for (String item : values.get("corecnt").split(",")) {
            if (!item.matches("[0-9]{1,7}")) {
                wrong(SlurmErrno.INVALID_CPU_COUNT);
                return old;
            }
            if (Integer.parseInt(item) > 0) {
                out.add(Integer.parseInt(item));
            }
        }
        return out;
    }

    private String licenses(String text) {
        return Licenses.reserved(state, text).orElseGet(() -> {
            wrong(SlurmErrno.INVALID_LICENSES);
            return text;
        });
    }

    private Reservation.AccessList who(Reservation.AccessList old) {
        Reservation.Names users = names("users", old.users());
        Reservation.Names groups = names("groups", old.groups());
        List<Integer> ids = groupIds(groups, old);
        Reservation.Names accounts = names("accounts", old.accounts());
        Reservation.Names qos = names("qos", old.qos());
        Reservation.Names partitions = names("allowedpartitions", old.partitions());
        for (String a : accounts.names()) {
            if (!state.accounts().isEmpty() && state.accounts().assoc("", a, "").isEmpty()) {
                wrong(SlurmErrno.INVALID_ACCOUNT);
            }
        }
        for (String q : qos.names()) {
            if (state.accounts().qos(q).isEmpty()) {
                wrong(SlurmErrno.INVALID_QOS);
            }
        }
        for (String p : partitions.names()) {
            if (!state.partitions().has(p)) {
                wrong(SlurmErrno.INVALID_PARTITION_NAME);
            }
        }
        if (values.keySet().stream().anyMatch(k -> k.startsWith("users") || k.startsWith("accounts"))
                && state.settings().options().accounting().enforcement().has(AccountingEnforcement.Word.ASSOCIATIONS)
                && !users.names().stream().allMatch(u -> belongs(u, accounts))) {
            wrong(SlurmErrno.INVALID_ACCOUNT);
        }
        Reservation.AccessList who =
                new Reservation.AccessList(users, accounts, groups, List.copyOf(ids), qos, partitions);
        if (!users.names().isEmpty() && !groups.names().isEmpty()) {
            wrong(SlurmErrno.RESERVATION_USER_GROUP);
        }
        return who;
    }

    private List<Integer> groupIds(Reservation.Names groups, Reservation.AccessList old) {
        List<Integer> ids = new ArrayList<>();
        for (String group : groups.names()) {
            int index = old.groups().names().indexOf(group);
            if (gids.containsKey(group)) {
                ids.add(gids.get(group));
            } else if (index >= 0) {
                ids.add(old.gids().get(index));
            } else {
                wrong(SlurmErrno.GROUP_ID_MISSING);
            }
        }
        return ids;
    }

    /** Tests whether the user may be charged at all, and in each of the accounts. */
    private boolean belongs(String user, Reservation.Names accounts) {
        Set<String> own = new HashSet<>();
        state.accounts().assocs().values().stream()
                .filter(a -> a.user().equals(user))
                .forEach(a -> own.add(a.account()));
        return !own.isEmpty() && (accounts.deny() || own.containsAll(accounts.names()));
    }

    private static SlurmErrno invalidName(String key) {
        return switch (key) {
            case "users" -> SlurmErrno.USER_ID_MISSING;
            case "groups" -> SlurmErrno.GROUP_ID_MISSING;
            case "accounts" -> SlurmErrno.INVALID_ACCOUNT;
            case "qos" -> SlurmErrno.INVALID_QOS;
            default -> SlurmErrno.INVALID_PARTITION_NAME;
        };
    }

    /**
     * Returns the allowed names or the denied ones; a reservation has never both. A plus moves a name from denied to
     * unnamed, and from unnamed to allowed; a minus moves it the other way.
     */
    private Reservation.Names names(String key, Reservation.Names old) {
        List<String> plain = items(values.getOrDefault(key, ""));
        List<String> more = new ArrayList<>(items(values.getOrDefault(key + "+", "")));
        List<String> less = new ArrayList<>(items(values.getOrDefault(key + "-", "")));
        boolean signedTwice = Stream.concat(more.stream(), less.stream()).anyMatch(UpdateSign::isSigned);
        plain.stream().filter(n -> n.startsWith("+")).forEach(n -> more.add(n.substring(1)));
        plain.stream().filter(n -> n.startsWith("-")).forEach(n -> less.add(n.substring(1)));
        boolean signed = plain.stream().anyMatch(UpdateSign::isSigned);
        if (signedTwice || signed && !plain.stream().allMatch(UpdateSign::isSigned)) {
            wrong(invalidName(key));
            return old;
        }
        Reservation.Names now = values.containsKey(key) && !signed
                ? new Reservation.Names(false, plain.stream().distinct().toList())
                : old;
        Set<String> allowed = new LinkedHashSet<>(now.deny() ? List.of() : now.names());
        Set<String> denied = new LinkedHashSet<>(now.deny() ? now.names() : List.of());
        shift(less, allowed, denied);
        shift(more, denied, allowed);
        if (!allowed.isEmpty() && !denied.isEmpty()) {
            wrong(invalidName(key));
            return old;
        }
        Stream<String> names = (denied.isEmpty() ? allowed : denied).stream();
        return new Reservation.Names(!denied.isEmpty(), (SORTED.contains(key) ? names.sorted() : names).toList());
    }

    /** Removes each name from one set, or adds it to the other where it was in neither. */
    private static void shift(List<String> names, Set<String> from, Set<String> to) {
        for (String n : new LinkedHashSet<>(names)) {
            if (!from.remove(n)) {
                to.add(n);
            }
        }
    }

    private static List<String> items(String text) {
        return text.isEmpty() ? List.of() : List.of(text.split(","));
    }

    /**
     * Refuses to replace nodes that cannot be replaced: only those that the reservation counts can, not those that it
     * names.
     */
    private void checkReplacement(Reservation r) {
        if (r.has(ReservationFlag.STATIC) || r.has(ReservationFlag.MAINT)) {
            wrong(
                    SlurmErrno.NOT_SUPPORTED,
                    "REPLACE and REPLACE_DOWN flags cannot be used with STATIC_ALLOC or MAINT flags");
        }
        if (r.has(ReservationFlag.SPEC_NODES)) {
            wrong(fresh ? SlurmErrno.INVALID_NODE_NAME : SlurmErrno.NOT_SUPPORTED, REPLACES_COUNTED + "Nodes");
        }
        if (!r.want().coreCounts().isEmpty()) {
            wrong(fresh ? SlurmErrno.INVALID_CPU_COUNT : SlurmErrno.NOT_SUPPORTED, REPLACES_COUNTED + "CoreCnt");
        }
    }

    private void check(Reservation r) {
        Set<ReservationFlag> repeats = new HashSet<>();
        for (ReservationFlag f : List.of(
                ReservationFlag.HOURLY,
                ReservationFlag.DAILY,
                ReservationFlag.WEEKDAY,
                ReservationFlag.WEEKEND,
                ReservationFlag.WEEKLY)) {
            if (r.has(f)) {
                repeats.add(f);
            }
        }
        String flagText = (values.getOrDefault("flags", "")
                        + values.getOrDefault("flags+", "")
                        + values.getOrDefault("flags-", ""))
                .toUpperCase(java.util.Locale.ROOT);
        if (!fresh && flagText.contains("TIME_FLOAT")) {
            wrong(SlurmErrno.INVALID_TIME_VALUE);
        }
        if (r.has(ReservationFlag.TIME_FLOAT) && !repeats.isEmpty()) {
            wrong(
                    SlurmErrno.NOT_SUPPORTED,
                    "Reservation request has mutually exclusive flags. Repeating floating reservations are "
                            + "not supported.");
        }
        if (repeats.size() > 1) {
            wrong(
                    SlurmErrno.NOT_SUPPORTED,
                    (fresh ? "Reservation has" : "Cannot update reservation to have")
                            + " multiple reoccurring flags. Please specify only one reoccurring flag");
        }
        if (r.has(ReservationFlag.REPLACE) || r.has(ReservationFlag.REPLACE_DOWN)) {
            checkReplacement(r);
        }
        nodes(r);
        if (r.has(ReservationFlag.FORCE_START) && repeats.isEmpty()) {
            wrong(SlurmErrno.RESERVATION_INVALID);
        }
        if (r.who().isEmpty()) {
            wrong(SlurmErrno.RESERVATION_EMPTY);
        }
        if (r.end() <= r.start()) {
            wrong(SlurmErrno.INVALID_TIME_VALUE);
        }
    }

    /** Checks that the reservation has nodes, or with ANY_NODES licenses. */
    private void nodes(Reservation r) {
        Reservation.NodeRequest w = r.want();
        boolean wantsNodes = !w.nodes().isEmpty()
                || w.nodeCount() > 0
                || !w.coreCounts().isEmpty()
                || w.wantsGres()
                || !w.features().isEmpty();
        if (r.has(ReservationFlag.ANY_NODES) && w.licenses().isEmpty() && !wantsNodes) {
            // nothing of it is left without them
            wrong(fresh ? SlurmErrno.RESERVATION_INVALID : SlurmErrno.INVALID_LICENSES);
        } else if (!r.has(ReservationFlag.ANY_NODES) && !wantsNodes) {
            wrong(fresh ? SlurmErrno.INVALID_NODE_NAME : SlurmErrno.RESERVATION_INVALID);
        }
    }

    /** Returns a reservation before anything was said of it. */
    static Reservation blank(String name) {
        return new Reservation(
                name,
                0,
                0,
                new Reservation.NodeRequest("", 0, List.of(), "", "", "", "", ""),
                List.of(),
                new TreeMap<String, IndexSet>(),
                Reservation.AccessList.EMPTY,
                0,
                "",
                0,
                0,
                0,
                false,
                "",
                Map.of(),
                false,
                0);
    }
}
