package dev.muster.controller.ha;

import dev.muster.config.Controller;
import dev.muster.config.SlurmConf;
import dev.muster.config.key.Key;
import dev.muster.journal.JournalException;
import dev.muster.journal.JournalGroup;
import dev.muster.model.Release;
import dev.muster.model.api.ClusterMessages.JournalMember;
import dev.muster.model.api.ClusterMessages.PingReply;
import java.util.List;
import java.util.Optional;

/**
 * This slurmctld among the controllers of slurm.conf.
 *
 * @param self index of its SlurmctldHost
 * @param group keeps the journal; empty where this controller has it alone
 */
public record Membership(int self, Optional<JournalGroup> group) {
    /** A controller that has its journal alone. */
    public static final Membership ALONE = new Membership(0, Optional.empty());

    /** Returns the address that slurmctld binds its port to; "" for all. */
    public String boundAddress(SlurmConf conf) {
        return conf.has(Key.COMMUNICATION_PARAMETERS, "NoCtldInAddrAny")
                ? conf.controllers()
                        .get(Math.min(self, conf.controllers().size() - 1))
                        .address()
                : "";
    }

    /** @param bootTime of this process, in seconds since 1970 */
    public PingReply ping(SlurmConf conf, long bootTime) {
        List<Controller> all = conf.controllers();
        return new PingReply(
                conf.clusterName(),
                self < all.size() ? all.get(self).host() : "",
                PingReply.mode(self, all.size()),
                true,
                Release.VERSION,
                bootTime,
                group.map(g -> member(g, all)).orElse(JournalMember.ALONE));
    }

    /** Returns the answer of a controller that does not serve: where it has just been elected, it is about to. */
    public PingReply standing(SlurmConf conf, long bootTime) {
        PingReply reply = ping(conf, bootTime);
        JournalMember m = reply.member();
        return new PingReply(
                reply.cluster(),
                reply.host(),
                reply.mode(),
                reply.up(),
                reply.version(),
                reply.bootTime(),
                new JournalMember(false, m.leads() ? "" : m.leader(), m.term(), m.committed(), m.directory()));
    }

    private static JournalMember member(JournalGroup group, List<Controller> all) {
        try {
            JournalGroup.Status status = group.status();
            String leader = status.leader()
                    .filter(i -> i < all.size())
                    .map(i -> all.get(i).host())
                    .orElse("");
            return new JournalMember(status.leads(), leader, status.term(), status.committed(), group.directoryId());
        } catch (JournalException e) {
            // it waits for the others at its first start
            return new JournalMember(false, "", 0, 0, "");
        }
    }

    /** Returns whether all controllers read and write one StateSaveLocation. */
    public boolean sharesDirectory() {
        return group.filter(g -> !g.directoryId().isEmpty()).isPresent();
    }

    /**
     * Begins to let another controller lead: whether it does shows its answer to a ping.
     *
     * @return why that cannot be, "" if it has begun
     */
    public String takeover(SlurmConf conf, int index, java.util.function.Consumer<String> log) {
        if (group.isEmpty()) {
            return "no backup controller is configured";
        }
        if (index < 0 || index >= conf.controllers().size()) {
            return "invalid backup controller index (" + index + ")";
        }
        String host = conf.controllers().get(index).host();
        Thread.ofVirtual()
                .name("takeover")
                .start(() -> group.get()
                        .transfer(index)
                        .ifPresent(reason -> log.accept(host + " does not take over: " + reason)));
        return "";
    }
}
