package dev.muster.controller.accounting;

import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import dev.muster.model.accounting.AccountingRows;
import java.util.List;

/** AccountingStorageType is none: nothing is kept. */
public final class NoAccounting implements Accounting {
    @Override
    public void follow(long index, Entry entry, State after) {}

    @Override
    public AccountingRows.Answer query(AccountingRows.Query query, long index) {
        return new AccountingRows.Answer(System.currentTimeMillis() / 1000, "", List.of());
    }

    @Override
    public long projected() {
        return Long.MAX_VALUE;
    }

    @Override
    public void close() {}

    @Override
    public void begin(long index, State state) {}

    @Override
    public boolean settle(long index, long waitMs) {
        return true;
    }

    @Override
    public boolean overloaded() {
        return false;
    }
}
