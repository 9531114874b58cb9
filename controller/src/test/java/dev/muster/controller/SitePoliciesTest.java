package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.state.Node;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.node.NodeMessages;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Further keys of slurm.conf, from the file to their effect: labels, preemption, shares, reports of nodes. */
class SitePoliciesTest {
    private static String label(Site site, String words) {
        String said = site.submit(words);
        return said.matches("[0-9]+")
                ? site.core()
                        .state()
                        .jobs()
                        .at(Integer.parseInt(said))
                        .desc()
                        .extras()
                        .mcsLabel()
                : said;
    }

    /** shows: MCSPlugin, MCSParameters */
    @Test
    void mcsParametersDecideTheLabelOfAJob() {
        assertThat(label(new Site(), "")).isEmpty();
        assertThat(label(new Site(), "extras.mcsLabel=u")).isEqualTo("u");
        assertThat(label(new Site("MCSPlugin=mcs/user", "MCSParameters=enforced,select"), ""))
                .isEqualTo("u");
        assertThat(label(new Site("MCSPlugin=mcs/user", "MCSParameters=ondemand,select"), ""))
                .isEmpty();
        assertThat(label(new Site("MCSPlugin=mcs/user", "MCSParameters=ondemand,select"), "extras.mcsLabel=u"))
                .isEqualTo("u");
    }

    /** shows: PreemptParameters */
    @Test
    void minExemptPriorityKeepsAJobFromPreemption() {
        for (String parameters : List.of("", "PreemptParameters=min_exempt_priority=1")) {
            Site site = new Site(
                    "PreemptType=preempt/partition_prio",
                    "PreemptMode=CANCEL",
                    "DefMemPerCPU=1",
                    parameters,
                    "PartitionName=low Nodes=n[1-2] Default=YES\nPartitionName=high Nodes=n[1-2] PriorityTier=5");
            site.run("nodesMin=2 tasks=2 exclusive=NODE");
            site.run("partition=high");
            site.schedule();
            assertThat(site.job(1)).as(parameters).startsWith(parameters.isEmpty() ? "PREEMPTED" : "RUNNING");
        }
    }

    /** shows: FairShareDampeningFactor */
    @Test
    void dampeningFactorLowersTheWeightOfUsage() {
        List<Long> factors = List.of(1L, 5L).stream()
                .map(dampening -> {
                    Site site = new Site(
                            "PriorityType=priority/multifactor",
                            "PriorityWeightFairshare=100000",
                            "PriorityFlags=NO_FAIR_TREE",
                            "DefMemPerCPU=1",
                            "FairShareDampeningFactor=" + dampening,
                            "PriorityCalcPeriod=1");
                    site.apply(new Command.ApplyPolicy(new Policy(
                            List.of(
                                    new AssocPolicy(1, 0, "root", "", "", false, Map.of(), List.of("normal"), "normal"),
                                    new AssocPolicy(
                                            2,
                                            1,
                                            "root",
                                            "u",
                                            "",
                                            true,
                                            Map.of("Fairshare", "1"),
                                            List.of("normal"),
                                            "normal"),
                                    new AssocPolicy(
                                            3,
                                            1,
                                            "root",
                                            "v",
                                            "",
                                            true,
                                            Map.of("Fairshare", "1"),
                                            List.of("normal"),
                                            "normal")),
                            List.of(),
                            List.of(),
                            List.of())));
                    site.run("");
                    site.pass(600);
                    site.exit(1, 0);
                    site.pass(600);
                    String id = site.submit("cpusPerTask=4 nodesMin=2 tasks=2");
                    site.schedule();
                    int number = Integer.parseInt(id);
                    return site.core()
                            .planner()
                            .priority(number)
                            .orElse(site.core().state().jobs().at(number).priority());
                })
                .toList();
        assertThat(factors.get(1)).isGreaterThan(factors.get(0));
    }

    /** shows: SlurmdParameters */
    @Test
    void configOverridesAcceptsANodeWithFewerCpus() {
        for (String line : List.of("SlurmdParameters=config_overrides", "")) {
            Site site = new Site(line);
            Node.Spec n = site.core().state().nodes().at("n1").spec();
            site.apply(new Command.RegisterNode(new NodeMessages.Register(
                    "n1",
                    "c",
                    "boot2",
                    "v",
                    1,
                    new NodeMessages.Hardware(1, 1, 1, 1, 1, n.memoryMb(), 0, "", "", "", 0),
                    List.of(),
                    "",
                    "")));
            assertThat(site.node("n1"))
                    .as(line)
                    .isEqualTo(line.isEmpty() ? "IDLE Low socket*core*thread count, Low CPUs" : "IDLE");
        }
    }
}
