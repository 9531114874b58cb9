package dev.muster.core.limits;

import dev.muster.core.state.Node;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.ResourceRequest;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Multi-category security: jobs carry a label that follows from their user, group or account, and jobs of different
 * labels can be kept from each other's nodes.
 *
 * @param kind none, user, group, account or label
 * @param enforced every job gets a label, not only those that ask for one
 * @param select ALWAYS, NEVER or ASKED: which labelled jobs share nodes with their own label alone
 * @param groups names and numbers of the groups whose names are labels, in their order
 */
public record McsLabel(String kind, boolean enforced, Select select, boolean privateData, Map<String, Integer> groups) {
    /** Keys of {@link Settings#options}. */
    public static final String PLUGIN = "mcs_plugin";

    public static final String PARAMETERS = "mcs_parameters";
    /** {@code name:gid,…} of the groups that MCSParameters names. */
    public static final String GROUPS = "mcs_groups";

    /** Which labelled jobs share nodes with their own label alone. */
    public enum Select {
        ALWAYS,
        NEVER,
        ASKED
    }

    public static McsLabel of(Settings settings) {
        Map<String, String> o = settings.options();
        List<String> words =
                Arrays.asList(o.getOrDefault(PARAMETERS, "").split(":")[0].split(","));
        Map<String, Integer> groups = new LinkedHashMap<>();
        for (String pair : o.getOrDefault(GROUPS, "").split(",")) {
            int colon = pair.lastIndexOf(':');
            if (colon > 0) {
                groups.put(pair.substring(0, colon), Integer.parseInt(pair.substring(colon + 1)));
            }
        }
        String plugin = o.getOrDefault(PLUGIN, "");
        Select select = words.contains("noselect") ? Select.NEVER : Select.ASKED;
        return new McsLabel(
                plugin.startsWith("mcs/") ? plugin.substring(4) : "none",
                words.contains("enforced"),
                words.contains("select") ? Select.ALWAYS : select,
                words.contains("privatedata"),
                groups);
    }

    /** The description with its label after an update; without MCSPlugin no update changes a label. */
    public Optional<JobDesc> relabelled(JobDesc before, JobDesc after) {
        return kind.equals("none")
                ? Optional.of(after.withExtras(
                        after.extras().withMcsLabel(before.extras().mcsLabel())))
                : labelled(after);
    }

    /** The job with the label that it gets; empty if the one that it names is not its own. */
    public Optional<JobDesc> labelled(JobDesc desc) {
        String asked = desc.extras().mcsLabel();
        boolean wanted = enforced || !asked.isEmpty() || desc.request().exclusive() == ResourceRequest.Exclusive.MCS;
        if (kind.equals("none")) {
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

    /** A job without an account has no label; a user in none of the groups may submit no job. */
    private boolean mayHave(String asked, List<String> own) {
        if (kind.equals("label")) {
            return !asked.isEmpty() || !enforced;
        }
        if (asked.isEmpty()) {
            return !kind.equals("group") || !own.isEmpty();
        }
        return own.contains(asked);
    }

    private List<String> own(JobDesc desc) {
        return switch (kind) {
            case "user" -> List.of(desc.owner().user());
            case "account" ->
                desc.charge().account().isEmpty()
                        ? List.of()
                        : List.of(desc.charge().account());
            case "group" ->
                groups.entrySet().stream()
                        .filter(g -> desc.owner().gid() == g.getValue()
                                || desc.owner().gids().contains(g.getValue()))
                        .map(Map.Entry::getKey)
                        .toList();
            default -> List.of();
        };
    }

    /** The label that the job shares its nodes with alone, "" if it does not mind. */
    public String separating(JobDesc desc) {
        boolean separates = switch (select) {
            case ALWAYS -> true;
            case NEVER -> false;
            case ASKED -> desc.request().exclusive() == ResourceRequest.Exclusive.MCS;
        };
        return separates && !kind.equals("none") ? desc.extras().mcsLabel() : "";
    }

    /** The label of the jobs that a node has to itself; "" if any may come. */
    public String labelOf(State state, Node node) {
        return node.jobs().stream()
                .map(id -> separating(state.jobs().at(id).desc()))
                .filter(l -> !l.isEmpty())
                .findFirst()
                .orElse("");
    }
}
