package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Signals;
import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.util.concurrent.LinkedBlockingQueue;

/** Ends slurmd, or makes it read its configuration, by signals and by orders of the controller. */
final class SlurmdLifecycle implements Slurmd.Owner {
    enum Order {
        STOP,
        READ_CONFIG
    }

    private final LinkedBlockingQueue<Order> orders = new LinkedBlockingQueue<>();

    SlurmdLifecycle(DaemonLog log) {
        Signals.on("TERM", this::stop);
        Signals.on("INT", this::stop);
        Signals.on("HUP", this::readConfig);
        Signals.on("USR2", () -> reopen(log));
    }

    private static void reopen(DaemonLog log) {
        try {
            log.reopen();
            log.info("log file reopened");
        } catch (IOException e) {
            log.error("cannot reopen the log file: " + ErrorSentence.reason(e));
        }
    }

    @Override
    public void readConfig() {
        orders.add(Order.READ_CONFIG);
    }

    @Override
    public void stop() {
        orders.add(Order.STOP);
    }

    /** The next order; several wishes to read the configuration are one, and an end outranks them. */
    Order await() {
        try {
            Order order = orders.take();
            boolean stop = order == Order.STOP || orders.contains(Order.STOP);
            orders.removeIf(o -> o == Order.READ_CONFIG);
            return stop ? Order.STOP : order;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Order.STOP;
        }
    }
}
