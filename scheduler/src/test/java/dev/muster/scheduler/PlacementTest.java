package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Allocation;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.JobDesc;
import dev.muster.model.job.JobReason;
import dev.muster.model.job.JobState;
import dev.muster.scheduler.queue.UnavailableNodes;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Given nodes and partitions, a job's request → where it runs or in which words it is refused. */
class PlacementTest {
    private static void table(String nodes, String partitions, String settings, String rows) {
        for (String row : rows.strip().split("\n")) {
            String[] cells = row.split("\\|");
            assertThat(new Cluster(nodes, partitions, settings).place(cells[0].strip()))
                    .as(row)
                    .isEqualTo(cells[1].strip());
        }
    }

    @Test
    void tasksArePlacedByTheirCounts() {
        table("n[1-2] cpus=4 mem=1000", "p nodes=n[1-2] defmempercpu=10", "", """
                partition=p                          | n1:1
                partition=p tasks=3                  | n1:3
                partition=p tasks=6                  | n1:4 n2:2
                partition=p tasks=5 nodesMin=2       | n1:4 n2:1
                partition=p tasks=3 spread=true      | n1:2 n2:1
                partition=p tasks=1 spread=true      | n1:1
                partition=p tasks=5 nodesMin=2 spread=true | n1:3 n2:2
                partition=p tasks=3 spread=true nodesMin=1 nodesMax=1 | n1:3
                partition=p tasks=2 cpusPerTask=2 spread=true | n1:2 n2:2
                partition=p tasks=3 distribution=arbitrary nodeList=n2,n1,n2 | n1:1 n2:2
                partition=p nodesMin=2               | n1:1 n2:1
                partition=p tasks=2 cpusPerTask=3    | n1:3 n2:3
                partition=p nodeList=n2              | n2:1
                partition=p nodeList=n[1-2] nodesMin=1 | n1:1
                partition=p nodeList=n[1-2] nodesMin=1 nodesMax=1 tasks=4 | n1:4
                partition=p nodeList=n[1-2] tasks=2    | n1:1 n2:1
                partition=p cpusPerTask=5            | CPU count per node can not be satisfied
                partition=p nodesMin=3               | (PartitionNodeLimit)
                partition=q                          | Invalid partition name specified
                partition=,                          | Invalid partition name specified
                partition=p tresPerNode=gres/        | Invalid Trackable RESource (TRES) specification
                """);
    }

    @Test
    void unknownReservationOrLicenseIsRefused() {
        String no = " is not supported by this version of Muster";
        table("n1 cpus=4", "p nodes=n1", "", """
                partition=p charge.reservation=maint | Requested reservation is invalid
                partition=p licenses=matlab          | Invalid license specification
                partition=p gresFlags=disable-binding | n1:1
                partition=p distribution=block       | n1:1
                partition=p extras.profile=none      | n1:1
                partition=p extras.profile=task      | n1:1
                """.replace("%s", no));
    }

    @Test
    void partitionNodeAndMemoryLimitsHold() {
        table(
                "n[1-4] cpus=4 mem=1000",
                "p nodes=n[1-4] defmempercpu=10 maxnodes=2\nm nodes=n[1-4] maxmempercpu=100",
                "",
                """
                partition=p tasks=8                  | n1:4 n2:4
                partition=p tasks=9                  | Requested node configuration is not available
                partition=p nodesMin=1 nodesMax=3    | (PartitionNodeLimit)
                partition=m memPerCpuMb=250          | n1:3
                partition=m tasks=2 memPerCpuMb=150  | n1:4
                partition=m memPerNodeMb=300         | n1:3
                partition=m memPerNodeMb=500         | CPU count per node can not be satisfied
                """);
    }

    private static UnavailableNodes unavailable(Cluster c) {
        return ((Scheduler) c.core().planner()).unavailable();
    }

    @Test
    void unavailableNodesAreNamedInTheReason() {
        Cluster c = new Cluster(
                "n[1-2] cpus=4 mem=1000\nn[3-4] cpus=4 mem=2000 feature=far", "p nodes=n[1-4] defmempercpu=10", "");
        String none = "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions";
        String both = "ReqNodeNotAvail, UnavailableNodes:n[3-4]";
        String[][] table = {
            {"nodesMin=2", ""},
            {"nodesMin=3", none},
            {"tasks=9", both},
            {"nodeList=n3", "ReqNodeNotAvail, UnavailableNodes:n3"},
            {"nodeList=n[1,4]", "ReqNodeNotAvail, UnavailableNodes:n4"},
            {"features=far", both},
            {"memPerNodeMb=1500", both},
            {"excludeList=n[1-2]", both},
            {"tasks=8", ""}
        };
        for (String[] row : table) {
            assertThat(unavailable(c).words(c.state(), Cluster.desc("partition=p " + row[0]), 100))
                    .as(row[0])
                    .isEmpty();
        }
        c.apply(new Command.UpdateNode(0, List.of("n3", "n4"), Map.of("state", "down", "reason", "x")));
        for (String[] row : table) {
            assertThat(unavailable(c).words(c.state(), Cluster.desc("partition=p " + row[0]), 100))
                    .as(row[0])
                    .isEqualTo(row[1]);
        }
    }

    @Test
    void jobThatWaitsForDownNodesBlocksNoOtherJob() {
        Cluster c = new Cluster(
                "n[1-2] cpus=4 mem=1000\nn[3-4] cpus=4 mem=2000 feature=far",
                "p nodes=n[1-4] default=yes defmempercpu=10",
                "");
        c.apply(new Command.UpdateNode(0, List.of("n3", "n4"), Map.of("state", "down", "reason", "x")));
        c.accept("nodesMin=2 exclusive=NODE");
        c.schedule();
        int named = c.accept("nodeList=n4");
        int far = c.accept("features=far");
        int next = c.accept("nodesMin=2");
        int behind = c.accept("nodesMin=1");
        c.schedule();
        assertThat(List.of(c.shown(named), c.shown(far), c.shown(next), c.shown(behind)))
                .containsExactly("(ReqNodeNotAvail)", "(Resources)", "(Resources)", "(Priority)");
        assertThat(((Scheduler) c.core().planner()).plan(named))
                .as("it has no plan as long as its node is not there")
                .isEmpty();
    }

    /** Words are remembered, and not beyond what they hang on. */
    @Test
    void nodesThatComeBackAreMissedNoMore() {
        Cluster c = new Cluster(
                "n[1-2] cpus=4 mem=1000\nn[3-4] cpus=4 mem=2000 feature=far",
                "p nodes=n[1-4] default=yes defmempercpu=10",
                "");
        JobDesc far = Cluster.desc("partition=p features=far");
        assertThat(unavailable(c).missing(c.state(), far)).isEmpty();
        c.apply(new Command.UpdateNode(0, List.of("n3", "n4"), Map.of("state", "down", "reason", "x")));
        c.accept("tasks=1");
        c.schedule();
        assertThat(unavailable(c).missing(c.state(), far)).isEqualTo("ReqNodeNotAvail, UnavailableNodes:n[3-4]");
        c.apply(new Command.UpdateNode(0, List.of("n3"), Map.of("state", "resume")));
        c.apply(new Command.RegisterNode(c.registration("n3", "boot", List.of())));
        assertThat(unavailable(c).missing(c.state(), far)).isEmpty();
        c.apply(new Command.UpdateNode(
                0, List.of("n3"), Map.of("availablefeatures", "near", "activefeatures", "near")));
        assertThat(unavailable(c).missing(c.state(), far)).isEqualTo("ReqNodeNotAvail, UnavailableNodes:n4");
    }

    @Test
    void jobIsToldThatItsNodesMayBeReservedForOtherJobs() {
        Cluster c = new Cluster("n[1-4] cpus=4 mem=1000", "p nodes=n[1-4] defmempercpu=10", "");
        c.apply(new Command.CreateReservation(
                0,
                "r",
                c.moments(new java.util.HashMap<>(
                        Map.of("starttime", "+3600", "duration", "3600", "nodes", "n[1-2]", "users", "root"))),
                Map.of()));
        String others = "ReqNodeNotAvail, May be reserved for other job";
        String[][] table = {
            {"nodesMin=3", others},
            {"nodesMin=3 timing.timeLimitMin=30", ""},
            {"nodesMin=2", ""},
            {"nodeList=n1", others},
            {"tasks=9 timing.timeLimitMin=90", others},
            {"nodesMin=3 charge.reservation=r", ""}
        };
        for (String[] row : table) {
            assertThat(unavailable(c).words(c.state(), Cluster.desc("partition=p " + row[0]), c.seconds()))
                    .as(row[0])
                    .isEqualTo(row[1]);
        }
    }

    @Test
    void preferredFeaturesAreTriedFirst() {
        Cluster c = new Cluster(
                "n1 cpus=2 mem=100 feature=slow\nn2 cpus=2 mem=100 feature=fast;slow\nn3 cpus=1 mem=100",
                "p nodes=n[1-3] defmempercpu=1",
                "");
        String[][] table = {
            {"prefer=fast", "n2:1"},
            {"prefer=fast features=slow", "n2:1"},
            {"prefer=fast", "n1:1"},
            {"prefer=fast features=slow", "n1:1"},
            {"prefer=fast features=slow", "(Resources)"},
            {"prefer=fast tasks=1", "n3:1"}
        };
        for (String[] row : table) {
            int id = c.accept("partition=p " + row[0]);
            c.schedule();
            assertThat(c.shown(id)).as(row[0]).isEqualTo(row[1]);
        }
        assertThat(c.submit("partition=p prefer=none"))
                .isInstanceOfSatisfying(
                        Decision.Rejected.class,
                        r -> assertThat(r.sentence()).isEqualTo("Invalid preferred feature specification"));
    }

    @Test
    void aHigherTierGoesFirstWhateverThePriority() {
        Cluster c = new Cluster("n1 cpus=1", "low nodes=n1\nhigh nodes=n1 prioritytier=2", "");
        int first = c.accept("partition=low");
        int second = c.accept("partition=high");
        c.schedule();
        assertThat(c.shown(second)).isEqualTo("n1:1");
        assertThat(c.shown(first)).isEqualTo("(Resources)");
    }

    @Test
    void aNewDefaultPartitionTakesThePlaceOfTheOld() {
        Cluster c = new Cluster("n1 cpus=4", "p nodes=n1 default=yes defmempercpu=1\nz nodes=n1 defmempercpu=1", "");
        c.apply(new dev.muster.core.command.Command.UpdatePartition(0, "z", java.util.Map.of("default", "yes")));
        int id = c.accept("tasks=1");
        assertThat(c.state().jobs().at(id).desc().partition()).isEqualTo("z");
    }

    @Test
    void maxCpusPerSocketLimitsThePartition() {
        Cluster c = new Cluster(
                "n1 cpus=8 sockets=2",
                "p nodes=n1 defmempercpu=1 maxcpuspersocket=1\n" + "q nodes=n1 defmempercpu=1 maxcpuspersocket=0",
                "");
        int[] ids = {c.accept("partition=p"), c.accept("partition=p"), c.accept("partition=p"), c.accept("partition=q")
        };
        c.schedule();
        assertThat(java.util.Arrays.stream(ids).mapToObj(c::shown))
                .containsExactly("n1:1", "n1:1", "(Resources)", "(Resources)");
        assertThat(c.state()
                        .jobs()
                        .at(ids[1])
                        .run()
                        .allocation()
                        .nodes()
                        .getFirst()
                        .cores()
                        .first())
                .isEqualTo(4);
    }

    @Test
    void contiguousJobGetsNeighbouringNodes() {
        Cluster c = new Cluster("n[1-4] cpus=1", "p nodes=n[1-4]", "");
        c.accept("partition=p nodeList=n2");
        c.schedule();
        int row = c.accept("partition=p nodesMin=2 contiguous=true");
        c.schedule();
        assertThat(c.shown(row)).isEqualTo("n3:1 n4:1");
        int gap = c.accept("partition=p nodesMin=3 contiguous=true");
        c.schedule();
        assertThat(c.shown(gap)).isEqualTo("(Resources)");
    }

    /** --nodes=1,2,4: as many of these as there are, the fewest with --use-min-nodes. */
    @Test
    void jobGetsOnlyListedNodeCounts() {
        table(
                "n[1-6] cpus=4 mem=1000",
                "p nodes=n[1-6] defmempercpu=10\nfew nodes=n[1-6] defmempercpu=10 maxnodes=3",
                "",
                """
                partition=p nodesMin=1 nodesMax=4 nodeSizes=1,2,4                    | n1:1 n2:1 n3:1 n4:1
                partition=p nodesMin=1 nodesMax=4 nodeSizes=1,2,4 tasks=3            | n1:2 n2:1
                partition=p nodesMin=1 nodesMax=4 nodeSizes=1,2,4 useMinNodes=true   | n1:1
                partition=p nodesMin=1 nodesMax=4 nodeSizes=1,2,4 useMinNodes=true tasks=6 | n1:4 n2:2
                partition=p nodesMin=1 nodesMax=4 nodeSizes=1,2,4 excludeList=n[1-3] | n4:1 n5:1
                partition=few nodesMin=2 nodesMax=4 nodeSizes=2,4                    | (PartitionNodeLimit)
                partition=p nodesMin=2 nodesMax=8 nodeSizes=2,8 tasks=24 | Requested node configuration is not available
                """);
        Cluster c = new Cluster("n[1-4] cpus=1 mem=100", "p nodes=n[1-4] defmempercpu=10", "");
        assertThat(c.place("partition=p nodeList=n1")).isEqualTo("n1:1");
        assertThat(c.place("partition=p nodesMin=2 nodesMax=4 nodeSizes=2,4"))
                .as("three are free")
                .isEqualTo("n2:1 n3:1");
        assertThat(c.place("partition=p nodesMin=2 nodesMax=4 nodeSizes=2,4"))
                .as("one is free")
                .isEqualTo("(Resources)");
    }

    @Test
    void partitionAdmitsOnlyAllowedAccountsGroupsAndQos() {
        table("n1 cpus=4 mem=1000", """
                acct nodes=n1 allowaccounts=physics,bio defmempercpu=1
                lab nodes=n1 allowgroups=lab,unknown defmempercpu=1
                deny nodes=n1 denyaccounts=guests defmempercpu=1
                qos nodes=n1 allowqos=gold defmempercpu=1
                resv nodes=n1 reqresv=yes
                login nodes=n1 allocnodes=login[2-3] defmempercpu=1
                mem nodes=n1 maxmempernode=100
                """, "enforcePartLimits=ANY", """
                partition=acct charge.account=chem       | n1:1
                partition=deny charge.account=guests     | n1:1
                partition=qos charge.qos=lead            | Invalid qos specification
                partition=qos charge.qos=gold            | n1:1
                partition=lab                            | User's group not permitted to use this partition
                partition=lab owner.gid=60               | n1:1
                partition=resv                           | Access/permission denied
                partition=login                          | Access/permission denied
                partition=login payload.submitHost=login2 | n1:1
                partition=mem memPerNodeMb=101           | Memory required by task is not available
                partition=mem memPerNodeMb=100           | n1:1
                """);
        table("n1 cpus=4 mem=1000", """
                acct nodes=n1 allowaccounts=physics,bio defmempercpu=1
                lab nodes=n1 allowgroups=lab,unknown defmempercpu=1
                deny nodes=n1 denyaccounts=guests defmempercpu=1
                qos nodes=n1 allowqos=gold defmempercpu=1
                login nodes=n1 allocnodes=login[2-3] defmempercpu=1
                mem nodes=n1 maxmempernode=100
                """, "enforcePartLimits=NO", """
                partition=qos charge.qos=lead            | (QOSNotAllowed)
                partition=qos,acct charge.account=bio    | n1:1
                partition=lab                            | (PartitionConfig)
                partition=lab owner.gid=60               | n1:1
                partition=lab,acct charge.account=bio    | n1:1
                partition=login                          | Access/permission denied
                partition=mem memPerNodeMb=101           | (MaxMemPerLimit)
                """);
    }

    /**
     * The default number of cores follows the tasks: one core is left for each further node, and none where a number
     * per GPU is set.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            tresPerTask=gres/gpu:1 tasks=5                       | 3 2
            tresPerTask=gres/gpu:1 tasks=5 nodesMin=2 nodesMax=2 | 3 2
            tresPerTask=gres/gpu:1 tasks=4 nodesMin=2 nodesMax=2 | 2 2
            tresPerJob=gres/gpu:6 tasks=6 nodesMin=1 nodesMax=3 useMinNodes=true | 4 2
            tresPerJob=gres/gpu:3 nodesMin=1 nodesMax=3          | 3
            tresPerJob=gres/gpu:5 nodesMin=1 nodesMax=3          | 4 1
            tresPerJob=gres/gpu:3 nodesMin=2 nodesMax=4          | 2 1
            tresPerTask=gres/gpu:1 tasks=4 nodesMin=1 nodesMax=3 | 4
            tresPerJob=gres/gpu:6 tasks=4 nodesMin=1 nodesMax=4  | 4 2
            tresPerNode=gres/gpu:2 tasks=6 nodesMin=1 nodesMax=3 | 2 2 2
            tresPerNode=gres/gpu:2 tasksPerGpu=2 nodesMin=2 nodesMax=2 | 2 2
            """)
    void gpuTasksLeaveACoreForEachFurtherNode(String job, String gpus) {
        Cluster c = new Cluster(
                "n[1-4] cpus=16 threads=2 mem=1000 gpus=4",
                "p nodes=n[1-4] default=yes defmempercpu=1",
                "gresTypes=gpu");
        int id = c.accept(job);
        c.schedule();
        Allocation has = c.state().jobs().at(id).run().allocation();
        assertThat(has.nodes().stream()
                        .map(s -> "" + s.gres().get("gpu").count())
                        .toList())
                .containsExactly(gpus.split(" "));
        assertThat(has.nodes()).noneMatch(s -> s.cores().isEmpty());
    }

    /** The largest number of nodes in a range is tried first, of neighbours as well. */
    @Test
    void contiguousJobTriesTheLargestNodeCountFirst() {
        table("n[1-4] cpus=4 mem=1000", "p nodes=n[1-4] default=yes defmempercpu=1", "", """
                contiguous=true nodesMin=3 nodesMax=4 tasks=5     | n1:2 n2:1 n3:1 n4:1
                contiguous=true nodesMin=2 nodesMax=4 tasks=3     | n1:1 n2:1 n3:1
                contiguous=true nodesMin=1 nodesMax=4 excludeList=n2 tasks=4 | n3:3 n4:1
                """);
    }

    /** AllowGroups is checked against the groups that a user has now, not those at the submission. */
    @Test
    void membershipCountsAsItIsNow() {
        Cluster c =
                new Cluster("n1 cpus=4 mem=1000", "lab nodes=n1 allowgroups=lab\nall nodes=n1", "enforcePartLimits=NO");
        int uid = Cluster.USER;
        int held = c.accept("partition=all timing.beginTime=9999999");
        List<Integer> before = c.state().jobs().at(held).desc().owner().gids();
        int joins = c.accept("partition=lab");
        c.schedule();
        assertThat(c.shown(joins)).isEqualTo("(PartitionConfig)");
        c.apply(new Command.RenewGroups(Map.of(uid + 1, List.of(60), uid, List.of(1, 60))));
        c.schedule();
        assertThat(c.shown(joins)).isEqualTo("n1:1");
        assertThat(c.state().jobs().at(held).desc().owner().gids())
                .as("nobody asks there")
                .isEqualTo(before);
        int leaves = c.accept("partition=lab tasks=4");
        c.apply(new Command.RenewGroups(Map.of(uid, List.of(60))));
        c.schedule();
        assertThat(c.shown(leaves)).isEqualTo("(Resources)");
        c.apply(new Command.RenewGroups(Map.of(uid, List.of(1))));
        c.schedule();
        assertThat(c.shown(leaves)).isEqualTo("(PartitionConfig)");
    }

    /**
     * The next nodes in the configuration's order are taken beside nodes that are asked for by name, then those before
     * them.
     */
    @Test
    void nextNodesAreTakenBesideRequiredOnes() {
        table("n[1-6] cpus=2 mem=1000", "p nodes=n[1-6] defmempercpu=1", "", """
                partition=p nodesMin=2 nodeList=n3                   | n3:1 n4:1
                partition=p nodesMin=3 nodeList=n2,n4                | n2:1 n3:1 n4:1
                partition=p nodesMin=3 nodeList=n5                   | n1:1 n5:1 n6:1
                partition=p nodesMin=4 nodeList=n5                   | n1:1 n2:1 n5:1 n6:1
                partition=p nodesMin=2 nodeList=n6                   | n1:1 n6:1
                partition=p nodesMin=2 contiguous=true nodeList=n2   | n2:1 n3:1
                partition=p nodesMin=3 contiguous=true nodeList=n5   | n4:1 n5:1 n6:1
                """);
    }

    /** Partitions that take no jobs are left out of a job's list, at submission as later. */
    @Test
    void closedPartitionsOfAListAreLeftOut() {
        Cluster c = new Cluster(
                "n[1-2] cpus=2 mem=1000", "ok nodes=n1\ndown nodes=n1 state=DOWN\ndrain nodes=n1 state=DRAIN", "");
        int job = c.accept("kind=BATCH partition=drain,down");
        assertThat(c.state().jobs().at(job).desc().partition()).isEqualTo("down");
        Command.JobRef ref = new Command.JobRef("" + job, job, -1, Command.JobRef.NO_STEP);
        c.apply(new Command.UpdateJob(0, ref, Map.of("partition", "drain,ok,down")));
        assertThat(c.state().jobs().at(job).desc().partition()).isEqualTo("ok,down");
        assertThat(c.apply(new Command.UpdateJob(0, ref, Map.of("partition", "drain"))))
                .isInstanceOfSatisfying(
                        Decision.Rejected.class,
                        r -> assertThat(r.sentence()).startsWith("Required partition not available"));
    }

    /**
     * A job needs one open partition in its list; EnforcePartLimits says whether one or all of the open ones must keep
     * its limits.
     */
    @Test
    void jobNeedsOneOpenPartitionOfItsList() {
        String partitions = """
                ok nodes=n[1-2] defmempercpu=1
                short nodes=n1 maxtime=1 defmempercpu=1
                wide nodes=n[1-2] minnodes=2 defmempercpu=1
                down nodes=n1 state=DOWN
                drain nodes=n1 state=DRAIN
                off nodes=n1 state=INACTIVE
                login nodes=n1 allocnodes=login1
                """;
        String unavailable = "Required partition not available (inactive or drain)";
        String time = "Requested time limit is invalid (missing or exceeds some limit)";
        String nodes = "Node count specification invalid";
        for (String[] row : new String[][] {
            // partitions, then what NO, ANY and ALL make of them
            {"drain", unavailable, unavailable, unavailable},
            {"off,drain", unavailable, unavailable, unavailable},
            {"ok,drain", "", "", ""},
            {"drain,ok", "", "", ""},
            {"off,ok", "", "", ""},
            {"down", "", "", ""},
            {"down,drain", "", "", ""},
            {"short", "", time, time},
            {"short,ok", "", "", time},
            {"ok,short", "", "", time},
            {"short,drain", "", time, time},
            {"down,short", "", "Requested partition configuration not available now", time},
            {"wide", "Task count specification invalid", nodes, nodes},
            {"wide,ok", "", "", nodes},
            {"wide,drain", "Task count specification invalid", nodes, nodes},
            {"wide,short", "", time, nodes},
            {"login", "Access/permission denied", "Access/permission denied", "Access/permission denied"},
            {"login,ok", "", "", ""}
        }) {
            for (int mode = 0; mode < 3; mode++) {
                Cluster c = new Cluster(
                        "n[1-2] cpus=2 mem=1000",
                        partitions,
                        "enforcePartLimits=" + List.of("NO", "ANY", "ALL").get(mode));
                Decision d = c.submit("kind=BATCH tasks=1 timing.timeLimitMin=10 partition=" + row[0]);
                assertThat(d instanceof Decision.Rejected r ? r.sentence() : "")
                        .as(row[0] + " " + mode)
                        .isEqualTo(row[mode + 1]);
            }
        }
    }

    /** Since 26.05 no job has nodes on which none of its tasks would run. */
    @Test
    void jobGetsNoNodesWithoutTasks() {
        table(
                "n[1-3] cpus=2 mem=1000 gpus=2",
                "p nodes=n[1-3] defmempercpu=1\nbig nodes=n[1-3] minnodes=2 defmempercpu=1",
                "gresTypes=gpu",
                """
                partition=p nodesMin=2 tasks=1               | Task count specification invalid
                partition=p nodesMin=2 nodesMax=3 tasks=2    | n1:1 n2:1
                partition=big tasks=1                        | Task count specification invalid
                partition=p,big tasks=1                      | n1:1
                partition=big tasks=2                        | n1:1 n2:1
                partition=big                                | n1:1 n2:1
                partition=p tasks=1 tresPerJob=gres/gpu:3    | Requested node configuration is not available
                partition=p tasks=2 tresPerJob=gres/gpu:3    | n1:1 n2:1
                partition=p tresPerJob=gres/gpu:3            | n1:1 n2:1
                """);
        Cluster c = new Cluster("n[1-3] cpus=2 mem=1000", "p nodes=n[1-3] defmempercpu=1 default=yes", "");
        int job = c.accept("kind=BATCH nodesMin=2 nodesMax=2 tasks=3");
        Command.JobRef ref = new Command.JobRef("" + job, job, -1, Command.JobRef.NO_STEP);
        assertThat(c.apply(new Command.UpdateJob(0, ref, java.util.Map.of("numtasks", "1"))))
                .isEqualTo(dev.muster.core.command.Decision.reject(dev.muster.model.SlurmErrno.BAD_TASK_COUNT));
        assertThat(c.apply(new Command.UpdateJob(0, ref, java.util.Map.of("numtasks", "2"))))
                .isInstanceOf(dev.muster.core.command.Decision.Accepted.class);
    }

    @Test
    void aDeadlineThatCannotBeMetEndsTheJob() {
        Cluster c = new Cluster("n1 cpus=1", "p nodes=n1", "");
        String late = "Requested time limit is invalid (missing or exceeds some limit)";
        assertThat(c.place("partition=p timing.deadline=999999")).isEqualTo(late);
        assertThat(c.place("partition=p timing.deadline=1000100 timing.timeLimitMin=2"))
                .isEqualTo(late);
        String short1 = "Invalid time-min specification (exceeds job's time or other limits)";
        assertThat(c.place("partition=p timing.deadline=1000100 timing.timeMinMin=2"))
                .isEqualTo(short1);
        assertThat(c.place("partition=p timing.timeLimitMin=1 timing.timeMinMin=2"))
                .isEqualTo(short1);
        c.accept("partition=p");
        c.schedule();
        int waits = c.accept("partition=p timing.deadline=1000300 timing.timeLimitMin=2");
        int held = c.accept("partition=p timing.deadline=1000300 timing.hold=true");
        c.schedule();
        c.pass(180);
        assertThat(c.state().jobs().at(waits).state()).isEqualTo(JobState.PENDING);
        c.pass(1);
        assertThat(c.state().jobs().at(waits).state()).isEqualTo(JobState.DEADLINE);
        assertThat(c.state().jobs().at(waits).reason()).isEqualTo(JobReason.DEADLINE);
        assertThat(c.state().jobs().at(held).state()).isEqualTo(JobState.PENDING);
        c.pass(120);
        assertThat(c.state().jobs().at(held).state()).isEqualTo(JobState.DEADLINE);
    }

    /** A limit is at least a minute. */
    @Test
    void jobDoesNotStartWithinAMinuteOfItsDeadline() {
        Cluster c = new Cluster("n1 cpus=1", "p nodes=n1", "");
        int id = c.accept("partition=p timing.deadline=1000059");
        c.schedule();
        assertThat(c.state().jobs().at(id).state()).isEqualTo(JobState.PENDING);
        c.pass(60);
        assertThat(c.state().jobs().at(id).state()).isEqualTo(JobState.DEADLINE);
        assertThat(c.state().jobs().at(id).run().exit()).isEqualTo(ExitStatus.exited(1));
    }

    @Test
    void aRunningJobEndsAtItsDeadline() {
        Cluster c = new Cluster("n1 cpus=1", "p nodes=n1", "");
        int id = c.accept("partition=p timing.deadline=1000100");
        c.schedule();
        c.pass(99);
        assertThat(c.state().jobs().at(id).state()).isEqualTo(JobState.RUNNING);
        c.pass(1);
        assertThat(c.state().jobs().at(id).state()).isEqualTo(JobState.DEADLINE);
    }

    @Test
    void threadOptionsPlaceTasksOnCores() {
        table("n[1-2] cpus=8 threads=2 mem=1000", "p nodes=n[1-2] defmempercpu=10", "", """
                partition=p tasks=4                     | n1:4
                partition=p tasks=4 hint=nomultithread  | n1:8
                partition=p tasks=4 threadsPerCore=1    | n1:8
                partition=p tasks=4 tasksPerCore=1      | n1:8
                partition=p tasks=5 tasksPerCore=1      | n1:8 n2:2
                partition=p tasks=4 tasksPerCore=2      | n1:4
                partition=p tasks=2 tasksPerCore=1 cpusPerTask=2 | n1:4
                partition=p tasks=8 hint=multithread    | n1:8
                partition=p threadsPerCore=4            | Socket, core and/or thread specification can not be satisfied
                partition=p socketsPerNode=2            | Socket, core and/or thread specification can not be satisfied
                partition=p coresPerSocket=4            | n1:2
                partition=p coresPerSocket=5            | Socket, core and/or thread specification can not be satisfied
                """);
    }

    @Test
    void maxCpusPerNodeLimitsThePartition() {
        Cluster c = new Cluster(
                "n[1-2] cpus=4", "p nodes=n[1-2] maxcpuspernode=3 defmempercpu=1\nq nodes=n[1-2] defmempercpu=1", "");
        assertThat(c.place("partition=p tasks=2 nodesMin=1 nodesMax=1")).isEqualTo("n1:2");
        assertThat(c.place("partition=p tasks=2 nodesMin=1 nodesMax=1")).isEqualTo("n2:2");
        assertThat(c.place("partition=p tasks=2 nodesMin=1 nodesMax=1")).isEqualTo("(Resources)");
        assertThat(c.place("partition=q tasks=2 nodesMin=1 nodesMax=1")).isEqualTo("n1:2");
        assertThat(c.place("partition=p cpusPerTask=4")).isEqualTo("Requested node configuration is not available");
    }

    @Test
    void memoryAboveMaxMemPerCpuCostsCpus() {
        table("n1 cpus=8 mem=1000", "p nodes=n1 maxmempercpu=100", "", """
                partition=p memPerCpuMb=100 | n1:1
                partition=p memPerCpuMb=250 | n1:3
                """);
    }

    @Test
    void llnTakesLeastLoadedAndPackNodesTheFullest() {
        String nodes = "n[1-3] cpus=4 mem=1000";
        String[][] rows = {
            {"p nodes=n[1-3] defmempercpu=10", "", "n1:1 n1:1 n1:1"},
            {"p nodes=n[1-3] defmempercpu=10 lln=yes", "", "n1:1 n2:1 n3:1"},
            {"p nodes=n[1-3] defmempercpu=10", "options.select=CR_CORE,CR_LLN", "n1:1 n2:1 n3:1"}
        };
        for (String[] row : rows) {
            Cluster c = new Cluster(nodes, row[0], row[1]);
            assertThat(c.place("partition=p") + " " + c.place("partition=p") + " " + c.place("partition=p"))
                    .as(row[0])
                    .isEqualTo(row[2]);
        }
        Cluster c = new Cluster(nodes, "p nodes=n[1-3] defmempercpu=10", "options.select=CR_CORE,CR_PACK_NODES");
        assertThat(c.place("partition=p nodeList=n3")).isEqualTo("n3:1");
        assertThat(c.place("partition=p")).isEqualTo("n3:1");
    }

    @Test
    void selectLinearGivesWholeNodes() {
        Cluster c = new Cluster("n[1-2] cpus=4 mem=1000", "p nodes=n[1-2] defmempercpu=10", "options.select=LINEAR");
        assertThat(c.place("partition=p")).isEqualTo("n1:4");
        assertThat(c.place("partition=p")).isEqualTo("n2:4");
        assertThat(c.place("partition=p")).isEqualTo("(Resources)");
    }

    @Test
    void oneTaskPerCoreOptionGivesEachTaskACore() {
        Cluster c = new Cluster(
                "n1 cpus=8 threads=2 mem=1000",
                "p nodes=n1 defmempercpu=10",
                "options.select=CR_CORE,CR_ONE_TASK_PER_CORE");
        assertThat(c.place("partition=p tasks=4")).isEqualTo("n1:8");
    }

    @Test
    void jobsOfAPartitionThatTakesNoneGoToItsAlternate() {
        Cluster c = new Cluster(
                "n[1-2] cpus=4 mem=1000",
                "a nodes=n1 state=drain alternate=b defmempercpu=10\n"
                        + "b nodes=n1 state=inactive alternate=c defmempercpu=10\nc nodes=n2 defmempercpu=10\nd "
                        + "nodes=n1 state=drain",
                "");
        assertThat(c.place("partition=a")).isEqualTo("n2:1");
        assertThat(c.place("partition=d")).isEqualTo("Required partition not available (inactive or drain)");
    }

    @Test
    void packSerialAtEndAndMaxArrayTasksApply() {
        Cluster c = new Cluster(
                "n[1-2] cpus=4 mem=1000",
                "p nodes=n[1-2] defmempercpu=10",
                "options.pack_serial_at_end=yes options.max_array_tasks=3");
        assertThat(c.place("partition=p")).isEqualTo("n2:1");
        assertThat(c.place("partition=p tasks=2 nodesMin=2")).isEqualTo("n1:1 n2:1");
        assertThat(c.place("partition=p timing.array=1-4")).isEqualTo("Invalid job array specification");
    }

    /** Memory that a job gives back is free for others; the job gets no more than it had. */
    @Test
    void aRunningJobMayGiveMemoryBack() {
        new Play(new Cluster("n1 cpus=4 mem=1000", "p nodes=n1 default=yes", "")).lines("""
                submit kind=BATCH memPerNodeMb=800
                submit kind=BATCH memPerNodeMb=500
                schedule                              -> 1 RUNNING n1; 2 PENDING
                update 1 minmemorynode=900            -> says Job is no longer pending execution
                update 1 minmemorynode=0              -> says Job is no longer pending execution
                update 1 minmemorynode=400
                schedule                              -> 2 RUNNING n1
                update 2 minmemorycpu=300
                submit kind=BATCH memPerNodeMb=300
                schedule                              -> 3 RUNNING n1
                exited 1 batch 0:0
                done 1 n1
                submit kind=BATCH memPerNodeMb=401
                schedule                              -> 4 PENDING
                """);
    }

    @Test
    void tasksPerNodeAreOnEachNode() {
        Cluster c = new Cluster("n[1-2] cpus=4 mem=1000", "p nodes=n[1-2] defmempercpu=10", "");
        assertThat(c.place("partition=p")).isEqualTo("n1:1");
        assertThat(c.place("partition=p tasksPerNode=4 nodeList=n1")).isEqualTo("(Resources)");
        assertThat(c.place("partition=p tasksPerNode=3")).isEqualTo("n1:3");
    }

    /** A job with a range of nodes gets as many as there are, though no more than tasks, as in Slurm. */
    @Test
    void jobOfANodeRangeGetsAsManyAsAreFree() {
        for (String line : """
                nodesMin=1 nodesMax=2                       | n[1-2] 1 1
                nodesMin=1 nodesMax=2 tasks=1               | n1 1
                nodesMin=1 nodesMax=2 tasks=3               | n[1-2] 2 1
                nodesMin=1 nodesMax=4 tasks=6               | n[1-3] 4 1 1
                nodesMin=2 nodesMax=9                       | n[1-3] 1 1 1
                nodesMin=1 nodesMax=3 useMinNodes=true      | n1 1
                nodesMin=1 nodesMax=2 tasksPerNode=2        | n[1-2] 2 2
                nodesMin=2 nodesMax=2                       | n[1-2] 1 1
                tasks=3 nodesMin=2 nodesMax=2 tasksPerNode=2  | n[1-2] 2 2
                tasks=4 nodesMin=3 nodesMax=3 tasksPerNode=2  | n[1-3] 2 2 2
                tasks=2 nodesMin=2 nodesMax=2 tasksPerNode=2  | n[1-2] 2 2
                tasks=3 tasksPerNode=2                      | n[1-2] 2 2
                tasks=3 tasksPerNode=4                      | n1 4
                tasks=1 tasksPerNode=2                      | n1 1
                tasks=3 nodesMin=2 nodesMax=2 tasksPerNode=2 cpusPerTask=2 | n[1-2] 4 4
                tasks=3 nodesMin=2 nodesMax=2 tasksPerNode=3 cpusPerNodeMin=4 | n[1-2] 4 4
                tasks=3 nodesMin=2 nodesMax=2 tasksPerNode=2 overcommit=true | n[1-2] 1 1
                tasks=3 nodesMin=1 nodesMax=2 tasksPerNode=2 | n[1-2] 2 2
                tasks=5                                     | n[1-2] 4 1
                """.strip().split("\n")) {
            Cluster c = new Cluster("n[1-3] cpus=4 mem=1000", "p nodes=n[1-3] default=yes", "");
            new Play(c)
                    .lines("submit kind=BATCH "
                            + line.substring(0, line.indexOf('|')).strip() + "\nschedule");
            Allocation a = c.state().jobs().at(1).run().allocation();
            String got = a.hostList()
                    + a.nodes().stream().map(s -> " " + s.cpus()).collect(java.util.stream.Collectors.joining());
            assertThat(got)
                    .as(line)
                    .isEqualTo(line.substring(line.indexOf('|') + 1).strip());
        }
    }
}
