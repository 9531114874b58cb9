package dev.muster.accounting.table;

import dev.muster.accounting.book.ChangeRules;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.Query;
import dev.muster.model.accounting.Entities.Assoc;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Jobs that wait, run or are suspended, by what they are charged to: an association that has one is not removed. */
public final class ActiveJobs {
    private final AccountingStore store;

    public ActiveJobs(AccountingStore store) {
        this.store = store;
    }

    /** Active jobs of associations, by number. */
    public List<ChangeRules.Active> of(Collection<Assoc> associations) {
        List<ChangeRules.Active> out = new ArrayList<>();
        associations.stream()
                .filter(a -> !a.user().isEmpty())
                .collect(Collectors.groupingBy(Assoc::cluster))
                .forEach((cluster, of) -> {
                    List<String> accounts =
                            of.stream().map(Assoc::account).distinct().toList();
                    Query open = new Query(
                            List.of(),
                            List.of(),
                            true,
                            List.of(),
                            accounts,
                            List.of(),
                            List.of(),
                            List.of(),
                            List.of(),
                            List.of("PENDING", "RUNNING", "SUSPENDED"),
                            List.of(),
                            List.of(),
                            0,
                            0,
                            true,
                            true,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0,
                            List.of(cluster));
                    store.jobs(
                            open,
                            found -> of.stream()
                                    .filter(a -> found.job().endTime() == 0 && charged(found.job(), a))
                                    .findFirst()
                                    .ifPresent(a -> out.add(new ChangeRules.Active(
                                            found.job().jobId(),
                                            a,
                                            found.job().qos(),
                                            found.job().wckey()))));
                });
        out.sort(Comparator.comparingInt(ChangeRules.Active::jobId));
        return out;
    }

    private static boolean charged(JobRow job, Assoc to) {
        return job.assocId() > 0
                ? job.assocId() == to.id()
                : job.account().equals(to.account())
                        && job.userName().equals(to.user())
                        && (to.partition().isEmpty() || to.partition().equals(job.partition()));
    }
}
