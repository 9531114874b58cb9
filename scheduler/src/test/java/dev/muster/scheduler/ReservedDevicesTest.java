package dev.muster.scheduler;

import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import org.junit.jupiter.api.Test;

/** Reservations of GPUs: the devices and cores that they take, and the jobs that may use them. */
class ReservedDevicesTest {
    private static void gpus(String lines) {
        Cluster cluster = new Cluster(
                "n[1-2] cpus=4 mem=1000 gpus=4 near=0-1;2-3",
                "p nodes=n[1-2] defmempercpu=10 default=yes",
                "options.tracked_gres=gpu gresTypes=gpu");
        new Play(cluster).lines(lines);
    }

    @Test
    void gpusOfAReservationAreForItsJobs() {
        gpus("""
                reserve r starttime=+0 duration=600 users=alice tres=gres/gpu=3,cpu=3      -> r active n1:0-2
                submit kind=BATCH tresPerNode=gres/gpu:2
                submit kind=BATCH tresPerNode=gres/gpu:1 nodeList=n1 tasks=1
                submit kind=BATCH tresPerNode=gres/gpu:1 nodeList=n1 tasks=1
                submit kind=BATCH tresPerNode=gres/gpu:3 charge.reservation=r
                schedule                     -> 1 RUNNING n2; 2 RUNNING n1; 3 PENDING; 4 RUNNING n1
                gres 1                       -> says n2 gpu=0-1
                gres 2                       -> says n1 gpu=3
                gres 4                       -> says n1 gpu=0-2
                """);
    }

    @Test
    void gpusAreReservedOnEachNodeOrShared() {
        gpus("""
                reserve r starttime=+0 duration=600 users=alice nodecnt=2 trespernode=gres/gpu=1 -> r active n1:0 n2:0
                reserve s starttime=+0 duration=600 users=alice nodecnt=2 tres=gres/gpu=3,cpu=3  -> s active n1:1-2 n2:1-2
                reserve t starttime=+0 duration=600 users=alice tres=gres/gpu=4 -> says Requested nodes are busy
                reserve u starttime=+0 duration=600 users=alice nodes=n2 tres=gres/gpu=2,cpu=1   -> u active n2:3 SPEC_NODES
                reserve v starttime=+0 duration=9 users=alice nodes=n2 tres=gres/gpu=1 -> says Requested nodes are busy
                submit kind=BATCH tresPerNode=gres/gpu:1
                submit kind=BATCH tresPerNode=gres/gpu:1
                schedule                     -> 1 RUNNING n1; 2 PENDING
                gres 1                       -> says n1 gpu=3
                """);
    }

    /** Device reservations without a core count share all cores of the node and keep other jobs off it. */
    @Test
    void reservationsOfGpusShareTheCoresOfANode() {
        gpus("""
                reserve r starttime=+0 duration=600 users=alice nodes=n1 tres=gres/gpu=1 -> r active n1:0-3 SPEC_NODES
                reserve s starttime=+0 duration=600 users=alice nodes=n1 tres=gres/gpu=2 -> s active n1:0-3 SPEC_NODES
                reserve t starttime=+0 duration=600 users=alice nodes=n1 tres=gres/gpu=2       -> says Requested nodes are busy
                reserve t starttime=+0 duration=600 users=alice nodes=n1 tres=gres/gpu=1,cpu=1 -> says Requested nodes are busy
                reserve t starttime=+0 duration=600 users=alice nodes=n1 corecnt=1 -> says Requested nodes are busy
                reserve t starttime=+0 duration=600 users=alice nodes=n1 -> says Requested reservation overlaps with another reservation
                submit kind=BATCH nodeList=n1
                submit kind=BATCH nodeList=n1 tresPerNode=gres/gpu:1
                submit kind=BATCH charge.reservation=s tresPerNode=gres/gpu:2 tasks=2
                submit kind=BATCH charge.reservation=r tresPerNode=gres/gpu:1
                submit kind=BATCH charge.reservation=r
                submit kind=BATCH charge.reservation=r tresPerNode=gres/gpu:2
                schedule                    -> 1 PENDING; 2 PENDING; 3 RUNNING n1; 4 RUNNING n1; 5 RUNNING n1; 6 PENDING
                gres 3                      -> says n1 gpu=1-2
                gres 4                      -> says n1 gpu=0
                """);
    }

    @Test
    void reservedCoresAreResourcesToWaitFor() {
        gpus("""
                reserve r starttime=+0 duration=600 users=alice nodes=n1 tres=gres/gpu=1
                submit kind=BATCH nodeList=n1 timing.timeLimitMin=5
                schedule                     -> 1 PENDING
                why 1                        -> says (Resources)
                """);
    }

    @Test
    void gpusWithoutNumberOfCoresNeedAnIdleNode() {
        gpus("""
                submit kind=BATCH nodeList=n1
                schedule                     -> 1 RUNNING n1
                reserve r starttime=+0 duration=600 users=alice nodes=n1 tres=gres/gpu=1       -> says Requested nodes are busy
                reserve r starttime=+0 duration=600 users=alice nodes=n1 tres=gres/gpu=1,cpu=1 -> r active n1:1 SPEC_NODES
                reserve s starttime=+0 duration=600 users=alice nodecnt=1 tres=gres/gpu=4      -> s active n2:0-3
                """);
    }

    @Test
    void gpusComeFromOneNodeWhereThatSuffices() {
        new Play(new Cluster(
                        "n[1-2] cpus=4 mem=1000 gpus=2\nn3 cpus=4 mem=1000 gpus=4",
                        "p nodes=n[1-3] defmempercpu=10 default=yes",
                        "options.tracked_gres=gpu gresTypes=gpu"))
                .lines("""
                reserve a starttime=+0 duration=60 users=alice tres=gres/gpu=2             -> a active n1:0-3
                pass 60
                reserve b starttime=+0 duration=60 users=alice tres=gres/gpu=3             -> b active n3:0-3
                pass 60
                reserve c starttime=+0 duration=60 users=alice tres=gres/gpu=6,node=2      -> c active n1:0-3 n3:0-3
                pass 60
                reserve d starttime=+0 duration=60 users=alice tres=gres/gpu=8 -> d active n1:0-3 n2:0-3 n3:0-3
                pass 60
                reserve e starttime=+0 duration=60 users=alice nodes=n1,n3 tres=gres/gpu=5 -> e active n1:0-3 n3:0-3 SPEC_NODES
                reserve f starttime=+0 duration=60 users=alice tres=gres/gpu=9 -> says Requested nodes are busy
                """);
    }

    @Test
    void untrackedGresIsNotReserved() {
        gpus("""
                reserve r starttime=+0 duration=600 users=alice tres=gres/nic=1        -> says Invalid Trackable RESource (TRES) specification
                reserve r starttime=+0 duration=600 users=alice trespernode=gres/gpu=1 -> says Node count specification invalid
                reserve r starttime=+0 duration=600 users=alice tres=gres/gpu:a100=1   -> says Invalid Trackable RESource (TRES) specification
                reserve r starttime=+0 duration=600 users=alice tres=gres/gpu=0        -> says Invalid Trackable RESource (TRES) specification
                reserve r starttime=+0 duration=600 users=alice tres=gres/gpu=1k       -> says Requested nodes are busy
                reserve r starttime=+0 duration=600 users=alice tres=cpu               -> says Invalid Trackable RESource (TRES) specification
                reserve r starttime=+0 duration=600 users=alice tres=gres/gpu          -> r active n1:0-3
                """);
    }

    @Test
    void reservedGpusAreNotUsedIntoItsTime() {
        gpus("""
                reserve r starttime=+300 duration=600 users=alice nodes=n1 tres=gres/gpu=4
                submit kind=BATCH nodeList=n1 tresPerNode=gres/gpu:1 timing.timeLimitMin=5
                submit kind=BATCH nodeList=n1 tresPerNode=gres/gpu:1 timing.timeLimitMin=6
                schedule                     -> 1 RUNNING n1; 2 PENDING
                unreserve r
                schedule                     -> 2 RUNNING n1
                """);
    }
}
