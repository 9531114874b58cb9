package dev.muster.node.os;

import dev.muster.node.Native;
import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Small questions to the operating system, through the launcher where there is one, else by slower ways. */
public final class Os {
    /** Field of /proc/PID/stat, counted behind the name. */
    private static final int NICE_FIELD = 16;

    static final int SIGNAL_HUP = 1;
    public static final int SIGNAL_KILL = 9;
    public static final int SIGNAL_TERM = 15;
    public static final int SIGNAL_CONT = 18;
    public static final int SIGNAL_STOP = 19;
    public static final int SIGNAL_TSTP = 20;

    private Os() {}

    /** This machine's own name. */
    public static String hostName() {
        String name =
                read(Path.of("/proc/sys/kernel/hostname")).map(String::trim).orElse("");
        try {
            return name.isEmpty() ? InetAddress.getLocalHost().getHostName() : name;
        } catch (UnknownHostException e) {
            return "localhost";
        }
    }

    public record Outcome(int exitCode, String output) {}

    /** Runs a program with an empty environment to its end. */
    public static Outcome run(List<String> argv) throws IOException {
        if (Native.isLinked()) {
            byte[][] raw =
                    argv.stream().map(a -> a.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
            byte[] answer = Native.run(raw);
            return new Outcome(answer[0] & 0xff, new String(answer, 1, answer.length - 1, StandardCharsets.UTF_8));
        }
        ProcessBuilder builder = new ProcessBuilder(argv).redirectErrorStream(true);
        builder.environment().clear();
        Process process = builder.start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        try {
            return new Outcome(process.waitFor(), output);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    public static void kill(long pid, int signal) {
        if (Native.isLinked()) {
            Native.kill((int) pid, signal);
            return;
        }
        try {
            run(List.of("/bin/kill", "-" + signal, Long.toString(pid)));
        } catch (IOException e) {
            // the process is gone, or cannot be reached by anybody
        }
    }

    public static boolean isAlive(long pid) {
        Optional<String> stat = read(Path.of("/proc/" + pid + "/stat"));
        return stat.isPresent()
                && !stateOf(stat.get()).equals("Z")
                && !stateOf(stat.get()).equals("X");
    }

    static String stateOf(String stat) {
        int end = stat.lastIndexOf(')');
        return end < 0 || end + 3 > stat.length() ? "X" : stat.substring(end + 2, end + 3);
    }

    /** The fields of /proc/PID/stat after the name: state, parent, group, session, … */
    public static String[] statFields(String stat) {
        int end = stat.lastIndexOf(')');
        return end < 0 || end + 2 >= stat.length()
                ? new String[0]
                : stat.substring(end + 2).trim().split(" ");
    }

    /** This process's nice value. */
    public static int nice() {
        String[] fields = statFields(read(Path.of("/proc/self/stat")).orElse(""));
        return fields.length > NICE_FIELD ? Integer.parseInt(fields[NICE_FIELD]) : 0;
    }

    public static List<Long> processes() {
        List<Long> pids = new ArrayList<>();
        String[] names = Path.of("/proc").toFile().list();
        for (String name : names == null ? new String[0] : names) {
            if (!name.isEmpty() && name.chars().allMatch(Character::isDigit)) {
                pids.add(Long.parseLong(name));
            }
        }
        return pids;
    }

    public static int uid() {
        return Native.isLinked() ? Native.uid() : ownId("Uid:");
    }

    public static int gid() {
        return Native.isLinked() ? Native.gid() : ownId("Gid:");
    }

    private static int ownId(String field) {
        return read(Path.of("/proc/self/status")).stream()
                .flatMap(String::lines)
                .filter(l -> l.startsWith(field))
                .map(l -> Integer.parseInt(l.substring(field.length()).trim().split("\\s+")[0]))
                .findFirst()
                .orElse(-1);
    }

    public static void own(Path path, int uid, int gid) throws IOException {
        if (uid() != 0) {
            return;
        }
        if (Native.isLinked()) {
            int error = Native.lchown(path.toString().getBytes(StandardCharsets.UTF_8), uid, gid);
            if (error != 0) {
                throw new IOException("chown " + path + ": errno " + error);
            }
            return;
        }
        Files.setAttribute(path, "unix:uid", uid, LinkOption.NOFOLLOW_LINKS);
        Files.setAttribute(path, "unix:gid", gid, LinkOption.NOFOLLOW_LINKS);
    }

    /** A small file of /proc or /sys; empty if it cannot be read. */
    public static Optional<String> read(Path path) {
        try {
            return Optional.of(Files.readString(path, StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Whether the file says another boot than this one, or is not there; it says this one from now on. */
    public static boolean isFirstOf(String boot, Path file) {
        boolean first = !read(file).map(String::trim).orElse("").equals(boot);
        if (first) {
            try {
                Files.writeString(file, boot + "\n");
            } catch (IOException e) {
                return true; // as good as unknown
            }
        }
        return first;
    }

    public static String bootId() {
        return read(Path.of("/proc/sys/kernel/random/boot_id"))
                .map(String::trim)
                .orElse("unknown");
    }
}
