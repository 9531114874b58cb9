package dev.muster.accounting.report;

import dev.muster.model.accounting.Entities.Wckey;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** How much of a cluster's time went to jobs of which size. */
public final class JobSizeReport {
    private record Place(String name, int cpus) implements Comparable<Place> {
        @Override
        public int compareTo(Place o) {
            int byName = name.compareTo(o.name);
            return byName != 0 ? byName : Integer.compare(cpus, o.cpus);
        }
    }

    private final Map<String, String> conditions;

    /**
     * @param conditions {@code by} account, accountandwckey or wckey; {@code accounts}, {@code acctasparent},
     *     {@code flatview}, {@code users}, {@code gids}, {@code jobs}, {@code nodes}, {@code partitions},
     *     {@code wckeys}, {@code tres}; lists with commas
     */
    public JobSizeReport(Map<String, String> conditions) {
        this.conditions = conditions;
    }

    private Set<String> list(String key) {
        Set<String> out = new TreeSet<>();
        for (String item : conditions.getOrDefault(key, "").split(",")) {
            if (!item.isBlank()) {
                out.add(item.strip());
            }
        }
        return out;
    }

    private boolean in(String key, String... values) {
        Set<String> wanted = list(key);
        return wanted.isEmpty() || List.of(values).stream().anyMatch(wanted::contains);
    }

    private boolean wanted(JobUse use) {
        return use.start() > 0
                && in("users", use.user(), Integer.toString(use.uid()))
                && in("gids", Integer.toString(use.gid()))
                && in("jobs", Integer.toString(use.jobId()))
                && in("partitions", use.partition())
                && in("wckeys", key(use))
                && onNodes(use);
    }

    private boolean onNodes(JobUse use) {
        String nodeList = conditions.getOrDefault("nodes", "");
        return nodeList.isEmpty() || HostList.intersect(nodeList, use.nodes());
    }

    private static String key(JobUse use) {
        return Wckey.plain(use.wckey());
    }

    private String name(Accounts accounts, JobUse use) {
        String grouping = conditions.getOrDefault("by", "account").toLowerCase(Locale.ROOT);
        if (grouping.equals("wckey")) {
            return key(use);
        }
        Set<String> roots = list("accounts");
        String account;
        if (conditions.containsKey("flatview")) {
            if (roots.isEmpty() || roots.contains(use.account())) {
                account = use.account();
            } else {
                account = "";
            }
        } else {
            account = accounts.shown(use.account(), roots, conditions.containsKey("acctasparent"));
        }

        return account.isEmpty() || !grouping.equals("accountandwckey") ? account : account + ":" + key(use);
    }

    /**
     * Rows with Cluster, Name, CPUs, Seconds (amount of the resource times seconds) and Jobs, by name and then by size.
     */
    public List<Map<String, String>> rows(
            String cluster, Accounts accounts, List<JobUse> jobs, long from, long to, long now) {
        String tres = conditions.getOrDefault("tres", "cpu");
        Map<Place, long[]> sums = new TreeMap<>();
        for (JobUse use : jobs) {
            if (!wanted(use) || use.active(from, to, now) == 0) {
                continue;
            }
            String name = name(accounts, use);
            if (!name.isEmpty()) {
                long[] sum = sums.computeIfAbsent(new Place(name, use.cpus()), k -> new long[2]);
                sum[0] += use.used(from, to, now).getOrDefault(tres, 0L);
                sum[1]++;
            }
        }
        List<Map<String, String>> out = new ArrayList<>();
        sums.forEach((place, sum) -> out.add(new LinkedHashMap<>(Map.of(
                "Cluster",
                cluster,
                "Name",
                place.name,
                "CPUs",
                Integer.toString(place.cpus),
                "Seconds",
                Long.toString(sum[0]),
                "Jobs",
                Long.toString(sum[1])))));
        return out;
    }
}
