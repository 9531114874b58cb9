package dev.muster.benchmarks;

import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.model.job.JobDesc;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** The codec of records on a job's description: what a submission, its journal entry and a restart do each. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class CodecBenchmark {
    private final byte[] json = ("{\"name\":\"train\",\"partition\":\"gpu,main\",\"workDir\":\""
                    + Bytes.of("/home/ada/models/run-17").base64()
                    + "\",\"request\":{\"tasks\":8,\"nodesMin\":2,\"nodesMax\":2,\"cpusPerTask\":4,"
                    + "\"memPerCpuMb\":2000},"
                    + "\"timing\":{\"timeLimitMin\":720},\"charge\":{\"account\":\"physics\",\"qos\":\"normal\"}}")
            .getBytes(StandardCharsets.UTF_8);
    private final JobDesc desc = Codec.decode(json, JobDesc.class);

    @Benchmark
    public byte[] encode() {
        return Codec.encode(desc);
    }

    @Benchmark
    public JobDesc decode() {
        return Codec.decode(json, JobDesc.class);
    }
}
