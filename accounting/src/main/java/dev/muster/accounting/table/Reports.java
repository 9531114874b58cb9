package dev.muster.accounting.table;

import dev.muster.accounting.book.Book;
import dev.muster.accounting.dbd.PrivateData;
import dev.muster.accounting.report.Accounts;
import dev.muster.accounting.report.JobUse;
import dev.muster.accounting.report.NodeTime;
import dev.muster.accounting.report.Sizes;
import dev.muster.accounting.report.Utilization;
import dev.muster.model.accounting.DbdMessages.Report;
import dev.muster.model.accounting.Entities.Cluster;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The sums that sreport prints. They are made from the rows each time: nothing is rolled up, so nothing can lag behind
 * the jobs or drift away from them.
 */
public final class Reports {
    /** Most spans of one answer. */
    private static final int SPANS_MAX = 1000;

    private final ReportRows rows;
    private final Reservations reservations;

    public Reports(AccountingStore store) {
        this.rows = new ReportRows(store);
        this.reservations = new Reservations(store, rows);
    }

    /**
     * Empty if there is no report of that kind.
     *
     * @param wckeys whether the database stores use by key
     */
    public Optional<List<Map<String, String>>> answer(Report q, Book book, PrivateData veil, boolean wckeys, long now) {
        List<String> clusters = q.clusters().isEmpty()
                ? book.clusters().stream().map(Cluster::name).toList()
                : q.clusters().stream()
                        .filter(name -> book.cluster(name).isPresent())
                        .sorted()
                        .distinct()
                        .toList();
        List<Map<String, String>> out = new ArrayList<>();
        for (String cluster : clusters) {
            switch (q.kind()) {
                case Report.UTILIZATION -> out.addAll(utilization(cluster, q, now));
                case Report.ACCOUNTS ->
                    out.addAll(new Accounts(book, cluster)
                            .rows(
                                    jobs(cluster, q, veil),
                                    reservations.shared(book, cluster, jobs(cluster, q), q.from(), q.to(), now).stream()
                                            .filter(i -> veil.counts("usage", cluster, i.account(), i.user()))
                                            .toList(),
                                    q.from(),
                                    q.to(),
                                    now));
                case Report.WCKEYS ->
                    out.addAll(
                            !wckeys
                                    ? List.of()
                                    : Accounts.wckeys(cluster, jobs(cluster, q, veil), q.from(), q.to(), now));
                case Report.QOS ->
                    out.addAll(new Accounts(book, cluster).qos(jobs(cluster, q, veil), q.from(), q.to(), now));
                case Report.SIZES ->
                    out.addAll(new Sizes(q.where())
                            .rows(cluster, new Accounts(book, cluster), jobs(cluster, q, veil), q.from(), q.to(), now));
                case Report.RESERVATIONS ->
                    out.addAll(reservations.rows(book, cluster, q.from(), q.to(), q.where(), now));
                default -> {
                    return Optional.empty();
                }
            }
        }
        return Optional.of(out);
    }

    private List<JobUse> jobs(String cluster, Report q, PrivateData veil) {
        String word = q.kind().equals(Report.SIZES) ? "jobs" : "usage";
        return jobs(cluster, q).stream().filter(j -> veil.counts(word, j)).toList();
    }

    private List<JobUse> jobs(String cluster, Report q) {
        return rows.jobs(cluster, q.from(), q.to());
    }

    private List<Map<String, String>> utilization(String cluster, Report q, long now) {
        List<Map<String, String>> out = new ArrayList<>();
        List<JobUse> jobs = jobs(cluster, q);
        List<NodeTime> times = rows.times(cluster, q.from(), q.to());
        times.addAll(reservations.idle(cluster, jobs, q.from(), q.to(), now));
        long step = q.step() <= 0 ? q.to() - q.from() : Math.max(q.step(), (q.to() - q.from()) / SPANS_MAX);
        for (long at = q.from(); at < q.to(); at += step) {
            out.addAll(utilization(cluster, times, jobs, at, Math.min(q.to(), at + step), q.step() > 0, now));
        }
        return out;
    }

    /** Utilization of a span; rows outside of it count nothing. */
    private static List<Map<String, String>> utilization(
            String cluster, List<NodeTime> all, List<JobUse> jobs, long from, long to, boolean named, long now) {
        List<Map<String, String>> out = new ArrayList<>();
        List<NodeTime> times = all.stream()
                .filter(t -> t.start() < to && (t.end() == 0 || t.end() > from))
                .toList();
        List<JobUse> within = jobs.stream()
                .filter(j -> (j.end() == 0 || j.end() >= from)
                        && (j.start() > 0 && j.start() < to || j.eligible() > 0 && j.eligible() < to))
                .toList();
        Utilization.of(times, within, from, to, now).forEach((tres, p) -> {
            Map<String, String> row = new LinkedHashMap<>(Map.of("Cluster", cluster, "TRES", tres));
            row.put("Count", Long.toString(p.count()));
            row.put("Allocated", Long.toString(p.allocated()));
            row.put("Down", Long.toString(p.down()));
            row.put("PlannedDown", Long.toString(p.plannedDown()));
            row.put("Idle", Long.toString(p.idle()));
            row.put("Planned", Long.toString(p.planned()));
            row.put("OverCommitted", Long.toString(p.overcommitted()));
            row.put("Reported", Long.toString(p.reported()));
            if (named) {
                row.put("From", Long.toString(from));
            }
            out.add(row);
        });
        return out;
    }
}
