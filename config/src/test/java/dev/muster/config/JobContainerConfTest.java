package dev.muster.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobContainerConfTest {
    @TempDir
    Path dir;

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "BasePath=/b                                        | /b     | false | /tmp /dev/shm | false | ''",
        "AutoBasePath=true;BasePath=/b/%n;Dirs=/x,/y        | /b/n1  | true  | /x /y         | false | ''",
        "NodeName=n[1-2] BasePath=/b Shared=true            | /b     | false | /tmp /dev/shm | true  | ''",
        "NodeName=n2 BasePath=/other;NodeName=n1 BasePath=/b InitScript=/i | /b | false | /tmp /dev/shm | false | /i",
        "BasePath=/b;NodeName=n1 BasePath=none              | ''     | false | /tmp /dev/shm | false | ''",
    })
    void whatANodeHas(String text, String base, boolean auto, String dirs, boolean shared, String init) throws Exception {
        List<ConfigError> errors = new ArrayList<>();
        JobContainerConf conf = JobContainerConf.read(file(text), "n1", errors).replacing(Map.of("%n", "n1"));
        assertThat(errors).isEmpty();
        assertThat(conf).isEqualTo(new JobContainerConf(base, auto, List.of(dirs.split(" ")), shared, init));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "BasePath=/b;Dirz=/x          | Parsing error at unrecognized key: Dirz",
        "BasePath=/b;Shared=maybe     | Bad value \"maybe\" for shared",
        "BasePath=/b;Dirs=/x,y        | Paths in job_container.conf begin with a slash: /x,y",
        "BasePath=/b;CloneNSScript=/s | CloneNSScript is not part of this version",
        "NodeName=n2 BasePath=/b      | Configuration for this node not found in job_container.conf",
    })
    void mistakes(String text, String why) throws Exception {
        List<ConfigError> errors = new ArrayList<>();
        JobContainerConf.read(file(text), "n1", errors);
        assertThat(errors).extracting(ConfigError::message).anyMatch(m -> m.contains(why));
    }

    private java.io.File file(String text) throws Exception {
        return Files.writeString(dir.resolve("job_container.conf"), text.replace(';', '\n') + "\n").toFile();
    }
}
