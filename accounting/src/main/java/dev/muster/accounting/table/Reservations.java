package dev.muster.accounting.table;

import dev.muster.accounting.book.AssocTree;
import dev.muster.accounting.report.Accounts;
import dev.muster.accounting.report.Amounts;
import dev.muster.accounting.report.JobUse;
import dev.muster.accounting.report.NodeTime;
import dev.muster.accounting.report.Utilization;
import dev.muster.model.accounting.AccountingRows.ReservationRow;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Reservations with what jobs made of them. */
final class Reservations {
    private final AccountingStore store;
    private final ReportRows rows;

    Reservations(AccountingStore store, ReportRows rows) {
        this.store = store;
        this.rows = rows;
    }

    private static boolean in(Map<String, String> conditions, String key, String value) {
        String wanted = conditions.getOrDefault(key, "");
        return wanted.isEmpty()
                || List.of(wanted.toLowerCase(Locale.ROOT).split(",")).contains(value.toLowerCase(Locale.ROOT));
    }

    private static boolean onNodes(Map<String, String> conditions, String nodes) {
        String wanted = conditions.getOrDefault("nodes", "");
        return wanted.isEmpty() || HostList.intersect(wanted, nodes);
    }

    /**
     * A row for each resource of each reservation that was there at some moment of the span; use is that of its whole
     * time.
     *
     * @param conditions {@code names}, {@code ids}, {@code flags}, {@code nodes}
     */
    List<Map<String, String>> rows(
            AssocTree book, String cluster, long from, long to, Map<String, String> conditions, long now) {
        List<Map<String, String>> out = new ArrayList<>();
        for (ReservationTable.Numbered n : ReservationTable.of(store, cluster, from, to)) {
            ReservationRow r = n.row();
            boolean flagged = conditions.getOrDefault("flags", "").isEmpty()
                    || List.of(r.flags().split(",")).stream().anyMatch(f -> in(conditions, "flags", f));
            if (!flagged
                    || !in(conditions, "names", r.name())
                    || !in(conditions, "ids", Integer.toString(n.id()))
                    || !onNodes(conditions, r.nodes())) {
                continue;
            }
            Map<String, Long> used = used(cluster, r, now);
            Amounts.of(r.tres()).forEach((tres, count) -> {
                Map<String, String> row = new LinkedHashMap<>(Map.of(
                        "Cluster",
                        cluster,
                        "Name",
                        r.name(),
                        "ID",
                        Integer.toString(n.id()),
                        "Start",
                        Long.toString(r.start()),
                        "End",
                        Long.toString(r.end()),
                        "Nodes",
                        r.nodes(),
                        "Flags",
                        r.flags(),
                        "TRES",
                        tres,
                        "Count",
                        Long.toString(count)));
                row.put("Allocated", Long.toString(used.getOrDefault(tres, 0L)));
                row.put("TRESCount", tres + "=" + count);
                row.put("Assocs", associations(book, cluster, r));
                long wall = Math.max(0, Math.min(now, r.end()) - r.start());
                row.put(
                        "UnusedWall",
                        String.format(
                                Locale.ROOT,
                                "%f",
                                count == 0 ? 0.0 : Math.max(0, wall - used.getOrDefault(tres, 0L) / (double) count)));
                out.add(row);
            });
        }
        return out;
    }

    private Map<String, Long> used(String cluster, ReservationRow row, long now) {
        Map<String, Long> out = new TreeMap<>();
        for (JobUse use : rows.jobs(cluster, row.start(), row.end())) {
            if (use.reservation().equals(row.name())) {
                use.used(row.start(), row.end(), now).forEach((tres, n) -> out.merge(tres, n, Long::sum));
            }
        }
        return out;
    }

    /**
     * Associations that a reservation is for: an account itself, or a user in each account. A reservation that only
     * excludes some is for none.
     */
    private static List<Assoc> given(AssocTree book, String cluster, ReservationRow row) {
        List<Assoc> out = new ArrayList<>();
        for (Assoc assoc : book.tree(cluster)) {
            String name = assoc.user().isEmpty() ? assoc.account() : assoc.user();
            if (assoc.partition().isEmpty()
                    && List.of((assoc.user().isEmpty() ? row.accounts() : row.users()).split(","))
                            .contains(name)) {
                out.add(assoc);
            }
        }
        return out;
    }

    /**
     * Unused parts of reservations, in even shares for the associations that they are for. Reservations for
     * maintenance, or with IGNORE_JOBS, have none.
     */
    List<Accounts.Idle> shared(AssocTree book, String cluster, List<JobUse> jobs, long from, long to, long now) {
        List<Accounts.Idle> out = new ArrayList<>();
        for (ReservationTable.Numbered n : ReservationTable.of(store, cluster, from, to)) {
            List<Assoc> given = given(book, cluster, n.row());
            Map<String, Long> remaining = new TreeMap<>();
            for (NodeTime hour : given.isEmpty() ? List.<NodeTime>of() : idle(cluster, n.row(), jobs, from, to, now)) {
                if (hour.state().equals(NodeTime.RESERVED)) {
                    hour.tres().forEach((tres, amount) -> remaining.merge(tres, amount, Long::sum));
                }
            }
            remaining.replaceAll((tres, amount) -> amount / given.size());
            (remaining.isEmpty() ? List.<Assoc>of() : given)
                    .forEach(a -> out.add(new Accounts.Idle(a.account(), a.user(), remaining)));
        }
        return out;
    }

    /** Numbers of the associations that may use it; those that may not have a minus. */
    private static String associations(AssocTree book, String cluster, ReservationRow row) {
        Set<String> out = new LinkedHashSet<>();
        for (String account : row.accounts().split(",")) {
            String plain = account.startsWith("-") ? account.substring(1) : account;
            int id = plain.isEmpty() ? 0 : book.assocNumber(cluster, plain, "", "");
            if (id > 0) {
                out.add((account.startsWith("-") ? "-" : "") + id);
            }
        }
        for (String user : row.users().split(",")) {
            String plain = user.startsWith("-") ? user.substring(1) : user;
            book.tree(cluster).stream()
                    .filter(a -> !plain.isEmpty() && a.user().equals(plain))
                    .forEach(a -> out.add((user.startsWith("-") ? "-" : "") + a.id()));
        }
        return String.join(",", out);
    }

    /**
     * Returns the unused time of reservations by hour. Reservations with IGNORE_JOBS are left out; reservations for
     * maintenance count as planned down time.
     */
    List<NodeTime> idle(String cluster, List<JobUse> jobs, long from, long to, long now) {
        List<NodeTime> out = new ArrayList<>();
        for (ReservationTable.Numbered n : ReservationTable.of(store, cluster, from, to)) {
            out.addAll(idle(cluster, n.row(), jobs, from, to, now));
        }
        return out;
    }

    private static List<NodeTime> idle(
            String cluster, ReservationRow row, List<JobUse> jobs, long from, long to, long now) {
        List<NodeTime> out = new ArrayList<>();
        List<String> flags = List.of(row.flags().split(","));
        List<JobUse> reservedJobs =
                jobs.stream().filter(j -> j.reservation().equals(row.name())).toList();
        long last = Math.min(Math.min(to, now), row.end());
        for (long at = from; at < last && !flags.contains("IGNORE_JOBS"); at += Utilization.HOUR) {
            long a = Math.max(at, row.start());
            long b = Math.min(at + Utilization.HOUR, last);
            if (a >= b) {
                continue;
            }
            Map<String, Long> remaining = new TreeMap<>();
            Amounts.of(row.tres()).forEach((tres, count) -> remaining.put(tres, count * (b - a)));
            reservedJobs.forEach(j -> j.used(a, b, now)
                    .forEach((tres, used) -> remaining.computeIfPresent(tres, (t, was) -> Math.max(0, was - used))));
            out.add(new NodeTime(
                    cluster, row.name(), at, at + 1, flags.contains("MAINT") ? "MAINT" : NodeTime.RESERVED, remaining));
        }
        return out;
    }
}
