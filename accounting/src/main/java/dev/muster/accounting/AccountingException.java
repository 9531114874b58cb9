package dev.muster.accounting;

import dev.muster.daemon.Requests;

/** The database refuses or fails. Nothing is lost by it: the journal keeps what is not projected yet. */
public final class AccountingException extends Requests.UnavailableException {
    public AccountingException(String sentence, Throwable cause) {
        super(sentence, cause);
    }
}
