package dev.muster.journal;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * The members that keep one journal together; one of them, the leader, appends. In the room raft each member has every
 * committed entry in a {@link FileJournal} of its own, and an entry is committed, and by that durable, once most
 * members have stored it. In a {@link SharedDirectoryGroup} all read the same files.
 */
public interface JournalGroup extends AutoCloseable {

    /** Tells a member its role. All calls but {@link #committed} come on one thread, in order. */
    interface Roles {
        /**
         * This member leads. The journal holds every committed entry. It takes more until another member leads; then it
         * fails, its uncommitted entries are dropped, and {@link #follows} is called.
         *
         * @param term grows with each leader
         */
        void leads(long term, Journal journal);

        /** This member does not lead, or does not any more. Every journal of {@link #leads} has failed. */
        void follows();

        /**
         * An entry is committed and in this member's file. Called in order for each entry after those that the file had
         * when the member joined; {@link #leads} comes after the last entry that its journal begins with.
         */
        void committed(long index, byte[] entry);

        /** This member may not join: it lacks entries that no other member has, or the others are another cluster. */
        void refused(String sentence);
    }

    /**
     * A member.
     *
     * @param name of the host, as SlurmctldHost has it
     * @param port of the members' connections
     */
    record Member(String name, String address, int port) {}

    /**
     * How to join.
     *
     * @param directory for the replicated log
     * @param file holds the committed entries of this member; closed by its owner. Where the members meet for the first
     *     time, it has the same entries on all of them
     * @param journalId the same on all members
     * @param self index of this member
     * @param secret shared by the members, at least 32 bytes: connections are encrypted and both ends prove that they
     *     know it
     * @param log receives sentences for the daemon's log
     */
    record Options(
            Path directory,
            FileJournal file,
            UUID journalId,
            String cluster,
            List<Member> members,
            int self,
            byte[] secret,
            Consumer<String> log) {}

    /**
     * State of the group as one member sees it.
     *
     * @param leader index of the leading member; empty while there is none
     * @param committed index of the last committed entry that this member has; 0 where all read the same files
     */
    record Status(long term, Optional<Integer> leader, boolean leads, long committed) {}

    Status status();

    /** Returns the id of the directory that all members share; "" where each has one of its own. */
    default String directoryId() {
        return "";
    }

    /**
     * Asks another member to lead.
     *
     * @return empty, or the reason why it did not
     */
    Optional<String> transfer(int member);

    /** Leaves the other members. A leader's journal fails. */
    @Override
    void close();

    /** Joins members; found by the service loader. */
    interface Provider {
        /** @throws JournalException if the directory cannot be used or the port is taken */
        JournalGroup join(Options options, Roles roles);
    }
}
