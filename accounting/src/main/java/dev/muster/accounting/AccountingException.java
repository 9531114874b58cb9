package dev.muster.accounting;

/** The database refuses or fails. Nothing is lost by it: the journal keeps what is not projected yet. */
public final class AccountingException extends RuntimeException {
    public AccountingException(String sentence, Throwable cause) {
        super(sentence, cause);
    }
}
