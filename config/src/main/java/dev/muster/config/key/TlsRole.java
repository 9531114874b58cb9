package dev.muster.config.key;

/** Daemons with a certificate of their own. */
public enum TlsRole {
    CTLD,
    DBD,
    RESTD,
    SACKD,
    SLURMD
}
