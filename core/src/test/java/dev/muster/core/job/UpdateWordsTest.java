package dev.muster.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.limits.PartitionLimits;
import dev.muster.core.partition.PartitionEdit;
import dev.muster.core.state.Partition;
import dev.muster.core.state.Step;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.core.tres.Billing;
import dev.muster.json.Codec;
import dev.muster.model.format.TresWeights;
import dev.muster.model.job.TresBind;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The words of scontrol update, and limits that partitions and the cluster share. */
class UpdateWordsTest {
    private static final String NODES = "n1 cpus=4";

    @Test
    void keywordsMayBeCutShortButNotIntoTwo() {
        Cluster cluster = new Cluster(NODES, "p nodes=n1 default=yes", "");
        Partition p = cluster.state().partitions().at("p");
        PartitionEdit.Outcome cut = PartitionEdit.edit(p, Map.of("allowaccount", "a", "maxt", "60"), cluster.state());
        assertThat(((PartitionEdit.Edited) cut).partition().info().allowAccounts())
                .isEqualTo("a");
        assertThat(((PartitionEdit.Edited) cut).partition().info().maxTimeMin()).isEqualTo(60);
        for (String wrong : List.of("max", "allow", "al", "allowaccountz")) {
            assertThat(PartitionEdit.edit(p, Map.of(wrong, "1"), cluster.state()))
                    .as(wrong)
                    .isInstanceOf(PartitionEdit.Refused.class);
        }
    }

    @Test
    void billingWeightsAreValidatedAndApplied() {
        for (String right :
                List.of("", "CPU=1.0,Mem=0.25G,GRES/gpu=2.0", "cPu=1,mem=-0.5G,node=.3,energy=-10", "cpu=1.")) {
            assertThat(TresWeights.isValid(right, true)).as(right).isTrue();
        }
        for (String wrong :
                List.of("cpu", "cpu=", "cpu=.", "cpu=-", "cpu=1,,", "cpu=1X", "cpu=--1", "foo=1", "gres=1")) {
            assertThat(TresWeights.isValid(wrong, true)).as(wrong).isFalse();
        }
        assertThat(Billing.of("cPu=1,mem=-0.5G,node=.3", 4, 2048, 10, Map.of())).isEqualTo(6);
        // PriorityFlags=MAX_TRES and MAX_TRES_GRES: 4 + 2 + 10 apart, the dearest, the dearest and devices
        for (Map.Entry<String, Long> flag : Map.of("NO_FAIR_TREE", 16L, "MAX_TRES", 10L, "MAX_TRES_GRES", 14L)
                .entrySet()) {
            Cluster c = new Cluster(
                    "n1 cpus=8 mem=4096 gpus=4",
                    "p nodes=n1 default=yes",
                    "gresTypes=gpu options.priority_flags=" + flag.getKey());
            c.apply(new dev.muster.core.command.Command.UpdatePartition(
                    0, "p", Map.of("tresbillingweights", "CPU=1,Mem=1G,GRES/gpu=5")));
            assertThat(new dev.muster.core.limits.TresCounts(4, 2048, 1, Map.of("gpu", 2)).billing(c.state(), "p"))
                    .as(flag.getKey())
                    .isEqualTo(flag.getValue());
        }
    }

    /** A weight of what the cluster does not have would never count. */
    @ParameterizedTest
    @CsvSource({
        "CPU=1;GRES/gpu=2;gres/GPU:a=3;License/lic=1;bb/lua=1;Node=1, ''",
        "GRES/gpu:b=1, Invalid TRESBillingWeights specification",
        "GRES/nic=1, Invalid TRESBillingWeights specification",
        "License/none=1, Invalid TRESBillingWeights specification",
        "CPU, Invalid TRESBillingWeights specification"
    })
    void billingWeightOfAnUnknownTresIsRefused(String weights, String sentence) {
        Cluster c = new Cluster(
                "n1 cpus=8 mem=4096 gpus=a:2",
                "p nodes=n1 default=yes",
                "gresTypes=gpu options.licenses=lic:4 options.tracked_gres=gpu:a options.tracked_buffers=lua");
        Decision said =
                c.apply(new Command.UpdatePartition(0, "p", Map.of("tresbillingweights", weights.replace(';', ','))));
        assertThat(said instanceof Decision.Rejected r ? r.sentence() : "").isEqualTo(sentence);
    }

    /** Resources that lie on no node are charged as well, and always besides the dearest resource of a node. */
    @ParameterizedTest
    @CsvSource({"NO_FAIR_TREE, 26", "MAX_TRES, 24", "MAX_TRES_GRES, 24"})
    void licensesAreCharged(String flag, long billing) {
        Cluster c = new Cluster(
                "n1 cpus=8 mem=4096",
                "p nodes=n1 default=yes",
                "options.licenses=Lic:4 options.priority_flags=" + flag);
        c.apply(new dev.muster.core.command.Command.UpdatePartition(
                0, "p", Map.of("tresbillingweights", "CPU=1,Node=2,License/Lic=10")));
        new Play(c).lines("submit kind=BATCH tasks=4 licenses=Lic:2");
        dev.muster.core.state.Job job = c.state().jobs().values().iterator().next();
        assertThat(dev.muster.core.limits.TresCounts.requested(c.state(), job).billing(c.state(), job.desc()))
                .isEqualTo(billing);
    }

    @Test
    void overTimeLimitComesFromPartitionThenCluster() {
        Cluster cluster = new Cluster(
                NODES,
                "p nodes=n1 default=yes\nq nodes=n1 overtimelimit=5\nr nodes=n1 overtimelimit=65535",
                "overTimeLimitMin=2");
        new Play(cluster).lines("submit kind=BATCH\nsubmit kind=BATCH partition=q\nsubmit kind=BATCH partition=r");
        assertThat(cluster.state().jobs().values())
                .map(j -> PartitionLimits.overTimeMin(cluster.state(), j))
                .containsExactly(2, 5, -1);
    }

    @Test
    void tresBindAcceptsValidBindingsOnly() {
        for (String right : List.of(
                "",
                "gres/gpu:map:",
                "gres/gpu:map:0*2",
                "gres/gpu:verbose,closest",
                "gres/gpu:mask:abc",
                "gres/gpu:mask_gpu:0x1*2,3",
                "gres/gpu:single:2+gres/nic:none",
                "gres/gpu:per_task:1")) {
            assertThat(TresBind.isValid(right)).as(right).isTrue();
        }
        for (String wrong : List.of(
                "gpu",
                "gpu:closest",
                "gres/gpu:",
                "gres/gpu:map:abcd",
                "gres/gpu:map:0x00",
                "gres/gpu:mask:x000",
                "gres/gpu:mask:wxyz",
                "gres/gpu:map_gpu:00z",
                "gres/gpu:single",
                "gres/gpu:map:1,")) {
            assertThat(TresBind.isValid(wrong)).as(wrong).isFalse();
        }
    }

    private static Cluster updatable() {
        return new Cluster(
                "n[1-2] cpus=4 mem=1000 feature=fast", "p nodes=n[1-2] default=yes defmempercpu=10\nq nodes=n2", "");
    }

    /**
     * Each field of a waiting job may be changed by its user or only by an administrator; the table says where the
     * value goes and what is refused.
     */
    @Test
    void pendingJobFieldsChangeByTheirRights() {
        String denied = "Access/permission denied";
        String[][] table = {
            // user, change, then the description's new value or the refusal
            {"user", "numtasks=3", "\"tasks\":3"},
            {"user", "reqprocs=2", "\"tasks\":2"},
            {"user", "numtasks=x", "Unspecified error"},
            {"user", "cpus/task=2", "\"cpusPerTask\":2"},
            {"user", "cpuspertask=2", "\"cpusPerTask\":2"},
            {"user", "numcpus=2-4", "\"cpusPerTask\":2"},
            {"user", "numcpus=0", "CPU count specification invalid"},
            {"user", "mincpusnode=2", "\"cpusPerNodeMin\":2"},
            {"user", "minmemorynode=50", "\"memPerNodeMb\":50"},
            {"user", "taskspernode=2", denied},
            {"root", "taskspernode=2", "\"tasksPerNode\":2"},
            {"user", "mintmpdisknode=0", "\"uid\":1000"},
            {"user", "features=fast", "\"features\":\"fast\""},
            {"user", "features=slow", "Invalid feature specification"},
            {"user", "reqnodelist=n2", "\"nodeList\":\"n2\""},
            {"user", "reqnodelist=n9", "Invalid node name specified"},
            {"user", "excnodelist=n[1", "Invalid node name specified"},
            {"user", "excnodelist=n1", "\"excludeList\":\"n1\""},
            {"user", "gres=nosuch:1", "Invalid generic resource (gres) specification"},
            {"user", "gres=gpu:0", "\"tresPerNode\":\"gres/gpu:0\""},
            {"user", "trespertask=gpu::", "Invalid generic resource (gres) specification"},
            {"user", "licenses=nosuch", "Invalid license specification"},
            {"user", "oversubscribe=yes", denied},
            {"root", "oversubscribe=yes", "\"oversubscribe\":true"},
            {"root", "shared=maybe", "Unspecified error"},
            {"user", "nice=", "\"nice\":100"},
            {"user", "resetaccruetime=1", "Updating resetaccruetime of a job is not supported by this version of Muster"
            },
            {"user", "contiguous=yes", denied},
            {"root", "contiguous=1", "\"contiguous\":true"},
            {"user", "deadline=99999999999", denied},
            {"root", "deadline=99999999999", "\"deadline\":99999999999"},
            {"root", "deadline=5", "Invalid time specified"},
            {"user", "timemin=3", "\"timeMinMin\":3"},
            {"user", "timemin=30", "Invalid time-min specification (exceeds job's time or other limits)"},
            {"user", "delayboot=2", "\"delayBootMin\":2"},
            {"user", "workdir=/tmp", "\"workDir\":\"L3RtcA==\""},
            {"user", "stdout=o", "\"stdout\":\"bw==\""},
            {"user", "stderr=o", "\"stderr\":\"bw==\""},
            {"user", "reqcores=2", "\"coresPerSocket\":2"},
            {"user", "partition=q", "\"partition\":\"q\""},
            {"user", "partition=r", "Invalid partition name specified"},
            {"user", "reservationname=r", "Requested reservation is invalid"},
            {"user", "comment=c", "\"comment\":\"c\""},
            {"user", "admincomment=c", denied},
            {"root", "admincomment=c", "\"adminComment\":\"c\""},
            {"user", "mailuser=c", "\"mailUser\":\"c\""},
            {"user", "mailtype=END", "\"mailType\":\"END\""},
            {"user", "endtime=99999999999", "Job is not running"},
            {"user", "corespec=1", denied},
            {"root", "corespec=1", denied},
            {"user", "tresbind=gres/gpu:map:0*2,1", "\"tresBind\":\"gres/gpu:map:0*2,1\""},
            {"user", "tresbind=gres/gpu:mask:x1", "Invalid Trackable RESource (TRES) specification"},
            {"user", "switches=1", "\"switches\":\"1\""},
            {"user", "prefer=fast", "\"prefer\":\"fast\""},
            {"user", "prefer=slow", "Invalid preferred feature specification"},
            {"user", "burstbuffer=x", "Requested operation not supported on this system"},
            {"user", "clusters=x", "Unspecified error"},
            {"user", "userid=x", "Updating userid of a job is not supported by this version of Muster"},
        };
        for (String[] row : table) {
            Cluster cluster = updatable();
            new Play(cluster).lines("submit kind=BATCH timing.timeLimitMin=10");
            int eq = row[1].indexOf('=');
            Decision decision = cluster.apply(new Command.UpdateJob(
                    row[0].equals("root") ? 0 : Cluster.USER,
                    new Command.JobRef("1", 1, -1, Command.JobRef.NO_STEP),
                    Map.of(row[1].substring(0, eq), row[1].substring(eq + 1))));
            String outcome = decision instanceof Decision.Rejected r
                    ? r.sentence()
                    : new String(Codec.encode(cluster.state().jobs().at(1).desc()), StandardCharsets.UTF_8);
            assertThat(outcome).as(row[0] + " " + row[1]).contains(row[2]);
        }
    }

    /** The memory value that was set last counts. */
    @Test
    void memoryOfAPartitionIsForEachCpuOrForEachNode() {
        Cluster cluster = new Cluster(NODES, "p nodes=n1 default=yes defmempercpu=10 maxmempernode=50", "");
        cluster.apply(new Command.UpdatePartition(0, "p", Map.of("defmempernode", "100", "maxmempercpu", "20")));
        Partition p = cluster.state().partitions().at("p");
        assertThat(List.of(
                        p.info().defMemPerCpuMb(),
                        p.info().defMemPerNodeMb(),
                        p.info().maxMemPerCpuMb(),
                        p.info().maxMemPerNodeMb()))
                .containsExactly(0L, 100L, 20L, 0L);
    }

    @Test
    void aStepHasALimitOfItsOwn() {
        Cluster cluster = updatable();
        new Play(cluster).lines("""
                submit kind=BATCH timing.timeLimitMin=10
                schedule                    -> 1 RUNNING n1
                step 1 1                    -> 1 RUNNING n1 step0=RUNNING
                update 1.7 timelimit=1      -> says Invalid job id specified
                update 1.0 timelimit=0      -> says Requested time limit is invalid (missing or exceeds some limit)
                update 1.0 nice=3           -> says Updating nice of a step is not supported by this version of Muster
                update 1.0 timel=2          -> says
                update 1 stepid=1 timelimit=1 -> says
                update 1.0 timelimit=2      -> says
                """);
        // the time that the job was suspended is not the step's
        new Play(cluster).lines("suspend 1 root");
        cluster.pass(200);
        new Play(cluster).lines("resume 1 root");
        cluster.pass(110);
        assertThat(step(cluster).ending()).isEmpty();
        cluster.pass(15);
        assertThat(step(cluster).ending()).isEqualTo("TimeLimit");
    }

    private static Step step(Cluster cluster) {
        return cluster.state().jobs().at(1).step(0).orElseThrow();
    }

    @Test
    void runningJobRefusesChangesOfPendingFields() {
        Cluster cluster = updatable();
        new Play(cluster).lines("""
                submit kind=BATCH timing.timeLimitMin=10
                schedule                    -> 1 RUNNING n1
                update 1 numtasks=2         -> says Job is no longer pending execution
                update 1 workdir=/tmp       -> says Job is no longer pending execution
                update 1 comment=x          -> says
                update 1 endtime=99999999999 -> says Invalid time specified
                update 1 timelimit=20       -> says Access/permission denied
                update 1 timelimit=2        -> says
                pass 121                    -> 1 TIMEOUT+COMPLETING TimeLimit
                """);
    }
}
