package dev.muster.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReleaseComparisonTest {
    @TempDir
    Path dir;

    @Test
    void aFileOfJmhIsReadByClassAndMethod() throws IOException {
        Path csv = Files.writeString(dir.resolve("a.csv"), """
                "Benchmark","Mode","Threads","Samples","Score","Score Error (99.9%)","Unit"
                "dev.muster.benchmarks.CodecBenchmark.encode","avgt",1,5,2.500000,0.1,"us/op"
                """);
        assertThat(ReleaseComparison.read(csv))
                .containsOnlyKeys("CodecBenchmark.encode")
                .containsEntry("CodecBenchmark.encode", 2.5);
    }
}
