package dev.muster.controller;

/** What launcher_test.sh runs in place of a daemon. */
public final class Main {
    private Main() {}

    public static void main(String[] args) throws Exception {
        String mode = args[args.length - 1];
        if (mode.equals("fail")) {
            System.err.println("slurmctld: fatal: no configuration");
            System.exit(3);
        }
        if (mode.equals("refuse")) {
            Native.daemonReady(4);
            return;
        }
        System.out.println(Native.isForeground() ? "foreground" : "background");
        Thread.sleep(300);
        Native.daemonReady(0);
        System.out.println("must not be seen unless in the foreground");
        Thread.sleep(mode.equals("short") ? 10 : 8_000);
    }
}
