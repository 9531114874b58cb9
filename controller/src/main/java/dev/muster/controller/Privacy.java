package dev.muster.controller;

import dev.muster.core.Access;
import dev.muster.core.Job;
import dev.muster.core.Mcs;
import dev.muster.core.State;
import dev.muster.model.accounting.AccountingRows;
import dev.muster.model.api.PolicyMessages;
import java.util.List;

/**
 * What PrivateData hides from one caller. root, SlurmUser, operators and administrators see everything, coordinators what belongs to
 * their accounts.
 */
final class Privacy {
    private final List<String> words;
    private final int uid;
    private final String user;
    private final boolean trusted;
    private final Mcs mcs;
    private final State state;

    /** @param words of PrivateData; user: the caller's name */
    Privacy(List<String> words, State state, int uid, String user) {
        this.words = words;
        this.uid = uid;
        this.user = user;
        this.state = state;
        this.mcs = Mcs.of(state.settings());
        this.trusted = Access.isOperator(state, uid);
    }

    /** Whether things of this word are not for the caller. */
    boolean hides(String word) {
        return !trusted && words.stream().anyMatch(word::equalsIgnoreCase);
    }

    boolean shows(Job job) {
        return showsJob(job.desc().owner().uid(), job.desc().charge().account())
                || mcs.privateData() && !job.desc().extras().mcsLabel().isEmpty() && permits(job.desc().extras().mcsLabel());
    }

    /** With MCSParameters=privatedata others see what carries a label of theirs. Whose group a label is, is not known here: those see their own. */
    private boolean permits(String label) {
        return mcs.kind().equals("user") && label.equals(user)
                || mcs.kind().equals("account") && state.accounts().assocs().values().stream()
                        .anyMatch(a -> a.user().equals(user) && a.account().equals(label));
    }

    /** Equal for callers who are shown the same jobs and nodes. */
    String sees() {
        return hides("jobs") || hides("nodes") ? "uid " + uid : "all";
    }

    boolean showsJob(int owner, String account) {
        return owner == uid || Access.isCoordinator(state, uid, account) || !hides("jobs");
    }

    boolean shows(PolicyMessages.PriorityRow row) {
        return showsJob(row.userId(), row.account());
    }

    boolean shows(PolicyMessages.ShareRow row) {
        return row.user().equals(user) || Access.isCoordinator(state, uid, row.account()) || !hides("usage");
    }

    boolean showsUser(String name) {
        return name.equals(user) || !hides("users");
    }

    AccountingRows.Answer shown(AccountingRows.Answer answer) {
        AccountingRows.Answer own = answer.withTextsOf(uid, trusted);
        return !hides("jobs") ? own : new AccountingRows.Answer(own.now(), own.cluster(),
                own.jobs().stream().filter(j -> showsJob(j.job().userId(), j.job().account())).toList());
    }

    /** Nodes are shown to whom they are not hidden from, and to those whose jobs are on each of them, who must reach their steps. */
    boolean showsNodes(State state, List<String> names) {
        return !hides("nodes") || !names.isEmpty() && names.stream().allMatch(n -> state.nodes().find(n)
                .filter(node -> node.jobs().stream().anyMatch(id -> state.jobs().at(id).desc().owner().uid() == uid)).isPresent());
    }
}
