package dev.muster.controller.view;

import dev.muster.core.command.Access;
import dev.muster.core.limits.McsLabel;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.Partition;
import dev.muster.core.state.State;
import dev.muster.model.accounting.AccountingRows;
import dev.muster.model.api.PolicyMessages;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Hides from one caller what PrivateData names. root, SlurmUser, operators and administrators see everything,
 * coordinators what belongs to their accounts.
 */
public final class PrivateDataFilter {
    private final List<String> words;
    private final int uid;
    private final String user;
    private final boolean trusted;
    private final McsLabel mcs;
    private final State state;

    private final IntPredicate member;
    /** Names of partitions that are not shown; null until the first question. */
    private @Nullable Set<String> hidden;

    private static final Set<String> PLACES = Set.of("name", "hostname", "address", "port", "bcastAddress");

    /** @param words of PrivateData; user: the caller's name */
    public PrivateDataFilter(List<String> words, State state, int uid, String user) {
        this(words, state, uid, user, gid -> false);
    }

    /** @param member whether the caller is of the group with this number */
    public PrivateDataFilter(List<String> words, State state, int uid, String user, IntPredicate member) {
        this.member = member;
        this.words = words;
        this.uid = uid;
        this.user = user;
        this.state = state;
        this.mcs = McsLabel.of(state.settings());
        this.trusted = Access.isOperator(state, uid);
    }

    /** Tests whether things of this word are not for the caller. */
    public boolean hides(String word) {
        return !trusted && words.stream().anyMatch(word::equalsIgnoreCase);
    }

    /** Tests whether a partition is listed without --all: it is not hidden, and open to the caller's groups. */
    public boolean shows(Partition partition) {
        return trusted || !partition.info().hidden() && PartitionLimits.admitsGroups(partition.info(), member);
    }

    /** Tests whether one of the partitions of a job is shown. */
    public boolean showsPartition(Job job) {
        Set<String> hidden = hiddenPartitions();
        return hidden.isEmpty() || job.desc().partitionList().stream().anyMatch(name -> !hidden.contains(name));
    }

    private Set<String> hiddenPartitions() {
        if (hidden == null) {
            hidden = state.partitions().values().stream()
                    .filter(p -> !shows(p))
                    .map(Partition::name)
                    .collect(Collectors.toSet());
        }
        return hidden;
    }

    public boolean shows(Job job) {
        return showsJob(job.desc().owner().uid(), job.desc().charge().account())
                || labels() && permits(job.desc().extras().mcsLabel());
    }

    /** Tests whether labels decide what PrivateData hides of jobs and nodes (MCSParameters=privatedata). */
    private boolean labels() {
        return mcs.privateData() && !mcs.kind().equals("none");
    }

    /**
     * Tests whether the label is open to the caller. Jobs without a label are open to all, and so are free labels,
     * which every user may name.
     */
    private boolean permits(String label) {
        return label.isEmpty()
                || switch (mcs.kind()) {
                    case "label" -> true;
                    case "user" -> label.equals(user);
                    case "account" ->
                        state.accounts().assocs().values().stream()
                                .anyMatch(a ->
                                        a.user().equals(user) && a.account().equals(label));
                    default ->
                        mcs.options().groups().containsKey(label)
                                && member.test(mcs.options().groups().get(label));
                };
    }

    /** Tests whether some nodes are shown, and others are not. */
    public boolean picksNodes() {
        return hides("nodes") && labels();
    }

    public boolean shows(Node node) {
        return !hides("nodes") || labels() && (permits(mcs.labelOf(state, node)) || isOn(node));
    }

    /** Returns a text that is equal for callers with the same view of jobs and nodes. */
    public String sees() {
        return hides("jobs") || hides("nodes") ? "uid " + uid : "all";
    }

    public boolean showsJob(int owner, String account) {
        return owner == uid || Access.isCoordinator(state, uid, account) || !hides("jobs");
    }

    public boolean shows(PolicyMessages.PriorityRow row) {
        return showsJob(row.userId(), row.account());
    }

    public boolean shows(PolicyMessages.ShareRow row) {
        return row.user().equals(user) || Access.isCoordinator(state, uid, row.account()) || !hides("usage");
    }

    public boolean showsUser(String name) {
        return name.equals(user) || !hides("users");
    }

    public AccountingRows.Answer shown(AccountingRows.Answer answer) {
        AccountingRows.Answer own = answer.withTextsOf(uid, trusted);
        return !hides("jobs")
                ? own
                : new AccountingRows.Answer(
                        own.now(),
                        own.cluster(),
                        own.jobs().stream()
                                .filter(j -> showsJob(j.job().userId(), j.job().account()))
                                .toList());
    }

    /**
     * Tests whether the nodes are shown: PrivateData does not hide them, or the caller owns a job on each of them and
     * needs them to reach its steps.
     */
    public boolean showsNodes(State state, List<String> names) {
        return !hides("nodes")
                || labels()
                || !names.isEmpty()
                        && names.stream()
                                .allMatch(n ->
                                        state.nodes().find(n).filter(this::isOn).isPresent());
    }

    /**
     * Tests whether a query asks for addresses of nodes only, by which commands reach the steps of the caller's jobs.
     */
    public static boolean ofPlaces(List<String> fields) {
        return !fields.isEmpty() && PLACES.containsAll(fields);
    }

    /** Tests whether a job of the caller is on the node. */
    public boolean isOn(Node node) {
        return node.jobs().stream()
                .anyMatch(id -> state.jobs().at(id).desc().owner().uid() == uid);
    }
}
