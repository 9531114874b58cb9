package dev.muster.transport;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

/**
 * SHA-256 and HMAC over it. Long contents go through {@link MessageDigest}, short ones do not: asking the JDK for a
 * digest for the first time costs a command 6 of its 16 milliseconds of Java, and the JDK's Mac 20. A process that
 * needs thousands calls {@link #expectMany}, and then uses the processor's instructions for all.
 */
public final class Hash {
    private static final int BLOCK_BYTES = 64;
    /** Up to here the plain code is quicker than the set-up of the JDK's. */
    static final int SHORT_BYTES = 2048;

    private static volatile int plainBytes = SHORT_BYTES;

    private Hash() {}

    /** Switches to the JDK's digest, whose first use costs a long-lived process little. */
    public static void expectMany() {
        digest();
        plainBytes = -1;
    }

    public static byte[] sha256(byte[] content) {
        return content.length <= plainBytes ? Sha256.of(content) : digest().digest(content);
    }

    /** HMAC-SHA256, RFC 2104. */
    public static byte[] hmac(byte[] key, byte[] message) {
        byte[] k = key.length > BLOCK_BYTES ? sha256(key) : key;
        byte[] inner = Arrays.copyOf(k, BLOCK_BYTES + message.length);
        byte[] outer = Arrays.copyOf(k, BLOCK_BYTES + 32);
        for (int i = 0; i < BLOCK_BYTES; i++) {
            inner[i] ^= 0x36;
            outer[i] ^= 0x5c;
        }
        System.arraycopy(message, 0, inner, BLOCK_BYTES, message.length);
        System.arraycopy(sha256(inner), 0, outer, BLOCK_BYTES, 32);
        return sha256(outer);
    }

    public static String hex(byte[] bytes) {
        char[] out = new char[bytes.length * 2];
        for (int i = 0; i < bytes.length; i++) {
            out[2 * i] = Character.forDigit(bytes[i] >> 4 & 15, 16);
            out[2 * i + 1] = Character.forDigit(bytes[i] & 15, 16);
        }
        return new String(out);
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("this JVM has no SHA-256", e);
        }
    }
}
