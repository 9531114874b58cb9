package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.controller.config.ConfigBridge;
import dev.muster.controller.view.PrivateDataFilter;
import dev.muster.core.Rights;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.DecisionTime;
import dev.muster.core.state.State;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.UserPolicy;
import dev.muster.model.accounting.Entities.AdminLevel;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.StepDesc;
import dev.muster.model.node.NodeMessages;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The table of rights, cell by cell: each command as each kind of user, against what the rules really do. */
class RightsTest {
    private static final int OWNER = 1000;
    private static final int SLURM_USER = 42;

    /** A kind of user; all but the owner see the thing as another's. */
    private enum Who {
        STRANGER(5),
        OWNER(RightsTest.OWNER),
        COORDINATOR(6),
        COORDINATOR_OF_ANOTHER(9),
        OPERATOR(7),
        ADMINISTRATOR(8),
        SLURM_USER(RightsTest.SLURM_USER),
        ROOT(0);

        private final int uid;

        Who(int uid) {
            this.uid = uid;
        }

        boolean isAtLeast(Who other) {
            return ordinal() >= other.ordinal();
        }
    }

    /** Returns whether the words of the table grant the right. */
    private static boolean may(Rights rights, Who who) {
        return switch (rights) {
            case DAEMON -> throw new AssertionError("nobody sends it");
            case SELF -> who == Who.OWNER || who.isAtLeast(Who.SLURM_USER);
            case OWNER -> who == Who.OWNER || who == Who.COORDINATOR || who.isAtLeast(Who.OPERATOR);
            case OPERATOR, OPERATOR_OR_NAMED -> who.isAtLeast(Who.OPERATOR);
            case ADMINISTRATOR -> who.isAtLeast(Who.ADMINISTRATOR);
            case SLURM_USER -> who == Who.SLURM_USER;
            case MAKER -> who == Who.SLURM_USER || who == Who.ROOT;
        };
    }

    private static JobDesc desc() {
        return Codec.bind(
                Json.object(("{\"kind\":\"BATCH\",\"owner\":{\"uid\":" + OWNER
                                + ",\"user\":\"u\"},\"charge\":{\"account\":\"lab\"},"
                                + "\"partition\":\"p\",\"payload\":{\"submitHost\":\"h\"}}")
                        .getBytes(StandardCharsets.UTF_8)),
                JobDesc.class);
    }

    private static Command.SubmitJob job(int uid) {
        return new Command.SubmitJob(uid, desc(), "", Bytes.EMPTY, Bytes.EMPTY, false, false);
    }

    /** Jobs 1 to 4 are the owner's: 1 runs, 2 waits, 3 and 4 are one that runs. */
    private static List<Command.JobRef> ref(int id) {
        return List.of(new Command.JobRef(Integer.toString(id), id, -1, Command.JobRef.NO_STEP));
    }

    private static List<IntFunction<Command>> commands() {
        StepDesc step = Codec.bind(new Json.Obj(), StepDesc.class);
        Map<String, String> values = Map.of("starttime", "3000000", "duration", "60", "nodecnt", "1", "users", "u");
        NodeMessages.Hardware hardware = new NodeMessages.Hardware(4, 1, 1, 4, 1, 1000, 0, "", "", "", 0);
        return List.of(
                RightsTest::job,
                u -> new Command.SubmitHet(u, List.of(job(u), job(u)), "", false, false),
                u -> new Command.Once("0123456789abcdef", u, new Command.DeletePartition(u, "q")),
                u -> new Command.SetCrontab(u, OWNER, "UTC", "", List.of()),
                u -> new Command.CancelJobs(u, ref(1), 9, false, false, false, false, ""),
                u -> new Command.TestJob(u, 2),
                u -> new Command.UpdateJob(u, ref(2).getFirst(), Map.of("comment", "c")),
                u -> new Command.NotifyJob(u, ref(1).getFirst(), "t"),
                u -> new Command.HoldJobs(u, ref(2), true, false),
                u -> new Command.RequeueJobs(u, ref(1), false, false, false),
                u -> new Command.CompleteAllocation(u, 1, ExitStatus.exited(0)),
                u -> new Command.CreateStep(u, "", 1, step, Bytes.EMPTY, "t"),
                u -> new Command.CreateHetStep(
                        u,
                        "",
                        List.of(
                                new Command.CreateStep(u, "", 3, step, Bytes.EMPTY, "t"),
                                new Command.CreateStep(u, "", 4, step, Bytes.EMPTY, "t"))),
                u -> new Command.TopJobs(u, ref(2)),
                u -> new Command.SuspendJobs(u, ref(1), true),
                u -> new Command.CreateReservation(u, "s", values, Map.of()),
                u -> new Command.UpdateReservation(u, "x" + u, List.of(), "r", Map.of("duration", "70"), Map.of()),
                u -> new Command.DeleteReservation(u, "x" + u, List.of(), "r"),
                u -> new Command.UpdateNode(u, List.of("n1"), Map.of("weight", "2")),
                u -> new Command.RebootNodes(u, List.of("n4"), false, "", "", false, ""),
                u -> new Command.ChangeSetting(u, "fairsharedampeningfactor", "3"),
                u -> new Command.AddNodes(u, List.of(), false),
                u -> new Command.RemoveNodes(u, List.of("n4")),
                u -> new Command.AssignNode(u, "h", "h", 1, "", hardware),
                u -> new Command.UpdatePartition(u, "p", Map.of("hidden", "YES")),
                u -> new Command.CreatePartition(
                        u, site().core().state().partitions().at("p")),
                u -> new Command.DeletePartition(u, "q"),
                u -> new Command.SetTrigger(u, "u", List.of("up"), 0, "", 0, "/bin/true", false),
                u -> new Command.ClearTriggers(u, 0, 0, -1));
    }

    private static Site made;

    private static synchronized Site site() {
        if (made != null) {
            return made;
        }
        Site site = new Site(
                "DefMemPerCPU=1",
                "ScronParameters=enable",
                "PartitionName=p Nodes=ALL Default=YES",
                "PartitionName=q Nodes=n4",
                "NodeName=n[1-4] CPUs=4 RealMemory=1000",
                "RebootProgram=/bin/true",
                "MaxNodeCount=10");
        try {
            Path file = Files.createTempFile("slurm", ".conf");
            Files.writeString(
                    file,
                    "ClusterName=c\nSlurmctldHost=h\nSelectTypeParameters=CR_CORE_MEMORY\nDefMemPerCPU=1\n"
                            + "ScronParameters=enable\n"
                            + "RebootProgram=/bin/true\nNodeName=n[1-4] CPUs=4 RealMemory=1000\nMaxNodeCount=10\n"
                            + "PartitionName=p Nodes=ALL Default=YES\nPartitionName=q Nodes=n4\n");
            site.apply(ConfigBridge.command(
                    SlurmConf.read(file.toFile()) instanceof SlurmConf.Parsed.Ok ok ? ok.conf() : null, SLURM_USER));
            Files.delete(file);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        site.apply(new Command.ApplyPolicy(new Policy(
                List.of(),
                List.of(),
                List.of(
                        user(AdminLevel.NONE, Who.COORDINATOR, "lab"),
                        user(AdminLevel.NONE, Who.COORDINATOR_OF_ANOTHER, "other"),
                        user(AdminLevel.OPERATOR, Who.OPERATOR, ""),
                        user(AdminLevel.ADMINISTRATOR, Who.ADMINISTRATOR, "")),
                List.of())));
        site.apply(job(OWNER));
        site.schedule();
        site.submit(OWNER, "charge.account=lab owner.uid=1000 cpusPerTask=4 timing.hold=true kind=BATCH");
        site.apply(new Command.SubmitHet(OWNER, List.of(job(OWNER), job(OWNER)), "", false, false));
        site.schedule();
        site.apply(new Command.CreateReservation(
                0, "r", Map.of("starttime", "2000000", "duration", "60", "nodecnt", "1", "users", "u"), Map.of()));
        site.apply(new Command.SetTrigger(SLURM_USER, "s", List.of("up"), 0, "", 0, "/bin/true", false));
        made = site;
        return site;
    }

    private static UserPolicy user(AdminLevel level, Who who, String coordinates) {
        return new UserPolicy("u" + who.uid, level, coordinates.isEmpty() ? List.of() : List.of(coordinates), who.uid);
    }

    /** Tests whether a decision was refused for want of the right; any other mistake is none of ours here. */
    private static boolean isDenied(Decision decision) {
        Set<SlurmErrno> words = Set.of(SlurmErrno.ACCESS_DENIED, SlurmErrno.USER_ID_MISSING);
        return switch (decision) {
            case Decision.Rejected r -> words.contains(r.errno());
            case Decision.Accepted a
            when a.reply() instanceof Record reply ->
                Json.object(Codec.encode(reply)).objects("errors").stream()
                        .anyMatch(e -> words.contains(SlurmErrno.of(e.integer("errno"))));
            case Decision.Accepted a -> false;
        };
    }

    @TestFactory
    Stream<DynamicTest> everyCell() {
        List<DynamicTest> cells = new ArrayList<>();
        for (IntFunction<Command> make : commands()) {
            for (Who who : Who.values()) {
                Command command = make.apply(who.uid);
                Rights rights = Rights.of(command);
                cells.add(DynamicTest.dynamicTest(
                        command.getClass().getSimpleName() + " by " + who + ", which needs " + rights, () -> {
                            Decision decision =
                                    site().core().decide(command, new DecisionTime(1_000_100_000, 1_000_100_000));
                            assertThat(isDenied(decision))
                                    .as(decision.toString())
                                    .isEqualTo(!may(rights, who));
                        }));
            }
        }
        return cells.stream();
    }

    /** Every command has its cells in the table, except those that no caller can send. */
    @Test
    void everyCommandIsInTheRightsTable() {
        Set<String> told = commands().stream()
                .map(c -> c.apply(0).getClass().getSimpleName())
                .collect(Collectors.toCollection(TreeSet::new));
        told.addAll(List.of(
                "ApplyConfig",
                "ApplyPolicy",
                "SkipReservedIds",
                "ControllerProlog",
                "BufferStage",
                "SetPools",
                "EndInactive",
                "EndUnclaimed",
                "Happened",
                "MemoryMeasured",
                "RenewGroups",
                "RegisterNode",
                "Report",
                "NodeLost",
                "NodeResponding",
                "Schedule",
                "Tick",
                "Settle",
                "CertificateSigned"));
        Set<String> all = new TreeSet<>();
        for (Class<?> c : Command.class.getPermittedSubclasses()) {
            all.add(c.getSimpleName());
        }
        assertThat(told).isEqualTo(all);
    }

    /** The cells are decided for what is really there: what is allowed is done. */
    @Test
    void rootDoesAllOfIt() {
        State state = site().core().state();
        assertThat(site().job(1)).startsWith("RUNNING");
        assertThat(site().job(2)).startsWith("PENDING");
        assertThat(state.settings().slurmUid()).isEqualTo(SLURM_USER);
        List<String> undone = new ArrayList<>();
        for (IntFunction<Command> make : commands()) {
            Command command = make.apply(0);
            if (site().core().decide(command, new DecisionTime(1_000_100_000, 1_000_100_000))
                    instanceof Decision.Rejected r) {
                undone.add(command.getClass().getSimpleName() + ": " + r.sentence());
            }
        }
        // what is refused for what it is about, after the right to it
        assertThat(undone)
                .containsExactly(
                        "RemoveNodes: Invalid node state specified",
                        "AssignNode: No FUTURE node has this hardware",
                        "CreatePartition: Invalid partition name specified",
                        "SetTrigger: Access/permission denied");
    }

    private static final List<String> PRIVATE =
            List.of("accounts", "events", "jobs", "nodes", "partitions", "reservations", "usage", "users");

    /** PrivateData: which rows are hidden from which users; a user's own rows never are. */
    @TestFactory
    Stream<DynamicTest> everyWordOfPrivateData() {
        List<DynamicTest> cells = new ArrayList<>();
        for (String word : PRIVATE) {
            for (Who who : Who.values()) {
                cells.add(DynamicTest.dynamicTest(word + " for " + who, () -> {
                    State state = site().core().state();
                    PrivateDataFilter privacy = new PrivateDataFilter(List.of(word), state, who.uid, "u" + who.uid);
                    assertThat(privacy.hides(word)).isEqualTo(!who.isAtLeast(Who.OPERATOR));
                    for (String other : PRIVATE) {
                        assertThat(other.equals(word) || !privacy.hides(other))
                                .as(other)
                                .isTrue();
                    }
                    boolean theirs = who == Who.OWNER || who == Who.COORDINATOR || who.isAtLeast(Who.OPERATOR);
                    assertThat(privacy.shows(state.jobs().at(1))).isEqualTo(!word.equals("jobs") || theirs);
                    assertThat(privacy.showsUser("u" + who.uid)).isTrue();
                    assertThat(privacy.showsUser("somebody"))
                            .isEqualTo(!word.equals("users") || who.isAtLeast(Who.OPERATOR));
                    assertThat(privacy.showsNodes(state, List.of("n1")))
                            .isEqualTo(!word.equals("nodes") || who == Who.OWNER || who.isAtLeast(Who.OPERATOR));
                }));
            }
        }
        return cells.stream();
    }
}
