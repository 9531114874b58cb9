package dev.muster.cli.step;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.muster.cli.command.ClientConf;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class StepHooksTest {
    @Test
    void theConfigurationNamesProgramsForSrun() throws IOException {
        ClientConf conf = ClientConf.read(
                "/etc/slurm.conf",
                (path, most) -> "SlurmctldHost=h\nSrunProlog=/bin/before\nSrunEpilog=/bin/after\n"
                        .getBytes(StandardCharsets.UTF_8));
        assertEquals("/bin/before", conf.srunProlog);
        assertEquals("/bin/after", conf.srunEpilog);
    }
}
