package dev.muster.journal;

import dev.muster.journal.LeaseDirectory.Activity;
import dev.muster.journal.LeaseDirectory.Epoch;
import dev.muster.journal.LeaseDirectory.Heartbeat;
import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Controllers that share one StateSaveLocation, as sites of Slurm with two SlurmctldHost do. A lease in the directory
 * says which one leads ({@link LeaseDirectory}); a member whose heartbeat stops for the time of the lease loses it.
 *
 * <p>A former leader that comes back acknowledges nothing: after each sync of the journal it reads the lease's term
 * before it acknowledges an entry, and each term writes into files of its own ({@link JournalGenerations}). Entries
 * that it synced before the next term began are in the next leader's journal.
 */
public final class SharedDirectoryGroup implements JournalGroup {
    private static final int BEATS_PER_LEASE = 20;
    /** Missed heartbeats after which the leader's host is asked whether slurmctld still runs there. */
    private static final int BEATS_MISSED = 4;

    private static final int TRANSFER_MS = 3000;

    /** Questions to the other controllers over the network. */
    public interface Peers {
        /** Returns whether the host of a member is there and no slurmctld listens on it. */
        boolean isStopped(int member);

        /**
         * Returns why this member may not lead: another one leads with another directory, so that the hosts do not
         * share it. A member that does not answer is no reason.
         *
         * @param directory id of this member's directory
         */
        Optional<String> objection(String directory);
    }

    /**
     * How to join.
     *
     * @param state StateSaveLocation
     * @param self index of this member; the first one may begin a new state
     * @param leaseMs time without a heartbeat after which another member leads, in milliseconds
     * @param log receives sentences for the daemon's log
     */
    public record Options(Path state, String cluster, int self, long leaseMs, Peers peers, Consumer<String> log) {
        private long beatMs() {
            return Math.max(leaseMs / BEATS_PER_LEASE, 1);
        }
    }

    /** @param journal null until it is open */
    private record Term(Epoch epoch, @Nullable FileJournal journal) {
        long number() {
            return epoch.term();
        }
    }

    /** The leader's last sign of life, and when it was new here. */
    private record Observation(Epoch epoch, Optional<Heartbeat> heartbeat, long sinceNs) {
        boolean isSame(Epoch e, Optional<Heartbeat> h) {
            return epoch.equals(e) && heartbeat.equals(h);
        }

        long ageMs() {
            return (System.nanoTime() - sinceNs) / 1_000_000;
        }
    }

    private final Options options;
    private final Roles roles;
    private final LeaseDirectory lease;
    private final Thread watcher;
    /** Tells roles, one after the other. */
    private final ExecutorService roleExecutor = Executors.newSingleThreadExecutor(
            task -> Thread.ofPlatform().name("journal-roles").daemon(true).unstarted(task));

    private volatile @Nullable Term leading;
    private volatile boolean closed;
    /** The controller answers in the current term. */
    private volatile boolean isServing;

    private volatile int successor = -1;
    private volatile Observation observation = new Observation(Epoch.NONE, Optional.empty(), System.nanoTime());
    /** Until when no term is begun here, after one that failed or was given away. */
    private volatile long pausedUntilNs = System.nanoTime();

    // Only the watcher touches these.
    private long beats;
    private long renewedNs;
    private long lastPollNs = System.nanoTime();
    private String lastError = "";

    private SharedDirectoryGroup(Options options, Roles roles) {
        this.options = options;
        this.roles = roles;
        lease = new LeaseDirectory(options.state());
        watcher = Thread.ofPlatform().name("journal-lease").daemon(true).unstarted(this::watch);
    }

    /** Joins the members of a directory; the first call of the roles comes later, from another thread. */
    public static SharedDirectoryGroup join(Options options, Roles roles) {
        SharedDirectoryGroup group = new SharedDirectoryGroup(options, roles);
        group.watcher.start();
        return group;
    }

    // ---- the lease

    private void watch() {
        while (!closed) {
            try {
                Term term = leading;
                if (term == null) {
                    standBy();
                } else {
                    renew(term);
                }
                lastError = "";
            } catch (IOException | RuntimeException e) {
                logOnce("StateSaveLocation=" + options.state() + ": " + ErrorSentence.of(e));
                Term term = leading;
                if (term != null && System.nanoTime() - renewedNs > options.leaseMs() * 1_000_000) {
                    end(term, "the lease cannot be renewed", -1);
                }
            }
            pause();
        }
        Term term = leading;
        if (term != null) {
            end(term, "this controller leaves the others", -1);
        }
    }

    private void pause() {
        try {
            Thread.sleep(options.beatMs());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            closed = true;
        }
    }

    private void logOnce(String sentence) {
        if (!sentence.equals(lastError)) {
            lastError = sentence;
            options.log().accept(sentence);
        }
    }

    private void renew(Term term) throws IOException {
        if (!lease.epoch().isTermOf(term.epoch())) {
            end(term, "another controller leads", -1);
            return;
        }
        if (successor >= 0) {
            end(term, "another controller is to lead", successor);
            return;
        }
        beat(term.number(), isServing ? Activity.LEADS : Activity.STARTS, -1);
        renewedNs = System.nanoTime();
    }

    private void beat(long term, Activity activity, int next) throws IOException {
        lease.beat(options.self(), new Heartbeat(term, ++beats, activity, next));
    }

    private void standBy() throws IOException {
        if (options.self() > 0 && !lease.exists() && isEmpty()) {
            logOnce("slurmctld waits for the first SlurmctldHost: StateSaveLocation=" + options.state()
                    + " has no state yet");
            return;
        }
        String directory = lease.id().toString();
        Epoch epoch = lease.epoch();
        Optional<Heartbeat> heartbeat = epoch.member() < 0 ? Optional.empty() : lease.heartbeat(epoch.member());
        boolean wasBlocked = System.nanoTime() - lastPollNs > BEATS_MISSED * options.beatMs() * 1_000_000;
        lastPollNs = System.nanoTime();
        // the time in which this member itself could not look, as by a hung file server, proves nothing
        if (wasBlocked || !observation.isSame(epoch, heartbeat)) {
            observation = new Observation(epoch, heartbeat, System.nanoTime());
        }
        if (epoch.member() != options.self()) {
            beat(epoch.term(), Activity.STANDS_BY, -1);
        }
        if (mayBegin(observation) && System.nanoTime() - pausedUntilNs >= 0) {
            begin(directory, epoch);
        }
    }

    private boolean isEmpty() throws IOException {
        return FileJournal.clusterIdOf(JournalGenerations.newest(options.state()))
                .isEmpty();
    }

    /** Tests whether the lease is free for this member. */
    private boolean mayBegin(Observation last) {
        int leader = last.epoch().member();
        boolean isExpired = last.ageMs() > options.leaseMs();
        if (leader < 0) {
            return options.self() == 0 || isExpired;
        }
        Heartbeat heartbeat = last.heartbeat()
                .filter(h -> h.term() == last.epoch().term())
                .orElse(new Heartbeat(0, 0, Activity.LEADS, -1));
        if (heartbeat.activity() == Activity.RELEASED) {
            int next = heartbeat.successor();
            return next < 0 || next == options.self() || isExpired;
        }
        boolean isSilent = last.ageMs() > BEATS_MISSED * options.beatMs();
        return isExpired
                || isSilent && leader == options.self() // an earlier process of this host
                || isSilent
                        && heartbeat.activity() == Activity.LEADS // a leader that starts has no open port yet
                        && options.peers().isStopped(leader);
    }

    private void begin(String directory, Epoch before) throws IOException {
        Optional<String> objection = options.peers().objection(directory);
        if (objection.isPresent()) {
            closed = true;
            tell(() -> roles.refused(objection.get()));
            return;
        }
        Term term = new Term(before.next(options.self(), JournalGenerations.highest(options.state())), null);
        if (!lease.begin(before, term.epoch())) {
            return;
        }
        successor = -1;
        isServing = false;
        beat(term.number(), Activity.STARTS, -1);
        renewedNs = System.nanoTime();
        leading = term;
        tell(() -> lead(term));
    }

    // ---- a term

    private void lead(Term begun) {
        FileJournal journal;
        try {
            journal = open(begun.epoch());
        } catch (IOException | RuntimeException e) {
            boolean isDamaged = e instanceof JournalException && !(e.getCause() instanceof IOException);
            if (isDamaged && holds(begun.epoch())) {
                closed = true;
                roles.refused(ErrorSentence.of(e));
                return;
            }
            options.log().accept("slurmctld does not lead: " + ErrorSentence.of(e));
            end(begun, "the journal cannot be opened", -1);
            return;
        }
        Term term = new Term(begun.epoch(), journal);
        synchronized (this) {
            if (leading != begun) {
                journal.close();
                return;
            }
            leading = term;
        }
        journal.onFailure(e -> end(term, ErrorSentence.of(e), -1));
        roles.leads(term.number(), journal);
        isServing = true;
    }

    private FileJournal open(Epoch epoch) throws IOException {
        long term = epoch.term();
        Path directory = JournalGenerations.begin(options.state(), epoch.generation(), term);
        UUID id = FileJournal.clusterIdOf(directory)
                .orElseGet(
                        () -> UUID.nameUUIDFromBytes(("muster " + options.cluster()).getBytes(StandardCharsets.UTF_8)));
        FileJournal journal =
                FileJournal.open(directory, FileJournal.Options.of(id, options.log()), new FencedDisk(epoch));
        try {
            if (!lease.complete(epoch)) {
                throw new IOException("another controller leads");
            }
        } catch (IOException | RuntimeException e) {
            journal.close();
            throw e;
        }
        try {
            JournalGenerations.removeBefore(options.state(), term);
        } catch (IOException | RuntimeException e) {
            // a file that another host still has open; the next term removes it
            options.log().accept("an earlier journal is not removed: " + ErrorSentence.of(e));
        }
        return journal;
    }

    private boolean holds(Epoch term) {
        try {
            return lease.epoch().isTermOf(term);
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Ends a term once: its journal fails and is closed, the controller follows, and then the lease is free. For the
     * time of a lease this member begins no other term, so that a disk that fails here only leaves the other one time.
     *
     * @param next member that is to lead; -1 for any
     */
    private void end(Term term, String reason, int next) {
        synchronized (this) {
            if (leading != term) {
                return;
            }
            leading = null;
            pausedUntilNs = System.nanoTime() + options.leaseMs() * 1_000_000;
        }
        FileJournal journal = term.journal();
        if (journal != null) {
            journal.end(new JournalException(reason));
        }
        tell(() -> {
            if (journal != null) {
                journal.close();
            }
            roles.follows();
            release(term.epoch(), next);
        });
    }

    /** Frees the lease, unless another term has begun. */
    private void release(Epoch term, int next) {
        try {
            if (lease.epoch().isTermOf(term)) {
                lease.beat(options.self(), new Heartbeat(term.term(), Long.MAX_VALUE, Activity.RELEASED, next));
            }
        } catch (IOException e) {
            options.log().accept("the lease is not released: " + ErrorSentence.of(e));
        }
    }

    private void tell(Runnable task) {
        try {
            roleExecutor.execute(task);
        } catch (RejectedExecutionException e) {
            // closed
        }
    }

    /** Fails a sync once another term has begun, so that no caller gets an acknowledgement of the entry. */
    private final class FencedDisk implements Disk {
        private final Epoch term;

        FencedDisk(Epoch term) {
            this.term = term;
        }

        @Override
        public void sync(FileChannel channel) throws IOException {
            Disk.super.sync(channel);
            if (!lease.epoch().isTermOf(term)) {
                throw new IOException("another controller leads");
            }
        }
    }

    // ---- state of the group

    @Override
    public Status status() {
        Observation last = observation;
        Term term = leading;
        if (term != null) {
            return new Status(term.number(), Optional.of(options.self()), term.journal() != null, 0);
        }
        boolean isAlive = last.epoch().member() >= 0
                && last.epoch().member() != options.self()
                && last.ageMs() <= options.leaseMs()
                && last.heartbeat().filter(h -> h.activity() == Activity.LEADS).isPresent();
        Optional<Integer> leader = isAlive ? Optional.of(last.epoch().member()) : Optional.empty();
        return new Status(last.epoch().term(), leader, false, 0);
    }

    @Override
    public String directoryId() {
        try {
            return lease.exists() ? lease.id().toString() : "";
        } catch (IOException e) {
            return "";
        }
    }

    @Override
    public Optional<String> transfer(int member) {
        try {
            Optional<Heartbeat> before = lease.heartbeat(member);
            Thread.sleep(BEATS_MISSED * options.beatMs());
            if (before.equals(lease.heartbeat(member))) {
                return Optional.of("it does not stand by");
            }
            successor = member;
            long endNs = System.nanoTime() + TRANSFER_MS * 1_000_000L;
            while (System.nanoTime() < endNs) {
                if (lease.epoch().member() == member) {
                    return Optional.empty();
                }
                Thread.sleep(options.beatMs());
            }
            return Optional.of("it did not take the lease within " + TRANSFER_MS / 1000 + " s");
        } catch (IOException e) {
            return Optional.of(ErrorSentence.of(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("interrupted");
        }
    }

    @Override
    public void close() {
        closed = true;
        boolean interrupted = false;
        while (watcher.isAlive() && Thread.currentThread() != watcher) {
            try {
                watcher.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        roleExecutor.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
