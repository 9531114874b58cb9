package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Step;
import dev.muster.core.testkit.Cluster;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.job.StepDesc;
import java.util.List;
import org.junit.jupiter.api.Test;

/** --stepmgr, what needs it, and the ports that a job has for its steps. */
class StepManagerTest {
    private static final String MANAGED = "externSteps=true options.mpi_ports=7000-7003";

    private static final String IMEX = "options.imex_channels=4";

    private static Cluster cluster(String settings) {
        return new Cluster("n[1-2] cpus=4", "p nodes=n[1-2] defmempercpu=1", settings);
    }

    @Test
    void optionIsRefusedWithoutTheFeatureItNeeds() {
        String needsManager = "Slurmstepd step management must be enabled to use --resv-ports for job allocations";
        String tooMany = "Requires more ports than can be reserved";
        String[][] rows = {
            {"", "extras.stepMgr=true", "--stepmgr needs PrologFlags=Contain"},
            {"externSteps=true", "extras.stepMgr=true", "n1:1"},
            {MANAGED, "extras.resvPorts=2", needsManager},
            {MANAGED, "extras.stepMgr=true extras.resvPorts=4", "n1:1"},
            {MANAGED, "extras.stepMgr=true extras.resvPorts=5", tooMany},
            {MANAGED + " options.stepmgr=true", "extras.resvPorts=2", "n1:1"},
            {"externSteps=true", "extras.stepMgr=true extras.resvPorts=1", tooMany},
            {"externSteps=true", "extras.stepMgr=true extras.resvPorts=-1", tooMany},
            {"", "network=ip,no_vni", "n1:1"},
            // without a SwitchType nothing reads the words of --network
            {"", "network=foo", "n1:1"},
            {"", "network=job_vni,tcs=BULK_DATA:TC_LOW_LATENCY,max_txqs=5", "n1:1"},
            {"", "network=unique-channel-per-segment", "n1:1"},
            {IMEX, "network=unique-channel-per-segment", "n1:1"},
            {
                IMEX,
                "network=job_vni",
                "--network=job_vni needs an HPE Slingshot network, which this cluster does not have"
            },
            {
                IMEX,
                "network=no_vni,tcs=BULK_DATA:TC_LOW_LATENCY",
                "--network=tcs=BULK_DATA:TC_LOW_LATENCY needs an HPE Slingshot network, which this cluster "
                        + "does not have"
            },
            {
                IMEX,
                "network=max_txqs=5",
                "--network=max_txqs=5 needs an HPE Slingshot network, which this cluster does not have"
            },
            {IMEX, "network=max_foos=5", "Invalid --network specification: max_foos=5"},
            {IMEX, "network=tcs=FAST", "Invalid --network specification: tcs=FAST"}
        };
        for (String[] row : rows) {
            assertThat(cluster(row[0]).place("partition=p " + row[1]))
                    .as(row[0] + " " + row[1])
                    .isEqualTo(row[2]);
        }
    }

    /** shows: SlurmctldParameters=enable_stepmgr. */
    @Test
    void enableStepmgrAppliesToAllJobs() {
        Cluster c = cluster("externSteps=true options.stepmgr=true");
        int managed = c.accept("partition=p");
        assertThat(c.state().jobs().at(managed).desc().extras().stepMgr()).isTrue();
        Cluster none = cluster("externSteps=true");
        int plain = none.accept("partition=p");
        assertThat(none.state().jobs().at(plain).desc().extras().stepMgr()).isFalse();
    }

    private static String ports(Cluster c, int job) {
        return c.state().jobs().at(job).run().allocation().ports().print(0);
    }

    @Test
    void aJobHasItsPortsFromItsStartToItsEnd() {
        Cluster c = cluster(MANAGED + " options.stepmgr=true");
        int first = c.accept("partition=p extras.resvPorts=3 nodeList=n1");
        int second = c.accept("partition=p extras.resvPorts=2 nodeList=n1");
        int elsewhere = c.accept("partition=p extras.resvPorts=2 nodeList=n2");
        int without = c.accept("partition=p nodeList=n1");
        int counted = c.accept("partition=p extras.resvPorts=-1 nodeList=n2 tasks=1");
        c.schedule();
        assertThat(List.of(c.shown(first), c.shown(second), c.shown(elsewhere), c.shown(without), c.shown(counted)))
                .containsExactly("n1:1", "(Resources)", "n2:1", "n1:1", "n2:1");
        assertThat(ports(c, first).split("[,-]")).hasSize(2);
        assertThat(c.state().jobs().at(first).run().allocation().ports().count())
                .isEqualTo(3);
        assertThat(c.state().jobs().at(counted).run().allocation().ports())
                .as("one more than it has tasks on the node")
                .satisfies(p -> {
                    assertThat(p.count()).isEqualTo(2);
                    assertThat(p.intersect(c.state()
                                            .jobs()
                                            .at(elsewhere)
                                            .run()
                                            .allocation()
                                            .ports())
                                    .isEmpty())
                            .isTrue();
                });
        assertThat(ports(c, without)).isEmpty();
        List<Command.JobRef> ref =
                List.of(new Command.JobRef(Integer.toString(first), first, -1, Command.JobRef.NO_STEP));
        c.apply(new Command.CancelJobs(Cluster.USER, ref, 0, false, false));
        c.pass(1);
        c.schedule();
        assertThat(c.shown(second))
                .as("while something of the first is left on the node")
                .isEqualTo("(Resources)");
    }

    private static String step(Cluster c, int id, int ports) {
        Json.Obj request = Json.object(Codec.encode(Cluster.desc("tasks=1").request()));
        StepDesc desc = Codec.bind(
                new Json.Obj().put("request", request).put("overlap", true).put("resvPorts", (long) ports),
                StepDesc.class);
        return switch (c.apply(new Command.CreateStep(Cluster.USER, "", id, desc, Bytes.EMPTY, "io"))) {
            case Decision.Rejected r -> r.sentence();
            case Decision.Accepted a -> {
                Step step = c.state().jobs().at(id).run().steps().getLast();
                yield step.ports()
                                .minus(c.state()
                                        .jobs()
                                        .at(id)
                                        .run()
                                        .allocation()
                                        .ports())
                                .isEmpty()
                        ? step.ports().count() + " of its own"
                        : step.ports().print(0);
            }
        };
    }

    @Test
    void stepsTakeReservedPortsOfTheirJob() {
        Cluster c = cluster(MANAGED + " options.stepmgr=true");
        int own = c.accept("partition=p extras.resvPorts=3 nodeList=n1");
        int other = c.accept("partition=p nodeList=n1");
        c.schedule();
        assertThat(step(c, own, 2)).isEqualTo("2 of its own");
        assertThat(step(c, own, 2)).isEqualTo("Required ports are in use");
        assertThat(step(c, own, 1)).isEqualTo("1 of its own");
        assertThat(step(c, own, 4)).isEqualTo("Requires more ports than can be reserved");
        assertThat(step(c, other, 2)).as("one port of the node is nobody's").isEqualTo("Required ports are in use");
        assertThat(step(c, other, 1)).matches("700[0-3]");
    }
}
