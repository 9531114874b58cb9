package dev.muster.controller;

import dev.muster.config.SlurmConf;
import dev.muster.controller.accounting.Accounting;
import dev.muster.controller.accounting.WaitReasons;
import dev.muster.controller.engine.BlobStore;
import dev.muster.controller.engine.CoreHandle;
import dev.muster.controller.engine.TriggerEventRelay;
import dev.muster.controller.stats.Statistics;
import dev.muster.controller.view.OwnedJobs;
import dev.muster.core.Core;
import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import dev.muster.daemon.Sessions;
import dev.muster.journal.FileJournal;
import dev.muster.journal.Journal;
import dev.muster.journal.JournalGenerations;
import dev.muster.scheduler.Scheduler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * The opened journal, the core with the state that was recovered from it, and what follows each durable entry:
 * accounting, statistics, the jobs by owner and snapshots.
 */
final class StateStore {
    private final Journal journal;
    private final BlobStore blobs;
    private final Scheduler scheduler;
    private final Core core;
    private final CoreHandle handle;
    private final Accounting accounting;
    private final SnapshotWriter snapshots;
    private final OwnedJobs owned = new OwnedJobs();
    private final Statistics statistics = new Statistics();
    private final long recoveredIndex;
    /** Index of the newest entry that has been followed. */
    private long followedIndex;

    private StateStore(
            Journal journal,
            Scheduler scheduler,
            Core core,
            CoreHandle handle,
            RecoveredState recovered,
            SnapshotWriter snapshots) {
        this.journal = journal;
        this.scheduler = scheduler;
        this.core = core;
        this.handle = handle;
        this.snapshots = snapshots;
        blobs = recovered.blobs();
        accounting = recovered.accounting();
        owned.reset(recovered.state());
        recoveredIndex = recovered.index();
        followedIndex = recoveredIndex;
    }

    /**
     * Opens the journal and recovers the state from it.
     *
     * @param shared the journal that this controller keeps with others; empty where it has one of its own
     * @param stops gets the journal and the accounting as soon as they are open
     * @throws IOException if a place cannot be used
     */
    static StateStore open(
            ControllerEnvironment environment,
            Credentials credentials,
            Optional<SharedJournal> shared,
            TriggerEventRelay events,
            StopSequence stops)
            throws IOException {
        SlurmConf conf = environment.conf();
        Path directory = Path.of(conf.stateSaveLocation());
        Path journalDirectory = JournalGenerations.newest(directory);
        UUID clusterId = FileJournal.clusterIdOf(journalDirectory).orElseGet(UUID::randomUUID);
        Journal journal = shared.map(SharedJournal::journal)
                .orElseGet(() ->
                        FileJournal.open(journalDirectory, FileJournal.Options.of(clusterId, environment.log()::info)));
        stops.add(StopSequence.Part.JOURNAL, journal::close);
        Scheduler scheduler = new Scheduler();
        Core core = new Core(scheduler);
        CoreHandle handle = new CoreHandle(core);
        Sessions sessions = credentials.sessions();
        boolean sharesDirectory =
                shared.filter(s -> s.membership().sharesDirectory()).isPresent();
        AccountingStorage storage =
                new AccountingStorage(environment, sessions, clusterId, sharesDirectory, journal, handle, events);
        Optional<RecoveredState> followed =
                shared.flatMap(SharedJournal::followed).filter(state -> state.index() == journal.lastIndex());
        RecoveredState recovered = followed.isPresent()
                ? followed.get()
                : RecoveredState.read(
                        journal,
                        directory,
                        contents -> storage.open(conf, directory, contents::read),
                        environment.log());
        Accounting accounting = recovered.accounting();
        stops.add(StopSequence.Part.ACCOUNTING, accounting::close);
        accounting.queue(new WaitReasons.Queue(scheduler::reason, scheduler::priority));
        core.recovered(recovered.state(), StateStore::inParallel);
        StateStore store = new StateStore(
                journal,
                scheduler,
                core,
                handle,
                recovered,
                new SnapshotWriter(
                        journal, recovered.blobs(), accounting, recovered.snapshotIndex(), environment.log()));
        journal.retainFrom(store::firstNeededIndex);
        return store;
    }

    /** Runs both at the same time: a restart with a long queue waits for both. */
    private static void inParallel(Runnable one, Runnable other) {
        CompletableFuture<Void> running = CompletableFuture.runAsync(other);
        one.run();
        running.join();
    }

    private long firstNeededIndex() {
        return accounting.projected() == Long.MAX_VALUE ? Long.MAX_VALUE : accounting.projected() + 1;
    }

    /** Follows a durable entry. Called in order of the entries. */
    void follow(Entry entry, State before, State after) {
        followedIndex++;
        owned.follow(entry, before, after);
        statistics.follow(entry);
        accounting.follow(followedIndex, entry, after);
        if (handle.areDoorsOpen()) {
            snapshots.after(followedIndex, after);
        }
    }

    Journal journal() {
        return journal;
    }

    BlobStore blobs() {
        return blobs;
    }

    Scheduler scheduler() {
        return scheduler;
    }

    Core core() {
        return core;
    }

    CoreHandle handle() {
        return handle;
    }

    Accounting accounting() {
        return accounting;
    }

    OwnedJobs owned() {
        return owned;
    }

    Statistics statistics() {
        return statistics;
    }

    /** Returns the journal's last entry when it was read. */
    long recoveredIndex() {
        return recoveredIndex;
    }

    /** Tests whether acknowledged work would have to be dropped if more came. */
    boolean isFull() {
        return journal.spaceLow() || accounting.overloaded() && !accounting.discards();
    }
}
