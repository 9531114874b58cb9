package dev.muster.accounting.table;

import dev.muster.accounting.book.AssocTree;
import dev.muster.accounting.dbd.PrivateData;
import dev.muster.accounting.report.Accounts;
import dev.muster.accounting.report.JobSizeReport;
import dev.muster.accounting.report.JobUse;
import dev.muster.accounting.report.NodeTime;
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
    public Optional<List<Map<String, String>>> answer(
            Report query, AssocTree book, PrivateData veil, boolean wckeys, long now) {
        List<String> clusters = query.clusters().isEmpty()
                ? book.clusters().stream().map(Cluster::name).toList()
                : query.clusters().stream()
                        .filter(name -> book.cluster(name).isPresent())
                        .sorted()
                        .distinct()
                        .toList();
        List<Map<String, String>> out = new ArrayList<>();
        for (String cluster : clusters) {
            switch (query.kind()) {
                case Report.UTILIZATION -> out.addAll(utilization(cluster, query, now));
                case Report.ACCOUNTS ->
                    out.addAll(new Accounts(book, cluster)
                            .rows(
                                    jobs(cluster, query, veil),
                                    reservations
                                            .shared(book, cluster, jobs(cluster, query), query.from(), query.to(), now)
                                            .stream()
                                            .filter(i -> veil.counts("usage", cluster, i.account(), i.user()))
                                            .toList(),
                                    query.from(),
                                    query.to(),
                                    now));
                case Report.WCKEYS ->
                    out.addAll(
                            !wckeys
                                    ? List.of()
                                    : Accounts.wckeys(
                                            cluster, jobs(cluster, query, veil), query.from(), query.to(), now));
                case Report.QOS ->
                    out.addAll(
                            new Accounts(book, cluster).qos(jobs(cluster, query, veil), query.from(), query.to(), now));
                case Report.SIZES ->
                    out.addAll(new JobSizeReport(query.where())
                            .rows(
                                    cluster,
                                    new Accounts(book, cluster),
                                    jobs(cluster, query, veil),
                                    query.from(),
                                    query.to(),
                                    now));
                case Report.RESERVATIONS ->
                    out.addAll(reservations.rows(book, cluster, query.from(), query.to(), query.where(), now));
                default -> {
                    return Optional.empty();
                }
            }
        }
        return Optional.of(out);
    }

    private List<JobUse> jobs(String cluster, Report query, PrivateData veil) {
        String word = query.kind().equals(Report.SIZES) ? "jobs" : "usage";
        return jobs(cluster, query).stream().filter(j -> veil.counts(word, j)).toList();
    }

    private List<JobUse> jobs(String cluster, Report query) {
        return rows.jobs(cluster, query.from(), query.to());
    }

    private List<Map<String, String>> utilization(String cluster, Report query, long now) {
        List<Map<String, String>> out = new ArrayList<>();
        List<JobUse> jobs = jobs(cluster, query);
        List<NodeTime> times = rows.times(cluster, query.from(), query.to());
        times.addAll(reservations.idle(cluster, jobs, query.from(), query.to(), now));
        long step = query.step() <= 0
                ? query.to() - query.from()
                : Math.max(query.step(), (query.to() - query.from()) / SPANS_MAX);
        for (long at = query.from(); at < query.to(); at += step) {
            out.addAll(utilization(cluster, times, jobs, at, Math.min(query.to(), at + step), query.step() > 0, now));
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
