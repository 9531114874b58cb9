package dev.muster.accounting.dbd;

import dev.muster.accounting.book.AssocTree;
import dev.muster.accounting.book.ShowColumns;
import dev.muster.accounting.report.JobUse;
import dev.muster.model.accounting.AccountingRows.Answer;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Cluster;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The data that PrivateData of slurmdbd.conf hides from a caller. Operators and administrators see everything;
 * coordinators see their accounts and the accounts below them.
 */
public final class PrivateData {
    private final Set<String> hidden = new HashSet<>();
    private final AssocTree book;
    private final String user;
    private final int uid;

    /**
     * @param value of the key
     * @param trusted an operator or more
     */
    public PrivateData(String value, AssocTree book, int uid, String user, boolean trusted) {
        this.book = book;
        this.user = user;
        this.uid = uid;
        if (!trusted) {
            for (String word : value.toLowerCase(Locale.ROOT).split(",")) {
                hidden.addAll(
                        word.strip().equals("all")
                                ? List.of("accounts", "events", "jobs", "reservations", "usage", "users")
                                : List.of(word.strip()));
            }
        }
    }

    private boolean hides(String word) {
        return hidden.contains(word);
    }

    private boolean coordinates(String cluster, String account) {
        return book.coordinators(cluster, account).contains(user);
    }

    private boolean coordinates(String account) {
        return book.clusters().stream().anyMatch(c -> coordinates(c.name(), account));
    }

    /** Whether a list is not for the caller at all. */
    boolean refuses(String entity) {
        return switch (entity) {
            case "event", "instance" -> hides("events");
            case "reservation" -> hides("reservations");
            case "account" -> hides("accounts") && book.accountNames().stream().noneMatch(this::coordinates);
            case "wckey" -> hides("users");
            case "problem" -> hides("users") || hides("accounts");
            default -> false;
        };
    }

    /** The rows of a list that are for the caller. */
    List<Map<String, String>> shown(String entity, List<Map<String, String>> rows) {
        return switch (entity) {
            case "account" ->
                !hides("accounts")
                        ? rows
                        : rows.stream()
                                .filter(r -> coordinates(ShowColumns.of(r, "Account")))
                                .toList();
            case "user", "coordinator" ->
                !hides("users")
                        ? rows
                        : rows.stream()
                                .filter(r -> ShowColumns.of(r, "User").equals(user))
                                .toList();
            case "association" -> !hides("users") ? rows : associations(rows);
            default -> rows;
        };
    }

    /** One's own with the accounts above them, and all of the accounts that one coordinates. */
    private List<Map<String, String>> associations(List<Map<String, String>> rows) {
        Set<String> above = new HashSet<>();
        for (Cluster cluster : book.clusters()) {
            for (Assoc assoc : book.tree(cluster.name())) {
                for (Assoc at = assoc;
                        assoc.user().equals(user) && at != null;
                        at = book.parent(at).orElse(null)) {
                    above.add(cluster.name() + "\n" + at.account());
                }
            }
        }
        return rows.stream()
                .filter(r -> ShowColumns.of(r, "User").equals(user)
                        || ShowColumns.of(r, "User").isEmpty()
                                && above.contains(ShowColumns.of(r, "Cluster") + "\n" + ShowColumns.of(r, "Account"))
                        || coordinates(ShowColumns.of(r, "Cluster"), ShowColumns.of(r, "Account")))
                .toList();
    }

    /** Whether jobs of others are hidden. */
    boolean hidesJobs() {
        return hides("jobs");
    }

    /** Leaves jobs of other users only for coordinators of their accounts. */
    Answer shown(Answer answer) {
        return !hides("jobs")
                ? answer
                : new Answer(
                        answer.now(),
                        answer.cluster(),
                        answer.jobs().stream()
                                .filter(j -> j.job().userId() == uid
                                        || coordinates(j.cluster(), j.job().account()))
                                .toList(),
                        answer.next());
    }

    /** Like {@link #counts(String, JobUse)}, for figures of an account or a user. */
    public boolean counts(String word, String cluster, String account, String owner) {
        return !hides(word) || owner.equals(user) || coordinates(cluster, account);
    }

    /**
     * Whether a job counts in a sum.
     *
     * @param word usage for sums of use, jobs for those of jobs by size
     */
    public boolean counts(String word, JobUse job) {
        return !hides(word) || job.uid() == uid || coordinates(job.cluster(), job.account());
    }
}
