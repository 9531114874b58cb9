package dev.muster.controller.site;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.Site;
import dev.muster.core.state.Job;
import dev.muster.json.Bytes;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Lines of a job's script as burst_buffer.lua is given them. */
class BufferSymbolsTest {
    private static String filled(Site site, int id, String line) {
        Job job = site.core().state().jobs().at(id);
        return new String(
                BufferSymbols.filled(Bytes.of(line.getBytes(StandardCharsets.UTF_8)), "BB_LUA", job)
                        .toArray(),
                StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            #BB_LUA a/%j b              | #BB_LUA a/1 b
            #BB_LUA %u %x %A %a         | #BB_LUA u tile 1 4294967294
            #BB_LUA 100%% %z %          | #BB_LUA 100% %z %
            #BB_LUA %j \\\\ %j %u        | #BB_LUA 1  %j %u
            #BB_LUA ü%j                 | #BB_LUA ü1
            echo %j                     | echo %j
            #SBATCH -o %j               | #SBATCH -o %j
            """)
    void symbolsOfADirectiveAreFilledIn(String line, String expected) {
        Site site = new Site("DefMemPerCPU=1");
        site.submit("name=tile");
        assertThat(filled(site, 1, line)).isEqualTo(expected);
        assertThat(filled(site, 1, "#!/bin/sh\n" + line + "\nlast")).isEqualTo("#!/bin/sh\n" + expected + "\nlast");
    }

    @ParameterizedTest
    @CsvSource({"2, 1_3_2"})
    void symbolsOfAnArrayTaskAreFilledIn(int id, String expected) {
        Site site = new Site("DefMemPerCPU=1");
        site.submit("timing.array=3-4");
        site.schedule();
        assertThat(filled(site, id, "#BB_LUA %A_%a_%j")).isEqualTo("#BB_LUA " + expected);
    }
}
