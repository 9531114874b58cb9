package dev.muster.daemon;

import java.io.File;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Keeps this installation's command service running while a daemon of it does: starts it where nobody has, as an unprivileged
 * user, and again when it ends. The service lives as long as somebody is connected with the frame {@code D}.
 */
public final class CommandServiceKeeper {
    private static final int PAUSE_MS = 1000;
    private static final int START_WAIT_MS = 10_000;
    /** {@code u32 length, 'D'}: this connection is a daemon's. */
    private static final byte[] DAEMON_FRAME = {0, 0, 0, 1, 'D'};

    private final Path prefix;
    private final Path socket;
    private final String uid;
    private final String javaHome;
    private final List<String> options;
    private final DaemonLog log;

    private CommandServiceKeeper(Path prefix, TreeMap<String, String> conf, DaemonLog log) {
        this.prefix = prefix;
        this.socket = Path.of(conf.get("command_service").replace("%n", network()));
        this.uid = conf.getOrDefault("command_service_uid", "65534");
        this.javaHome = conf.getOrDefault("java_home", System.getProperty("java.home"));
        this.options = List.of(conf.getOrDefault("service_options", "").strip().split(" +"));
        this.log = log;
    }

    /** A number for this process's network: a service in another one cannot reach this one's controller. */
    private static String network() {
        try {
            return Files.getAttribute(Path.of("/proc/self/ns/net"), "unix:ino").toString();
        } catch (IOException e) {
            return "0";
        }
    }

    /** Keeps it on a thread of its own, if the installation has one configured. */
    public static void start(Optional<String> prefix, DaemonLog log) {
        if (prefix.isEmpty()) {
            return;
        }
        TreeMap<String, String> conf = new TreeMap<>();
        try {
            for (String line : Files.readAllLines(Path.of(prefix.get(), "lib/muster/launcher.conf"))) {
                int equals = line.indexOf('=');
                if (equals > 0) {
                    conf.put(line.substring(0, equals), line.substring(equals + 1));
                }
            }
        } catch (IOException e) {
            log.debug("no launcher.conf: " + e.getMessage());
        }
        if (conf.containsKey("command_service")) {
            CommandServiceKeeper keeper = new CommandServiceKeeper(Path.of(prefix.get()), conf, log);
            Thread.ofPlatform().daemon().name("command-service").start(keeper::keep);
        }
    }

    private void keep() {
        while (true) {
            try (SocketChannel channel = connect()) {
                channel.write(ByteBuffer.wrap(DAEMON_FRAME));
                ByteBuffer ignored = ByteBuffer.allocate(64);
                while (channel.read(ignored) >= 0) {
                    ignored.clear();
                }
            } catch (IOException e) {
                log.debug("command service: " + e.getMessage());
            }
            try {
                Thread.sleep(PAUSE_MS);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private SocketChannel connect() throws IOException {
        try {
            return SocketChannel.open(UnixDomainSocketAddress.of(socket));
        } catch (IOException e) {
            return startAndConnect();
        }
    }

    /** One daemon starts it, the others of the machine wait for it. */
    private SocketChannel startAndConnect() throws IOException {
        Path lockFile = socket.resolveSibling(socket.getFileName() + ".lock");
        try (FileChannel channel = FileChannel.open(lockFile, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            FileLock lock = channel.tryLock();
            if (lock != null) {
                spawn();
            }
            long endNs = System.nanoTime() + START_WAIT_MS * 1_000_000L;
            while (true) {
                try {
                    return SocketChannel.open(UnixDomainSocketAddress.of(socket));
                } catch (IOException e) {
                    if (System.nanoTime() > endNs) {
                        throw e;
                    }
                }
                Thread.sleep(100);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private void spawn() throws IOException {
        List<String> command = new ArrayList<>();
        if (ProcessHandle.current().info().user().orElse("").equals("root")) {
            command.addAll(List.of("setpriv", "--reuid=" + uid, "--regid=" + uid, "--clear-groups", "--no-new-privs"));
        }
        StringBuilder classPath = new StringBuilder();
        File[] jars = prefix.resolve("lib/muster/jars/cli").toFile().listFiles((d, n) -> n.endsWith(".jar"));
        if (jars == null) {
            throw new IOException("no commands in " + prefix);
        }
        java.util.Arrays.sort(jars);
        for (File jar : jars) {
            classPath.append(classPath.isEmpty() ? "" : ":").append(jar);
        }
        command.addAll(List.of(javaHome + "/bin/java", "-XX:+UseSerialGC", "-Xms32m", "-Xmx512m", "-Xss512k", "-XX:-UsePerfData",
                "-XX:TieredStopAtLevel=1", "-Xlog:disable"));
        File cache = prefix.resolve("lib/muster/service.aot").toFile();
        if (cache.canRead()) {
            command.addAll(List.of("-XX:AOTCache=" + cache, "-XX:AOTMode=auto"));
        }
        options.stream().filter(o -> !o.isEmpty()).forEach(command::add);
        command.addAll(List.of("-Dmuster.prefix=" + prefix, "-cp", classPath.toString(), "dev.muster.cli.CommandService", socket.toString()));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
                .directory(new File("/"));
        builder.environment().clear();
        builder.environment().put("PATH", "/usr/bin:/bin:/usr/sbin:/sbin");
        builder.start();
        log.verbose("command service started");
    }
}
