package dev.muster.config;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * JobCompType=jobcomp/kafka: the file that JobCompLoc names, in librdkafka's words, and JobCompParams.
 *
 * @param servers    {@code host:port} each
 * @param clientId   how brokers know slurmctld
 * @param acks       whose copies are waited for: -1 all in sync, 1 the leader's
 * @param lingerMs   how long messages are collected before they are sent
 * @param requestMs  how long a broker may take to answer
 * @param messageMs  how long delivery of a message is tried
 * @param retryMs    between two tries
 * @param gzip       messages are compressed
 * @param tls        connections are encrypted
 * @param authority  of the brokers' certificates, a file; "" for those that the Java machine trusts
 * @param certificate of slurmctld itself, a file, and its key; "" for none
 * @param user       for SASL/PLAIN, and password; "" for none
 * @param without    properties that are known and have no effect
 * @param params     of JobCompParams, by name in lower case
 */
public record KafkaConf(List<String> servers, String clientId, int acks, int lingerMs, int requestMs, int messageMs, int retryMs, boolean gzip,
        boolean tls, String authority, String certificate, String key, String user, String password, List<String> without,
        Map<String, String> params) {
    private static final String TYPE = "jobcomp/kafka";
    private static final Map<String, String> OTHER_NAMES = Map.of("metadata.broker.list", "bootstrap.servers", "request.required.acks", "acks",
            "queue.buffering.max.ms", "linger.ms", "delivery.timeout.ms", "message.timeout.ms", "compression.type", "compression.codec",
            "sasl.mechanisms", "sasl.mechanism");
    private static final List<String> KNOWN = List.of("bootstrap.servers", "client.id", "acks", "linger.ms", "request.timeout.ms",
            "message.timeout.ms", "retry.backoff.ms", "compression.codec", "security.protocol", "ssl.ca.location", "ssl.certificate.location",
            "ssl.key.location", "sasl.mechanism", "sasl.username", "sasl.password");
    /** Of logging, and of what there is no need of here. */
    private static final List<String> WITHOUT = List.of("debug", "log_level", "log.connection.close", "log.queue", "log.thread.name",
            "socket.keepalive.enable", "api.version.request", "broker.version.fallback", "enable.idempotence");
    private static final List<String> PARAMS = List.of("enable_job_start", "flush_timeout", "poll_interval", "requeue_on_msg_timeout",
            "send_comment", "send_script", "topic", "topic_job_start");

    /** Whether the configuration asks for it. */
    public static boolean isAsked(SlurmConf conf) {
        return conf.text(Key.JOB_COMP_TYPE).equals(TYPE);
    }

    /** Mistakes are added to {@code errors}. */
    public static KafkaConf read(SlurmConf conf, List<ConfigError> errors) {
        Map<String, String> said = new TreeMap<>();
        List<String> without = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        Map<String, String> params = new TreeMap<>(conf.parameters(Key.JOB_COMP_PARAMS));
        if (isAsked(conf)) {
            properties(conf.text(Key.JOB_COMP_LOC), said, without, wrong);
            params.keySet().stream().filter(p -> !PARAMS.contains(p)).forEach(p -> wrong.add("JobCompParams=" + p + " is not known to " + TYPE));
            for (String number : List.of("flush_timeout", "poll_interval")) {
                if (!params.getOrDefault(number, "0").matches(number.startsWith("flush") ? "-1|[0-9]{1,9}" : "[0-9]{1,10}")) {
                    wrong.add("Bad value \"" + params.get(number) + "\" for JobCompParams=" + number);
                }
            }
        }
        KafkaConf out = new KafkaConf(List.of(said.getOrDefault("bootstrap.servers", "").split("\\s*,\\s*")),
                said.getOrDefault("client.id", "rdkafka"), acks(said, wrong), number(said, "linger.ms", 5, wrong),
                number(said, "request.timeout.ms", 30_000, wrong), number(said, "message.timeout.ms", 300_000, wrong),
                number(said, "retry.backoff.ms", 100, wrong),
                word(said, "compression.codec", List.of("none", "gzip"), wrong).equals("gzip"),
                word(said, "security.protocol", List.of("plaintext", "ssl", "sasl_plaintext", "sasl_ssl"), wrong).endsWith("ssl"),
                said.getOrDefault("ssl.ca.location", ""), said.getOrDefault("ssl.certificate.location", ""),
                said.getOrDefault("ssl.key.location", ""), sasl(said, wrong) ? said.getOrDefault("sasl.username", "") : "",
                said.getOrDefault("sasl.password", ""), List.copyOf(without), Map.copyOf(params));
        wrong.forEach(sentence -> errors.add(new ConfigError(conf.file(), 0, sentence, "")));
        return out;
    }

    private static void properties(String place, Map<String, String> said, List<String> without, List<String> wrong) {
        if (!place.startsWith("/")) {
            wrong.add(TYPE + " needs JobCompLoc, the absolute path of a file with at least bootstrap.servers");
            return;
        }
        try {
            for (String raw : Files.readAllLines(Path.of(place))) {
                String line = raw.strip();
                int eq = line.indexOf('=');
                if (line.isEmpty() || line.startsWith("#")) {
                    continue;
                }
                String name = eq < 0 ? line : line.substring(0, eq).strip();
                name = OTHER_NAMES.getOrDefault(name, name);
                if (eq < 0 || !KNOWN.contains(name) && !WITHOUT.contains(name)) {
                    wrong.add(place + ": the property " + name + " is not part of this version");
                } else if (WITHOUT.contains(name)) {
                    without.add(name);
                } else {
                    said.put(name, line.substring(eq + 1).strip());
                }
            }
        } catch (NoSuchFileException e) {
            wrong.add("JobCompLoc=" + place + ": No such file or directory");
            return;
        } catch (IOException e) {
            wrong.add("JobCompLoc=" + place + " cannot be read: " + e.getMessage());
            return;
        }
        if (said.getOrDefault("bootstrap.servers", "").isEmpty()) {
            wrong.add(place + ": bootstrap.servers is needed");
        }
    }

    private static int acks(Map<String, String> said, List<String> wrong) {
        return switch (said.getOrDefault("acks", "all")) {
            case "all", "-1" -> -1;
            case "1" -> 1;
            default -> {
                wrong.add("acks=" + said.get("acks") + " is not part of this version; there is all, -1, 1");
                yield -1;
            }
        };
    }

    private static boolean sasl(Map<String, String> said, List<String> wrong) {
        if (!said.getOrDefault("security.protocol", "").toLowerCase(Locale.ROOT).startsWith("sasl")) {
            return false;
        }
        if (!said.getOrDefault("sasl.mechanism", "").equals("PLAIN") || said.getOrDefault("sasl.username", "").isEmpty()) {
            wrong.add("security.protocol=" + said.get("security.protocol") + " needs sasl.mechanism=PLAIN (there is no other), sasl.username and "
                    + "sasl.password");
        }
        return true;
    }

    private static String word(Map<String, String> said, String name, List<String> known, List<String> wrong) {
        String value = said.getOrDefault(name, known.getFirst()).toLowerCase(Locale.ROOT);
        if (!known.contains(value)) {
            wrong.add(name + "=" + value + " is not part of this version; there is " + String.join(", ", known));
        }
        return value;
    }

    private static int number(Map<String, String> said, String name, int fallback, List<String> wrong) {
        String value = said.getOrDefault(name, Integer.toString(fallback));
        if (!value.matches("[0-9]{1,9}")) {
            wrong.add("Bad value \"" + value + "\" for " + name);
            return fallback;
        }
        return Integer.parseInt(value);
    }
}
