package dev.muster.node.spool;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What slurmstepd writes, cut off or damaged by a crash: it is a status or none. */
class StatusFileFuzzTest {
    static List<byte[]> seeds() {
        return Stream.of(
                        "job 5\nstep 0\nattempt 1\nstepd 99\nstate complete\n"
                                + "task id=4 phase=done pid=100 started=1.000000 status=0 ended=2.000000 utime_us=70\n"
                                + "usage utime_us=970 stime_us=30\nend\n",
                        "job 5\nstate failed\nreason x\nend\n",
                        "job 5\ntask id=1 status=0 majflt=.000000 inblock=99999999999999999999\nend\n",
                        "job 5\ntask id=1 phase=done ended=1.5 status=0\nend\n",
                        "task id=9999999999 status=\nend\n")
                .map(s -> s.getBytes(StandardCharsets.ISO_8859_1))
                .toList();
    }

    /** The entry point of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
        StatusFile.parse(data)
                .ifPresent(s -> assertThat(s.tasks()).allSatisfy(t -> {
                    t.use();
                    t.exit();
                }));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsForSeeds(byte[] seed) {
        fuzzerTestOneInput(seed);
    }
}
