package dev.muster.core.job;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.testkit.Cluster;
import dev.muster.json.Codec;
import dev.muster.model.cluster.Topology;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Tests every field that scontrol(1) of 26.05 lists for {@code scontrol update} of a job, a step, a node, a partition
 * and a reservation, in its order, with what becomes of it: what the state holds afterwards, or the sentence of a
 * refusal. A field that the manual has and the table has not is a failure.
 */
class UpdateTableTest {
    private static final String JOB = ""
            + "JobName Account AdminComment ArrayTaskThrottle BurstBuffer Clusters ClusterFeatures Comment "
            + "Contiguous CoreSpec "
            + "CPUsPerTask Deadline DelayBoot Dependency EligibleTime EndTime ExcNodeList Extra Features Gres "
            + "Licenses MailType "
            + "MailUser MCSLabel MinCPUsNode MinMemoryCPU MinMemoryNode MinTmpDiskNode Name Nice NodeList NumCPUs "
            + "NumNodes "
            + "NumTasks OverSubscribe Partition Prefer Priority QOS Reboot ReqCores ReqNodeList ReqNodes ReqProcs "
            + "ReqSockets "
            + "ReqThreads Requeue ReservationName ResetAccrueTime SiteFactor StdErr StdIn StdOut StartTime Switches "
            + "TasksPerNode "
            + "ThreadSpec TimeLimit TimeMin wait-for-switch WCKey WorkDir";
    private static final String NODE = ""
            + "ActiveFeatures AvailableFeatures CertToken Comment CpuBind Extra Gres InstanceId InstanceType "
            + "NodeAddr NodeHostname "
            + "Reason ResumeAfter State Topology Weight";
    private static final String PARTITION = ""
            + "AllocNodes AllowAccounts AllowGroups AllowQOS Alternate CpuBind Default DefaultTime DefMemPerCPU "
            + "DefMemPerNode "
            + "DenyAccounts DenyQOS DisableRootJobs Exclusive GraceTime Hidden JobDefaults LLN MaxCPUsPerNode "
            + "MaxCPUsPerSocket "
            + "MaxMemPerCPU MaxMemPerNode MaxNodes MaxTime MinNodes Nodes OverSubscribe OverTimeLimit "
            + "PowerDownOnIdle PreemptMode "
            + "PriorityJobFactor PriorityTier QOS ReqResv RootOnly State Topology TRESBillingWeights";
    private static final String RESERVATION = ""
            + "Accounts AllowedPartitions BurstBuffer CoreCnt Duration EndTime Flags Features Groups Licenses "
            + "MaxStartDelay "
            + "NodeCnt Nodes PartitionName QOS Skip StartTime TRES TRESPerNode Users";

    private static final String JOBS = """
            JobName=x             | "name":"x"
            Account=a             | "account":"a"
            AdminComment=x        | "adminComment":"x"
            ArrayTaskThrottle=2   | "maxRunning":2
            BurstBuffer=x         | says Requested operation not supported on this system
            Clusters=x            | says Unspecified error
            ClusterFeatures=x     | says Unspecified error
            Comment=x             | "comment":"x"
            Contiguous=yes        | "contiguous":true
            CoreSpec=1            | "coreSpec":1
            CPUsPerTask=2         | "cpusPerTask":2
            CPUsPerTask=0         | says CPU count specification invalid
            Deadline=99999999999  | "deadline":99999999999
            DelayBoot=2           | "delayBootMin":2
            Dependency=singleton  | "dependency":"singleton"
            EligibleTime=2000000  | "beginTime":2000000
            EndTime=2000000       | says Job is not running
            ExcNodeList=n2        | "excludeList":"n2"
            Extra=x               | "extra":"x"
            Features=fast         | "features":"fast"
            Gres=gpu:1            | "tresPerNode":"gres/gpu:1"
            Gres=0                | "timeLimitMin":10}
            Licenses=l:1          | "licenses":"l:1"
            MailType=END          | "mailType":"END"
            MailUser=x            | "mailUser":"x"
            NumTasks=0            | says CPU count specification invalid
            TasksPerNode=0        | says CPU count specification invalid
            MCSLabel=x            | "timeLimitMin":10}
            MinCPUsNode=2         | "cpusPerNodeMin":2
            MinMemoryCPU=20       | "memPerCpuMb":20
            MinMemoryNode=20      | "memPerNodeMb":20
            MinTmpDiskNode=1      | says Temporary disk specification can not be satisfied
            Name=x                | "name":"x"
            Nice=                 | "nice":100
            Nice=-5               | "nice":-5
            NodeList=n1           | "nodeList":"n1"
            NumCPUs=2             | "cpusPerTask":2
            NumNodes=2            | "nodesMin":2
            NumTasks=2            | "tasks":2
            OverSubscribe=yes     | "oversubscribe":true
            Partition=q           | "partition":"q"
            Prefer=fast           | "prefer":"fast"
            Priority=77           | "priority":77
            QOS=x                 | "qos":"x"
            Reboot=yes            | "reboot":true
            ReqCores=1            | "coresPerSocket":1
            ReqNodeList=n1        | "nodeList":"n1"
            ReqNodes=1-2          | "nodesMax":2
            ReqProcs=2            | "tasks":2
            ReqSockets=1          | "socketsPerNode":1
            ReqThreads=1          | "threadsPerCore":1
            Requeue=0             | "requeue":"NO"
            ReservationName=none  | says Requested reservation is invalid
            ResetAccrueTime=      | "accrueTime":-10000
            SiteFactor=5          | "siteFactor":5
            StdErr=o              | "stderr":"bw=="
            StdIn=o               | "stdin":"bw=="
            StdOut=o              | "stdout":"bw=="
            StartTime=2000000     | "beginTime":2000000
            Switches=1@5          | "switches":"1@5"
            TasksPerNode=1        | "tasksPerNode":1
            ThreadSpec=1          | "threadSpec":1
            TimeLimit=5           | "timeLimitMin":5
            TimeMin=1             | "timeMinMin":1
            wait-for-switch=10    | "switches":"0@00:00:10"
            WCKey=x               | "wckey":"x"
            WorkDir=/tmp          | "workDir":"L3RtcA=="
            """;
    private static final String NODES = """
            ActiveFeatures=slow   | says Active features not subset of available features
            ActiveFeatures=       | "inactive":["fast"]
            AvailableFeatures=slow | says Active features not subset of available features
            AvailableFeatures=slow,fast | "features":["slow","fast"]
            CertToken=x           | "certToken":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
            Comment=x             | "comment":"x"
            CpuBind=core          | "node_bind":"cores=n1"
            CpuBind=nonsense      | says Invalid CpuBind value nonsense
            Extra=x               | "extra":"x"
            Gres=gpu:1            | "count":1
            Gres=gpu:a100:1       | says Invalid generic resource (gres) specification
            InstanceId=x          | "instanceId":"x"
            InstanceType=x        | "instanceType":"x"
            NodeAddr=127.0.0.9    | "address":"127.0.0.9"
            NodeHostname=x        | "hostname":"x"
            Reason=x              | "name":"n1"
            ResumeAfter=5         | says Invalid node state specified
            State=RESUME          | says Invalid node state transition
            State=FUTURE          | "flags":16
            Topology=t:s2         | "topology":"t:s2"
            Topology=t:s2         | {"name":"s2","linkSpeed":1,"nodes":["n1","n2"]}
            Topology=t:root:s3    | {"name":"s3","linkSpeed":1,"nodes":["n1"]}
            Topology=t:s3         | says There is no switch s3 in topology t
            Topology=u:s1         | says There is no topology u
            Topology=             | {"name":"s1","linkSpeed":1}
            Weight=5              | "weight":5
            """;
    private static final String PARTITIONS = """
            AllocNodes=x          | "allocNodes":"x"
            AllowAccounts=x       | "allowAccounts":"x"
            AllowGroups=all       | "allowGroups":"ALL"
            AllowQOS=x            | says Invalid qos specification
            AllowQOS=ALL          | "allowQos":"ALL"
            Alternate=q           | "alternate":"q"
            CpuBind=socket        | "cpuBind":"sockets"
            CpuBind=off           | "name":"p"
            CpuBind=nonsense      | says Invalid input: cpubind=nonsense
            Default=yes           | "isDefault":true
            DefaultTime=5         | "defaultTimeMin":5
            DefMemPerCPU=20       | "defMemPerCpuMb":20
            DefMemPerNode=20      | "defMemPerNodeMb":20
            DenyAccounts=x        | "denyAccounts":"x"
            DenyQOS=x             | says Invalid qos specification
            DisableRootJobs=yes   | "disableRootJobs":true
            Exclusive=node        | "exclusiveNode":true
            Exclusive=none        | "name":"p"
            GraceTime=5           | "graceTimeSeconds":5
            Hidden=yes            | "hidden":true
            JobDefaults=defcpupergpu=2,DefMemPerGPU=100 | "jobDefaults":"DefCpuPerGPU=2,DefMemPerGPU=100"
            JobDefaults=x=1       | says Invalid JobDefaults specification
            LLN=yes               | "leastLoadedNodes":true
            MaxCPUsPerNode=2      | "maxCpusPerNode":2
            MaxCPUsPerSocket=2    | "maxCpusPerSocket":2
            MaxMemPerCPU=20       | "maxMemPerCpuMb":20
            MaxMemPerNode=20      | "maxMemPerNodeMb":20
            MaxNodes=2            | "maxNodes":2
            MaxNodes=3000000000   | says Invalid input: maxnodes=3000000000
            MaxTime=3000000000    | says Invalid input: maxtime=3000000000
            MaxMemPerNode=4000000000 | "maxMemPerNodeMb":4000000000
            DefMemPerCPU=3000000000 | "defMemPerCpuMb":3000000000
            MaxTime=5             | "maxTimeMin":5
            MinNodes=1            | "minNodes":1
            Nodes=n2              | "nodes":["n2"]
            Nodes=-n1             | "nodes":["n2"]
            Nodes=+n3,-n[1-2]     | "nodes":["n3"]
            Nodes=                | "name":"p"
            Nodes=+n9             | says Invalid node name specified
            OverSubscribe=yes:2   | "overSubscribe":"YES:2"
            OverTimeLimit=5       | "overTimeLimitMin":5
            OverTimeLimit=unlimited | "overTimeLimitMin":65535
            PowerDownOnIdle=yes   | "powerDownOnIdle":true
            PreemptMode=cancel    | "preemptMode":"CANCEL"
            PreemptMode=gang      | says Invalid input: preemptmode=gang
            PreemptMode=suspend,gang | says Invalid input: preemptmode=suspend,gang
            PreemptMode=priority  | "preemptMode":"PRIORITY"
            PreemptMode=x         | says Invalid input: preemptmode=x
            PreemptMode=cancel,within | "preemptMode":"CANCEL"
            PriorityJobFactor=3   | "priorityJobFactor":3
            PriorityTier=3        | "priorityTier":3
            PriorityTier=70000    | says Invalid input: prioritytier=70000
            QOS=x                 | says Invalid qos specification
            ReqResv=yes           | "requireReservation":true
            RootOnly=yes          | "rootOnly":true
            State=drain           | "state":"DRAIN"
            Topology=t            | "topology":"t"
            Topology=u            | says Requested topology configuration is not available
            TRESBillingWeights=cpu=2 | "tresBillingWeights":"cpu=2"
            """;
    private static final String RESERVATIONS = """
            Accounts=x            | "accounts":{"names":["x"]}
            AllowedPartitions=p   | "partitions":{"names":["p"]}
            BurstBuffer=100GB     | says Burst Buffer request invalid
            CoreCnt=2             | says Updating core/node TRES not supported for core-based reservations
            Duration=60           | "end":1000120
            EndTime=1009999       | "end":1009999
            Flags=MAINT           | "flags":1
            Flags=FORCE_START     | says Requested reservation is invalid
            Features=fast         | says Requested operation not supported on this system
            Groups=g              | says Reservations can't have users and groups specified, only one or the other
            Licenses=l:1          | "licenses":"l:1"
            MaxStartDelay=60      | "maxStartDelayS":60
            NodeCnt=1             | "nodeCount":1
            Nodes=n2              | "nodes":["n2"]
            PartitionName=q       | "partition":"q"
            QOS=x                 | says Invalid qos specification
            Skip=1                | says Reservation given is not skipable, try deleting instead
            StartTime=1005000     | "start":1005000
            TRES=node=2           | "nodeCount":2
            TRES=license/l=2      | "licenses":"l:2"
            TRES=bb/lua=2         | says Invalid Trackable RESource (TRES) specification
            TRESPerNode=cpu=2     | says Node count specification invalid
            TRESPerNode=license/l=1 | says Invalid Trackable RESource (TRES) specification
            Users=bob             | "users":{"names":["bob"]}
            """;

    private static Cluster cluster() {
        Topology t = new Topology(
                "t",
                Topology.Kind.TREE,
                List.of(
                        new Topology.Switch("root", 1, 1, List.of("n1", "n2", "n3"), List.of("s1", "s2")),
                        new Topology.Switch("s1", 0, 1, List.of("n1"), List.of()),
                        new Topology.Switch("s2", 0, 1, List.of("n2"), List.of())),
                List.of(),
                List.of(),
                List.of(),
                false);
        return new Cluster(
                "n[1-3] cpus=4 mem=1000 feature=fast gpus=1",
                "p nodes=n[1-2] default=yes defmempercpu=10\nq nodes=n[1-3]",
                "gresTypes=gpu options.licenses=l:4 options.spec_usage=true options.reboots=true",
                t);
    }

    private interface Asked {
        Decision of(Cluster cluster, Map<String, String> changes);
    }

    /** Checks that the table's fields are those of the manual, and that each does or says what the table has. */
    private static void holds(String documented, String table, Asked asked) {
        List<String> wrong = new ArrayList<>();
        Set<String> seen = new TreeSet<>();
        for (String line : table.strip().split("\n")) {
            String[] row = line.split(" \\| ");
            String change = row[0].strip();
            int eq = change.indexOf('=');
            seen.add(change.substring(0, eq));
            Cluster cluster = cluster();
            Decision decision = asked.of(
                    cluster, Map.of(change.substring(0, eq).toLowerCase(Locale.ROOT), change.substring(eq + 1)));
            String outcome = decision instanceof Decision.Rejected r ? "says " + r.sentence() : text(cluster);
            if (!outcome.contains(row[1].strip())) {
                wrong.add(change + ": " + row[1].strip() + " expected, but " + outcome);
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(seen).containsExactlyInAnyOrderElementsOf(Arrays.asList(documented.split(" ")));
    }

    private static String text(Cluster c) {
        List<Object> all = new ArrayList<>(List.of(
                c.state().settings(),
                c.state().nodes().at("n1"),
                c.state().partitions().at("p")));
        c.state().jobs().values().forEach(all::add);
        c.state().reservations().values().forEach(all::add);
        StringBuilder out = new StringBuilder();
        all.forEach(o ->
                out.append(new String(Codec.encode(o), StandardCharsets.UTF_8)).append('\n'));
        return out.toString();
    }

    @Test
    void jobUpdatesFollowTheirTable() {
        holds(JOB, JOBS, (c, changes) -> {
            String array = changes.containsKey("arraytaskthrottle") ? " timing.array=1-3" : "";
            c.apply(new Command.SubmitJob(
                    0,
                    Cluster.desc("kind=BATCH owner.uid=0 timing.timeLimitMin=10" + array),
                    "",
                    dev.muster.json.Bytes.EMPTY,
                    dev.muster.json.Bytes.EMPTY,
                    false,
                    false));
            return c.apply(new Command.UpdateJob(0, new Command.JobRef("1", 1, -1, Command.JobRef.NO_STEP), changes));
        });
    }

    @Test
    void nodeUpdatesFollowTheirTable() {
        holds(NODE, NODES, (c, changes) -> c.apply(new Command.UpdateNode(0, List.of("n1"), changes)));
    }

    private static String after(Cluster c, String state, String reason) {
        Map<String, String> changes = new TreeMap<>(Map.of("reason", reason));
        if (!state.isEmpty()) {
            changes.put("state", state);
        }
        Decision d = c.apply(new Command.UpdateNode(0, List.of("n1"), changes));
        return d instanceof Decision.Rejected r
                ? r.sentence()
                : c.state().nodes().at("n1").reason();
    }

    /** An empty reason keeps the old one; a node in service has no reason. */
    @Test
    void nodeHasAReasonOnlyOutOfService() {
        Cluster c = cluster();
        assertThat(after(c, "", "x")).isEmpty();
        assertThat(after(c, "DRAIN", "fan")).isEqualTo("fan");
        assertThat(after(c, "", "")).isEqualTo("fan");
        assertThat(after(c, "", "disk")).isEqualTo("disk");
        assertThat(after(c, "RESUME", "done")).isEmpty();
    }

    /** IDLE is refused for busy and FUTURE nodes, RESUME for nodes that are only NOT_RESPONDING. */
    @Test
    void invalidNodeStateTransitionIsRefused() {
        Cluster c = cluster();
        assertThat(after(c, "NORESP", "")).isEmpty();
        assertThat(after(c, "RESUME", "")).isEqualTo("Invalid node state transition");
        assertThat(after(c, "IDLE", "")).isEmpty();
        assertThat(after(c, "FUTURE", "")).isEmpty();
        assertThat(after(c, "IDLE", "")).isEqualTo("Invalid node state transition");
        assertThat(after(c, "RESUME", "")).isEmpty();
    }

    /** A DefaultTime above MaxTime has no effect; ExclusiveTopo excludes sharing. */
    @Test
    void contradictoryPartitionUpdateHasNoEffect() {
        Cluster c = cluster();
        c.apply(new Command.UpdatePartition(0, "p", Map.of("maxtime", "5", "defaulttime", "3")));
        c.apply(new Command.UpdatePartition(0, "p", Map.of("defaulttime", "9")));
        assertThat(c.state().partitions().at("p").info().defaultTimeMin()).isEqualTo(3);
        c.apply(new Command.UpdatePartition(0, "p", Map.of("oversubscribe", "force:3")));
        c.apply(new Command.UpdatePartition(0, "p", Map.of("exclusivetopo", "yes")));
        assertThat(c.state().partitions().at("p").info().overSubscribe()).isEqualTo("NO");
    }

    @Test
    void partitionUpdatesFollowTheirTable() {
        holds(PARTITION, PARTITIONS, (c, changes) -> c.apply(new Command.UpdatePartition(0, "p", changes)));
    }

    @Test
    void reservationUpdatesFollowTheirTable() {
        holds(RESERVATION, RESERVATIONS, (c, changes) -> {
            Map<String, String> values =
                    new TreeMap<>(Map.of("users", "alice", "starttime", "1000060", "duration", "1800", "nodecnt", "1"));
            c.apply(new Command.CreateReservation(0, "r", values, Map.of()));
            return c.apply(new Command.UpdateReservation(0, "root", List.of(), "r", changes, Map.of("g", 7)));
        });
    }

    /** An update moves a node to another switch until slurm.conf is read again. */
    @Test
    void movedNodeReturnsWithTheConfiguration() {
        Cluster c = cluster();
        c.apply(new Command.UpdateNode(0, List.of("n3"), Map.of("topology", "t:s1")));
        assertThat(text(c)).doesNotContain("{\"name\":\"s1\",\"linkSpeed\":1,\"nodes\":[\"n1\"]}");
        c.reconfigure();
        assertThat(text(c)).contains("{\"name\":\"s1\",\"linkSpeed\":1,\"nodes\":[\"n1\"]}");
    }
}
