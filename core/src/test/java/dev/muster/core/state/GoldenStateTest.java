package dev.muster.core.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import dev.muster.json.Bytes;
import dev.muster.model.accounting.DbdMessages;
import dev.muster.model.accounting.Entities;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Entries written by every release so far, one JSON line each, and the snapshot that they led to: they must lead there
 * for ever. {@code entries.jsonl} and {@code snapshot.json} of a version are never changed; a release that adds a
 * record brings the next version, written by {@link #main}.
 */
class GoldenStateTest {
    private static final List<String> VERSIONS = List.of("v1", "v2", "v3", "v4");

    private static List<Entry> entries(String version) throws IOException {
        List<Entry> out = new ArrayList<>();
        for (String line : resource(version, "entries.jsonl").split("\n")) {
            out.add(Entry.decode(line.getBytes(StandardCharsets.UTF_8)));
        }
        return out;
    }

    private static String resource(String version, String name) throws IOException {
        try (var in = GoldenStateTest.class.getResourceAsStream("/golden/" + version + "/" + name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static State replay(List<Entry> entries) {
        State state = State.EMPTY;
        for (Entry e : entries) {
            state = state.apply(e);
        }
        return state;
    }

    private static Entry snapshot(State state) {
        List<Change> changes = new ArrayList<>();
        state.snapshot(changes::add);
        return new Entry(state.tickMs(), 0, -1, "Snapshot", changes);
    }

    @Test
    void oldEntriesLeadToTheSameState() throws IOException {
        for (String version : VERSIONS) {
            assertThat(new String(snapshot(replay(entries(version))).encode(), StandardCharsets.UTF_8))
                    .as(version)
                    .isEqualTo(resource(version, "snapshot.json").strip());
        }
    }

    @Test
    void anOldSnapshotIsTheStateThatItWasTakenOf() throws IOException {
        for (String version : VERSIONS) {
            Entry snapshot = Entry.decode(resource(version, "snapshot.json").getBytes(StandardCharsets.UTF_8));
            assertThat(State.EMPTY.apply(snapshot)).as(version).isEqualTo(replay(entries(version)));
            assertThat(State.restored(snapshot.changes()))
                    .as(version + ", built at once")
                    .isEqualTo(State.EMPTY.apply(snapshot));
        }
    }

    @Test
    void everyRecordTypeIsInSomeGoldenVersion() throws IOException {
        Set<String> seen = new TreeSet<>();
        for (String version : VERSIONS) {
            Stream.concat(
                            entries(version).stream(),
                            Stream.of(Entry.decode(
                                    resource(version, "snapshot.json").getBytes(StandardCharsets.UTF_8))))
                    .flatMap(e -> e.changes().stream())
                    .forEach(c -> seen.add(c.getClass().getSimpleName()));
        }
        Set<String> all = Stream.of(Change.class.getPermittedSubclasses())
                .map(Class::getSimpleName)
                .collect(Collectors.toCollection(TreeSet::new));
        all.removeAll(seen);
        assertThat(all).isEmpty();
    }

    /** A job that gives up a node and licenses, and one of two components. */
    private static final String SHRUNK = """
            submit kind=BATCH nodesMin=2 tasks=2 licenses=fluent:2
            schedule
            prolog 1006 n1
            prolog 1006 n2
            ctldprolog 1006 ok
            update 1006 numnodes=1
            het kind=BATCH : kind=BATCH
            cancel 1006
            done 1006 n1
            done 1006 n2
            cancel 1007
            """;

    /** A step's limit, and triggers: one that fires, one that is cleared, one that stays. */
    private static final String TRIGGERS = """
            submit kind=BATCH
            schedule
            prolog 1005 n1
            ctldprolog 1005 ok
            step 1005 1
            update 1005.0 timelimit=3
            trigger fini 1005 * 0 once root
            trigger down 0 * 0 once root
            untrigger 2 root
            trigger down 0 * 0 perm root
            cancel 1005
            done 1005 n1
            pass 1
            """;

    private static final String FIRST = """
            skip
            again r1 kind=BATCH name=first payload.scriptHash=5c payload.envHash=ee timing.timeLimitMin=5
            submit kind=BATCH timing.array=1-4%1 timing.dependency=afterok:1001
            submit kind=ALLOCATION tasks=2 timing.hold=true charge.qos=normal
            submit kind=BATCH name=bye timing.hold=true
            schedule
            prolog 1001 n1
            ctldprolog 1001 ok
            launched 1001 extern
            launched 1001 batch
            stop 1001
            suspend 1001 root
            pass 5
            resume 1001 root
            update 1001 timelimit=4
            update 1001 minmemorynode=5
            step 1001 1 s1
            async 1001 1
            async 1001 1
            cancel 1001.0
            exited 1001 0 0:15
            exited 1001 batch 0:0
            exited 1001 extern 0:0
            done 1001 n1
            """;

    /** Writes a new version's files into the directory given. */
    public static void main(String[] args) throws IOException {
        Cluster cluster = new Cluster(
                "n[1-2] cpus=2 mem=1000",
                "p nodes=n[1-2] default=yes defmempercpu=10",
                "requeueJobs=true awaitProlog=true externSteps=true returnToService=1 "
                        + "options.prolog_slurmctld=true options.max_node_count=4"
                        + " options.licenses=fluent:4 options.preempt_type=preempt/qos options.preempt_mode=CANCEL"
                        + " options.scron=enable options.burst_buffer=lua options.power:action:cycle=slurmd");
        List<Entry> all = new ArrayList<>(cluster.opening());
        Play play = new Play(cluster);
        play.lines(FIRST);
        play.lines(TRIGGERS + SHRUNK);
        play.lines("""
                pass 1
                release 1003
                update 1003 comment=x
                update 1002 arraytaskthrottle=2 root
                hold 1002_2
                cancel 1004
                schedule
                requeue 1002_1
                node n1 state=drain reason=disk
                node n1 weight=3
                node n1 comment=old
                reboot n2 asap action=cycle
                node n2 state=CANCEL_REBOOT
                setting root fairsharedampeningfactor 3
                partition p state=drain
                create d[1-2] cpus=1 state=CLOUD
                remove d2
                silent n2
                register n2 boot2
                features n2 boot2 f1,f2 f1
                pass 734
                partition p state=up
                again r2 kind=BATCH timing.array=1-3
                reserve kept starttime=+600 duration=600 nodes=n1 corecnt=1 users=bob flags=DAILY,PURGE_COMP purge_comp=60 maxstartdelay=60
                reserve over starttime=+0 duration=60 nodecnt=1 users=alice flags=OVERLAP
                submit kind=BATCH charge.reservation=over timing.hold=true
                unreserve over
                """);
        cluster.apply(new Command.CreatePartition(0, cluster.partition("q nodes=n2")));
        cluster.apply(new Command.DeletePartition(0, "q"));
        cluster.apply(new Command.SetCrontab(
                Cluster.USER,
                Cluster.USER,
                "Z",
                "@daily a\n",
                List.of(new Command.CronEntry(
                        new Command.SubmitJob(
                                Cluster.USER,
                                Cluster.desc("kind=BATCH name=a"),
                                "",
                                Bytes.of("#!/bin/sh"),
                                Bytes.EMPTY,
                                false,
                                false),
                        "@daily",
                        1,
                        1))));
        cluster.apply(new Command.ApplyPolicy(new DbdMessages.Policy(
                List.of(
                        new DbdMessages.AssocPolicy(1, 0, "root", "", "", false, Map.of(), List.of("normal"), "normal"),
                        new DbdMessages.AssocPolicy(
                                2, 1, "lab", "alice", "p", true, Map.of("MaxJobs", "4"), List.of("normal"), "normal")),
                List.of(
                        new DbdMessages.QosPolicy(1, "normal", Map.of("Priority", "10")),
                        new DbdMessages.QosPolicy(2, "urgent", Map.of("Preempt", "normal"))),
                List.of(new DbdMessages.UserPolicy("alice", Entities.AdminLevel.NONE, List.of("lab"), 1000)),
                List.of(new DbdMessages.WckeyPolicy("alice", "w", true)))));
        cluster.apply(new Command.SetPools(List.of(new dev.muster.core.state.BurstBuffer.Pool("small", 2, 10))));
        play.lines("""
                submit kind=BATCH extras.burstBuffer=#BB_LUA
                schedule
                pass 301
                submit kind=BATCH charge.account=lab charge.qos=normal partition=p tasks=2
                schedule
                pass 301
                submit kind=BATCH charge.account=lab charge.qos=urgent partition=p tasks=2
                schedule
                """);
        all.addAll(play.entries());
        all.add(new Entry(
                all.getLast().tickMs(),
                all.getLast().timeMs(),
                -1,
                "Report",
                List.of(
                        new Change.JobFlagged(1016, dev.muster.model.job.JobFlag.EXPEDITING, true),
                        new Change.JobFailedNode(1016, "n2"),
                        new Change.AccrualChanged(1016, -1),
                        new Change.NodeMarked(
                                "n2", new dev.muster.core.state.Node.CloudIdentity("i-1", "big", "ab", "cd", 7)))));
        Path directory = Files.createDirectories(Path.of(args[0]));
        Files.writeString(
                directory.resolve("entries.jsonl"),
                all.stream()
                        .map(e -> new String(e.encode(), StandardCharsets.UTF_8) + "\n")
                        .collect(Collectors.joining()));
        Files.writeString(
                directory.resolve("snapshot.json"),
                new String(snapshot(replay(all)).encode(), StandardCharsets.UTF_8) + "\n");
    }
}
