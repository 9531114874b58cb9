package dev.muster.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedDirectoryGroupTest {
    private static final long LEASE_MS = 600;

    @TempDir
    Path state;

    private final List<Member> members = new ArrayList<>();

    /** A controller that keeps its role, and the answers of the others' hosts. */
    private final class Member implements JournalGroup.Roles, SharedDirectoryGroup.Peers {
        final LinkedBlockingQueue<String> roles = new LinkedBlockingQueue<>();
        volatile Journal journal;
        volatile boolean othersStopped;
        final String objection;
        final SharedDirectoryGroup group;

        Member(int self) {
            this(self, "");
        }

        Member(int self, String objection) {
            this.objection = objection;
            group = SharedDirectoryGroup.join(
                    new SharedDirectoryGroup.Options(state, "c", self, LEASE_MS, this, _ -> {}), this);
            members.add(this);
        }

        @Override
        public void leads(long term, Journal of) {
            journal = of;
            roles.add("leads " + term);
        }

        @Override
        public void follows() {
            roles.add("follows");
        }

        @Override
        public void committed(long index, byte[] entry) {}

        @Override
        public void refused(String sentence) {
            roles.add(sentence);
        }

        @Override
        public boolean isStopped(int member) {
            return othersStopped;
        }

        @Override
        public Optional<String> objection(String directory) {
            return objection.isEmpty() ? Optional.empty() : Optional.of(objection);
        }

        String next() throws InterruptedException {
            return String.valueOf(roles.poll(20, TimeUnit.SECONDS));
        }

        void write(String entry) {
            journal.durable(journal.append(entry.getBytes(UTF_8))).join();
        }

        List<String> entries() {
            List<String> out = new ArrayList<>();
            journal.replay(journal.firstIndex(), (_, payload) -> out.add(new String(payload, UTF_8)));
            return out;
        }
    }

    @AfterEach
    void close() {
        members.forEach(m -> m.group.close());
    }

    private static void soon(BooleanSupplier condition) throws InterruptedException {
        for (int i = 0; i < 1000 && !condition.getAsBoolean(); i++) {
            Thread.sleep(20);
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    private Member leader(int self) throws InterruptedException {
        Member member = new Member(self);
        assertThat(member.next()).startsWith("leads");
        return member;
    }

    @Test
    void theOtherMemberLeadsAtOnceWhenTheLeaderLeaves() throws InterruptedException {
        Member first = leader(0);
        first.write("a");
        Member second = new Member(1);
        soon(() -> second.group.status().leader().equals(Optional.of(0)));
        first.group.close();
        assertThat(second.next()).isEqualTo("leads 2");
        second.write("b");
        assertThat(second.entries()).containsExactly("a", "b");
        assertThat(first.next()).isEqualTo("follows");
    }

    @Test
    void aFormerLeaderAcknowledgesNothingInTheNextTerm() throws Exception {
        Member first = leader(0);
        first.write("a");
        LeaseDirectory lease = new LeaseDirectory(state);
        assertThat(lease.begin(lease.epoch(), lease.epoch().next(1, 0))).isTrue();
        assertThatThrownBy(() -> first.write("lost"))
                .isInstanceOfAny(CompletionException.class, JournalException.class);
        assertThat(first.next()).isEqualTo("follows");
        Member second = new Member(1);
        assertThat(second.next()).startsWith("leads");
        assertThat(second.entries()).startsWith("a");
    }

    @Test
    void whatAFormerLeaderWritesLaterIsNotRead() throws Exception {
        Path old = state.resolve("journal");
        var options = FileJournal.Options.of(java.util.UUID.randomUUID(), _ -> {});
        try (FileJournal former = FileJournal.open(old, options)) {
            former.durable(former.append("a".getBytes(UTF_8))).join();
            Path next = JournalGenerations.begin(state, 0, 7);
            former.durable(former.append("late".getBytes(UTF_8))).join();
            try (FileJournal journal = FileJournal.open(next, options)) {
                assertThat(journal.lastIndex()).isEqualTo(1);
            }
        }
    }

    @Test
    void aLeaderWhoseHeartbeatStopsLosesItsLease() throws Exception {
        Files.createDirectories(state.resolve("lease"));
        LeaseDirectory lease = new LeaseDirectory(state);
        lease.id();
        assertThat(lease.begin(LeaseDirectory.Epoch.NONE, LeaseDirectory.Epoch.NONE.next(0, 0)))
                .isTrue();
        lease.beat(0, new LeaseDirectory.Heartbeat(1, 1, LeaseDirectory.Activity.LEADS, -1));
        long beganNs = System.nanoTime();
        Member second = new Member(1);
        assertThat(second.next()).isEqualTo("leads 2");
        assertThat((System.nanoTime() - beganNs) / 1_000_000).isGreaterThanOrEqualTo(LEASE_MS);
    }

    @Test
    void transferMakesTheOtherMemberLead() throws InterruptedException {
        Member first = leader(0);
        Member second = new Member(1);
        soon(() -> second.group.status().leader().isPresent());
        assertThat(first.group.transfer(1)).isEmpty();
        assertThat(second.next()).isEqualTo("leads 2");
        assertThat(first.next()).isEqualTo("follows");
        soon(() -> first.group.status().leader().equals(Optional.of(1)));
    }

    @Test
    void transferToAMemberThatIsAwayIsRefused() throws InterruptedException {
        Member first = leader(0);
        assertThat(first.group.transfer(1)).contains("it does not stand by");
        first.write("it still leads");
    }

    @Test
    void theSecondMemberBeginsNoState() throws InterruptedException, IOException {
        Member second = new Member(1);
        assertThat(second.roles.poll(3 * LEASE_MS, TimeUnit.MILLISECONDS)).isNull();
        leader(0);
        soon(() -> second.group.status().leader().equals(Optional.of(0)));
    }

    @Test
    void aDirectoryThatTheLeaderDoesNotUseIsRefused() throws InterruptedException {
        assertThat(new Member(0, "another directory").next()).isEqualTo("another directory");
        assertThat(new LeaseDirectory(state).exists()).isTrue();
    }

    /** A listing of the directory may be old: the lease's record names the generation. */
    @Test
    void aGenerationThatIsNotVisibleYetIsAwaited() throws Exception {
        Member first = leader(0);
        first.write("a");
        first.group.close();
        Path hidden = state.resolve("hidden");
        Files.move(state.resolve("journal.1"), hidden);
        Member second = new Member(1);
        assertThat(second.next()).isEqualTo("follows");
        Files.move(hidden, state.resolve("journal.1"));
        assertThat(second.next()).startsWith("leads");
        assertThat(second.entries()).containsExactly("a");
    }

    @Test
    void aTermThatEndedEarlyLeavesNothingBehind() throws Exception {
        Files.createDirectories(state.resolve("journal.1.new"));
        LeaseDirectory lease = new LeaseDirectory(state);
        lease.id();
        lease.begin(LeaseDirectory.Epoch.NONE, LeaseDirectory.Epoch.NONE.next(0, 0));
        Member member = leader(0);
        member.write("a");
        try (var files = Files.list(state)) {
            assertThat(files.map(f -> f.getFileName().toString()).toList())
                    .containsExactlyInAnyOrder("lease", "journal.2");
        }
    }

    @Test
    void aClearedDirectoryBeginsAnew() throws Exception {
        Member first = leader(0);
        first.write("a");
        first.group.close();
        JournalGenerations.removeAll(state);
        Member next = leader(0);
        assertThat(next.journal.lastIndex()).isZero();
        assertThat(JournalGenerations.newest(state)).isEqualTo(state.resolve("journal.3"));
    }

    /** An administrator has removed the lease: no term is used twice, and no entry is lost. */
    @Test
    void aRemovedLeaseLosesNothing() throws Exception {
        for (int i = 1; i <= 2; i++) {
            Member member = leader(0);
            member.write("entry " + i);
            member.group.close();
        }
        try (var files = Files.list(state.resolve("lease"))) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Member again = new Member(0);
        assertThat(again.next()).isEqualTo("leads 3");
        assertThat(again.entries()).containsExactly("entry 1", "entry 2");
    }

    @Test
    void oneOfManyBeginsATerm() throws Exception {
        LeaseDirectory one = new LeaseDirectory(state);
        one.id();
        LeaseDirectory.Epoch before = one.epoch();
        java.util.concurrent.atomic.AtomicInteger begun = new java.util.concurrent.atomic.AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            int member = i;
            threads.add(Thread.ofPlatform().start(() -> {
                try {
                    if (new LeaseDirectory(state).begin(before, before.next(member, 0))) {
                        begun.incrementAndGet();
                    }
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(begun.get()).isLessThanOrEqualTo(1);
        assertThat(one.epoch().term()).isEqualTo(begun.get());
    }

    @Test
    void eachTermHasAGenerationAndTheOldOnesGo() throws InterruptedException, IOException {
        for (int i = 1; i <= 3; i++) {
            Member member = leader(0);
            member.write("entry " + i);
            assertThat(JournalGenerations.newest(state)).isEqualTo(state.resolve("journal." + i));
            assertThat(member.entries()).hasSize(i);
            member.group.close();
        }
        try (var files = Files.list(state)) {
            assertThat(files.map(f -> f.getFileName().toString()).toList())
                    .containsExactlyInAnyOrder("lease", "journal.3");
        }
    }
}
