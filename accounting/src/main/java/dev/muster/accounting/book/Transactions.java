package dev.muster.accounting.book;

import dev.muster.model.accounting.DbdMessages.Show;
import dev.muster.model.accounting.Entities.Assoc;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * {@code sacctmgr show transactions}: which changes were about an account or a user, also of what is deleted by now.
 */
public final class Transactions {
    private static final String OF_ASSOCIATION = "id_assoc=";

    private final AssocTree book;
    private final Map<String, String> conditions;
    private final boolean withAssociations;

    public Transactions(AssocTree book, Show show) {
        this.book = book;
        this.conditions = show.where();
        this.withAssociations = show.options().contains("withassoc");
    }

    /** @param rows as they are in the table, with Action, Actor, Cluster, ID, Where and Info */
    public List<Map<String, String>> of(List<Map<String, String>> rows) {
        List<Map<String, String>> out = new ArrayList<>();
        for (Map<String, String> row : rows) {
            List<Assoc> touched = touched(ShowColumns.of(row, "Where"));
            if (named("action", ShowColumns.of(row, "Action"))
                    && named("actor", ShowColumns.of(row, "Actor"))
                    && named("cluster", ShowColumns.of(row, "Cluster"))
                    && named("id", ShowColumns.of(row, "ID"))
                    && isAbout(row, touched)) {
                out.add(withAssociations ? with(row, touched) : row);
            }
        }
        return out;
    }

    private boolean given(String key) {
        return !conditions.getOrDefault(key, "").isEmpty();
    }

    private boolean named(String key, String value) {
        return !given(key)
                || List.of(conditions
                                .getOrDefault(key, "")
                                .toLowerCase(Locale.ROOT)
                                .split(","))
                        .contains(value.toLowerCase(Locale.ROOT));
    }

    private List<Assoc> touched(String target) {
        if (!target.matches(OF_ASSOCIATION + "\\d{1,9}")) {
            return List.of();
        }
        Optional<Assoc> found = book.assocOfNumber(Integer.parseInt(target.substring(OF_ASSOCIATION.length())));
        return found.map(List::of).orElse(List.of());
    }

    /** An association is of its account and of its user; anything else is of the one that it names. */
    private boolean isAbout(Map<String, String> row, List<Assoc> touched) {
        if (!given("account") && !given("user")) {
            return true;
        }
        if (ShowColumns.of(row, "Where").startsWith(OF_ASSOCIATION)) {
            return touched.stream().anyMatch(a -> named("account", a.account()) && named("user", a.user()));
        }
        String name = ShowColumns.of(row, "Where");
        String info = ShowColumns.of(row, "Info");
        return switch (ShowColumns.of(row, "Action")) {
            case "Add Accounts", "Modify Accounts", "Remove Accounts" -> !given("user") && named("account", name);
            case "Add Account Coord", "Remove Account Coord" -> named("user", name) && named("account", info);
            case "Add Users", "Modify Users", "Remove Users" -> !given("account") && named("user", name);
            case "Add WCKeys", "Remove WCKeys" ->
                !given("account")
                        && info.matches("user='[^']*'")
                        && named("user", info.substring(6, info.length() - 1));
            default -> false;
        };
    }

    private static Map<String, String> with(Map<String, String> row, List<Assoc> touched) {
        Map<String, String> out = new LinkedHashMap<>(row);
        out.put("User", touched.stream().map(Assoc::user).collect(Collectors.joining(",")));
        out.put("Account", touched.stream().map(Assoc::account).collect(Collectors.joining(",")));
        out.put("Cluster", touched.stream().map(Assoc::cluster).collect(Collectors.joining(",")));
        return out;
    }
}
