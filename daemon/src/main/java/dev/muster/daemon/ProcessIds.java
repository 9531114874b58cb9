package dev.muster.daemon;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** User and groups of this process, and other ones for good. The C library changes the ids of all threads. */
public final class ProcessIds {
    private ProcessIds() {}

    private static int status(String key) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith(key + ":")) {
                    return Integer.parseInt(
                            line.substring(key.length() + 1).strip().split("\\s+")[1]);
                }
            }
        } catch (IOException | NumberFormatException e) {
            return -1;
        }
        return -1;
    }

    /** The effective user. */
    public static int uid() {
        return status("Uid");
    }

    /** The effective group. */
    public static int gid() {
        return status("Gid");
    }

    /**
     * The supplementary groups of a user, and the group itself.
     *
     * @param user by name; empty for no supplementary groups at all
     * @throws IOException with the system's words
     */
    public static void setGroups(Optional<String> user, int gid) throws IOException {
        check(() -> Native.setGroups(
                user.map(u -> u.getBytes(StandardCharsets.UTF_8)).orElse(null), gid));
    }

    /** @throws IOException with the system's words */
    public static void setGid(int gid) throws IOException {
        check(() -> Native.setGid(gid));
    }

    /**
     * Irrevocably, unless to root.
     *
     * @throws IOException with the system's words
     */
    public static void setUid(int uid) throws IOException {
        check(() -> Native.setUid(uid));
    }

    /**
     * After a change: core files are written and /proc/PID is the user's, as where that user started it.
     *
     * @throws IOException with the system's words
     */
    public static void openToUser() throws IOException {
        check(Native::openProcess);
    }

    private interface Call {
        int errno();
    }

    private static void check(Call call) throws IOException {
        int errno;
        try {
            errno = call.errno();
        } catch (UnsatisfiedLinkError e) {
            throw new IOException("not started by the launcher", e);
        }
        if (errno != 0) {
            throw new IOException(words(errno));
        }
    }

    /** The system's words for an error number. */
    static String words(int errno) {
        return switch (errno) {
            case 1 -> "Operation not permitted";
            case 2 -> "No such file or directory";
            case 11 -> "Resource temporarily unavailable";
            case 12 -> "Cannot allocate memory";
            case 13 -> "Permission denied";
            case 20 -> "Not a directory";
            case 22 -> "Invalid argument";
            case 30 -> "Read-only file system";
            default -> "error " + errno;
        };
    }
}
