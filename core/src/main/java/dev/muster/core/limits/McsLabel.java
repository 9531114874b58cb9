package dev.muster.core.limits;

import dev.muster.core.options.McsOptions;
import dev.muster.core.state.Node;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.ResourceRequest;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Multi-category security: jobs carry a label that follows from their user, group or account, and jobs of different
 * labels can be kept from each other's nodes.
 *
 * @param options how labels are given and kept from each other
 */
public record McsLabel(McsOptions options) {
    public static McsLabel of(Settings settings) {
        return new McsLabel(settings.options().mcs());
    }

    /** Returns MCSPlugin without {@code mcs/}: none, user, group, account or label. */
    public String kind() {
        return options.kind();
    }

    public boolean privateData() {
        return options.privateData();
    }

    /** Returns the description with its label after an update; without MCSPlugin no update changes a label. */
    public Optional<JobDesc> relabelled(JobDesc before, JobDesc after) {
        return kind().equals("none")
                ? Optional.of(after.withExtras(
                        after.extras().withMcsLabel(before.extras().mcsLabel())))
                : labelled(after);
    }

    /** Returns the job with the label that it gets; empty if the one that it names is not its own. */
    public Optional<JobDesc> labelled(JobDesc desc) {
        String asked = desc.extras().mcsLabel();
        boolean wanted =
                options.enforced() || !asked.isEmpty() || desc.request().exclusive() == ResourceRequest.Exclusive.MCS;
        if (kind().equals("none")) {
            // without MCSPlugin a label says nothing
            return Optional.of(desc);
        }
        if (!wanted) {
            return Optional.of(desc);
        }
        List<String> own = own(desc);
        if (!mayHave(asked, own)) {
            return Optional.empty();
        }
        return Optional.of(desc.withExtras(
                desc.extras().withMcsLabel(!asked.isEmpty() || own.isEmpty() ? asked : own.getFirst())));
    }

    /**
     * Tests whether the job may have the label. A job without an account has none; a user in none of the groups may
     * submit no job.
     */
    private boolean mayHave(String asked, List<String> own) {
        if (kind().equals("label")) {
            return !asked.isEmpty() || !options.enforced();
        }
        if (asked.isEmpty()) {
            return !kind().equals("group") || !own.isEmpty();
        }
        return own.contains(asked);
    }

    private List<String> own(JobDesc desc) {
        return switch (kind()) {
            case "user" -> List.of(desc.owner().user());
            case "account" ->
                desc.charge().account().isEmpty()
                        ? List.of()
                        : List.of(desc.charge().account());
            case "group" ->
                options.groups().entrySet().stream()
                        .filter(g -> desc.owner().gid() == g.getValue()
                                || desc.owner().gids().contains(g.getValue()))
                        .map(Map.Entry::getKey)
                        .toList();
            default -> List.of();
        };
    }

    /** Returns the label that the job shares its nodes with alone, "" if it does not mind. */
    public String separating(JobDesc desc) {
        boolean separates = switch (options.select()) {
            case ALWAYS -> true;
            case NEVER -> false;
            case ASKED -> desc.request().exclusive() == ResourceRequest.Exclusive.MCS;
        };
        return separates && !kind().equals("none") ? desc.extras().mcsLabel() : "";
    }

    /** Returns the label of the jobs that a node has to itself; "" if any may come. */
    public String labelOf(State state, Node node) {
        return node.jobs().stream()
                .map(id -> separating(state.jobs().at(id).desc()))
                .filter(l -> !l.isEmpty())
                .findFirst()
                .orElse("");
    }
}
