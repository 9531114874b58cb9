package dev.muster.accounting.db;

import dev.muster.daemon.Requests;
import org.jspecify.annotations.Nullable;

/** The database refuses or fails. Nothing is lost by it: the journal keeps what is not projected yet. */
public final class AccountingException extends Requests.UnavailableException {
    private final int errno;

    /**
     * slurmdbd's answer is no.
     *
     * @param errno as in {@link dev.muster.model.SlurmErrno}
     */
    public AccountingException(int errno, String sentence) {
        super(sentence, null);
        this.errno = errno;
    }

    /** 0 unless the question itself was refused. */
    public int errno() {
        return errno;
    }

    public AccountingException(String sentence, @Nullable Throwable cause) {
        super(sentence, cause);
        this.errno = 0;
    }
}
