package dev.muster.cli.step;

import java.util.Arrays;

/** One frame of a step's stream, as defined in {@code native/README.md}: type, task, stream, offset, bytes. */
public record IoFrame(char type, int task, int stream, long offset, byte[] bytes) {
    public static final int ALL_TASKS = -1;
    private static final int HEAD_BYTES = 14;

    public static IoFrame of(char type, int task, int stream, long offset) {
        return new IoFrame(type, task, stream, offset, new byte[0]);
    }

    public byte[] encode() {
        byte[] out = new byte[HEAD_BYTES + bytes.length];
        out[0] = (byte) type;
        for (int i = 0; i < 4; i++) {
            out[1 + i] = (byte) (task >>> 24 - 8 * i);
        }
        out[5] = (byte) stream;
        for (int i = 0; i < 8; i++) {
            out[6 + i] = (byte) (offset >>> 56 - 8 * i);
        }
        System.arraycopy(bytes, 0, out, HEAD_BYTES, bytes.length);
        return out;
    }

    /** @throws IllegalArgumentException if it is too short to be one */
    public static IoFrame decode(byte[] raw) {
        if (raw.length < HEAD_BYTES) {
            throw new IllegalArgumentException("short frame");
        }
        int task = 0;
        for (int i = 0; i < 4; i++) {
            task = task << 8 | raw[1 + i] & 0xff;
        }
        long offset = 0;
        for (int i = 0; i < 8; i++) {
            offset = offset << 8 | raw[6 + i] & 0xff;
        }
        return new IoFrame(
                (char) (raw[0] & 0xff), task, raw[5] & 0xff, offset, Arrays.copyOfRange(raw, HEAD_BYTES, raw.length));
    }
}
