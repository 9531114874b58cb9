package dev.muster.controller.accounting;

import dev.muster.controller.engine.HighestIds;
import dev.muster.controller.engine.Recovery;
import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import dev.muster.model.accounting.AccountingRows;
import java.util.Optional;

/** Accounts for durable entries. */
public interface Accounting extends Recovery.Follower {
    /** Follows every durable entry, in order. index: of the entry in the journal. */
    @Override
    void follow(long index, Entry entry, State after);

    /** Returns the rows as of the given journal index at least. */
    AccountingRows.Answer query(AccountingRows.Query query, long index);

    /** Returns the answer of {@link #query}, as its bytes; empty if the answer is made of records. */
    default Optional<byte[]> written(AccountingRows.Query query, long index) {
        return Optional.empty();
    }

    /** Sets the source of the reasons why jobs wait. */
    default void queue(WaitReasons.Queue queue) {}

    /** Returns the last index with stored rows; the journal must keep what comes after. */
    long projected();

    /**
     * Returns the highest numbers in the tables, for a journal that has lost its newest part; {@link HighestIds#NONE}
     * if the tables are not ahead of the journal.
     */
    default HighestIds highest() {
        return HighestIds.NONE;
    }

    void close();

    /** Begins to follow at the snapshot's index and state. */
    @Override
    void begin(long index, State state);

    /** Waits until rows up to the index are stored; false if they are not in time. */
    boolean settle(long index, long waitMs);

    /** Tests whether the tables are so far behind that no new job should be accepted. */
    boolean overloaded();

    /** Tests whether rows are thrown away before that. */
    default boolean discards() {
        return false;
    }
}
