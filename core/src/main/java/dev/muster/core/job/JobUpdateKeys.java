package dev.muster.core.job;

import dev.muster.core.tres.Keyword;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The keys that an update of a job may name. */
public final class JobUpdateKeys {
    static final Set<String> ALL = new TreeSet<>(List.of(
            "timelimit",
            "priority",
            "nice",
            "partition",
            "starttime",
            "eligibletime",
            "endtime",
            "dependency",
            "arraytaskthrottle",
            "requeue",
            "numnodes",
            "reqnodes",
            "nodelist",
            "numcpus",
            "minmemorynode",
            "minmemorycpu",
            "mailtype",
            "sitefactor",
            "licenses",
            "resetaccruetime",
            "wait-for-switch",
            "clusters",
            "clusterfeatures"));

    static {
        ALL.addAll(UpdateFields.keys());
    }

    private JobUpdateKeys() {}

    /**
     * Returns the same changes by their whole keys, in lower case. A key may be cut short where it stays unambiguous.
     */
    public static Map<String, String> whole(Map<String, String> changes) {
        return Keyword.whole(changes, ALL);
    }
}
