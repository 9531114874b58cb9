package dev.muster.raft;

import dev.muster.journal.JournalException;
import dev.muster.journal.JournalGroup;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.jspecify.annotations.Nullable;

/** This slurmctld among the members that keep a journal together. */
final class RaftMember implements JournalGroup {
    /** A follower that hears nothing of the leader for a time between these asks for votes. */
    private static final int ELECTION_MIN_MS = 600;

    private static final int ELECTION_MAX_MS = 1000;
    /** Batches in the replicated log after which what every copy has durably is dropped from it. */
    private static final long LOG_BATCHES_MAX = 50_000;

    private static final int TRANSFER_MS = 3000;
    /** File with the index of the last entry before the members met. */
    private static final String BEGIN = "begin";

    private final Options options;
    private final Roles roles;
    private final RaftGroup group;
    private final Parameters parameters;
    private final boolean isFresh;
    private final ClientId client = ClientId.randomId();
    private final AtomicLong calls = new AtomicLong();
    private final JournalStateMachine committed;
    private final RaftServer server;
    /** Tells roles, one after the other. */
    private final ExecutorService teller = Executors.newSingleThreadExecutor(
            task -> Thread.ofPlatform().name("journal-roles").daemon(true).unstarted(task));

    private @Nullable LeaderJournal journal;
    private volatile boolean closed;

    private RaftMember(Options options, Roles roles) throws IOException {
        this.options = options;
        this.roles = roles;
        Files.createDirectories(options.directory());
        Path begin = options.directory().resolve(BEGIN);
        isFresh = !Files.exists(begin);
        if (isFresh) {
            // entries of a single controller's time: the members begin behind them
            Files.writeString(begin, Long.toString(options.file().lastIndex()));
        }
        long first = Long.parseLong(Files.readString(begin).strip());
        RaftGroupId groupId = RaftGroupId.valueOf(UUID.nameUUIDFromBytes(
                (options.cluster() + "\n" + options.journalId() + "\n" + first).getBytes(StandardCharsets.UTF_8)));
        group = RaftGroup.valueOf(
                groupId,
                IntStream.range(0, options.members().size())
                        .mapToObj(i -> peer(i, options.members().get(i)))
                        .toList());
        committed = new JournalStateMachine(options.file(), first, new JournalStateMachine.Roles() {
            @Override
            public void ready(long last) {
                tell(() -> lead(last));
            }

            @Override
            public void stored(long index, byte[] entry) {
                roles.committed(index, entry);
            }

            @Override
            public void leader(boolean self) {
                if (!self) {
                    endTerm("another controller leads");
                }
            }
        });
        parameters = parameters(options);
        RaftServer.Builder builder = RaftServer.newBuilder()
                .setServerId(id(options.self()))
                .setStateMachineRegistry(id -> committed)
                .setProperties(properties(options))
                .setParameters(parameters)
                .setOption(RaftStorage.StartupOption.RECOVER);
        server = (isFresh ? builder : builder.setGroup(group)).build();
    }

    static RaftMember join(Options options, Roles roles) {
        try {
            RaftMember member = new RaftMember(options, roles);
            member.server.start();
            if (member.isFresh) {
                Thread.ofPlatform().name("journal-formation").daemon(true).start(member::form);
            }
            return member;
        } catch (IOException e) {
            throw new JournalException("cannot join the other controllers: " + e.getMessage(), e);
        }
    }

    /** Joins the others once it is clear that nothing is lost here. Until then the next start is a first one again. */
    private void form() {
        try {
            Files.delete(options.directory().resolve(BEGIN));
            Optional<String> refusal = new GroupBootstrap(options, group, parameters).refusal(() -> closed);
            if (refusal.isPresent()) {
                tell(() -> roles.refused(refusal.get()));
                return;
            }
            Files.writeString(
                    options.directory().resolve(BEGIN),
                    Long.toString(options.file().lastIndex()));
            server.groupManagement(
                    GroupManagementRequest.newAdd(client, server.getId(), calls.incrementAndGet(), group));
        } catch (IOException | RuntimeException e) {
            tell(() -> roles.refused("cannot join the other controllers: " + e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static RaftPeerId id(int member) {
        return RaftPeerId.valueOf("c" + member);
    }

    private static RaftPeer peer(int index, Member member) {
        return RaftPeer.newBuilder()
                .setId(id(index))
                .setAddress(member.address() + ":" + member.port())
                .build();
    }

    private static RaftProperties properties(Options options) {
        RaftProperties p = new RaftProperties();
        RaftServerConfigKeys.setStorageDir(p, List.of(options.directory().toFile()));
        Member self = options.members().get(options.self());
        GrpcConfigKeys.Server.setHost(p, self.address());
        GrpcConfigKeys.Server.setPort(p, self.port());
        GrpcConfigKeys.setMessageSizeMax(p, SizeInBytes.valueOf("64MB"));
        TimeDuration min = TimeDuration.valueOf(ELECTION_MIN_MS, TimeUnit.MILLISECONDS);
        TimeDuration max = TimeDuration.valueOf(ELECTION_MAX_MS, TimeUnit.MILLISECONDS);
        RaftServerConfigKeys.Rpc.setTimeoutMin(p, min);
        RaftServerConfigKeys.Rpc.setTimeoutMax(p, max);
        RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(p, min);
        RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(p, max);
        RaftServerConfigKeys.LeaderElection.setPreVote(p, true);
        // one thread takes proposals: they enter the log in the order of the journal
        RaftServerConfigKeys.ThreadPool.setClientCached(p, false);
        RaftServerConfigKeys.ThreadPool.setClientSize(p, 1);
        RaftServerConfigKeys.Log.setSegmentSizeMax(p, SizeInBytes.valueOf("16MB"));
        RaftServerConfigKeys.Log.setPreallocatedSize(p, SizeInBytes.valueOf("4MB"));
        RaftServerConfigKeys.Log.setWriteBufferSize(p, SizeInBytes.valueOf("8MB"));
        // kept until every member has them: one that was away is never behind the log
        RaftServerConfigKeys.Log.setPurgeUptoSnapshotIndex(p, false);
        RaftServerConfigKeys.Log.Appender.setBufferByteLimit(p, SizeInBytes.valueOf("4MB"));
        RaftServerConfigKeys.Snapshot.setAutoTriggerEnabled(p, true);
        RaftServerConfigKeys.Snapshot.setAutoTriggerThreshold(p, LOG_BATCHES_MAX);
        RaftServerConfigKeys.Snapshot.setRetentionFileNum(p, 2);
        // no client repeats a proposal, so its reply need not be remembered
        RaftServerConfigKeys.RetryCache.setExpiryTime(p, TimeDuration.valueOf(1, TimeUnit.SECONDS));
        return p;
    }

    private static Parameters parameters(Options options) throws IOException {
        Parameters p = new Parameters();
        GrpcConfigKeys.TLS.setConf(p, MemberTls.of(options.secret(), options.cluster()));
        return p;
    }

    // ---- roles

    private void tell(Runnable task) {
        try {
            teller.execute(task);
        } catch (RejectedExecutionException e) {
            // closed
        }
    }

    private void lead(long last) {
        LeaderJournal leading = new LeaderJournal(options.file(), last, this::propose, e -> tell(this::follow));
        synchronized (this) {
            journal = leading;
        }
        committed.journal(leading);
        if (leads()) {
            roles.leads(info().getCurrentTerm(), leading);
        } else {
            endTerm("another controller leads");
        }
    }

    private void follow() {
        committed.journal(null);
        roles.follows();
    }

    private void endTerm(String reason) {
        LeaderJournal ending;
        synchronized (this) {
            ending = journal;
            journal = null;
        }
        if (ending != null) {
            ending.fail(new JournalException(reason));
        }
    }

    private CompletableFuture<Boolean> propose(ByteString batch) {
        RaftClientRequest request = RaftClientRequest.newBuilder()
                .setClientId(client)
                .setServerId(server.getId())
                .setGroupId(group.getGroupId())
                .setCallId(calls.incrementAndGet())
                .setMessage(Message.valueOf(batch))
                .setType(RaftClientRequest.writeRequestType())
                .build();
        try {
            return server.submitClientRequestAsync(request).thenApply(RaftMember::isTaken);
        } catch (IOException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static boolean isTaken(RaftClientReply reply) {
        return reply.isSuccess() && reply.getMessage().getContent().equals(JournalStateMachine.TAKEN);
    }

    // ---- state of the group

    private DivisionInfo info() {
        try {
            return server.getDivision(group.getGroupId()).getInfo();
        } catch (IOException e) {
            throw new JournalException("this controller has left the others: " + e.getMessage(), e);
        }
    }

    private boolean leads() {
        return info().isLeaderReady();
    }

    @Override
    public Status status() {
        DivisionInfo info = info();
        RaftPeerId leader = info.getLeaderId();
        Optional<Integer> index = IntStream.range(0, options.members().size())
                .filter(i -> id(i).equals(leader))
                .boxed()
                .findFirst();
        return new Status(info.getCurrentTerm(), index, info.isLeaderReady(), committed.taken());
    }

    @Override
    public Optional<String> transfer(int member) {
        TransferLeadershipRequest request = new TransferLeadershipRequest(
                client, server.getId(), group.getGroupId(), calls.incrementAndGet(), id(member), TRANSFER_MS);
        try {
            RaftClientReply reply = server.transferLeadership(request);
            return reply.isSuccess()
                    ? Optional.empty()
                    : Optional.of(String.valueOf(reply.getException().getMessage()));
        } catch (IOException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    @Override
    public void close() {
        closed = true;
        try {
            server.close();
        } catch (IOException e) {
            options.log().accept("leaving the other controllers: " + e.getMessage());
        }
        endTerm("this controller leaves the others");
        teller.shutdown();
    }
}
