package dev.muster.model.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Bytes;
import dev.muster.model.job.CpuFreq;
import dev.muster.model.job.Distribution;
import dev.muster.model.job.NodeCounts;
import dev.muster.model.job.StepId;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Texts that users write in options: each is refused, or printed in a form that is read as the same. */
class TextFormsFuzzTest {
    static List<byte[]> seeds() {
        return Stream.of(
                        "\0n[1-3,7,10-12]x,gpu[001-020],a",
                        "\0rack[0-1]n[0-3]",
                        "\1" + "1-10:2,15,20-30%4",
                        "\2" + "2-03:04:05",
                        "\2UNLIMITED",
                        "\3now+2hours",
                        "\3" + "2026-11-29T10:00:00",
                        "\3teatime",
                        "\4cyclic:block=2,Pack",
                        "\5low-high:OnDemand",
                        "\6" + "1-4",
                        "\6" + "1,3-9:2",
                        "\7" + "12_[3-5].0",
                        "\10slurm-%10A_%a.out",
                        "\10\\%j")
                .map(s -> s.getBytes(StandardCharsets.ISO_8859_1))
                .toList();
    }

    /** The entry point of the fuzzer. */
    public static void fuzzerTestOneInput(byte[] data) {
        if (data.length == 0 || data.length > 4096) {
            return;
        }
        byte[] rest = Arrays.copyOfRange(data, 1, data.length);
        String text = new String(rest, StandardCharsets.UTF_8);
        switch (data[0] % 9) {
            case 0 -> {
                if (HostList.parse(text) instanceof HostList.Parsed.Ok(HostList hosts) && hosts.size() < 10_000) {
                    assertThat(HostList.parse(hosts.compressed())).isEqualTo(new HostList.Parsed.Ok(hosts));
                }
            }
            case 1 -> {
                try {
                    for (IndexSet.Spec spec : IndexSet.parseArray(text, 10_000)) {
                        assertThat(IndexSet.parse(spec.indexes().compact())).isEqualTo(spec.indexes());
                    }
                } catch (IllegalArgumentException e) {
                    assertThat(e.getMessage()).isNotNull();
                }
            }
            case 2 ->
                Durations.parseMinutes(text)
                        .ifPresent(m -> assertThat(Durations.parseMinutes(Durations.fullMinutes(m)))
                                .hasValue(m));
            case 3 -> Times.parse(text, 1_795_000_000L, ZoneId.of("Europe/Berlin"), text.length() % 2 == 0);
            case 4 ->
                Distribution.parse(text)
                        .ifPresent(d -> assertThat(Distribution.parse(d.text())).hasValue(d));
            case 5 -> CpuFreq.parse(text).ifPresent(f -> assertThat(f.text()).isNotNull());
            case 6 -> NodeCounts.parse(text, n -> Digits.only(n, 9) ? Long.parseLong(n) : -1);
            case 7 -> StepId.parse(text);
            default -> PathPattern.expand(Bytes.of(text), c -> c == 'j' ? "12" : null);
        }
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void holdsForSeeds(byte[] seed) {
        fuzzerTestOneInput(seed);
    }
}
