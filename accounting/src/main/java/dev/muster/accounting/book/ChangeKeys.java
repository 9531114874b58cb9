package dev.muster.accounting.book;

/** Settings of changes that are no limits. */
final class ChangeKeys {
    /** The key of an account's flags, which are a property of the account and not a limit. */
    static final String FLAGS = "Flags";
    /** A setting of a new user: without an association, which other requests add. */
    static final String ALONE = "alone";
    /** The setting that resets usage. */
    static final String USAGE = "rawusage";

    private ChangeKeys() {}
}
