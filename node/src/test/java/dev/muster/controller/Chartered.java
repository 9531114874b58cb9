package dev.muster.controller;

import dev.muster.config.SlurmConf;
import dev.muster.controller.config.ConfigBridge;
import dev.muster.controller.nodes.StepManagerStates;
import dev.muster.core.Core;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Node;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.job.JobDesc;
import dev.muster.model.node.NodeMessages;
import dev.muster.model.node.NodeMessages.Charter;
import dev.muster.scheduler.Scheduler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * What slurmctld tells a node of a job whose steps are the node's to begin: job 1 on n1, and the components 2 on n1 and
 * 3 on n2.
 */
public final class Chartered {
    private final Core core = new Core(new Scheduler().withoutConnections());

    private Chartered() {}

    private void apply(Command command) {
        DecisionTime now = new DecisionTime(1_000_000_000, 1_000_000_000);
        Decision decision = core.decide(command, now);
        if (decision instanceof Decision.Rejected r) {
            throw new AssertionError(r.sentence());
        }
        List<dev.muster.core.state.Change> changes = ((Decision.Accepted) decision).changes();
        if (!changes.isEmpty()) {
            core.apply(new Entry(now.tickMs(), now.timeMs(), 0, "test", changes));
        }
    }

    /** @param policy what accounting says, of which the node is to know nothing */
    public static List<Charter> of(int slurmUid, int owner, String account, Policy policy) throws IOException {
        Path file = Files.createTempFile("slurm", ".conf");
        Files.writeString(
                file,
                "ClusterName=test\nSlurmctldHost=h\nSelectTypeParameters=CR_CORE\nPrologFlags=Contain\n"
                        + "NodeName=n[1-2] CPUs=4\n"
                        + "PartitionName=p Nodes=ALL Default=YES\n");
        Chartered site = new Chartered();
        switch (SlurmConf.read(file.toFile())) {
            case SlurmConf.Parsed.Invalid bad ->
                throw new AssertionError(bad.errors().toString());
            case SlurmConf.Parsed.Ok ok -> site.apply(ConfigBridge.command(ok.conf(), slurmUid));
        }
        Files.delete(file);
        for (String name : List.of("n1", "n2")) {
            Node.Spec n = site.core.state().nodes().at(name).spec();
            site.apply(new Command.RegisterNode(new NodeMessages.Register(
                    name,
                    "test",
                    "boot",
                    "v",
                    1,
                    new NodeMessages.Hardware(
                            n.cpus(),
                            1,
                            n.sockets(),
                            n.coresPerSocket(),
                            n.threadsPerCore(),
                            n.memoryMb(),
                            0,
                            "",
                            "",
                            "",
                            0),
                    List.of(),
                    "",
                    "")));
        }
        site.apply(new Command.ApplyPolicy(policy));
        JobDesc desc = Codec.bind(
                new Json.Obj()
                        .put("kind", "ALLOCATION")
                        .put("owner", new Json.Obj().put("uid", (long) owner).put("user", "u"))
                        .put("charge", new Json.Obj().put("account", account))
                        .put("payload", new Json.Obj().put("submitHost", "h"))
                        .put("extras", new Json.Obj().put("stepMgr", true))
                        .put("request", new Json.Obj().put("tasks", 2L)),
                JobDesc.class);
        Command.SubmitJob job = new Command.SubmitJob(owner, desc, "", Bytes.EMPTY, Bytes.EMPTY, false, false);
        site.apply(job);
        site.apply(new Command.SubmitHet(owner, List.of(job, job), "", false, false));
        site.apply(new Command.Schedule(100));
        for (int id = 1; id <= 3; id++) {
            String node = site.core
                    .state()
                    .jobs()
                    .at(id)
                    .run()
                    .allocation()
                    .nodeNames()
                    .getFirst();
            site.apply(new Command.Report(node, new NodeMessages.PrologDone(1, id, 1, "")));
        }
        return Stream.of(1, 2)
                .map(id -> StepManagerStates.whole(
                                site.core.state(), site.core.state().jobs().at(id), "n1", 1_000_000_000)
                        .orElseThrow())
                .toList();
    }
}
