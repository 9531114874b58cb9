package dev.muster.transport;

import java.util.Arrays;

/** SHA-256 as FIPS 180-4 describes it, for the few hundred bytes that a command signs; see {@link Hash}. */
final class Sha256 {
    /** The fractional parts of the cube roots of the first 64 primes. */
    private static final int[] K = new int[64];
    /** Those of the square roots of the first eight. */
    private static final int[] START = new int[8];

    static {
        int prime = 2;
        for (int i = 0; i < 64; i++, prime++) {
            while (!isPrime(prime)) {
                prime++;
            }
            K[i] = fraction(Math.cbrt(prime));
            if (i < 8) {
                START[i] = fraction(Math.sqrt(prime));
            }
        }
    }

    private Sha256() {}

    private static boolean isPrime(int n) {
        for (int d = 2; d * d <= n; d++) {
            if (n % d == 0) {
                return false;
            }
        }
        return true;
    }

    private static int fraction(double root) {
        return (int) (long) ((root - Math.floor(root)) * 4294967296.0);
    }

    static byte[] of(byte[] content) {
        byte[] padded = Arrays.copyOf(content, (content.length + 8) / 64 * 64 + 64);
        padded[content.length] = (byte) 0x80;
        long bits = content.length * 8L;
        for (int i = 0; i < 8; i++) {
            padded[padded.length - 1 - i] = (byte) (bits >>> 8 * i);
        }
        int[] h = START.clone();
        int[] w = new int[64];
        for (int index = 0; index < padded.length; index += 64) {
            block(padded, index, h, w);
        }
        byte[] out = new byte[32];
        for (int i = 0; i < 32; i++) {
            out[i] = (byte) (h[i >> 2] >>> 24 - 8 * (i & 3));
        }
        return out;
    }

    private static void block(byte[] in, int index, int[] h, int[] w) {
        for (int i = 0; i < 16; i++) {
            int p = index + 4 * i;
            w[i] = in[p] << 24 | (in[p + 1] & 255) << 16 | (in[p + 2] & 255) << 8 | in[p + 3] & 255;
        }
        for (int i = 16; i < 64; i++) {
            int x = w[i - 15];
            int y = w[i - 2];
            w[i] = w[i - 16]
                    + ((x >>> 7 | x << 25) ^ (x >>> 18 | x << 14) ^ x >>> 3)
                    + w[i - 7]
                    + ((y >>> 17 | y << 15) ^ (y >>> 19 | y << 13) ^ y >>> 10);
        }
        int a = h[0];
        int b = h[1];
        int c = h[2];
        int d = h[3];
        int e = h[4];
        int f = h[5];
        int g = h[6];
        int k = h[7];
        for (int i = 0; i < 64; i++) {
            int one = k
                    + ((e >>> 6 | e << 26) ^ (e >>> 11 | e << 21) ^ (e >>> 25 | e << 7))
                    + (e & f ^ ~e & g)
                    + K[i]
                    + w[i];
            int two = ((a >>> 2 | a << 30) ^ (a >>> 13 | a << 19) ^ (a >>> 22 | a << 10)) + (a & b ^ a & c ^ b & c);
            k = g;
            g = f;
            f = e;
            e = d + one;
            d = c;
            c = b;
            b = a;
            a = one + two;
        }
        h[0] += a;
        h[1] += b;
        h[2] += c;
        h[3] += d;
        h[4] += e;
        h[5] += f;
        h[6] += g;
        h[7] += k;
    }
}
