package dev.muster.cli;

import dev.muster.cli.command.ClientConf;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.Controller;
import dev.muster.cli.command.Host;
import dev.muster.cli.command.KnownCluster;
import dev.muster.cli.command.Output;
import dev.muster.cli.command.ResumableStep;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.Digits;
import dev.muster.transport.Frames;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A machine and a controller made of canned answers; keeps what was sent. */
public final class FakeHost implements Host {
    private final ClientConf settings = ClientConf.standard();
    List<String> mpiKinds = List.of();
    private final long beganNs = System.nanoTime();
    /** Else it is always the same moment. */
    boolean timeGoesOn;

    List<String> controllers = List.of("head");
    String accountingType = "accounting_storage/slurmdbd";
    /** 2026-11-21T09:46:20Z. */
    public static final long NOW = 1795254380L;

    int uid = 1000;
    public final Map<String, String> files = new HashMap<>();
    public final Map<String, Object> replies = new HashMap<>();
    public final List<String> calls = new ArrayList<>();
    public final Map<String, Json.Obj> sent = new HashMap<>();
    public final Map<String, String> env = new LinkedHashMap<>();
    final Map<String, Runnable> handlers = new HashMap<>();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Map<String, java.util.ArrayDeque<Frames>> streams = new HashMap<>();
    String stdin = "";

    public record Ran(int rc, String out, String err) {}

    public FakeHost reply(String message, String json) {
        replies.put(message, Json.object(json.getBytes(StandardCharsets.UTF_8)));
        return this;
    }

    public FakeHost refuse(String message, int errno, String sentence) {
        replies.put(message, new SlurmException(errno, sentence));
        return this;
    }

    private Optional<ResumableStep> resumable = Optional.empty();

    /** Sets the step that another process began. */
    void resumable(ResumableStep begun) {
        resumable = Optional.of(begun);
    }

    @Override
    public Optional<ResumableStep> resumable() {
        return resumable;
    }

    /**
     * Gives this stream to a caller of the address. Several for one address are given once each, the last again and
     * again.
     */
    synchronized void stream(String address, Frames frames) {
        streams.computeIfAbsent(address, a -> new java.util.ArrayDeque<>()).add(frames);
    }

    public Ran run(String commandLine) {
        List<String> words = new ArrayList<>(Texts.words(commandLine));
        return run(words.getFirst(), words.subList(1, words.size()));
    }

    public Ran run(String name, List<String> args) {
        CommandContext c = new CommandContext(
                name,
                name,
                args,
                env,
                this,
                new Output(out, false),
                new Output(err, true),
                new ByteArrayInputStream(stdin.getBytes(StandardCharsets.UTF_8)));
        int rc = CommandTable.run(c);
        ended();
        Ran ran = new Ran(rc, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
        out.reset();
        err.reset();
        return ran;
    }

    @Override
    public Controller controller() {
        return new Controller() {
            @Override
            public Json.Obj call(String message, Json.Obj request) throws SlurmException {
                Object reply = replied(message, request);
                return reply == null ? new Json.Obj() : (Json.Obj) reply;
            }

            @Override
            public byte[] bytes(String message, Json.Obj request) throws SlurmException {
                Object reply = replied(message, request);
                return reply instanceof java.util.Iterator<?> parts ? (byte[]) parts.next() : Json.print(reply);
            }
        };
    }

    /** What happens elsewhere while a request is under way. */
    final Map<String, java.util.function.Consumer<Json.Obj>> meanwhile = new HashMap<>();

    private final java.util.concurrent.Semaphore givenUp = new java.util.concurrent.Semaphore(0);

    @Override
    public void giveUp(Thread asking) {
        givenUp.release();
    }

    /** Waits as a request does until its command gives it up. */
    void awaitGivenUp() {
        givenUp.acquireUninterruptibly();
    }

    private Object replied(String message, Json.Obj request) throws SlurmException {
        calls.add(message);
        sent.put(message, Json.object(Json.print(request)));
        meanwhile.getOrDefault(message, q -> {}).accept(request);
        Object reply = replies.getOrDefault(turnedTo + " " + message, replies.get(message));
        if (reply instanceof SlurmException e) {
            throw e;
        }
        return reply;
    }

    private final Map<Class<?>, Object> perProcess = new HashMap<>();

    @Override
    public <T> T oncePerProcess(Class<T> type, Maker<T> maker) throws UsageException {
        if (!perProcess.containsKey(type)) {
            perProcess.put(type, maker.make());
        }
        return type.cast(perProcess.get(type));
    }

    /** Forgets what the last command loaded. */
    private void ended() {
        perProcess.clear();
        turnedTo = "";
    }

    /** Clusters that were turned to, one after the other. */
    public final List<String> turns = new ArrayList<>();

    private String turnedTo = "";

    @Override
    public void selectCluster(KnownCluster cluster) {
        turnedTo = cluster.name();
        turns.add(turnedTo);
    }

    @Override
    public String selectedCluster() {
        return turnedTo;
    }

    @Override
    public String workDir() {
        return "/work";
    }

    @Override
    public long nowMs() {
        return NOW * 1000 + (timeGoesOn ? (System.nanoTime() - beganNs) / 1_000_000 : 0);
    }

    @Override
    public ZoneId zone() {
        return ZoneOffset.UTC;
    }

    @Override
    public int uid() {
        return uid;
    }

    @Override
    public int gid() {
        return 1000;
    }

    @Override
    public int pid() {
        return 4242;
    }

    @Override
    public String home() {
        return "/home/user";
    }

    @Override
    public int umask() {
        return 022;
    }

    @Override
    public Map<String, Long> limits() {
        return new LinkedHashMap<>(Map.of("NOFILE", 1024L));
    }

    @Override
    public String hostName() {
        return "login";
    }

    @Override
    public String userName(int uid) {
        return uid == 0 ? "root" : uid == 1000 ? "ann" : "";
    }

    @Override
    public int userId(String nameOrId) {
        return nameOrId.equals("root") ? 0 : nameOrId.equals("ann") ? 1000 : (int) Digits.parseNumber(nameOrId);
    }

    @Override
    public String groupName(int gid) {
        return userName(gid);
    }

    @Override
    public int groupId(String nameOrId) {
        return userId(nameOrId);
    }

    @Override
    public byte[] readFile(String path, int maxBytes) throws IOException {
        if (!files.containsKey(path)) {
            throw new FileNotFoundException(path);
        }
        return files.get(path).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void writeFile(String path, byte[] content, int mode) {
        files.put(path, new String(content, StandardCharsets.UTF_8));
    }

    @Override
    public boolean isTty(int fd) {
        return false;
    }

    @Override
    public Controller accounting() {
        return controller();
    }

    @Override
    public List<String> mpiKinds() {
        return mpiKinds;
    }

    @Override
    public ClientConf settings() {
        return settings;
    }

    @Override
    public String accountingType() {
        return accountingType;
    }

    @Override
    public String accountingHost() {
        return "dbdhost";
    }

    /** Hosts of slurmdbd; the answer of the second to a message is that to the message with its number. */
    List<String> accountingHosts = List.of("dbdhost");

    @Override
    public List<String> accountingHosts() {
        return accountingHosts;
    }

    @Override
    public Json.Obj callAccounting(int index, String message, Json.Obj request) throws SlurmException {
        return accounting().call(index == 0 ? message : message + index, request);
    }

    @Override
    public int accountingPort() {
        return 6819;
    }

    @Override
    public void needsOwnProcess() {}

    @Override
    public boolean pause(long ms) {
        return true;
    }

    @Override
    public List<String> clusters() {
        return List.of(turnedTo.isEmpty() ? "test" : turnedTo);
    }

    @Override
    public String requestId() {
        return "00112233445566778899aabbccddeeff";
    }

    @Override
    public List<String> controllers() {
        return controllers;
    }

    /** Answers with the reply to {@code MESSAGE@INDEX}; without one it is as if that controller were away. */
    @Override
    public Json.Obj callController(int index, String message, Json.Obj request) throws SlurmException {
        if (controllers.size() > 1 && !replies.containsKey(message + "@" + index)) {
            throw new SlurmException(SlurmErrno.CTLD_CONNECT.number(), SlurmErrno.CTLD_CONNECT.sentence());
        }
        return controllers.size() > 1
                ? controller().call(message + "@" + index, request)
                : controller().call(message, request);
    }

    @Override
    public synchronized Frames openStream(String address, int port, String name) throws IOException {
        if (!streams.containsKey(address)) {
            throw new IOException("no stream to " + address);
        }
        return streams.get(address).size() > 1
                ? streams.get(address).poll()
                : streams.get(address).peek();
    }

    @Override
    public void onSignal(String name, Runnable handler) {
        handlers.put(name, handler);
    }
}
