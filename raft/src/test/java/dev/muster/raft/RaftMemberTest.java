package dev.muster.raft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.journal.FileJournal;
import dev.muster.journal.Journal;
import dev.muster.journal.JournalException;
import dev.muster.journal.JournalGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class RaftMemberTest {
    private static final UUID CLUSTER = new UUID(1, 2);
    private static final byte[] SECRET = "a secret of thirty-two bytes, no less".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path root;

    private final List<JournalGroup.Member> members = new ArrayList<>();
    private final Node[] nodes = new Node[3];

    /** One member, with the journal of its term while it leads. */
    private final class Node implements JournalGroup.Roles {
        final FileJournal file;
        final JournalGroup group;
        volatile Optional<Journal> journal = Optional.empty();
        volatile long term;
        volatile String refusal = "";
        final List<Long> told = java.util.Collections.synchronizedList(new java.util.ArrayList<>());

        Node(int self) {
            Path place = root.resolve("c" + self);
            file = FileJournal.open(place.resolve("journal"), FileJournal.Options.of(CLUSTER, sentence -> {}));
            group = RaftMember.join(
                    new JournalGroup.Options(
                            place.resolve("raft"), file, CLUSTER, "test", members, self, SECRET, sentence -> {}),
                    this);
        }

        @Override
        public void leads(long newTerm, Journal leading) {
            term = newTerm;
            journal = Optional.of(leading);
        }

        @Override
        public void follows() {
            journal = Optional.empty();
        }

        @Override
        public void committed(long index, byte[] entry) {
            told.add(index);
        }

        @Override
        public void refused(String sentence) {
            refusal = sentence;
        }

        void close() {
            group.close();
            file.close();
        }
    }

    @BeforeEach
    void threeMembers() throws IOException {
        for (int i = 0; i < 3; i++) {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                members.add(new JournalGroup.Member("c" + i, "127.0.0.1", socket.getLocalPort()));
            }
        }
        for (int i = 0; i < 3; i++) {
            Files.createDirectories(root.resolve("c" + i));
            nodes[i] = new Node(i);
        }
    }

    @AfterEach
    void close() {
        for (Node node : nodes) {
            if (node != null) {
                node.close();
            }
        }
    }

    private static void eventually(BooleanSupplier condition) throws InterruptedException {
        for (int i = 0; i < 600 && !condition.getAsBoolean(); i++) {
            TimeUnit.MILLISECONDS.sleep(50);
        }
        assertThat(condition.getAsBoolean()).isTrue();
    }

    private int leader() throws InterruptedException {
        int[] found = {-1};
        eventually(() -> {
            for (int i = 0; i < 3; i++) {
                if (nodes[i] != null && nodes[i].journal.isPresent()) {
                    found[0] = i;
                    return true;
                }
            }
            return false;
        });
        return found[0];
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> held(Journal journal) {
        List<String> out = new ArrayList<>();
        journal.durable(journal.lastIndex()).join();
        journal.replay(journal.firstIndex(), (index, entry) -> out.add(new String(entry, StandardCharsets.UTF_8)));
        return out;
    }

    private static List<String> append(Journal journal, String prefix, int count) {
        List<String> out = new ArrayList<>();
        long last = 0;
        for (int i = 0; i < count; i++) {
            out.add(prefix + i);
            last = journal.append(bytes(prefix + i));
        }
        journal.durable(last).join();
        return out;
    }

    @Test
    void everyMemberHasWhatTheLeaderAppends() throws Exception {
        Journal journal = nodes[leader()].journal.orElseThrow();
        List<String> entries = append(journal, "entry ", 5000);
        assertThat(journal.lastIndex()).isEqualTo(5000);
        for (Node node : nodes) {
            eventually(() -> node.group.status().committed() == 5000);
            assertThat(held(node.file)).isEqualTo(entries);
        }
    }

    @Test
    void theNextLeaderHasEveryDurableEntry() throws Exception {
        int first = leader();
        List<String> entries = append(nodes[first].journal.orElseThrow(), "a", 300);
        long term = nodes[first].term;
        nodes[first].close();
        nodes[first] = null;
        int second = leader();
        assertThat(nodes[second].term).isGreaterThan(term);
        Journal journal = nodes[second].journal.orElseThrow();
        assertThat(held(journal)).isEqualTo(entries);
        entries.addAll(append(journal, "b", 300));
        nodes[first] = new Node(first);
        Node back = nodes[first];
        eventually(() -> back.group.status().committed() == 600);
        assertThat(held(back.file)).isEqualTo(entries);
    }

    @Test
    void aLeaderWithoutTheOthersAnswersNothing() throws Exception {
        int alone = leader();
        Journal journal = nodes[alone].journal.orElseThrow();
        append(journal, "a", 10);
        for (int i = 0; i < 3; i++) {
            if (i != alone) {
                nodes[i].close();
                nodes[i] = null;
            }
        }
        Optional<Long> last = appended(journal, "never");
        eventually(() -> nodes[alone].journal.isEmpty());
        last.ifPresent(index -> assertThat(journal.durable(index)).isCompletedExceptionally());
        assertThat(journal.durableIndex()).isEqualTo(10);
    }

    /** Empty if the journal has ended already. */
    private static Optional<Long> appended(Journal journal, String text) {
        try {
            return Optional.of(journal.append(bytes(text)));
        } catch (JournalException e) {
            return Optional.empty();
        }
    }

    @Test
    void allMembersStartAgainWithTheirEntries() throws Exception {
        List<String> entries = append(nodes[leader()].journal.orElseThrow(), "a", 1000);
        for (int i = 0; i < 3; i++) {
            nodes[i].close();
        }
        for (int i = 0; i < 3; i++) {
            nodes[i] = new Node(i);
        }
        Journal journal = nodes[leader()].journal.orElseThrow();
        assertThat(held(journal)).isEqualTo(entries);
        entries.addAll(append(journal, "b", 10));
        assertThat(held(journal)).isEqualTo(entries);
    }

    @Test
    void aMemberThatLostItsDiskDoesNotVote() throws Exception {
        int first = leader();
        for (int i = 0; i < 200; i++) {
            append(nodes[first].journal.orElseThrow(), i + " ", 1);
        }
        int lost = (first + 1) % 3;
        nodes[lost].close();
        deleteAll(root.resolve("c" + lost));
        nodes[lost] = new Node(lost);
        Node back = nodes[lost];
        eventually(() -> !back.refusal.isEmpty());
        assertThat(back.refusal).contains("it may not vote");
    }

    private static void deleteAll(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void aStrangerWithoutTheKeyIsNotHeard() throws Exception {
        int known = leader();
        Path place = Files.createDirectories(root.resolve("stranger"));
        nodes[(known + 1) % 3].close();
        nodes[(known + 1) % 3] = null;
        byte[] wrong = "another secret of more than thirty-two bytes".getBytes(StandardCharsets.UTF_8);
        JournalGroup.Options options = new JournalGroup.Options(
                place.resolve("raft"),
                nodes[known].file,
                CLUSTER,
                "test",
                members,
                (known + 1) % 3,
                wrong,
                sentence -> {});
        Parameters parameters = new Parameters();
        GrpcConfigKeys.TLS.setConf(parameters, MemberTls.of(wrong, "test"));
        RaftGroup group = RaftGroup.valueOf(
                RaftGroupId.randomId(),
                RaftPeer.newBuilder()
                        .setId(RaftMember.id(known))
                        .setAddress("127.0.0.1:" + members.get(known).port())
                        .build());
        long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(3);
        Optional<String> answer =
                new GroupBootstrap(options, group, parameters).refusal(() -> System.nanoTime() - endNs > 0);
        assertThat(answer).contains("this controller stops before the others were there");
    }

    @Test
    void leadershipIsHandedOver() throws Exception {
        int first = leader();
        int next = (first + 1) % 3;
        append(nodes[first].journal.orElseThrow(), "a", 10);
        assertThat(nodes[first].group.transfer(next)).isEmpty();
        eventually(() -> nodes[next].journal.isPresent() && nodes[first].journal.isEmpty());
        append(nodes[next].journal.orElseThrow(), "b", 10);
    }
}
