package dev.muster.accounting.book;

import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.Entities.Wckey;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * Keys that come into the lists because a job was charged to them: a site that does not enforce keys need not name them
 * first.
 */
public final class JobKeys {
    private JobKeys() {}

    /**
     * Jobs of a cluster with a wckey that no list has. A removed wckey is added again only for a job that was submitted
     * later.
     */
    public static List<JobRow> unknown(AssocTree book, String cluster, Collection<JobRow> jobs) {
        return jobs.stream()
                .filter(j -> !Wckey.plain(j.wckey()).isEmpty() && !j.userName().isEmpty())
                .filter(j -> ever(book, cluster, j)
                        .map(w -> w.deleted() && j.submitTime() > w.modified())
                        .orElse(true))
                .toList();
    }

    private static Optional<Wckey> ever(AssocTree book, String cluster, JobRow job) {
        return book.wckeysEver().stream()
                .filter(w -> w.cluster().equals(cluster)
                        && w.user().equals(job.userName())
                        && w.name().equals(Wckey.plain(job.wckey())))
                .findFirst();
    }

    /** Puts the keys of such jobs into the draft, none as its user's default. */
    public static void add(AssocTree draft, String cluster, Collection<JobRow> jobs, long now) {
        for (JobRow job : unknown(draft, cluster, jobs)) {
            String name = Wckey.plain(job.wckey());
            draft.put(new Wckey(
                    ever(draft, cluster, job).map(Wckey::id).orElseGet(draft::nextWckey),
                    cluster,
                    job.userName(),
                    name,
                    false,
                    now,
                    now,
                    false));
            draft.log(now, "Add WCKeys", "slurmdbd", cluster, name, "user='" + job.userName() + "'");
        }
    }
}
