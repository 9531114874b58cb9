package dev.muster.config.sister;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KafkaConfTest {
    @TempDir
    private Path dir;

    private final List<ConfigError> errors = new ArrayList<>();

    private KafkaConf read(String properties, String keys) throws IOException {
        Path file = Files.writeString(dir.resolve("kafka.conf"), properties);
        Path conf = Files.writeString(
                dir.resolve("slurm.conf"),
                "ClusterName=c\nSlurmctldHost=h\nNodeName=n1\nPartitionName=p Nodes=n1\n"
                        + "JobCompType=jobcomp/kafka\n" + keys.replace("FILE", file.toString()) + "\n");
        SlurmConf read = ((SlurmConf.Parsed.Ok) SlurmConf.read(conf.toFile())).conf();
        errors.clear();
        return KafkaConf.read(read, errors);
    }

    private List<String> messages() {
        return errors.stream()
                .map(e -> e.message().replaceAll(".*/slurm.conf: ", "").replace(dir + "/", ""))
                .toList();
    }

    @Test
    void kafkaConfIsReadWithItsParameters() throws IOException {
        KafkaConf conf = read(
                "# brokers\nmetadata.broker.list=a:9092, "
                        + "b:9093\nlinger.ms=400\nacks=1\ncompression.type=gzip\nlog_level=7\n"
                        + "security.protocol=SASL_SSL\nsasl.mechanisms=PLAIN\nsasl.username=u\nsasl.password=p=q\n"
                        + "ssl.ca.location=/ca\n",
                "JobCompLoc=FILE\nJobCompParams=topic=t,enable_job_start,flush_timeout=-1");
        assertThat(messages()).isEmpty();
        assertThat(List.of(conf.lingerMs(), conf.messageMs(), conf.retryMs())).containsExactly(400, 300_000, 100);
        assertThat(conf.client())
                .containsEntry("bootstrap.servers", "a:9092, b:9093")
                .containsEntry("acks", "1")
                .containsEntry("compression.type", "gzip")
                .containsEntry("security.protocol", "SASL_SSL")
                .containsEntry("ssl.truststore.certificates", "/ca")
                .containsEntry("ssl.truststore.type", "PEM")
                .containsEntry("linger.ms", "0")
                .containsEntry(
                        "sasl.jaas.config",
                        "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" "
                                + "password=\"p=q\";");
        assertThat(conf.without()).containsExactly("log_level");
        assertThat(conf.params()).containsEntry("topic", "t").containsKey("enable_job_start");
    }

    @Test
    void invalidKafkaConfIsReported() throws IOException {
        read(
                "linger.ms=x\nacks=2\nssl.crl.location=/crl\ncompression.codec=zstd\nsecurity.protocol=sasl_ssl\n"
                        + "sasl.mechanism=GSSAPI\n",
                "JobCompLoc=FILE\nJobCompParams=nonsense,poll_interval=x");
        assertThat(messages())
                .containsExactlyInAnyOrder(
                        "kafka.conf: the property ssl.crl.location is not part of this version",
                        "kafka.conf: bootstrap.servers is needed",
                        "JobCompParams=nonsense is not known to jobcomp/kafka",
                        "Bad value \"x\" for JobCompParams=poll_interval",
                        "acks=2 is not part of this version; there is all, -1, 0, 1",
                        "Bad value \"x\" for linger.ms",
                        "compression.codec=zstd is not part of this version; there is none, gzip",
                        "security.protocol=sasl_ssl needs sasl.username, sasl.password and sasl.mechanism, "
                                + "which is one of "
                                + "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512");
        read("", "");
        assertThat(messages())
                .containsExactly(
                        "jobcomp/kafka needs JobCompLoc, the absolute path of a file with at least bootstrap.servers");
        read("", "JobCompLoc=/no/such/file");
        assertThat(messages()).containsExactly("JobCompLoc=/no/such/file: No such file or directory");
    }
}
