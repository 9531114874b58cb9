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
public final class Sizes {
    private record Place(String name, int cpus) implements Comparable<Place> {
        @Override
        public int compareTo(Place o) {
            int byName = name.compareTo(o.name);
            return byName != 0 ? byName : Integer.compare(cpus, o.cpus);
        }
    }

    private final Map<String, String> where;

    /**
     * @param where {@code by} account, accountandwckey or wckey; {@code accounts}, {@code acctasparent},
     *     {@code flatview}, {@code users}, {@code gids}, {@code jobs}, {@code nodes}, {@code partitions},
     *     {@code wckeys}, {@code tres}; lists with commas
     */
    public Sizes(Map<String, String> where) {
        this.where = where;
    }

    private Set<String> list(String key) {
        Set<String> out = new TreeSet<>();
        for (String item : where.getOrDefault(key, "").split(",")) {
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

    private boolean wanted(JobUse j) {
        return j.start() > 0
                && in("users", j.user(), Integer.toString(j.uid()))
                && in("gids", Integer.toString(j.gid()))
                && in("jobs", Integer.toString(j.jobId()))
                && in("partitions", j.partition())
                && in("wckeys", key(j))
                && onNodes(j);
    }

    private boolean onNodes(JobUse j) {
        String asked = where.getOrDefault("nodes", "");
        return asked.isEmpty() || HostList.intersect(asked, j.nodes());
    }

    private static String key(JobUse j) {
        return Wckey.plain(j.wckey());
    }

    private String name(Accounts accounts, JobUse j) {
        String by = where.getOrDefault("by", "account").toLowerCase(Locale.ROOT);
        if (by.equals("wckey")) {
            return key(j);
        }
        Set<String> roots = list("accounts");
        String account;
        if (where.containsKey("flatview")) {
            if (roots.isEmpty() || roots.contains(j.account())) {
                account = j.account();
            } else {
                account = "";
            }
        } else {
            account = accounts.shown(j.account(), roots, where.containsKey("acctasparent"));
        }

        return account.isEmpty() || !by.equals("accountandwckey") ? account : account + ":" + key(j);
    }

    /**
     * Rows with Cluster, Name, CPUs, Seconds (amount of the resource times seconds) and Jobs, by name and then by size.
     */
    public List<Map<String, String>> rows(
            String cluster, Accounts accounts, List<JobUse> jobs, long from, long to, long now) {
        String tres = where.getOrDefault("tres", "cpu");
        Map<Place, long[]> sums = new TreeMap<>();
        for (JobUse j : jobs) {
            if (!wanted(j) || j.active(from, to, now) == 0) {
                continue;
            }
            String name = name(accounts, j);
            if (!name.isEmpty()) {
                long[] sum = sums.computeIfAbsent(new Place(name, j.cpus()), k -> new long[2]);
                sum[0] += j.used(from, to, now).getOrDefault(tres, 0L);
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
