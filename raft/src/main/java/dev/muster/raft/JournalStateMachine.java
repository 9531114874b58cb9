package dev.muster.raft;

import dev.muster.journal.FileJournal;
import dev.muster.journal.JournalException;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.io.MD5Hash;
import org.apache.ratis.proto.RaftProtos;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.storage.FileInfo;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.statemachine.impl.SimpleStateMachineStorage;
import org.apache.ratis.statemachine.impl.SingleFileSnapshotInfo;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.MD5FileUtil;
import org.jspecify.annotations.Nullable;

/**
 * Moves committed batches from the replicated log into this member's {@link FileJournal}.
 *
 * <p>A batch is taken if it begins right behind the last one that was taken; every member decides the same. After a
 * restart the log is applied again from its last snapshot on: the file may be ahead, so entries that it has are passed
 * over, and the number behind which a batch must begin comes from the snapshot, not from the file.
 */
final class JournalStateMachine extends BaseStateMachine {
    static final ByteString TAKEN = ByteString.copyFromUtf8("taken");
    private static final ByteString REFUSED = ByteString.copyFromUtf8("refused");

    /** Actions of the member at a change of its role. */
    interface Roles {
        void ready(long committed);

        /** An entry that the file did not have. */
        void stored(long index, byte[] entry);

        void leader(boolean self);
    }

    private final FileJournal file;
    private final Roles roles;
    private final SimpleStateMachineStorage storage = new SimpleStateMachineStorage();
    /** Index in the journal of the last entry of the last batch taken. */
    private volatile long taken;

    private volatile @Nullable LeaderJournal journal;

    /** @param first index of the last entry before the members met */
    JournalStateMachine(FileJournal file, long first, Roles roles) {
        this.file = file;
        taken = first;
        this.roles = roles;
    }

    /** The journal that hears of committed entries; null where another member leads. */
    void journal(@Nullable LeaderJournal leading) {
        journal = leading;
    }

    long taken() {
        return taken;
    }

    @Override
    public void initialize(RaftServer server, RaftGroupId group, RaftStorage raftStorage) throws IOException {
        super.initialize(server, group, raftStorage);
        storage.init(raftStorage);
        load();
    }

    /** A snapshot of the leader's has been put into the directory. */
    @Override
    public void reinitialize() throws IOException {
        load();
    }

    private void load() throws IOException {
        SingleFileSnapshotInfo snapshot = storage.loadLatestSnapshot();
        if (snapshot == null) {
            return;
        }
        try (DataInputStream in =
                new DataInputStream(Files.newInputStream(snapshot.getFile().getPath()))) {
            taken = in.readLong();
        }
        if (file.lastIndex() < taken) {
            throw new JournalException("this member's journal ends with entry " + file.lastIndex()
                    + ", but the members have dropped entries up to " + taken
                    + " from their log");
        }
        setLastAppliedTermIndex(snapshot.getTermIndex());
    }

    @Override
    public SimpleStateMachineStorage getStateMachineStorage() {
        return storage;
    }

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext context) {
        RaftProtos.LogEntryProto entry = context.getLogEntry();
        EntryBatch batch = EntryBatch.decode(entry.getStateMachineLogEntry().getLogData());
        boolean fits = batch.first() == taken + 1;
        if (fits) {
            for (int i = 0; i < batch.entries().size(); i++) {
                if (batch.first() + i > file.lastIndex()) {
                    roles.stored(
                            file.append(batch.entries().get(i)), batch.entries().get(i));
                }
            }
            taken = batch.last();
        }
        updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
        LeaderJournal leading = journal;
        if (fits && leading != null) {
            leading.committed(taken);
        }
        return CompletableFuture.completedFuture(Message.valueOf(fits ? TAKEN : REFUSED));
    }

    /** Makes the copy durable, so that the replicated log may drop what it has up to here. */
    @Override
    public long takeSnapshot() throws IOException {
        TermIndex at = getLastAppliedTermIndex();
        long last = taken;
        file.durable(last).join();
        File out = storage.getSnapshotFile(at.getTerm(), at.getIndex());
        try (DataOutputStream data = new DataOutputStream(Files.newOutputStream(out.toPath()))) {
            data.writeLong(last);
        }
        MD5Hash digest = MD5FileUtil.computeAndSaveMd5ForFile(out);
        storage.updateLatestSnapshot(new SingleFileSnapshotInfo(new FileInfo(out.toPath(), digest), at));
        return at.getIndex();
    }

    @Override
    public void notifyLeaderChanged(RaftGroupMemberId member, RaftPeerId leader) {
        roles.leader(member.getPeerId().equals(leader));
    }

    @Override
    public void notifyLeaderReady() {
        roles.ready(taken);
    }

    @Override
    public void notifyNotLeader(java.util.Collection<TransactionContext> pending) {
        roles.leader(false);
    }
}
