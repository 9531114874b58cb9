package dev.muster.core.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.index.AffectedEntities;
import dev.muster.core.state.Allocation;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobReason;
import dev.muster.model.node.NodeMessages;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Limits that are kept as numbers say to each job what they say when looked up for it alone, whatever runs, ends and is
 * charged meanwhile.
 */
public class LimitCacheTest {
    private static final int SEEDS = 5;
    private static final int STEPS = 60;
    private static final List<String> ACCOUNTS = List.of("a", "b", "c");
    private static final List<String> USERS = List.of("u", "v");
    private static final List<String> QOS = List.of("normal", "fast", "slow", "part");

    /** Some limits of a list, each with an amount that jobs of this cluster sometimes reach. */
    private static Map<String, String> some(Random r, List<String> names) {
        Map<String, String> out = new TreeMap<>();
        for (String name : names) {
            if (r.nextInt(4) > 0) {
                continue;
            }
            String most = switch (name) {
                case "GrpTRES", "MaxTRESPU", "MaxTRESPA", "MaxTRES" ->
                    (r.nextBoolean() ? "cpu=" + (2 + r.nextInt(12)) : "mem=" + 20 * (1 + r.nextInt(9)))
                            + (r.nextBoolean() ? ",node=" + (1 + r.nextInt(5)) : "");
                case "GrpJobs", "MaxJobs", "MaxJobsPU", "MaxJobsPA" -> Integer.toString(1 + r.nextInt(6));
                case "MaxWall" -> Integer.toString(20 + r.nextInt(80));
                case "GrpWall" -> Integer.toString(30 + r.nextInt(200));
                case "UsageFactor" -> List.of("0.5", "1", "2.5").get(r.nextInt(3));
                case "LimitFactor" -> List.of("0.5", "2").get(r.nextInt(2));
                case "UsageThreshold" -> "0.4";
                case "Flags" ->
                    List.of("EnforceUsageThreshold", "OverPartQOS", "UsageFactorSafe", "Relative", "NoDecay")
                            .get(r.nextInt(5));
                default ->
                    "cpu=" + (50 + r.nextInt(800)) + (r.nextBoolean() ? ",billing=" + (50 + r.nextInt(800)) : "");
            };
            out.put(name, most);
        }
        return out;
    }

    private static Policy policy(Random r) {
        List<String> ofAssoc = List.of(
                "GrpTRES",
                "GrpJobs",
                "MaxJobs",
                "MaxTRES",
                "MaxWall",
                "GrpTRESMins",
                "GrpTRESRunMins",
                "GrpWall",
                "MaxTRESMins");
        List<String> ofQos = List.of(
                "GrpTRES",
                "GrpJobs",
                "MaxJobsPU",
                "MaxJobsPA",
                "MaxTRESPU",
                "MaxTRESPA",
                "MaxTRES",
                "MaxWall",
                "GrpTRESMins",
                "GrpTRESRunMins",
                "MaxTRESRunMinsPU",
                "MaxTRESRunMinsPA",
                "GrpWall",
                "UsageFactor",
                "LimitFactor",
                "UsageThreshold",
                "Flags");
        List<AssocPolicy> assocs = new ArrayList<>();
        assocs.add(new AssocPolicy(1, 0, "root", "", "", false, some(r, ofAssoc), QOS, ""));
        int id = 1;
        for (String account : ACCOUNTS) {
            int above = ++id;
            // the last is below the first
            assocs.add(new AssocPolicy(
                    above, account.equals("c") ? 2 : 1, account, "", "", false, some(r, ofAssoc), QOS, ""));
            for (String user : USERS) {
                assocs.add(new AssocPolicy(
                        ++id, above, account, user, "", account.equals("a"), some(r, ofAssoc), QOS, ""));
                id++;
                if (r.nextInt(3) == 0) {
                    assocs.add(new AssocPolicy(id, above, account, user, "q", false, some(r, ofAssoc), QOS, ""));
                }
            }
        }
        List<QosPolicy> qos = new ArrayList<>();
        QOS.forEach(name -> qos.add(new QosPolicy(qos.size() + 1, name, some(r, ofQos))));
        return new Policy(assocs, qos, List.of(), List.of());
    }

    private static String job(Random r) {
        return "charge.account=" + ACCOUNTS.get(r.nextInt(3)) + " owner.user=" + USERS.get(r.nextInt(2))
                + " charge.qos=" + QOS.get(r.nextInt(3))
                + " tasks=" + (1 + r.nextInt(4)) + (r.nextInt(3) == 0 ? " nodesMin=2" : "") + " timing.timeLimitMin="
                + (1 + r.nextInt(60))
                + List.of("", " partition=q", " partition=q,p", "").get(r.nextInt(4));
    }

    private static void end(Cluster c, Job job) {
        c.apply(new Command.CompleteAllocation(Cluster.USER, job.id(), ExitStatus.NONE));
        for (String node : job.run().allocation().nodeNames()) {
            c.apply(new Command.Report(node, new NodeMessages.JobDone(1, job.id(), job.attempt(), "")));
        }
    }

    /** Has a cache follow the state of the cluster as a planner's does. */
    protected void follow(Cluster c) {
        limits = new LimitCache();
        use = new AccountUse();
        use.reset(c.state());
        c.record(entry -> {
            State after = c.state().apply(entry);
            use.follow(c.state(), after, entry);
            entry.changes().forEach(change -> AffectedEntities.jobs(change).forEach(limits::forget));
            if (c.state().accounts() != after.accounts()) {
                limits.clear();
            }
        });
    }

    private LimitCache limits = new LimitCache();
    private AccountUse use = new AccountUse();
    private final Map<JobReason, Integer> said = new EnumMap<>(JobReason.class);

    /** Brings the cache to the present, as a pass does when it begins. */
    protected void refresh(Cluster c, AccountRules rules) {
        limits.at(c.state(), rules, use, c.seconds());
    }

    /** Returns the reason that the cache has for a job. */
    protected JobReason cached(Cluster c, Job job) {
        return limits.blocks(job.id(), job.desc(), job.desc().timing().timeLimitMin());
    }

    private void compare(Cluster c, String as) {
        AccountRules rules = new AccountRules(c.state());
        AccountUse counted = new AccountUse();
        counted.reset(c.state());
        refresh(c, rules);
        for (Job job : c.state().jobs().values()) {
            if (job.isPending()) {
                JobReason alone = rules.blocks(
                        job.desc(), Allocation.NONE, job.desc().timing().timeLimitMin(), counted);
                assertThat(cached(c, job)).as(as + " job " + job.id()).isEqualTo(alone);
                said.merge(alone, 1, Integer::sum);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"limits,qos", "limits,qos,safe"})
    void limitCacheAgreesWithUncachedChecks(String enforced) {
        for (int seed = 1; seed <= SEEDS; seed++) {
            Random r = new Random(seed);
            Cluster c = new Cluster(
                    "n[1-8] cpus=4 mem=1000",
                    "p nodes=n[1-8] default=yes defmempercpu=10\nq nodes=n[5-8] defmempercpu=10 qos=part",
                    "memoryConsumed=true options.accounting_enforce=associations," + enforced);
            follow(c);
            c.apply(new Command.ApplyPolicy(policy(r)));
            for (int step = 0; step < STEPS; step++) {
                String as = enforced + " seed " + seed + " step " + step;
                for (int i = r.nextInt(4); i > 0; i--) {
                    c.submit(job(r));
                }
                compare(c, as);
                c.schedule();
                compare(c, as + " scheduled");
                for (Job job : List.copyOf(c.state().jobs().values())) {
                    if (job.holdsNodes() && (job.run().limitTickMs() <= c.seconds() * 1000 || r.nextInt(8) == 0)) {
                        end(c, job);
                        compare(c, as + " ended");
                    }
                }
                c.jump(r.nextInt(3) == 0 ? 1 : r.nextInt(200), r.nextInt(1000));
                if (r.nextInt(3) == 0) {
                    c.pass(0);
                }
                if (r.nextInt(20) == 0) {
                    c.apply(new Command.ApplyPolicy(policy(r)));
                }
                compare(c, as + " later");
            }
        }
        assertThat(said).as("words of many kinds").hasSizeGreaterThan(18).containsKey(JobReason.NONE);
    }
}
