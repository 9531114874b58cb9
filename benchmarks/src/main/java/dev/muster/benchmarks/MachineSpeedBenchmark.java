package dev.muster.benchmarks;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * Work of the JDK alone: how fast this machine is today. {@link ReleaseComparison} divides the other figures by it, so
 * that those of two machines can be compared.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class MachineSpeedBenchmark {
    private static final int LONGS = 10_000;
    private static final int MODULUS = 97;
    private final long[] numbers = new Random(7).longs(LONGS).toArray();
    private final byte[] bytes = new byte[LONGS];

    @Benchmark
    public int work() throws NoSuchAlgorithmException {
        long[] sorted = numbers.clone();
        Arrays.sort(sorted);
        TreeMap<String, Integer> map = new TreeMap<>();
        for (int i = 0; i < sorted.length; i += MODULUS) {
            map.merge(Long.toHexString(sorted[i]), i, Integer::sum);
        }
        return map.size() + MessageDigest.getInstance("SHA-256").digest(bytes)[0];
    }
}
