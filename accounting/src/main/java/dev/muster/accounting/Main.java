package dev.muster.accounting;

/** slurmdbd, as far as there is one: accounting lives in slurmctld in this version. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        System.err.println("slurmdbd: fatal: this version of Muster keeps its accounting inside slurmctld: there is no slurmdbd to start");
        System.exit(1);
    }
}
