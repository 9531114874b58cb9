package dev.muster.raft;

import dev.muster.journal.JournalGroup;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.retry.RetryPolicies;
import org.apache.ratis.util.TimeDuration;

/**
 * The first start of a member. A member without a log may have lost one, and with it entries that the others count on:
 * if it voted, a member without those entries could lead. It therefore votes only once each other member has answered
 * that it has no log either, or one that was begun a moment ago.
 */
final class GroupBootstrap {
    /** Log index up to which the others count as just formed: this member was asked before they began. */
    private static final long YOUNG_INDEX = 100;

    private static final int ASK_MS = 1000;
    private static final int PAUSE_MS = 200;

    private final JournalGroup.Options options;
    private final RaftGroup group;
    private final RaftProperties properties = new RaftProperties();
    private final Parameters parameters;

    GroupBootstrap(JournalGroup.Options options, RaftGroup group, Parameters parameters) {
        this.options = options;
        this.group = group;
        this.parameters = parameters;
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties, TimeDuration.valueOf(ASK_MS, TimeUnit.MILLISECONDS));
    }

    /**
     * Asks the other members until all have answered.
     *
     * @param closed ends the wait
     * @return empty if this member may join, else why it may not
     * @throws InterruptedException while it waits
     */
    Optional<String> refusal(BooleanSupplier closed) throws InterruptedException {
        RaftPeerId self = RaftMember.id(options.self());
        for (RaftPeer peer : group.getPeers()) {
            while (!peer.getId().equals(self)) {
                if (closed.getAsBoolean()) {
                    return Optional.of("this controller stops before the others were there");
                }
                try {
                    Optional<String> refusal = answerOf(peer);
                    if (refusal.isPresent()) {
                        return refusal;
                    }
                    break;
                } catch (IOException | RuntimeException e) { // the library throws gRPC's own as well
                    TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
                }
            }
        }
        return Optional.empty();
    }

    private Optional<String> answerOf(RaftPeer peer) throws IOException {
        try (RaftClient client = RaftClient.newBuilder()
                .setProperties(properties)
                .setParameters(parameters)
                .setRaftGroup(group)
                .setRetryPolicy(RetryPolicies.noRetry())
                .build()) {
            List<RaftGroupId> groups =
                    client.getGroupManagementApi(peer.getId()).list().getGroupIds();
            if (groups.isEmpty()) {
                return Optional.empty();
            }
            if (!groups.contains(group.getGroupId())) {
                return Optional.of("controller " + name(peer) + " has another journal: it belongs to another cluster, "
                        + "or StateSaveLocation of the controllers had different contents when they first met");
            }
            RaftProtos.LogInfoProto log = client.getGroupManagementApi(peer.getId())
                    .info(group.getGroupId())
                    .getLogInfoProto();
            return log.getLastEntry().getIndex() <= YOUNG_INDEX
                    ? Optional.empty()
                    : Optional.of("controller " + name(peer) + " has a journal, and StateSaveLocation here has none: "
                            + "what this controller had acknowledged is lost with it, so it may not vote");
        }
    }

    private String name(RaftPeer peer) {
        return options.members()
                .get(Integer.parseInt(peer.getId().toString().substring(1)))
                .name();
    }
}
