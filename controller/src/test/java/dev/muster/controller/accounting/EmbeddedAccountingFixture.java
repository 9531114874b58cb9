package dev.muster.controller.accounting;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Change;
import dev.muster.core.state.Entry;
import dev.muster.core.state.Job;
import dev.muster.core.state.Node;
import dev.muster.core.state.State;
import dev.muster.core.state.Step;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.model.accounting.AccountingRows.JobRow;
import dev.muster.model.accounting.AccountingRows.JobWithSteps;
import dev.muster.model.accounting.AccountingRows.Query;
import dev.muster.model.format.IndexSet;
import dev.muster.model.job.ExitStatus;
import dev.muster.model.job.TaskPeaks;
import dev.muster.model.job.UsageSample;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/** A journal of entries that embedded accounting follows, and the rows that it makes of them. */
abstract class EmbeddedAccountingFixture {
    static final UUID CLUSTER = new UUID(1, 2);

    @TempDir
    Path dir;

    final List<Entry> journal = new ArrayList<>();
    State state = State.EMPTY;
    EmbeddedAccounting accounting;

    @AfterEach
    void close() {
        if (accounting != null) {
            accounting.close();
        }
    }

    void open() {
        accounting = EmbeddedAccounting.open(
                dir, CLUSTER, journal.size(), hash -> Bytes.of("content of " + hash), System.err::println);
    }

    /** Starts the controller anew, which replays everything. */
    void restart() {
        accounting.close();
        open();
        accounting.begin(0, State.EMPTY);
        State replayed = State.EMPTY;
        for (int i = 0; i < journal.size(); i++) {
            replayed = replayed.apply(journal.get(i));
            accounting.follow(i + 1, journal.get(i), replayed);
        }
    }

    void happens(String cause, Change... changes) {
        Entry entry = new Entry(journal.size() * 1000L, journal.size() * 1000L, 0, cause, List.of(changes));
        journal.add(entry);
        state = state.apply(entry);
        if (accounting != null) {
            accounting.follow(journal.size(), entry, state);
        }
    }

    static <T> T json(String text, Class<T> type) {
        return Codec.decode(text.replace('\'', '"').getBytes(StandardCharsets.UTF_8), type);
    }

    void submitted() {
        happens(
                "Config",
                new Change.NodeRestored(json("{'spec':{'name':'n1'}}", Node.class)),
                new Change.NodeRestored(json("{'spec':{'name':'n2'}}", Node.class)));
        happens("Submit", new Change.JobSubmitted(json("""
            {'id':7,'sluid':70,'array':{'jobId':0,'task':-1},'state':'PENDING','reason':'NONE','priority':5,
             'submitTime':100,'eligibleTime':100,'holdUid':-1,
             'desc':{'kind':'ALLOCATION','name':'x','partition':'p',
                     'owner':{'uid':1000,'gid':100,'user':'u','group':'g'},
                     'request':{'nodesMin':2,'tasks':4,'memPerCpuMb':10},'charge':{'account':'a'}}}""", Job.class)));
    }

    void started(int attempt) {
        Allocation both = new Allocation(1, List.of(share("n1", Map.of("gpu", IndexSet.of(3))), share("n2", Map.of())));
        happens("Schedule", new Change.JobStarted(7, attempt, both, 60, 1, false));
        happens("CreateStep", new Change.StepStarted(7, json("""
            {'id':0,'desc':{'name':'true'},'state':'RUNNING','startTime':3,
             'nodes':[{'node':'n1','tasks':[0,1],'cpus':2,'memoryMb':512},{'node':'n2','tasks':[2,3],
             'cpus':2}]}""", Step.class)));
    }

    static Allocation.Share share(String node, Map<String, IndexSet> gres) {
        return new Allocation.Share(
                node, Allocation.Agent.SLURMD, "b", IndexSet.range(0, 1, 1), 2, 512, gres, false, false, 0);
    }

    void partEnded(String node, ExitStatus exit, long cpuUs, long rssKb) {
        happens(
                "StepExited",
                new Change.StepPartEnded(
                        7,
                        0,
                        node,
                        exit,
                        Map.of(),
                        "",
                        new Change.Usage(
                                cpuUs,
                                cpuUs,
                                rssKb,
                                rssKb * 2,
                                10,
                                20,
                                1,
                                100,
                                7,
                                8,
                                TaskPeaks.NONE,
                                2_000_000,
                                new UsageSample(3, 4, 1, 50, 90, 1000, 1000))));
    }

    List<JobWithSteps> all(boolean duplicates, String... jobs) {
        return accounting
                .query(
                        new Query(
                                List.of(jobs),
                                List.of(),
                                true,
                                List.of(),
                                List.of(),
                                List.of(),
                                List.of(),
                                List.of(),
                                List.of(),
                                List.of(),
                                List.of(),
                                List.of(),
                                0,
                                0,
                                duplicates,
                                false,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                List.of()),
                        journal.size())
                .jobs();
    }

    String row() {
        JobRow row = all(false).getFirst().job();
        return row.state() + " " + row.reason() + " " + row.priority();
    }
}
