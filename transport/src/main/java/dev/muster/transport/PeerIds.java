package dev.muster.transport;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.security.Principal;
import jdk.net.ExtendedSocketOptions;
import jdk.net.UnixDomainPrincipal;

/**
 * User and group of the process at the other end of a Unix socket, as the numbers that the kernel has for it. It has no
 * names: a user with a name of digits only would be taken for the user of that number.
 *
 * <p>The class library shows a principal's name only, which it looked up. Its hash code is the number; {@link #check}
 * compares that with numbers that are known otherwise, and a class library that has it differently is refused rather
 * than believed.
 */
public record PeerIds(int uid, int gid) {
    private static final boolean NUMBERS = check();

    /** @throws IOException if the kernel says nothing of the other end */
    public static PeerIds of(SocketChannel channel) throws IOException {
        UnixDomainPrincipal peer = channel.getOption(ExtendedSocketOptions.SO_PEERCRED);
        if (!NUMBERS) {
            throw new IOException("this Java machine has no numbers of principals");
        }
        return new PeerIds(number(peer.user()), number(peer.group()));
    }

    private static int number(Principal of) {
        return of.hashCode();
    }

    private static boolean check() {
        return hasNumbers(Path.of("/proc/self")) && hasNumbers(Path.of("/"));
    }

    /** Whether the principals of a file's owner and group carry the numbers that the file has. */
    static boolean hasNumbers(Path file) {
        try {
            PosixFileAttributes attributes = Files.readAttributes(file, PosixFileAttributes.class);
            return Files.getAttribute(file, "unix:uid").equals(number(attributes.owner()))
                    && Files.getAttribute(file, "unix:gid").equals(number(attributes.group()));
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }
}
