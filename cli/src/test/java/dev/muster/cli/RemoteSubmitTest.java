package dev.muster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A script from a browser is read as sbatch reads it. */
class RemoteSubmitTest {
    private static RemoteSubmit.Result submit(FakeHost host, String lines, String options) {
        host.reply("Submit", "{\"jobId\":7,\"warnings\":[\"take care\"]}").reply("SubmitHet", "{\"jobId\":8}");
        return RemoteSubmit.run(
                host,
                new RemoteSubmit.Submitter("ann", "/home/ann"),
                options == null ? List.of() : List.of(options.split(" ")),
                "#!/bin/sh\n" + (lines == null ? "" : "#SBATCH " + lines.replace(";", "\n#SBATCH ") + "\n")
                        + "sleep 1\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', textBlock = """
            --ntasks=3                        ~             ~ "tasks":3
            --comment=hi                      ~             ~ "comment":"hi"
            -J fromscript                     ~             ~ "name":"fromscript"
            -J fromscript                     ~ -J form     ~ "name":"form"
                                              ~             ~ "name":"sbatch"
            --array=1-5%2                     ~             ~ "array":"1-5%2"
            --dependency=afterok:3            ~             ~ "dependency":"afterok:3"
            --gres=gpu:2                      ~             ~ "tresPerNode":"gres/gpu:2"
            --gpus=4;--mail-type=END          ~ -p gpu      ~ "tresPerJob":"gres/gpu:4"
            -t 1-0                            ~             ~ "timeLimitMin":1440
            -t 1-0                            ~ -t 7        ~ "timeLimitMin":7
            --constraint=a100                 ~ --mem=500   ~ "features":"a100"
            --begin=2030-01-01                ~             ~ "beginTime":1
            --hold                            ~             ~ "hold":true
            """)
    void optionsAndLinesReachTheRequest(String lines, String options, String part) {
        FakeHost host = new FakeHost();
        assertThat(submit(host, lines, options)).isEqualTo(new RemoteSubmit.Result(7, List.of("take care")));
        assertThat(host.sent.get("Submit").toString()).contains(part);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', textBlock = """
            --ntasks=none                     ~                        ~ Invalid numeric value
            --nosuch                          ~                        ~ unrecognized option
            --wait                            ~                        ~ --wait is not possible here
            --export-file=/etc/shadow         ~                        ~ /etc/shadow, which cannot be read from here
            -F /etc/shadow                    ~                        ~ /etc/shadow, which cannot be read from here
            --bbf=/etc/shadow                 ~                        ~ /etc/shadow, which cannot be read from here
                                              ~ -w /etc/shadow         ~ /etc/shadow, which cannot be read from here
                                              ~ /etc/shadow            ~ /etc/shadow, which cannot be read from here
                                              ~ --help                 ~ Usage: sbatch
            """)
    void optionThatAPageCannotHonourIsRefused(String lines, String options, String message) {
        FakeHost host = new FakeHost();
        RemoteSubmit.Result r = submit(host, lines, options);
        assertThat(r.jobId()).isZero();
        assertThat(String.join("\n", r.messages())).contains(message);
        assertThat(host.sent.keySet()).doesNotContain("Submit");
    }

    @ParameterizedTest
    @CsvSource({"-n 2;hetjob;-n 4, 8"})
    void componentsAreOneJob(String lines, int id) {
        FakeHost host = new FakeHost();
        assertThat(submit(host, lines, null).jobId()).isEqualTo(id);
        assertThat(host.sent.get("SubmitHet").objects("parts")).hasSize(2);
    }
}
