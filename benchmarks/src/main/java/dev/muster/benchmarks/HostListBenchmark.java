package dev.muster.benchmarks;

import dev.muster.model.format.HostList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Host lists of a thousand nodes with gaps: squeue prints and slurmctld reads them. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class HostListBenchmark {
    private static final String TEXT = "rack[1-4]n[001-099,101-199],login[1-8],gpu[0001-0200]";
    private final List<String> names = HostList.distinct(TEXT);

    @Benchmark
    public List<String> parse() {
        return HostList.distinct(TEXT);
    }

    @Benchmark
    public String compress() {
        return HostList.of(names).compressed();
    }
}
