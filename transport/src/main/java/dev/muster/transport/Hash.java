package dev.muster.transport;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** SHA-256 and HMAC over it, on {@link MessageDigest} alone: the JDK's Mac costs a command 20 ms of provider set-up. */
public final class Hash {
    private static final int BLOCK_BYTES = 64;

    private Hash() {}

    public static byte[] sha256(byte[] content) {
        return digest().digest(content);
    }

    /** HMAC-SHA256, RFC 2104. */
    public static byte[] hmac(byte[] key, byte[] message) {
        byte[] block = new byte[BLOCK_BYTES];
        byte[] k = key.length > BLOCK_BYTES ? sha256(key) : key;
        System.arraycopy(k, 0, block, 0, k.length);
        byte[] inner = block.clone();
        for (int i = 0; i < BLOCK_BYTES; i++) {
            inner[i] ^= 0x36;
            block[i] ^= 0x5c;
        }
        MessageDigest digest = digest();
        digest.update(inner);
        byte[] first = digest.digest(message);
        digest.update(block);
        return digest.digest(first);
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
