package dev.muster.core.testkit;

import dev.muster.core.command.Command;
import dev.muster.core.options.BurstBufferOptions;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Settings;
import dev.muster.core.state.State;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A cluster with associations and QOS, for tests of their limits. */
public abstract class AccountPolicies {
    protected Cluster cluster =
            new Cluster("n[1-2] cpus=4 mem=1000", "p nodes=n[1-2] default=yes defmempercpu=10", "memoryConsumed=true");

    protected static Map<String, String> limits(String text) {
        Map<String, String> out = new TreeMap<>();
        for (String item : text.isBlank() ? new String[0] : text.split(" ")) {
            out.put(item.substring(0, item.indexOf('=')), item.substring(item.indexOf('=') + 1));
        }
        return out;
    }

    protected static AssocPolicy assoc(int id, int parent, String account, String user, String limits, String... qos) {
        return new AssocPolicy(
                id, parent, account, user, "", !user.isEmpty() && id == 3, limits(limits), List.of(qos), "");
    }

    /** Sets a policy: root, below it dept, below that alice with a second account. */
    protected void policy(String enforce, String ofDept, String ofAlice, String ofQos) {
        policy(enforce, "", ofDept, ofAlice, ofQos);
    }

    protected void policy(String enforce, String ofRoot, String ofDept, String ofAlice, String ofQos) {
        Settings settings = cluster.state()
                .settings()
                .with(
                        Map.of(
                                "accounting_enforce",
                                enforce,
                                "licenses",
                                "lic:9",
                                BurstBufferOptions.BURST_BUFFER,
                                "true"),
                        List.of());
        Entry entry = new Entry(
                0,
                0,
                0,
                "test",
                List.of(new Change.ClusterRestored(
                        "",
                        0,
                        settings,
                        cluster.state().nextJobId(),
                        cluster.state().jobIdCeiling(),
                        cluster.state().nextSluid(),
                        cluster.state().sluidCeiling())));
        cluster.core().apply(entry);
        List<AssocPolicy> assocs = new ArrayList<>(List.of(
                assoc(1, 0, "root", "", ofRoot, "normal"),
                assoc(2, 1, "dept", "", ofDept, "normal"),
                assoc(3, 2, "dept", "alice", ofAlice, "normal", "fast"),
                assoc(4, 1, "other", "", "", "normal"),
                assoc(5, 4, "other", "alice", "", "normal"),
                assoc(6, 2, "dept", "bob", "", "normal", "fast")));
        cluster.apply(new Command.ApplyPolicy(new Policy(
                assocs,
                List.of(new QosPolicy(1, "normal", Map.of()), new QosPolicy(2, "fast", limits(ofQos))),
                List.of(),
                List.of())));
    }

    protected Job last() {
        State s = cluster.state();
        return s.jobs().at(s.nextJobId() - 1);
    }
}
