package dev.muster.accounting.report;

import dev.muster.accounting.book.AssocTree;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.Entities.Wckey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The tree of a cluster's accounts as reports need it, with what is deleted by now. */
public final class Accounts {
    private final String cluster;
    private final Map<String, String> parents = new LinkedHashMap<>();
    private final Map<String, List<String>> users = new HashMap<>();

    public Accounts(AssocTree book, String cluster) {
        this.cluster = cluster;
        for (Assoc assoc : book.treeEver(cluster)) {
            if (assoc.user().isEmpty()) {
                parents.put(assoc.account(), assoc.parent());
            } else {
                List<String> names = users.computeIfAbsent(assoc.account(), k -> new ArrayList<>());
                if (!names.contains(assoc.user())) {
                    names.add(assoc.user());
                }
            }
        }
    }

    /** Names from the account up to the root; empty for an account that the cluster never had. */
    public List<String> up(String account) {
        List<String> out = new ArrayList<>();
        for (String at = account; parents.containsKey(at) && !out.contains(at); at = parents.get(at)) {
            out.add(at);
        }
        return out;
    }

    private boolean associated(String account, String user) {
        return users.getOrDefault(account, List.of()).contains(user);
    }

    /**
     * Use along the tree: an account with the sum of all that is below it, then its users, then the accounts below.
     * What was not used is left out, and so are jobs without an association.
     *
     * @return rows with Cluster, Account, User, Depth, and amounts by resource
     */
    public List<Map<String, String>> rows(List<JobUse> jobs, long from, long to, long now) {
        return rows(jobs, List.of(), from, to, now);
    }

    /**
     * The unused part of a reservation that belongs to one association.
     *
     * @param user "" where it is the account's
     * @param tres amounts times seconds
     */
    public record Idle(String account, String user, Map<String, Long> tres) {}

    /**
     * Like {@link #rows(List, long, long, long)}, with idle time: that of an account does not include that of its
     * users.
     */
    public List<Map<String, String>> rows(List<JobUse> jobs, List<Idle> idle, long from, long to, long now) {
        Map<String, Map<String, Long>> sums = new HashMap<>();
        for (JobUse use : jobs) {
            if (!associated(use.account(), use.user())) {
                continue;
            }
            Map<String, Long> used = use.used(from, to, now);
            add(sums, use.account() + "\n" + use.user(), used);
            up(use.account()).forEach(account -> add(sums, account, used));
        }
        for (Idle i : idle) {
            if (!i.user.isEmpty()) {
                add(sums, i.account + "\n" + i.user, i.tres);
            }
            up(i.account).forEach(account -> add(sums, account, i.tres));
        }
        List<Map<String, String>> out = new ArrayList<>();
        for (String account : parents.keySet()) {
            int depth = up(account).size() - 1;
            row(out, account, "", depth, sums.get(account));
            users.getOrDefault(account, List.of())
                    .forEach(user -> row(out, account, user, depth + 1, sums.get(account + "\n" + user)));
        }
        return out;
    }

    private static void add(Map<String, Map<String, Long>> sums, String key, Map<String, Long> used) {
        Amounts.add(sums.computeIfAbsent(key, k -> Amounts.none()), used, 1);
    }

    private void row(
            List<Map<String, String>> out, String account, String user, int depth, @Nullable Map<String, Long> used) {
        if (used == null || used.values().stream().allMatch(n -> n == 0)) {
            return;
        }
        Map<String, String> row = new LinkedHashMap<>();
        row.put("Cluster", cluster);
        row.put("Account", account);
        row.put("User", user);
        row.put("Depth", Integer.toString(depth));
        used.forEach((name, n) -> row.put(name, Long.toString(n)));
        out.add(row);
    }

    /** Use by account and QOS, of jobs that have an association. */
    public List<Map<String, String>> qos(List<JobUse> jobs, long from, long to, long now) {
        Map<String, Map<String, Long>> sums = new java.util.TreeMap<>();
        for (JobUse use : jobs) {
            if (associated(use.account(), use.user()) && !use.qos().isEmpty()) {
                add(sums, use.account() + "\n" + use.qos(), use.used(from, to, now));
            }
        }
        return rows(cluster, "Account", "QOS", sums);
    }

    /** Use by key and user; the row of a key alone comes first. Of jobs that have a key. */
    public static List<Map<String, String>> wckeys(String cluster, List<JobUse> jobs, long from, long to, long now) {
        Map<String, Map<String, Long>> sums = new java.util.TreeMap<>();
        for (JobUse use : jobs) {
            String key = Wckey.plain(use.wckey());
            if (!key.isEmpty()) {
                Map<String, Long> used = use.used(from, to, now);
                add(sums, key + "\n", used);
                add(sums, key + "\n" + use.user(), used);
            }
        }
        return rows(cluster, "WCKey", "User", sums);
    }

    /**
     * One row for each place with use.
     *
     * @param sums by place: the value of the first column, a line feed and that of the second
     */
    private static List<Map<String, String>> rows(
            String cluster, String first, String second, Map<String, Map<String, Long>> sums) {
        List<Map<String, String>> out = new ArrayList<>();
        sums.forEach((place, used) -> {
            if (used.values().stream().anyMatch(n -> n != 0)) {
                int line = place.indexOf('\n');
                Map<String, String> row = new LinkedHashMap<>(
                        Map.of("Cluster", cluster, first, place.substring(0, line), second, place.substring(line + 1)));
                used.forEach((name, n) -> row.put(name, Long.toString(n)));
                out.add(row);
            }
        });
        return out;
    }

    /**
     * Under which account of a report a job is counted.
     *
     * @param roots those that were asked for; the root of the tree if none were
     * @param below whether those directly below the roots are shown instead of them
     * @return "" if under none
     */
    String shown(String account, Set<String> roots, boolean below) {
        List<String> ancestors = up(account);
        Set<String> wanted = roots.isEmpty() ? new HashSet<>(List.of(AssocTree.ROOT)) : roots;
        for (int i = 0; i < ancestors.size(); i++) {
            if (wanted.contains(ancestors.get(i))) {
                if (below) {
                    if (i == 0) {
                        return "";
                    }
                    return ancestors.get(i - 1);
                }
                return ancestors.get(i);
            }
        }
        return "";
    }
}
