package dev.muster.simulator;

/** Something that must never happen has happened. */
final class Violation extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** @param invariant its number or name */
    Violation(String invariant, String what) {
        super(invariant + ": " + what);
    }

    Violation(String invariant, Throwable cause) {
        super(invariant + ": " + cause, cause);
    }
}
