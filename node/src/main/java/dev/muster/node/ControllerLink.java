package dev.muster.node;

import dev.muster.daemon.DaemonLog;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages.Ack;
import dev.muster.model.node.NodeMessages.Heartbeat;
import dev.muster.model.node.NodeMessages.Refused;
import dev.muster.model.node.NodeMessages.Register;
import dev.muster.model.node.NodeMessages.ToController;
import dev.muster.model.node.NodeMessages.ToNode;
import dev.muster.model.node.NodeMessages.Welcome;
import dev.muster.node.config.Settings;
import dev.muster.node.job.UnacknowledgedReports;
import dev.muster.node.os.EventLoop;
import dev.muster.node.os.UnexpectedErrors;
import dev.muster.transport.Client;
import dev.muster.transport.Frames;
import dev.muster.transport.Server;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The one connection to the controller: registers, hears orders, sends reports; comes back for ever. */
public final class ControllerLink implements AutoCloseable {
    static final long RETRY_FIRST_MS = 200;
    static final long RETRY_MOST_MS = 5_000;
    static final int HEARTBEAT_SECONDS_DEFAULT = 5;
    /** Most messages in one write. */
    private static final int TOGETHER_MAX = 64;

    private static final ToController END = new Heartbeat(-1, -1);

    private final Settings settings;
    private final DaemonLog log;
    private final EventLoop loop;
    private final UnacknowledgedReports reports;
    private final ClientSource clients;
    private final Supplier<Register> register;
    private final Supplier<Heartbeat> heartbeat;
    private volatile boolean closed;
    private volatile @Nullable Frames current;
    private volatile boolean connected;
    private volatile Queue<ToController> answers = new LinkedBlockingQueue<>();
    /** Ends a pause before the next try. */
    private final Semaphore tries = new Semaphore(0);
    /** Address of the controller that said last that it leads; "" for none. */
    private volatile String leader = "";

    private long leaderTerm;

    public interface ClientSource {
        Client open(String host, int port);
    }

    public ControllerLink(
            Settings settings,
            DaemonLog log,
            EventLoop loop,
            UnacknowledgedReports reports,
            ClientSource clients,
            Supplier<Register> register,
            Supplier<Heartbeat> heartbeat) {
        this.settings = settings;
        this.log = log;
        this.loop = loop;
        this.reports = reports;
        this.clients = clients;
        this.register = register;
        this.heartbeat = heartbeat;
    }

    /** @param orders carries out an order, on the node's thread */
    public void start(Consumer<ToNode> orders) {
        Thread.ofVirtual().name("controller-link").start(() -> run(orders));
    }

    private void run(Consumer<ToNode> orders) {
        long retryMs = RETRY_FIRST_MS;
        Map<Settings.Address, String> errors = new HashMap<>();
        while (!closed) {
            for (Settings.Address address : leaderFirst()) {
                try {
                    if (serve(address, orders)) {
                        retryMs = RETRY_FIRST_MS;
                        errors.clear();
                    }
                } catch (Client.StandbyException e) {
                    log.verbose(ErrorSentence.reason(e));
                } catch (IOException | RuntimeException e) {
                    String error = "Unable to register with slurm controller " + address.host() + ":" + address.port()
                            + ": " + reason(e);
                    if (!closed && !error.equals(errors.put(address, error))) {
                        log.error(error);
                    }
                }
            }
            if (!pause(retryMs)) {
                return;
            }
            retryMs = Math.min(retryMs * 2, RETRY_MOST_MS);
        }
    }

    private static String reason(Exception e) {
        return switch (e) {
            case IOException io -> ErrorSentence.reason(io);
            case Json.MalformedException malformed -> ErrorSentence.of(malformed);
            default -> UnexpectedErrors.described(e);
        };
    }

    private List<Settings.Address> leaderFirst() {
        List<Settings.Address> addresses = new ArrayList<>(settings.controllers());
        addresses.sort(Comparator.comparing(address -> !address.host().equals(leader)));
        return addresses;
    }

    /** Leaves the controller where this node is registered for the one that leads by now. */
    void follow(String address, long term) {
        synchronized (this) {
            if (term <= leaderTerm) {
                return;
            }
            leaderTerm = term;
            leader = address;
        }
        log.info("controller " + address + " leads in term " + term);
        again();
        tries.release();
    }

    private boolean pause(long ms) {
        try {
            if (tries.tryAcquire(ms, TimeUnit.MILLISECONDS)) {
                tries.drainPermits();
            }
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    /** Serves one connection to its end. True if the controller had accepted the registration. */
    private boolean serve(Settings.Address address, Consumer<ToNode> orders) throws IOException {
        boolean welcome = false;
        BlockingQueue<ToController> queue = new LinkedBlockingQueue<>();
        try (Client client = clients.open(address.host(), address.port());
                Frames frames = client.stream(Server.streamPath("node"), "muster-node")) {
            current = frames;
            frames.send(Codec.encode(loop.ask(register), ToController.class));
            while (!closed) {
                ToNode order = Codec.decode(frames.receive(), ToNode.class);
                switch (order) {
                    case Welcome w -> {
                        welcome = true;
                        connected = true;
                        log.info("registered at " + address.host() + ":" + address.port());
                        int seconds = w.heartbeatSeconds() > 0 ? w.heartbeatSeconds() : HEARTBEAT_SECONDS_DEFAULT;
                        EventLoop.aside(() -> write(frames, queue, seconds));
                        answers = queue;
                        loop.post(() -> reports.connect(queue::add));
                        loop.post(() -> orders.accept(w));
                    }
                    case Refused r -> {
                        log.error("registration refused: " + r.error());
                        closed |= r.forGood();
                        return welcome;
                    }
                    case Ack a -> loop.post(() -> reports.acknowledge(a.seq()));
                    default -> loop.post(() -> orders.accept(order));
                }
            }
        } catch (java.io.EOFException e) {
            log.verbose("the controller closed the connection");
        } finally {
            connected = false;
            answers = new LinkedBlockingQueue<>();
            loop.post(reports::disconnect);
            queue.add(END);
        }
        return welcome;
    }

    /** Tells the controller that is connected now; what it does not hear it does without. */
    public void tell(ToController message) {
        answers.add(message);
    }

    /** The controller has taken the registration, and the connection stands as far as is known here. */
    public boolean isConnected() {
        return connected;
    }

    /** Registers anew. */
    void again() {
        Frames frames = current;
        if (frames != null) {
            frames.close();
        }
    }

    private void write(Frames frames, BlockingQueue<ToController> queue, int heartbeatSeconds) {
        List<ToController> taken = new ArrayList<>();
        List<byte[]> together = new ArrayList<>();
        try {
            while (true) {
                ToController next = queue.poll(heartbeatSeconds, TimeUnit.SECONDS);
                taken.add(next == null ? heartbeat.get() : next);
                queue.drainTo(taken, TOGETHER_MAX - 1);
                int end = taken.indexOf(END);
                for (ToController one : end < 0 ? taken : taken.subList(0, end)) {
                    together.add(Codec.encode(one, ToController.class));
                }
                frames.sendAll(together);
                if (end >= 0) {
                    return;
                }
                together.clear();
                taken.clear();
            }
        } catch (IOException e) {
            frames.close();
        } catch (RuntimeException e) {
            UnexpectedErrors.report(e);
            frames.close(); // a link that says nothing more would make the node DOWN: the next one may do better
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closed = true;
        Frames frames = current;
        if (frames != null) {
            frames.close();
        }
    }
}
