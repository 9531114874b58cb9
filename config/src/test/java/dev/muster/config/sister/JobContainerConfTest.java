package dev.muster.config.sister;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.key.ConfigError;
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
    @CsvSource(
            delimiter = '|',
            value = {
                "BasePath=/b                                        | /b     | false | /tmp /dev/shm | false | ''",
                "AutoBasePath=true;BasePath=/b/%n;Dirs=/x,/y        | /b/n1  | true  | /x /y         | false | ''",
                "NodeName=n[1-2] BasePath=/b Shared=true            | /b     | false | /tmp /dev/shm | true  | ''",
                "NodeName=n2 BasePath=/other;NodeName=n1 BasePath=/b InitScript=/i | /b | false | /tmp "
                        + "/dev/shm | false | /i",
                "BasePath=/b;NodeName=n1 BasePath=none              | ''     | false | /tmp /dev/shm | false | ''",
            })
    void nodeReadsItsOwnContainerSettings(
            String text, String base, boolean auto, String dirs, boolean shared, String init) throws Exception {
        List<ConfigError> errors = new ArrayList<>();
        JobContainerConf conf = JobContainerConf.read(file(text), "n1", errors).replacing(Map.of("%n", "n1"));
        assertThat(errors).isEmpty();
        assertThat(conf)
                .isEqualTo(new JobContainerConf(
                        base,
                        auto,
                        List.of(dirs.split(" ")),
                        shared,
                        init,
                        JobContainerConf.Script.NONE,
                        JobContainerConf.Script.NONE,
                        false,
                        false,
                        ""));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "BasePath=/b;Dirz=/x          | Parsing error at unrecognized key: Dirz",
                "BasePath=/b;Shared=maybe     | Bad value \"maybe\" for shared",
                "BasePath=/b;Dirs=/x,y        | Paths in job_container.conf begin with a slash: /x,y",
                "BasePath=/b;CloneNSScript=s  | Paths in job_container.conf begin with a slash: s",
                "BasePath=/b;CloneNSScript_Wait=x | Bad value \"x\" for clonensscriptwait",
                "BasePath=/b;CloneNSFlags=CLONE_NEWPID | Parsing error at unrecognized key: CloneNSFlags",
                "NodeName=n2 BasePath=/b      | Configuration for this node not found in job_container.conf",
            })
    void invalidJobContainerConfIsReported(String text, String why) throws Exception {
        List<ConfigError> errors = new ArrayList<>();
        JobContainerConf.read(file(text), "n1", errors);
        assertThat(errors).extracting(ConfigError::message).anyMatch(m -> m.contains(why));
    }

    private java.io.File file(String text) throws Exception {
        return Files.writeString(dir.resolve("job_container.conf"), text.replace(';', '\n') + "\n")
                .toFile();
    }

    private static final String YAML = """
            defaults:
              auto_base_path: true
              base_path: "/base/%n"
              clone_ns_flags:
                - "CLONE_NEWPID"
                - "CLONE_NEWNS"
              clone_ns_script: "/s"
            node_confs:
              - nodes:
                - "n[1-2,6]"
                options:
                  clone_ns_script_wait: 20
                  dirs: "/tmp"
              - nodes:
                - "n3"
                options:
                  base_path: none
              - nodes: ["n4"]
                options: {clone_ns_flags: [CLONE_NEWUSER], user_ns_script: /u, shared: true}
            """;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "n1 | /base/n1 | /tmp          | 20 | true  | false | ''",
                "n3 | ''       | /tmp /dev/shm | 10 | true  | false | ''",
                "n4 | /base/n4 | /tmp /dev/shm | 10 | false | true  | /u",
                "n5 | /base/n5 | /tmp /dev/shm | 10 | true  | false | ''",
            })
    void namespaceYamlIsRead(
            String node, String base, String dirs, int wait, boolean processes, boolean users, String script)
            throws Exception {
        List<ConfigError> errors = new ArrayList<>();
        JobContainerConf conf = JobContainerConf.readYaml(
                        Files.writeString(dir.resolve("namespace.yaml"), YAML).toFile(), node, errors)
                .replacing(Map.of("%n", node));
        assertThat(errors).isEmpty();
        assertThat(conf)
                .isEqualTo(new JobContainerConf(
                        base,
                        true,
                        List.of(dirs.split(" ")),
                        node.equals("n4"),
                        "",
                        new JobContainerConf.Script("/s", wait),
                        JobContainerConf.Script.NONE,
                        processes,
                        users,
                        script));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "base_path: /b | colour: red                  | unrecognized key: colour",
                "base_path: /b | clone_ns_flags: [CLONE_ALL]  | Bad value \"CLONE_ALL\" for clonensflags",
                "base_path: /b | user_ns_script: u            | Paths in namespace.yaml begin with a slash: u",
                "shared: true  | auto_base_path: true         | Configuration for this node not found in "
                        + "namespace.yaml",
                "base_path: /t | dirs: '/t,/u'                | The base path cannot be one of the "
                        + "directories that jobs have for themselves",
            })
    void invalidNamespaceYamlIsReported(String first, String second, String error) throws Exception {
        List<ConfigError> errors = new ArrayList<>();
        JobContainerConf.readYaml(
                Files.writeString(dir.resolve("namespace.yaml"), "defaults:\n  " + first + "\n  " + second + "\n")
                        .toFile(),
                "n1",
                errors);
        assertThat(errors)
                .singleElement()
                .satisfies(e -> assertThat(e.message()).endsWith(error));
    }
}
