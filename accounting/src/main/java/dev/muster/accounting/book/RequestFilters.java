package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.Change;
import dev.muster.model.accounting.LimitField;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Which conditions each request acts on. One that would be passed over is refused: it could show, change or delete too
 * much.
 */
public final class RequestFilters {
    private static final Map<String, String> HONOURED = Map.ofEntries(
            Map.entry(
                    "show account",
                    "name description organization parent cluster partition qos user defaultqos id account"),
            Map.entry("show association", "account cluster defaultqos id parent partition qos user"),
            Map.entry("show cluster", "name classification rpc qos defaultqos"),
            Map.entry("show coordinator", "name account"),
            Map.entry("show event", "cluster end event node reason start state user maxcpus mincpus condflags"),
            Map.entry("show instance", "cluster end extra instanceid instancetype node start"),
            Map.entry("show problem", "cluster account user"),
            Map.entry("show qos", "name description id preemptmode"),
            Map.entry("show reservation", "cluster names ids flags nodes start end"),
            Map.entry("show resource", "name allowed cluster description id server servertype type"),
            Map.entry("show runawayjob", "cluster"),
            Map.entry("show transaction", "account action actor cluster end id start user"),
            Map.entry("show tres", "name id type"),
            Map.entry(
                    "show user",
                    "name account adminlevel cluster defaultaccount defaultwckey partition qos defaultqos wckey"),
            Map.entry("show wckey", "name cluster id user"),
            Map.entry("modify account", "name cluster"),
            Map.entry("modify account records", "name cluster description organization"),
            Map.entry("modify account limits", "name cluster parent user"),
            Map.entry("modify account usage", "name cluster user"),
            Map.entry("modify cluster", "name"),
            Map.entry("modify qos", "name"),
            Map.entry("modify qos usage", "name cluster"),
            Map.entry("modify resource", "name server cluster"),
            Map.entry("modify user", "name account cluster partition"),
            Map.entry("modify user usage", "name account cluster"),
            Map.entry("delete account", "name description organization parent cluster partition"),
            Map.entry("clean cluster", "name"),
            Map.entry("delete cluster", "name"),
            Map.entry("delete coordinator", "name account"),
            Map.entry("delete qos", "name description id"),
            Map.entry("delete resource", "name server cluster"),
            Map.entry("delete user", "name adminlevel defaultaccount account cluster partition wckey"));
    /** Settings of each kind of entity besides limits. */
    private static final Map<String, String> SETTINGS = Map.of(
            "account",
            "parent description organization accountflags rawusage",
            "user",
            "adminlevel defaultaccount defaultwckey newname rawusage",
            "cluster",
            "classification",
            "coordinator",
            "",
            "qos",
            "rawusage",
            "resource",
            "allowed count description flags lastconsumed server servertype type");

    private static final Set<String> RECORDS = Set.of("description", "organization", "accountflags", ChangeKeys.FLAGS);

    private RequestFilters() {}

    /** A sentence for the first condition of a list that has no effect. */
    public static Optional<String> refused(String entity, Map<String, String> conditions) {
        return refused("show " + entity, "show " + entity, conditions);
    }

    /**
     * A sentence for the first setting or condition of a change that has no effect. What is added is described by its
     * conditions: all act.
     */
    static Optional<String> refused(Change change) {
        List<LimitField> limits = switch (change.entity()) {
            case "account" -> LimitField.ASSOC;
            case "user", "cluster" ->
                LimitField.ASSOC.stream()
                        .filter(f -> !f.name().equals(ChangeKeys.FLAGS))
                        .toList();
            case "qos" -> LimitField.QOS;
            default -> List.of();
        };
        Set<String> settings = Set.of(SETTINGS.getOrDefault(change.entity(), "").split(" "));
        Optional<String> unknown = new TreeSet<>(change.set().keySet())
                .stream()
                        .filter(k -> !settings.contains(k)
                                && !(k.equals(ChangeKeys.ALONE)
                                        && change.verb().equals("add")
                                        && change.entity().equals("user")))
                        .filter(k -> limits.stream().noneMatch(f -> f.name().equals(k)))
                        .findFirst();
        if (unknown.isPresent()) {
            return unknown.map(k -> " The setting '" + k + "' of '" + change.verb() + " " + change.entity()
                    + "' is not supported by this version");
        }
        if (change.verb().equals("add")) {
            return Optional.empty();
        }
        String action = change.verb() + " " + change.entity();
        String key = action;
        if (change.verb().equals("modify") && change.set().containsKey(ChangeKeys.USAGE)) {
            key = action + " usage";
        } else if (action.equals("modify account")) {
            boolean records = change.set().keySet().stream().anyMatch(RECORDS::contains);
            boolean others = change.set().keySet().stream().anyMatch(k -> !RECORDS.contains(k));
            if (records && !others) {
                key = action + " records";
            } else if (records || change.set().containsKey("parent")) {
                key = action;
            } else {
                key = action + " limits";
            }
        }
        return refused(action, key, change.where());
    }

    /** Every request and the conditions that it acts on. */
    static Map<String, Set<String>> honoured() {
        return HONOURED.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, e -> Set.of(e.getValue().split(" "))));
    }

    private static Optional<String> refused(String action, String key, Map<String, String> conditions) {
        Set<String> honoured = Set.of(HONOURED.getOrDefault(key, "").split(" "));
        return new TreeSet<>(conditions.keySet())
                .stream()
                        .filter(k -> !honoured.contains(k))
                        .findFirst()
                        .map(k -> " The condition '" + k + "' of '" + action + "' is not supported by this version");
    }
}
