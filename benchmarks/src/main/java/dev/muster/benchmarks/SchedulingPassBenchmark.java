package dev.muster.benchmarks;

import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** A pass over ten thousand jobs that wait for a thousand full nodes, a second after the last. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class SchedulingPassBenchmark {
    private static final int NODES = 1000;
    private static final int JOBS = 10_000;
    private SchedulingBenchmark cluster;

    @Setup
    public void fill() {
        cluster = SchedulingBenchmark.full(NODES, JOBS, Set.of());
    }

    @Benchmark
    public int pass() {
        return cluster.passASecondLater();
    }
}
