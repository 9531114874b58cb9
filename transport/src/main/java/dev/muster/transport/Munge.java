package dev.muster.transport;

import dev.muster.model.format.Digits;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** MUNGE through its two programs: works with every version and loads no native library into a daemon. */
public final class Munge {
    static final int TIMEOUT_S = 10;
    private final String socket;

    /** @param socket of munged; "" for munge's own default */
    public Munge(String socket) {
        this.socket = socket;
    }

    public record Decoded(int uid, int gid, byte[] payload) {}

    /**
     * A session vouched for by munged: the credential carries the session's key and only the given uid (or root) may
     * open it; -1 for every user.
     */
    public Optional<Session> session(byte[] key, int daemonUid) {
        List<String> command = new ArrayList<>(List.of("munge", "--string=" + Hash.hex(key)));
        if (daemonUid >= 0) {
            command.add("--restrict-uid=" + daemonUid);
        }
        return run(command, new byte[0])
                .map(out -> new Session("munge." + new String(out, StandardCharsets.US_ASCII).trim(), key));
    }

    /** Opens a credential; empty if munged refuses it (expired, replayed, not for this daemon). */
    public Optional<Decoded> decode(String credential) {
        return run(new ArrayList<>(List.of("unmunge", "--numeric")), credential.getBytes(StandardCharsets.US_ASCII))
                .flatMap(Munge::parse);
    }

    static Optional<Decoded> parse(byte[] out) {
        String text = new String(out, StandardCharsets.UTF_8);
        int blank = text.indexOf("\n\n");
        if (blank < 0) {
            return Optional.empty();
        }
        int uid = -1;
        int gid = -1;
        for (String line : text.substring(0, blank).split("\n")) {
            if (line.startsWith("UID:")) {
                uid = number(line);
            } else if (line.startsWith("GID:")) {
                gid = number(line);
            }
        }
        try {
            byte[] key = Session.unhex(text.substring(blank + 2).trim());
            return uid < 0 || gid < 0 || key.length < 16 ? Optional.empty() : Optional.of(new Decoded(uid, gid, key));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** The number of a line {@code UID: name (0)} or {@code UID: 0}. */
    private static int number(String line) {
        int open = line.lastIndexOf('(');
        String number = open < 0
                ? line.substring(line.indexOf(':') + 1)
                : line.substring(open + 1).replaceFirst("\\)\\s*$", "");
        return Digits.only(number.trim(), 10) && Long.parseLong(number.trim()) <= Integer.MAX_VALUE
                ? Integer.parseInt(number.trim())
                : -1;
    }

    private Optional<byte[]> run(List<String> command, byte[] input) {
        if (!socket.isEmpty()) {
            command.add("--socket=" + socket);
        }
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try (OutputStream to = process.getOutputStream()) {
                to.write(input);
            }
            byte[] out;
            try (InputStream from = process.getInputStream()) {
                out = from.readAllBytes();
            }
            boolean ended = process.waitFor(TIMEOUT_S, TimeUnit.SECONDS);
            return ended && process.exitValue() == 0 ? Optional.of(out) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
