package dev.muster.config.sister;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.key.ConfigError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OciConfTest {
    @TempDir
    Path directory;

    private List<String> errors(String text) throws IOException {
        Path file = directory.resolve("oci.conf");
        Files.writeString(file, text.replace(';', '\n'));
        List<ConfigError> errors = new ArrayList<>();
        OciConf.read(file.toFile(), errors);
        return errors.stream().map(ConfigError::message).toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "RunTimeRun=x %b %e %j %m %n %r %s %t %u %U %@ %%|''",
                "RunTimeCreate=x;RunTimeStart=y;RunTimeQuery=z|''",
                "RunTimeRun=x;RunTimeKill=\"kill %p\"|''",
                "RunTimeRun=\"x %p\"|unexpected replacement character: p",
                "RunTimeRun=\"x %\"|unexpected replacement character: none",
                "RunTimeCreate=x;RunTimeQuery=z|oci.conf needs RunTimeRun",
                "RunTimeCreate=x;RunTimeStart=y|RunTimeCreate needs RunTimeQuery",
                "RunTimeRun=x;CreateEnvFile=maybe|Invalid value of CreateEnvFile",
                "RunTimeRun=x;EnvExclude=(|EnvExclude",
                "RunTimeRun=x;Colour=red|unrecognized key: Colour",
            })
    void invalidOciPatternIsReported(String text, String error) throws IOException {
        List<String> errors =
                errors(text.startsWith("RunTimeRun=x %b") ? "RunTimeRun=\"" + text.substring(11) + "\"" : text);
        assertThat(errors).hasSize(error.isEmpty() ? 0 : 1);
        assertThat(String.join("", errors)).contains(error);
    }

    @Test
    void containersAreOffWithoutOciConf() {
        assertThat(OciConf.read(directory.resolve("oci.conf").toFile(), new ArrayList<>())
                        .isThere())
                .isFalse();
    }
}
