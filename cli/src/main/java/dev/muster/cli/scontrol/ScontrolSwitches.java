package dev.muster.cli.scontrol;

/** Switches of scontrol, which interactive commands may change. */
final class ScontrolSwitches {
    boolean all;
    boolean details;
    boolean oneLine;
    boolean quiet;
    boolean verbose;
    boolean future;
    String json = "";
    String parser = "";
}
