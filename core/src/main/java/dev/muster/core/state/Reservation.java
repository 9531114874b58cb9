package dev.muster.core.state;

import dev.muster.core.options.LicenseRequest;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.JobDesc;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Nodes, or cores of nodes, kept for some during a time. Times are seconds since 1970; of a floating reservation they
 * are seconds from now.
 *
 * @param nodes in configuration order
 * @param units what is reserved of each node; empty where the nodes are reserved whole
 * @param gres devices that are reserved of each node, by their name; none where none were asked for
 * @param flags bits by {@link ReservationFlag#ordinal}
 * @param maxStartDelayS how long others may still run into it; 0 not at all
 * @param purgeAfterS PURGE_COMP: seconds without a job after which the reservation is deleted; 0 never
 * @param idleSince no job is in it since then; 0 while there is one
 * @param begun its start was noticed: what waits for it is looked at
 * @param zone in whose days it repeats
 * @param serial number by the order of creation; 0 of reservations from before there was one
 * @param endSaid when it ends was said last, not how long it lasts: the end stays where the start moves
 */
public record Reservation(
        String name,
        long start,
        long end,
        NodeRequest want,
        List<String> nodes,
        Map<String, IndexSet> units,
        AccessList who,
        int flags,
        String comment,
        int maxStartDelayS,
        int purgeAfterS,
        long idleSince,
        boolean begun,
        String zone,
        Map<String, Map<String, IndexSet>> gres,
        boolean endSaid,
        int serial) {

    /** Seconds ahead of now beyond which no repetition is looked for. */
    static final long HORIZON_S = 10L * 86400;

    private static final List<ReservationFlag> REPEATING = List.of(
            ReservationFlag.HOURLY,
            ReservationFlag.DAILY,
            ReservationFlag.WEEKDAY,
            ReservationFlag.WEEKEND,
            ReservationFlag.WEEKLY);
    private static final int WINDOWS_MAX = 24 * 10 + 1;
    /** Horizon of the overlap test: repetitions that do not overlap within it never overlap. */
    private static final long REPEATS_WITHIN_S = 8L * 86400;

    private static final int REPETITIONS_MAX = 20_000;

    /**
     * The request of a reservation, from which nodes are chosen again when some fail.
     *
     * @param nodes as named, "" if only counted
     * @param nodeCount 0 if not counted
     * @param licenses as written; {@code ANY_NODES}: these alone, and nodes as they come
     * @param coreCounts cores: one total, or one number per node; empty for whole nodes, or a core for each device
     * @param gres devices over all nodes, as written ({@code gres/gpu:a100=2}); gresPerNode: on each of them
     */
    public record NodeRequest(
            String nodes,
            int nodeCount,
            List<Integer> coreCounts,
            String partition,
            String features,
            String licenses,
            String gres,
            String gresPerNode) {
        public boolean wantsGres() {
            return !gres.isEmpty() || !gresPerNode.isEmpty();
        }
    }

    /** Returns the licenses that are kept for the reservation's jobs while it lasts. */
    public List<LicenseRequest.Item> licenses() {
        return want.licenses.isEmpty()
                ? List.of()
                : LicenseRequest.parse(want.licenses)
                        .map(LicenseRequest.Wanted::items)
                        .orElse(List.of());
    }

    /**
     * The users that may use the reservation: all conditions given must hold.
     *
     * @param gids of the groups, in their order
     */
    public record AccessList(
            Names users, Names accounts, Names groups, List<Integer> gids, Names qos, Names partitions) {
        public static final AccessList EMPTY =
                new AccessList(Names.NONE, Names.NONE, Names.NONE, List.of(), Names.NONE, Names.NONE);

        public boolean isEmpty() {
            return users.names.isEmpty()
                    && accounts.names.isEmpty()
                    && groups.names.isEmpty()
                    && qos.names.isEmpty()
                    && partitions.names.isEmpty();
        }
    }

    /** Names that are admitted, or with deny all except these. */
    public record Names(boolean deny, List<String> names) {
        public static final Names NONE = new Names(false, List.of());

        boolean admits(String name) {
            return names.isEmpty() || names.contains(name) != deny;
        }

        /** Returns the names as Slurm prints them: denied names with a minus each. */
        public String text() {
            return deny ? "-" + String.join(",-", names) : String.join(",", names);
        }
    }

    /** A time it covers, seconds since 1970. */
    public record Window(long from, long to) {}

    public boolean has(ReservationFlag flag) {
        return (flags & 1 << flag.ordinal()) != 0;
    }

    public static int with(int flags, ReservationFlag flag) {
        return flags | 1 << flag.ordinal();
    }

    public boolean repeats() {
        return REPEATING.stream().anyMatch(this::has);
    }

    public long startAt(long now) {
        return has(ReservationFlag.TIME_FLOAT) ? now + start : start;
    }

    public long endAt(long now) {
        return has(ReservationFlag.TIME_FLOAT) ? now + end : end;
    }

    public boolean isActive(long now) {
        return startAt(now) <= now && now < endAt(now);
    }

    /**
     * Tests whether jobs in this reservation may run on nodes of another one: MAINT ignores all others, OVERLAP ignores
     * all but MAINT.
     */
    public boolean ignores(Reservation other) {
        return has(ReservationFlag.MAINT) || has(ReservationFlag.OVERLAP) && !other.has(ReservationFlag.MAINT);
    }

    /** Tests whether the reservation may be made over other reservations, and others over it. */
    public boolean mayOverlap() {
        return has(ReservationFlag.MAINT) || has(ReservationFlag.OVERLAP);
    }

    /**
     * Returns whether the reservation has devices and no core count. It shares all cores of its nodes with other such
     * reservations.
     */
    public boolean sharesCores() {
        return !want.gres.isEmpty() && want.coreCounts.isEmpty();
    }

    /** Returns whether the two reservations overlap in time, however far ahead. */
    public boolean meets(Reservation other, long now) {
        long from = Math.max(now, Math.max(startAt(now), other.startAt(now)));
        long to = Math.min(
                repeats() ? from + REPEATS_WITHIN_S : endAt(now),
                other.repeats() ? from + REPEATS_WITHIN_S : other.endAt(now));
        for (Window w : between(now, from, to)) {
            if (!other.between(now, Math.max(from, w.from), Math.min(to, w.to)).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    /** Returns the reservation's times that touch the span, soonest first, also beyond {@link #HORIZON_S}. */
    private List<Window> between(long now, long from, long to) {
        return windows(now, from, to, REPETITIONS_MAX, Long.MAX_VALUE);
    }

    /**
     * Returns whether it is for the job's user, groups, account, partition and QOS. Jobs of administrators may use any:
     * {@code Access.admits}.
     */
    public boolean isFor(Accounts known, JobDesc d) {
        boolean group = who.groups.names().isEmpty()
                || who.gids.stream()
                                .anyMatch(g -> d.owner().gids().contains(g)
                                        || d.owner().gid() == g)
                        != who.groups.deny();
        boolean partition = false;
        for (String p : d.partitionList()) {
            partition |= who.partitions.admits(p);
        }
        return group
                && partition
                && who.users.admits(d.owner().user())
                && d.charge().eachQos().stream().anyMatch(who.qos::admits)
                && (who.accounts.names().isEmpty() || named(known, d.charge().account()) != who.accounts.deny());
    }

    /** Tests whether the account or one above it is in the reservation's list. */
    private boolean named(Accounts known, String account) {
        return known.isUnder(account, who.accounts.names()::contains);
    }

    /**
     * Returns the reservation's times that touch the span, soonest first; of a repeated one those within
     * {@link #HORIZON_S}.
     */
    public List<Window> windows(long now, long from, long to) {
        return windows(now, from, to, WINDOWS_MAX, now + HORIZON_S);
    }

    private List<Window> windows(long now, long from, long to, int repetitions, long lastBegin) {
        List<Window> out = new ArrayList<>();
        long begin = startAt(now);
        long finish = endAt(now);
        for (int i = 0; i < repetitions && begin < to; i++) {
            if (finish > from) {
                out.add(new Window(begin, finish));
            }
            if (!repeats() || begin > lastBegin) {
                break;
            }
            long next = after(begin);
            finish += next - begin;
            begin = next;
        }
        return out;
    }

    /** Returns when the reservation begins again after a begin, in seconds since 1970. */
    private long after(long begin) {
        if (has(ReservationFlag.HOURLY)) {
            return begin + 3600;
        }
        ZonedDateTime day = Instant.ofEpochSecond(begin).atZone(ZoneId.of(zone.isEmpty() ? "UTC" : zone));
        if (has(ReservationFlag.WEEKLY)) {
            return day.plusDays(7).toEpochSecond();
        }
        do {
            day = day.plusDays(1);
        } while (has(ReservationFlag.WEEKDAY) && weekend(day) || has(ReservationFlag.WEEKEND) && !weekend(day));
        return day.toEpochSecond();
    }

    private static boolean weekend(ZonedDateTime day) {
        return day.getDayOfWeek() == DayOfWeek.SATURDAY || day.getDayOfWeek() == DayOfWeek.SUNDAY;
    }

    /** Returns the next repetition. */
    public Reservation next() {
        long begin = after(start);
        return at(begin, end + begin - start);
    }

    public Reservation at(long newStart, long newEnd) {
        return new Reservation(
                name,
                newStart,
                newEnd,
                want,
                nodes,
                units,
                who,
                flags,
                comment,
                maxStartDelayS,
                purgeAfterS,
                0,
                false,
                zone,
                gres,
                endSaid,
                serial);
    }

    public Reservation withNodes(
            List<String> chosen, Map<String, IndexSet> chosenUnits, Map<String, Map<String, IndexSet>> devices) {
        return new Reservation(
                name,
                start,
                end,
                want,
                chosen,
                chosenUnits,
                who,
                flags,
                comment,
                maxStartDelayS,
                purgeAfterS,
                idleSince,
                begun,
                zone,
                devices,
                endSaid,
                serial);
    }

    /**
     * Returns the reservation with exactly the nodes that it has.
     *
     * @param partition that it shows
     */
    public Reservation fixed(String partition) {
        NodeRequest all = new NodeRequest(String.join(",", nodes), 0, List.of(), partition, "", want.licenses, "", "");
        return new Reservation(
                name,
                start,
                end,
                all,
                nodes,
                units,
                who,
                with(flags, ReservationFlag.SPEC_NODES),
                comment,
                maxStartDelayS,
                purgeAfterS,
                idleSince,
                begun,
                zone,
                gres,
                endSaid,
                serial);
    }

    /** Returns the reservation with another node count. */
    public Reservation counting(int count) {
        NodeRequest other = new NodeRequest(
                want.nodes,
                count,
                want.coreCounts,
                want.partition,
                want.features,
                want.licenses,
                want.gres,
                want.gresPerNode);
        return new Reservation(
                name,
                start,
                end,
                other,
                nodes,
                units,
                who,
                flags,
                comment,
                maxStartDelayS,
                purgeAfterS,
                idleSince,
                begun,
                zone,
                gres,
                endSaid,
                serial);
    }

    public Reservation named(String other, int number) {
        return new Reservation(
                other,
                start,
                end,
                want,
                nodes,
                units,
                who,
                flags,
                comment,
                maxStartDelayS,
                purgeAfterS,
                idleSince,
                begun,
                zone,
                gres,
                endSaid,
                number);
    }

    /** Returns the reservation as ended now for good: it does not come again. */
    public Reservation over(long now) {
        int rest = flags;
        for (ReservationFlag f : REPEATING) {
            rest &= ~(1 << f.ordinal());
        }
        return new Reservation(
                name,
                Math.min(startAt(now), now),
                now,
                want,
                nodes,
                units,
                who,
                rest & ~(1 << ReservationFlag.TIME_FLOAT.ordinal()),
                comment,
                maxStartDelayS,
                purgeAfterS,
                idleSince,
                begun,
                zone,
                gres,
                endSaid,
                serial);
    }

    public Reservation noticed(boolean hasBegun, long idle) {
        return new Reservation(
                name,
                start,
                end,
                want,
                nodes,
                units,
                who,
                flags,
                comment,
                maxStartDelayS,
                purgeAfterS,
                idle,
                hasBegun,
                zone,
                gres,
                endSaid,
                serial);
    }

    /**
     * Returns the units of a node that are reserved: all that it has where it is reserved whole, none where it is not
     * part of this.
     */
    public IndexSet unitsOn(Node.Spec node) {
        return nodes.contains(node.name()) ? unitsOf(node) : IndexSet.empty();
    }

    /** Returns the units as {@link #unitsOn} of a node that is known to be part of this: its list is not searched. */
    public IndexSet unitsOf(Node.Spec node) {
        if (units.isEmpty()) {
            return node.units() == 0 ? IndexSet.empty() : IndexSet.range(0, node.units() - 1, 1);
        }
        return units.getOrDefault(node.name(), IndexSet.empty());
    }

    /** Tests whether the reservation admits a user, in any account. */
    public boolean concerns(Accounts known, String user, List<Integer> userGids) {
        boolean group =
                who.groups.names().isEmpty() || who.gids.stream().anyMatch(userGids::contains) != who.groups.deny();
        boolean any = false;
        for (var a : known.assocs().values()) {
            any |= a.user().equals(user) && named(known, a.account());
        }
        boolean account = who.accounts.names().isEmpty() || any != who.accounts.deny();
        return group && account && who.users.admits(user);
    }

    /** Returns the names a job asks for. */
    public static List<String> named(JobDesc d) {
        return d.charge().reservation().isEmpty()
                ? List.of()
                : List.of(d.charge().reservation().split(","));
    }
}
