package dev.muster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Reservation;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.HostList;
import dev.muster.scheduler.queue.UnavailableNodes;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Reservations as plays: which jobs may use the reserved nodes, what runs beside and before them, and what happens at
 * the end. shows: ResvOverRun
 */
class ReservationTest {
    private static void play(String lines) {
        play("", lines);
    }

    private static void play(String settings, String lines) {
        new Play(new Cluster(
                        "n[1-3] cpus=2 mem=1000",
                        "p nodes=n[1-3] default=yes defmempercpu=10",
                        "requeueJobs=true returnToService=1 " + settings))
                .lines(lines);
    }

    @Test
    void reservationBeginsAtMostTenMinutesAgo() {
        play("""
                reserve r starttime=-610 duration=3600 nodes=n1 users=alice -> says Invalid time specified
                reserve r starttime=-590 duration=3600 nodes=n1 users=alice
                rereserve r duration=7200
                """);
    }

    @Test
    void reservedLicensesAndNodesAreNotReservedTwice() {
        Cluster cluster =
                new Cluster("n[1-2] cpus=4", "p nodes=n[1-2] defmempercpu=1 default=yes", "options.licenses=m:8");
        new Play(cluster).lines("""
                reserve r starttime=+0 duration=600 flags=LICENSE_ONLY users=alice licenses=m:6
                reserve s starttime=+0 duration=600 flags=LICENSE_ONLY users=alice licenses=m:3 -> says Invalid license specification
                reserve s starttime=+0 duration=600 flags=LICENSE_ONLY users=alice licenses=m:2
                reserve t starttime=+900 duration=600 flags=LICENSE_ONLY users=alice licenses=m:8
                rereserve s licenses=m:3 -> says Invalid license specification
                reserve n starttime=+0 duration=600 nodes=n1 users=alice
                submit kind=BATCH charge.reservation=n nodeList=n2 -> says Requested node configuration is not available
                """);
    }

    /** A reservation shows its licenses as they were written. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '!',
            value = {"m ! m", "n:2,m ! n:2,m", "m:0 ! m:0"})
    void reservationShowsLicensesAsWritten(String written, String shown) {
        Cluster cluster =
                new Cluster("n[1-2] cpus=4", "p nodes=n[1-2] defmempercpu=1 default=yes", "options.licenses=m:8,n:3");
        new Play(cluster).lines("reserve r starttime=+0 duration=600 nodes=n1 users=alice licenses=" + written);
        assertThat(cluster.state().reservations().at("r").want().licenses()).isEqualTo(shown);
    }

    /** A reservation is of nodes, licenses or cores; a change leaves some of them. */
    @ParameterizedTest
    @CsvSource(delimiter = '!', textBlock = """
            flags=ANY_NODES licenses=m:1           !                   ! r ANY_NODES
            flags=ANY_NODES licenses=m:1 nodecnt=2 !                   ! r ANY_NODES
            flags=ANY_NODES licenses=m:1 nodes=n2  !                   ! r SPEC_NODES ANY_NODES n2
            flags=ANY_NODES nodes=n2               !                   ! r SPEC_NODES ANY_NODES n2
            flags=ANY_NODES licenses=m:1 corecnt=2 !                   ! CPU count specification invalid
            flags=ANY_NODES nodecnt=1              !                   ! Requested reservation is invalid
            licenses=m:1                           !                   ! Invalid node name specified
            licenses=m:1 partitionname=q           !                   ! Invalid node name specified
            nodecnt=0                              !                   ! Invalid node name specified
            features=red partitionname=p           !                   ! r p n[1-2]
            features=red partitionname=q           !                   ! r q n2
            flags=ANY_NODES licenses=m:1           ! nodecnt=1         ! r ANY_NODES p n1
            flags=ANY_NODES licenses=m:1           ! nodes=n3          ! r SPEC_NODES ANY_NODES n3
            flags=ANY_NODES licenses=m:1           ! flags-=ANY_NODES  ! Requested reservation is invalid
            flags=ANY_NODES licenses=m:1           ! licenses=         ! Invalid license specification
            flags=ANY_NODES licenses=m:1 nodes=n1  ! licenses=         ! r SPEC_NODES ANY_NODES n1
            nodecnt=1                              ! flags+=ANY_NODES  ! r ANY_NODES p n1
            nodecnt=1                              ! nodes=            ! r p n1
            nodes=n[2-3]                           ! nodes=            ! r p n[2-3]
            nodes=n[2-3]                           ! nodes=n[3-4] nodecnt=3 ! r SPEC_NODES p n[1,3-4]
            nodes=n[2-3]                           ! nodes=n[2-4] nodecnt=1 ! r SPEC_NODES p n2
            nodes=n[2-3]                           ! nodes=x nodecnt=1 ! Invalid node name specified
            nodecnt=1                              ! nodecnt=0         ! Requested reservation is invalid
            nodecnt=1                              ! tres=node=2       ! r p n[1-2]
            nodecnt=1                              ! tres=cpu=2        ! CORES
            nodecnt=1                              ! corecnt=2         ! CORES
            nodecnt=1                              ! tres=             ! Invalid Trackable RESource (TRES) specification
            nodecnt=1                              ! features=red ! Requested operation not supported on this system
            nodecnt=1 corecnt=2                    ! partitionname=q   ! r q n1
            nodecnt=1 tres=mem=5                   !                   ! r p n1
            nodecnt=1 corecnt=0                    !                   ! r p n1
            nodecnt=1 features=nope                !                   ! Requested node configuration is not available
            corecnt=2 features=nope                !                   ! Requested nodes are busy
            nodes=n1 flags=REPLACE                 !                   ! COUNTED Nodes
            nodecnt=1 corecnt=1 flags=REPLACE_DOWN !                   ! COUNTED CoreCnt
            nodecnt=1 flags=REPLACE,REPLACE_DOWN   !                   ! r REPLACE REPLACE_DOWN p n1
            nodecnt=1 flags=REPLACE                ! flags+=REPLACE_DOWN ! r REPLACE REPLACE_DOWN p n1
            nodes=n1 flags=DAILY                   ! nodecnt=2         ! r DAILY SPEC_NODES p n[1-2]
            nodecnt=1                              ! starttime=+60     ! Reservation already started
            nodecnt=1 starttime=+60                ! starttime=+30     ! r p n1
            nodecnt=1 flags=FLEX,MAINT,OVERLAP     !                   ! r MAINT FLEX OVERLAP p n1
            nodecnt=1 flags=FLEX,OVERLAP           ! flags=            ! r FLEX OVERLAP p n1
            nodecnt=1 flags=FLEX                   ! flags=DAILY       ! r FLEX DAILY p n1
            nodecnt=5                              !                   ! Requested nodes are busy
            nodecnt=1 allowedpartitions=q,p        !                   ! r p n1
            nodecnt=1 allowedpartitions=q          !                   ! r q n2
            nodecnt=1 allowedpartitions=q          ! allowedpartitions+=p ! r q n2
            nodecnt=1 allowedpartitions=-q         !                   ! r q n2
            nodecnt=1 allowedpartitions=-q,-p      !                   ! r p n1
            """)
    void reservationHoldsNodesLicensesOrCores(String made, String changed, String shown) {
        Cluster c = new Cluster(
                "n[1-4] cpus=4",
                "p nodes=n[1-4] defmempercpu=1 default=yes\nq nodes=n[2-4] defmempercpu=1",
                "options.licenses=m:8");
        c.apply(new Command.UpdateNode(
                0, List.of("n1", "n2"), Map.of("availablefeatures", "red", "activefeatures", "red")));
        Decision last = c.apply(new Command.CreateReservation(
                0, "r", c.moments(values("starttime=+0 duration=600 users=alice " + made)), Map.of()));
        if (changed != null) {
            last = c.apply(
                    new Command.UpdateReservation(0, "root", List.of(), "r", c.moments(values(changed)), Map.of()));
        }
        if (last instanceof Decision.Rejected no) {
            assertThat(no.sentence())
                    .isEqualTo(shown.replace(
                                    "COUNTED",
                                    "REPLACE or REPLACE_DOWN flags should be used with the NodeCnt reservation "
                                            + "option; do not specify")
                            .replace("CORES", "Updating core/node TRES not supported for core-based reservations"));
            return;
        }
        Reservation r = c.state().reservations().at("r");
        List<String> out = new ArrayList<>(List.of("r"));
        ReservationFlag.shown().stream().filter(r::has).forEach(f -> out.add(f.word()));
        out.add(r.want().partition());
        out.add(HostList.of(r.nodes()).compressed());
        assertThat(String.join(" ", out.stream().filter(s -> !s.isEmpty()).toList()))
                .isEqualTo(shown);
    }

    /** Partitions and QOS stand in the order of their names, users as they were named. */
    @ParameterizedTest
    @CsvSource(delimiter = '!', textBlock = """
            users=bob,alice allowedpartitions=q,p,q  !                        ! bob,alice p,q
            users=alice allowedpartitions=q          ! allowedpartitions+=p   ! alice p,q
            users=alice allowedpartitions=-q,-p      !                        ! alice -p,-q
            """)
    void reservationNamesAreSortedExceptUsers(String made, String changed, String shown) {
        Cluster c =
                new Cluster("n[1-2] cpus=4", "p nodes=n1 defmempercpu=1 default=yes\nq nodes=n2 defmempercpu=1", "");
        c.apply(new Command.CreateReservation(
                0, "r", c.moments(values("starttime=+10 duration=600 nodes=n1 " + made)), Map.of()));
        if (changed != null) {
            c.apply(new Command.UpdateReservation(0, "root", List.of(), "r", c.moments(values(changed)), Map.of()));
        }
        Reservation.AccessList who = c.state().reservations().at("r").who();
        assertThat(who.users().text() + " " + who.partitions().text()).isEqualTo(shown);
    }

    /** A reservation keeps its number when it is changed, and a name that slurmctld makes has the number in it. */
    @Test
    void reservationKeepsTheNumberOfItsCreation() {
        Cluster c = new Cluster("n[1-2] cpus=4", "p nodes=n[1-2] defmempercpu=1 default=yes", "");
        String words = "starttime=+10 duration=600 nodes=n1 flags=OVERLAP users=alice";
        for (String name : List.of("zz", "aa", "")) {
            c.apply(new Command.CreateReservation(0, name, c.moments(values(words)), Map.of()));
        }
        c.apply(new Command.UpdateReservation(0, "root", List.of(), "zz", c.moments(values("duration=700")), Map.of()));
        List<String> out = new ArrayList<>();
        c.state().reservations().values().forEach(r -> out.add(r.serial() + " " + r.name()));
        assertThat(out).containsExactlyInAnyOrder("1 zz", "2 aa", "3 alice_3");
        c.apply(new Command.DeleteReservation(0, "root", List.of(), "zz"));
        c.apply(new Command.CreateReservation(0, "zz", c.moments(values(words)), Map.of()));
        assertThat(c.state().reservations().at("zz").serial()).isEqualTo(4);
    }

    /**
     * The end stays if it was said last where the start moves, and otherwise how long it lasts: as with Debian's Slurm.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '!', textBlock = """
            duration=60  !                                                                      ! 100-160
            duration=60  ! starttime=+150                                                       ! 150-210
            endtime=+160 ! starttime=+150                                                       ! 150-160
            endtime=+160 ! starttime=+150; starttime=+120                                       ! 120-160
            endtime=+160 ! starttime=+160                                                       ! Invalid time specified
            endtime=+160 ! duration=40; starttime=+150                                          ! 150-190
            endtime=+160 ! starttime=+150 duration=20                                           ! 150-170
            endtime=+160 ! starttime=+150 endtime=+180; starttime=+160                          ! 160-180
            endtime=+160 ! endtime=+180 duration=30                                             ! 100-130
            endtime=+160 ! endtime=+180 duration=30; starttime=+150                             ! 150-180
            duration=60  ! endtime=+190; starttime=+150                                         ! 150-190
            duration=60  ! duration+=30                                                         ! 100-190
            duration=60  ! starttime=+150 duration+=30                                          ! 150-240
            endtime=+160 ! duration-=30; starttime=+150                                         ! 150-180
            endtime=+160 ! comment=x; starttime=+150                                            ! 150-160
            """)
    void reservationEndFollowsItsLastTimeChange(String made, String changes, String times) {
        Cluster c = new Cluster("n1 cpus=4", "p nodes=n1 defmempercpu=1 default=yes", "");
        long now = c.seconds();
        Decision last = c.apply(new Command.CreateReservation(
                0, "r", c.moments(values("starttime=+100 nodes=n1 users=alice " + made)), Map.of()));
        for (String change : changes == null ? new String[0] : changes.split("; ")) {
            last = c.apply(
                    new Command.UpdateReservation(0, "root", List.of(), "r", c.moments(values(change)), Map.of()));
        }
        Reservation r = c.state().reservations().at("r");
        assertThat(last instanceof Decision.Rejected no ? no.sentence() : r.start() - now + "-" + (r.end() - now))
                .isEqualTo(times);
    }

    private static Map<String, String> values(String words) {
        Map<String, String> out = new HashMap<>();
        for (String w : words.split(" ")) {
            boolean less = w.contains("-=");
            String key = w.substring(0, w.indexOf('=')).replaceAll("[+-]$", "");
            out.put(key + (less ? "-" : w.contains("+=") ? "+" : ""), w.substring(w.indexOf('=') + 1));
        }
        return out;
    }

    @Test
    void licensesOfAReservationAreForItsJobs() {
        Cluster cluster =
                new Cluster("n[1-2] cpus=4", "p nodes=n[1-2] defmempercpu=1 default=yes", "options.licenses=m:8");
        new Play(cluster).lines("""
                reserve r starttime=+0 duration=10 flags=LICENSE_ONLY users=alice licenses=m:6
                submit licenses=m:3 kind=BATCH
                schedule
                why 1                        -> says (Licenses)
                submit licenses=m:3 kind=BATCH charge.reservation=r
                schedule                     -> 2 RUNNING n1
                rereserve r licenses=m:2
                schedule                     -> 1 RUNNING n1
                """);
    }

    /** A job that was submitted to the reservation stays in it. */
    @Test
    void reservationUserWithAJobIsNotRemoved() {
        play("""
                reserve r starttime=+0 duration=600 nodecnt=1 users=alice,bob
                submit kind=BATCH charge.reservation=r timing.hold=true
                rereserve r users=bob   -> says Requested reservation is in use
                rereserve r users-=bob  -> r active n1
                rereserve r users+=bob
                cancel 1
                rereserve r users=bob   -> r active n1
                """);
    }

    @Test
    void onlyUsersOfAReservationRunInIt() {
        play("""
                reserve r starttime=+0 duration=600 nodecnt=1 users=alice    -> says r; r active n1
                reserve s starttime=+0 duration=600 nodes=n2 users=bob       -> s active n2 SPEC_NODES
                submit kind=BATCH charge.reservation=r timing.timeLimitMin=1 -> 1 PENDING
                submit kind=BATCH charge.reservation=s -> says Access denied to requested reservation
                submit kind=BATCH charge.reservation=t                       -> says Requested reservation is invalid
                submit kind=BATCH timing.timeLimitMin=1
                submit kind=BATCH nodeList=n1 timing.timeLimitMin=1
                schedule                                                     -> 1 RUNNING n1; 2 RUNNING n3; 3 PENDING
                why 3                                                        -> says (ReqNodeNotAvail)
                unreserve r                                                  -> says Requested reservation is in use
                """);
    }

    /** No job is left with a reservation that is gone, though more jobs wait for it than one step may change. */
    @Test
    void reservationEndHoldsEveryWaitingJob() {
        Cluster c = new Cluster("n1 cpus=2 mem=1000", "p nodes=n1 default=yes defmempercpu=10", "maxJobCount=3000");
        new Play(c).lines("""
                reserve r starttime=+1 duration=60 nodes=n1 users=alice
                """);
        for (int i = 0; i < 2100; i++) {
            c.submit("charge.reservation=r");
        }
        for (int i = 0; i < 4; i++) {
            c.pass(61);
        }
        assertThat(c.state().reservations().has("r")).isFalse();
        assertThat(c.state().jobs().values().stream()
                        .filter(j ->
                                !j.isHeld() || !j.desc().charge().reservation().isEmpty()))
                .isEmpty();
    }

    @Test
    void jobDoesNotRunIntoAReservation() {
        play("""
                reserve r starttime=+300 duration=600 nodes=ALL users=bob      -> r waits n1 n2 n3 SPEC_NODES ALL_NODES
                submit kind=BATCH timing.timeLimitMin=5                        -> 1 PENDING
                submit kind=BATCH timing.timeLimitMin=6                        -> 2 PENDING
                schedule                                                       -> 1 RUNNING n1; 2 PENDING
                exited 1 batch 0:0
                done 1 n1
                pass 300                                                       -> r active n1 n2 n3 SPEC_NODES ALL_NODES
                schedule                                                       -> 2 PENDING
                pass 600                                                       -> r unknown
                schedule                                                       -> 2 RUNNING n1
                """);
    }

    @Test
    void aJobWaitsForItsReservationToBegin() {
        play("""
                reserve r starttime=+60 duration=600 nodecnt=1 users=alice
                submit kind=BATCH charge.reservation=r
                schedule                                                  -> 1 PENDING
                why 1                                                     -> says (Reservation)
                pass 60
                schedule                                                  -> 1 RUNNING n1
                pass 600                                                  -> 1 TIMEOUT+COMPLETING TimeLimit; r active n1
                done 1 n1
                pass 1                                                    -> r unknown
                """.replace("r active n1\n", "r waits n1\n"));
    }

    @Test
    void jobsRunOnForResvOverRun() {
        play("options.resv_over_run=60", """
                reserve r starttime=+0 duration=100 nodecnt=1 users=alice
                submit kind=BATCH charge.reservation=r
                schedule
                pass 101                                                        -> 1 RUNNING n1
                pass 60                                                         -> 1 TIMEOUT+COMPLETING TimeLimit
                """);
    }

    @Test
    void pendingJobIsHeldWhenItsReservationEnds() {
        play("""
                reserve r starttime=+0 duration=50 nodecnt=1 users=alice
                reserve q starttime=+0 duration=100 nodecnt=1 users=alice flags=NO_HOLD_JOBS_AFTER_END
                submit kind=BATCH charge.reservation=r nodesMin=1 tasks=2
                submit kind=BATCH charge.reservation=r timing.hold=true
                submit kind=BATCH charge.reservation=q timing.hold=true
                unreserve r                                                  -> says Requested reservation is in use
                unreserve q                                                  -> says Requested reservation is in use
                pass 50 -> 1 PENDING+RESV_DEL_HOLD ReservationDeleted; 2 PENDING+RESV_DEL_HOLD ReservationDeleted
                release 1 root                                               -> 1 PENDING
                schedule                                                     -> 1 RUNNING n1
                cancel 2                                                     -> 2 CANCELLED ReservationDeleted 'by 1000'
                pass 100                                                     -> q unknown; 3 PENDING JobHeldUser
                """);
    }

    @Test
    void reservationMayHoldCoresOfANode() {
        play("""
                reserve r starttime=+0 duration=600 nodes=n1 corecnt=1 users=bob  -> r active n1:0 SPEC_NODES
                reserve s starttime=+0 duration=600 corecnt=4 users=alice         -> s active n1:1 n2:0-1 n3:0
                submit kind=BATCH nodeList=n1
                submit kind=BATCH charge.reservation=s tasks=3 nodesMin=2 nodesMax=2
                schedule                                                          -> 1 PENDING; 2 RUNNING n[1-2]
                rereserve s nodecnt=1 -> says Updating core/node TRES not supported for core-based reservations
                reserve t starttime=+0 duration=600 nodecnt=2 corecnt=1 users=alice -> says Requested nodes are busy
                reserve t starttime=+0 duration=600 nodes=n[1-2] corecnt=1 users=alice -> says Core count for reservation node list is not consistent!
                """);
    }

    @Test
    void coresAreReservedOnCountedNodes() {
        play("""
                reserve t starttime=+0 duration=600 nodecnt=2 corecnt=3 users=alice           -> t active n1:0-1 n2:0
                reserve u starttime=+600 duration=600 nodecnt=3 trespernode=cpu=2 users=alice -> u waits n1:0-1 n2:0-1 n3:0-1
                reserve v starttime=+1200 duration=600 nodecnt=2 corecnt=1 users=alice -> says Requested nodes are busy
                """);
    }

    @Test
    void overlappingReservationIsRefused() {
        play("""
                reserve r starttime=+0 duration=600 nodes=n1 users=bob
                reserve s starttime=+60 duration=600 nodes=n1 users=bob   -> says Requested reservation overlaps with another reservation
                reserve s starttime=+60 duration=600 nodecnt=3 users=bob  -> says Requested nodes are busy
                reserve s starttime=+600 duration=600 nodecnt=3 users=bob -> s waits n1 n2 n3
                reserve m starttime=+0 duration=600 nodes=n1 users=alice flags=MAINT -> m active n1 MAINT SPEC_NODES
                reserve r starttime=+0 duration=600 nodecnt=1 users=bob   -> says Duplicate reservation name
                reserve d starttime=+0 duration=60 nodecnt=1 users=bob flags=DAILY  -> d active n2 DAILY
                reserve e starttime=+86460 duration=60 nodes=n2 users=bob -> says e
                reserve f starttime=+86430 duration=60 nodes=n2 users=bob -> says Requested reservation overlaps with another reservation
                """);
    }

    @Test
    void runningJobsPreventAReservation() {
        play("""
                submit kind=BATCH nodesMin=3
                schedule
                reserve r starttime=+0 duration=600 nodecnt=1 users=bob         -> says Requested nodes are busy
                reserve r starttime=+0 duration=600 nodecnt=1 users=bob flags=IGNORE_JOBS -> r active n1 IGNORE_JOBS
                """);
    }

    @Test
    void invalidReservationIsRefused() {
        play("""
                reserve r starttime=+0 duration=600 nodecnt=1               -> says Reservation request lacks users, groups or accounts
                reserve r starttime=+0 duration=600 nodecnt=1 users=a,-b    -> says Invalid user id
                reserve r starttime=+0 duration=600 nodecnt=1 users=a groups=staff \
                -> says Reservations can't have users and groups specified, only one or the other
                reserve r starttime=+0 duration=600 nodecnt=1 groups=nobody -> says Invalid group id
                reserve r starttime=-900 duration=600 nodecnt=1 users=a     -> says Invalid time specified
                reserve r starttime=+0 duration=600 nodecnt=1 users=a flags=HOURLY,DAILY \
                -> says Reservation has multiple reoccurring flags. Please specify only one reoccurring flag
                reserve r starttime=+0 duration=600 nodecnt=1 users=a flags=MAINT,REPLACE \
                -> says REPLACE and REPLACE_DOWN flags cannot be used with STATIC_ALLOC or MAINT flags
                reserve r starttime=+0 duration=600 nodecnt=1 users=a flags=TIME_FLOAT,DAILY \
                -> says Reservation request has mutually exclusive flags. Repeating floating reservations are not supported.
                reserve r starttime=+0 duration=600 nodecnt=1 users=a partitionname=x -> says Invalid partition name specified
                reserve r starttime=+0 duration=600 nodecnt=1 users=a features=big -> says Requested node configuration is not available
                reserve r starttime=+0 duration=600 nodes=n9 users=a        -> says Invalid node name specified
                unreserve r                                                 -> says Requested reservation is invalid
                """);
    }

    /**
     * Replacements of a failed node: free nodes first, nodes of OVERLAP, nodes of MAINT that begins more than a week
     * ahead.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '!', textBlock = """
            starttime=+0                     !                     ! active n1 n2
            starttime=+0                     ! flags=REPLACE_DOWN  ! active n1 n2 REPLACE_DOWN
            starttime=+0 flags=MAINT         !                     ! active n1 n2
            starttime=+0 flags=MAINT         ! flags=REPLACE       ! active n1 n2 REPLACE
            starttime=+0 flags=OVERLAP       !                     ! active n2 n3
            starttime=+0 flags=OVERLAP       ! flags=REPLACE_DOWN  ! active n2 n3 REPLACE_DOWN
            starttime=+0 flags=OVERLAP       ! flags=REPLACE       ! active n2 n3 REPLACE
            starttime=+0 flags=OVERLAP       ! flags=STATIC_ALLOC  ! active n1 n2 STATIC
            starttime=+0 flags=OVERLAP       ! flags=MAINT         ! active n1 n2 MAINT
            starttime=+86400 flags=MAINT     ! flags=DAILY         ! active n1 n2 DAILY
            starttime=+691200 flags=MAINT    ! flags=DAILY         ! active n2 n3 DAILY
            starttime=+691200                ! flags=DAILY         ! active n1 n2 DAILY
            starttime=+691200                ! flags=WEEKLY        ! active n2 n3 WEEKLY
            starttime=+604800                ! flags=WEEKLY        ! active n1 n2 WEEKLY
            starttime=+2592000               ! flags=DAILY         ! active n1 n2 DAILY
            starttime=+3600                  !                     ! active n2 n3
            """)
    void failedNodeIsReplacedByFreeThenOverlapThenMaintNodes(String other, String own, String then) {
        new Play(new Cluster("n[1-4] cpus=4", "p nodes=n[1-4] default=yes defmempercpu=1", ""))
                .lines("""
                reserve a duration=60 users=alice nodes=n[3-4] OTHER
                reserve b starttime=+0 duration=60 users=alice nodecnt=2 OWN
                node n1 state=down reason=x
                pass 1                                                          -> b THEN
                """.replace("OTHER", other)
                        .replace("OWN", own == null ? "" : own)
                        .replace("THEN", then));
    }

    @Test
    void aFloatingReservationReplacesNodes() {
        play("""
                reserve r starttime=+3600 duration=600 nodecnt=2 users=alice flags=TIME_FLOAT -> r waits n1 n2 TIME_FLOAT
                node n1 state=drain reason=x
                pass 1                                                          -> r waits n2 n3 TIME_FLOAT
                """);
    }

    @Test
    void maintenanceMayHaveNodesThatAreDown() {
        play("""
                node n1 state=down reason=x
                reserve r starttime=+0 duration=600 nodecnt=3 users=alice       -> says Requested nodes are busy
                reserve r starttime=+0 duration=600 nodecnt=1 users=alice flags=MAINT -> r active n2 MAINT
                reserve s starttime=+0 duration=600 nodecnt=3 users=alice flags=MAINT -> s active n1 n2 n3 MAINT
                """);
    }

    @Test
    void namedNodesStayAlthoughTheyAreDown() {
        play("""
                reserve r starttime=+0 duration=600 nodes=n[1-2] users=alice
                node n1 state=down reason=x
                rereserve r nodecnt=2                                           -> r active n1 n2 SPEC_NODES
                rereserve r nodecnt=3                                           -> r active n1 n2 n3 SPEC_NODES
                """);
    }

    /**
     * A job with a reservation comes first (slurm.conf(5), PriorityType); planned starts of other jobs do not delay it.
     */
    @Test
    void jobsWithAReservationComeFirst() {
        new Play(new Cluster("n1 cpus=4", "p nodes=n1 default=yes defmempercpu=1", "")).lines("""
                reserve r starttime=+0 duration=600 nodes=n1 corecnt=3 users=alice
                submit kind=BATCH nodeList=n1 tasks=2 timing.timeLimitMin=60
                submit kind=BATCH charge.reservation=r tasks=3 timing.timeLimitMin=60
                schedule                                                        -> 1 PENDING; 2 RUNNING n1
                """);
    }

    /** A reservation is replaced in part where one node is there for two that a job has. */
    @Test
    void reservationIsReplacedInPartIfNodesAreFew() {
        new Play(new Cluster("n[1-3] cpus=4", "p nodes=n[1-3] default=yes defmempercpu=1", "")).lines("""
                reserve r starttime=+0 duration=600 nodecnt=2 users=alice flags=REPLACE
                submit kind=BATCH charge.reservation=r nodesMin=2 nodesMax=2 exclusive=NODE
                schedule                                                        -> 1 RUNNING n[1-2]
                pass 1                                                          -> r active n1 n3 REPLACE
                pass 1                                                          -> r active n1 n3 REPLACE
                """);
    }

    /** A smaller node count keeps the nodes with jobs, and the last ones; named nodes stay named. */
    @Test
    void shrunkReservationKeepsNodesWithJobsAndTheLast() {
        play("""
                reserve r starttime=+0 duration=600 nodecnt=3 users=alice
                rereserve r nodecnt=2                                           -> r active n2 n3
                rereserve r nodecnt=3                                           -> r active n1 n2 n3
                submit kind=BATCH charge.reservation=r nodeList=n2
                schedule                                                        -> 1 RUNNING n2
                rereserve r nodecnt=2                                           -> r active n2 n3
                rereserve r nodecnt=1                                           -> r active n2
                reserve s starttime=+0 duration=600 nodes=n1,n3 users=alice     -> s active n1 n3 SPEC_NODES
                rereserve s nodecnt=1                                           -> s active n3 SPEC_NODES
                rereserve s nodecnt=2                                           -> s active n1 n3 SPEC_NODES
                """);
    }

    @Test
    void nodesComeAndGoWithSigns() {
        play("""
                reserve r starttime=+0 duration=600 nodecnt=1 users=alice      -> r active n1
                rereserve r nodes+=n[2-3]                                      -> r active n1 n2 n3 SPEC_NODES
                rereserve r nodes-=n1                                          -> r active n2 n3 SPEC_NODES
                rereserve r nodes=+n1,-n[2,3]                                  -> r active n1 SPEC_NODES
                rereserve r nodes-=n1                                          -> says Requested reservation is invalid
                rereserve r nodes+=n9                                          -> says Invalid node name specified
                rereserve r nodes=n9                                           -> says Requested reservation is invalid
                rereserve r nodes=ALL                                          -> r active n1 n2 n3 SPEC_NODES ALL_NODES
                rereserve r flags+=PART_NODES                                  -> says Invalid node name specified
                rereserve r nodecnt=1                                          -> r active n3 SPEC_NODES
                """);
    }

    /**
     * Users that a reservation names are users of accounts with AccountingStorageEnforce=associations, and of the named
     * accounts where accounts are named as well.
     */
    @Test
    void reservationUsersMustHaveAssociations() {
        Cluster cluster =
                new Cluster("n[1-4] cpus=4", "p nodes=n[1-4] default=yes", "options.accounting_enforce=associations");
        cluster.apply(new Command.ApplyPolicy(PruningTest.policy()));
        new Play(cluster).lines("""
                reserve r1 starttime=+0 duration=600 nodecnt=1 users=u             -> r1 active n1
                reserve r2 starttime=+0 duration=600 nodecnt=1 users=u,v accounts=a -> r2 active n2
                reserve r3 starttime=+0 duration=600 nodecnt=1 users=bob           -> says Invalid account or account/partition combination specified
                reserve r3 starttime=+0 duration=600 nodecnt=1 users=-bob          -> says Invalid account or account/partition combination specified
                reserve r3 starttime=+0 duration=9 users=u accounts=root nodecnt=1 -> says Invalid account or account/partition combination specified
                reserve r3 starttime=+0 duration=600 nodecnt=1 accounts=root       -> r3 active n3
                rereserve r1 users+=bob         -> says Invalid account or account/partition combination specified
                rereserve r1 duration=700       -> r1 active n1
                """);
    }

    /** A name is allowed, not mentioned or denied: a plus moves it towards allowed, a minus towards denied. */
    @Test
    void namesHaveThreeStates() {
        play("""
                reserve r starttime=+0 duration=600 nodecnt=1 users=bob accounts=a
                rereserve r users=+alice,-bob
                submit kind=BATCH charge.reservation=r charge.account=a   -> 1 PENDING
                cancel 1
                rereserve r users-=alice
                rereserve r users-=alice
                submit kind=BATCH charge.reservation=r charge.account=a   -> says Access denied to requested reservation
                rereserve r users+=bob                                    -> says Invalid user id
                rereserve r users+=-bob                                   -> says Invalid user id
                rereserve r users+=alice
                submit kind=BATCH charge.reservation=r charge.account=a   -> 2 PENDING
                """);
    }

    @Test
    void reservationUsersAreAddedAndRemovedByName() {
        play("""
                reserve r starttime=+0 duration=600 nodecnt=1 users=bob
                rereserve r users+=alice
                submit kind=BATCH charge.reservation=r       -> 1 PENDING
                cancel 1
                rereserve r users-=alice
                submit kind=BATCH charge.reservation=r       -> says Access denied to requested reservation
                rereserve r users-=bob                       -> says Reservation request lacks users, groups or accounts
                rereserve r users=-zoe                       -> says Invalid user id
                reserve d starttime=+0 duration=600 nodecnt=1 users-=bob
                submit kind=BATCH charge.reservation=d       -> 2 PENDING
                """);
    }

    @Test
    void hourlyReservationRepeats() {
        play("""
                reserve r starttime=+10 duration=60 nodecnt=1 users=alice flags=HOURLY -> r waits n1 HOURLY
                submit kind=BATCH timing.timeLimitMin=59
                submit kind=BATCH charge.reservation=r
                schedule                                                        -> 1 RUNNING n2; 2 PENDING
                pass 80                                                         -> r waits n1 HOURLY
                pass 3530                                                       -> r active n1 HOURLY
                schedule                                                        -> 2 RUNNING n1
                rereserve r skip=1                                              -> says Requested reservation is in use
                """);
    }

    @Test
    void failedNodesAreReplaced() {
        play("""
                reserve r starttime=+0 duration=600 nodecnt=1 users=alice
                reserve s starttime=+0 duration=600 nodecnt=1 users=alice flags=STATIC_ALLOC
                node n1 state=down reason=x
                node n2 state=down reason=x
                pass 1                                                          -> r active n3; s active n2 STATIC
                """);
        play("""
                reserve r starttime=+0 duration=600 nodecnt=1 users=alice flags=REPLACE
                submit kind=BATCH charge.reservation=r
                schedule                                                        -> 1 RUNNING n1
                pass 1                                                          -> r active n2 REPLACE
                """);
    }

    @Test
    void unusedReservationIsPurgedWithPurgeComp() {
        play("""
                reserve r starttime=+0 duration=6000 nodecnt=1 users=alice flags=PURGE_COMP purge_comp=120
                pass 100                                                        -> r active n1 PURGE_COMP
                submit kind=BATCH charge.reservation=r
                schedule
                pass 100                                                        -> r active n1 PURGE_COMP
                exited 1 batch 0:0
                done 1 n1
                pass 1
                pass 119                                                        -> r active n1 PURGE_COMP
                pass 1                                                          -> r unknown
                """);
    }

    @Test
    void userDeleteFlagLetsUsersEndTheReservation() {
        play("""
                reserve r starttime=+0 duration=6000 nodecnt=1 users=alice
                unreserve r alice                                               -> says Invalid user id
                rereserve r flags+=USER_DELETE
                unreserve r bob                                                 -> says Invalid user id
                unreserve r alice                                               -> r unknown
                """);
    }

    @Test
    void aFloatingReservationIsAlwaysAhead() {
        play("""
                reserve r starttime=+300 duration=600 nodecnt=3 users=bob flags=TIME_FLOAT -> r waits n1 n2 n3 TIME_FLOAT
                submit kind=BATCH timing.timeLimitMin=5
                submit kind=BATCH timing.timeLimitMin=6
                schedule                                                        -> 1 RUNNING n1; 2 PENDING
                pass 4000                                                       -> r waits n1 n2 n3 TIME_FLOAT
                schedule                                                        -> 2 PENDING
                """);
    }

    @Test
    void startedReservationRefusesAJobOfMoreNodes() {
        play("""
                reserve now starttime=+0 duration=60 nodecnt=1 users=alice
                reserve wide starttime=+0 duration=60 nodecnt=1 users=alice flags=FLEX,OVERLAP
                reserve later starttime=+600 duration=60 nodecnt=1 users=alice flags=OVERLAP
                pass 1
                submit kind=BATCH charge.reservation=now nodesMin=2 -> says Requested node configuration is not available
                submit kind=BATCH charge.reservation=now nodesMin=1 -> 1 PENDING
                submit kind=BATCH charge.reservation=wide nodesMin=2 -> 2 PENDING
                submit kind=BATCH charge.reservation=later nodesMin=2 -> 3 PENDING
                """);
    }

    /**
     * A job of reservation "mine" on a node that reservation "other" has as well: what flags of both make of the second
     * one, of the job, and of what it is told. As with Slurm 26.05.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '!', textBlock = """
            +0    !             !             ! overlaps
            +1800 !             ! FLEX        ! overlaps
            +1800 ! MAGNETIC    ! IGNORE_JOBS ! overlaps
            +1800 ! DAILY       !             ! overlaps
            +0    ! MAINT       !             ! waits
            +1800 ! MAINT       !             ! waits
            +1800 ! MAINT,IGNORE_JOBS ! FLEX  ! waits
            +1800 ! MAINT       ! OVERLAP     ! waits
            +1800 ! MAINT       ! MAGNETIC    ! waits
            +1800 ! MAINT       ! MAGNETIC,FLEX ! waits
            +1800 ! MAINT       ! MAINT       ! runs
            +0    ! MAINT       ! MAINT       ! runs
            +0    ! OVERLAP     !             ! waits
            +1800 ! OVERLAP     !             ! waits
            +1800 ! OVERLAP     ! FLEX        ! waits
            +1800 ! OVERLAP     ! MAGNETIC    ! waits
            +1800 ! OVERLAP     ! OVERLAP     ! runs
            +1800 ! OVERLAP     ! MAINT       ! runs
            +1800 !             ! OVERLAP     ! runs
            +1800 ! FLEX        ! OVERLAP     ! runs
            +1800 ! MAGNETIC    ! OVERLAP     ! runs
            +1800 ! DAILY       ! MAINT       ! runs
            +1800 !             ! MAINT       ! runs
            """)
    void jobInAReservationHeedsOverlappingReservations(
            String start, String otherFlags, String ownFlags, String becomes) {
        String other = "starttime=" + start + " duration=7200 nodes=n1 users=bob"
                + (otherFlags == null ? "" : " flags=" + otherFlags);
        String mine =
                "starttime=+0 duration=7200 nodes=n1 users=alice" + (ownFlags == null ? "" : " flags=" + ownFlags);
        for (boolean first : new boolean[] {true, false}) {
            Cluster c = new Cluster("n1 cpus=4", "p nodes=n1 defmempercpu=1 default=yes", "");
            Decision one = c.apply(new Command.CreateReservation(
                    0, first ? "other" : "mine", c.moments(values(first ? other : mine)), Map.of()));
            assertThat(one).isInstanceOf(Decision.Accepted.class);
            Decision two = c.apply(new Command.CreateReservation(
                    0, first ? "mine" : "other", c.moments(values(first ? mine : other)), Map.of()));
            if (becomes.equals("overlaps")) {
                assertThat(((Decision.Rejected) two).sentence())
                        .isEqualTo("Requested reservation overlaps with another reservation");
                continue;
            }
            assertThat(two).isInstanceOf(Decision.Accepted.class);
            boolean drawn = ownFlags != null && ownFlags.contains("MAGNETIC");
            int id = c.accept("partition=p tasks=1 timing.timeLimitMin=60" + (drawn ? "" : " charge.reservation=mine"));
            c.schedule();
            boolean runs = !c.state().jobs().at(id).isPending();
            assertThat(runs ? "runs" : "waits").isEqualTo(becomes);
            String words = ((Scheduler) c.core().planner())
                    .unavailable()
                    .words(c.state(), c.state().jobs().at(id).desc(), c.seconds());
            assertThat(runs || drawn ? UnavailableNodes.MAINTENANCE : words).isEqualTo(UnavailableNodes.MAINTENANCE);
        }
    }

    /** Nodes that are not named are looked for where no reservation lies; MAINT and OVERLAP take reserved ones last. */
    @Test
    void reservationChoosesUnreservedNodesFirst() {
        play("""
                reserve m starttime=+1800 duration=7200 nodes=n1 users=bob flags=MAINT
                reserve c starttime=+1800 duration=7200 nodecnt=1 users=bob         -> c waits n2
                reserve o starttime=+1800 duration=7200 nodecnt=1 users=bob flags=OVERLAP -> o waits n3 OVERLAP
                reserve p starttime=+1800 duration=7200 nodecnt=1 users=bob         -> p waits n3
                reserve p2 starttime=+1800 duration=7200 nodecnt=1 users=bob        -> says Requested nodes are busy
                reserve q starttime=+1800 duration=7200 nodecnt=2 users=bob flags=MAINT -> q waits n1 n2 MAINT
                """);
    }
}
