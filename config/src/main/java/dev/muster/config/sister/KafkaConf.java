package dev.muster.config.sister;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.model.format.ErrorSentence;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * JobCompType=jobcomp/kafka: the file that JobCompLoc names, in librdkafka's words, and JobCompParams.
 *
 * @param client what Kafka's own library is given: its properties by its names; those of PEM files name the file
 * @param lingerMs how long messages are collected before they are sent
 * @param messageMs how long delivery of a message is tried; 0 without end
 * @param retryMs between two tries
 * @param without properties that are known and have no effect
 * @param params of JobCompParams, by name in lower case
 */
public record KafkaConf(
        Map<String, String> client,
        int lingerMs,
        int messageMs,
        int retryMs,
        List<String> without,
        Map<String, String> params) {
    private static final String TYPE = "jobcomp/kafka";
    private static final Map<String, String> OTHER_NAMES = Map.of(
            "metadata.broker.list",
            "bootstrap.servers",
            "request.required.acks",
            "acks",
            "queue.buffering.max.ms",
            "linger.ms",
            "delivery.timeout.ms",
            "message.timeout.ms",
            "compression.type",
            "compression.codec",
            "sasl.mechanisms",
            "sasl.mechanism",
            "max.in.flight",
            "max.in.flight.requests.per.connection");
    /** librdkafka's name, and that of Kafka's library where it is another. */
    private static final Map<String, String> KNOWN = Map.ofEntries(
            same("bootstrap.servers"),
            same("client.id"),
            same("acks"),
            same("linger.ms"),
            same("request.timeout.ms"),
            same("message.timeout.ms"),
            same("retry.backoff.ms"),
            same("retry.backoff.max.ms"),
            same("reconnect.backoff.ms"),
            same("reconnect.backoff.max.ms"),
            same("metadata.max.age.ms"),
            same("connections.max.idle.ms"),
            same("batch.size"),
            same("enable.idempotence"),
            same("client.dns.lookup"),
            same("sasl.mechanism"),
            same("sasl.username"),
            same("sasl.password"),
            same("ssl.key.password"),
            same("socket.connection.setup.timeout.ms"),
            Map.entry("compression.codec", "compression.type"),
            Map.entry("security.protocol", "security.protocol"),
            Map.entry("message.max.bytes", "max.request.size"),
            Map.entry("socket.send.buffer.bytes", "send.buffer.bytes"),
            Map.entry("socket.receive.buffer.bytes", "receive.buffer.bytes"),
            Map.entry("ssl.ca.location", "ssl.truststore.certificates"),
            Map.entry("ssl.certificate.location", "ssl.keystore.certificate.chain"),
            Map.entry("ssl.key.location", "ssl.keystore.key"),
            Map.entry("ssl.endpoint.identification.algorithm", "ssl.endpoint.identification.algorithm"));

    private static final List<String> NUMBERS = List.of(
            "linger.ms",
            "request.timeout.ms",
            "message.timeout.ms",
            "retry.backoff.ms",
            "retry.backoff.max.ms",
            "reconnect.backoff.ms",
            "reconnect.backoff.max.ms",
            "metadata.max.age.ms",
            "connections.max.idle.ms",
            "batch.size",
            "socket.connection.setup.timeout.ms",
            "message.max.bytes",
            "socket.send.buffer.bytes",
            "socket.receive.buffer.bytes");
    /** Properties without effect: logging, and functions that Muster does not use. */
    private static final List<String> WITHOUT = List.of(
            "debug",
            "log_level",
            "log.connection.close",
            "log.queue",
            "log.thread.name",
            "socket.keepalive.enable",
            "client.rack",
            "api.version.request",
            "broker.version.fallback",
            "max.in.flight.requests.per.connection");

    private static final List<String> MECHANISMS = List.of("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512");
    private static final List<String> PARAMS = List.of(
            "enable_job_start",
            "flush_timeout",
            "poll_interval",
            "requeue_on_msg_timeout",
            "send_comment",
            "send_script",
            "topic",
            "topic_job_start");

    /** Whether the configuration asks for it. */
    public static boolean isAsked(SlurmConf conf) {
        return conf.text(Key.JOB_COMP_TYPE).equals(TYPE);
    }

    /** Mistakes are added to {@code errors}. */
    public static KafkaConf read(SlurmConf conf, List<ConfigError> errors) {
        Map<String, String> settings = new TreeMap<>();
        List<String> without = new ArrayList<>();
        List<String> faults = new ArrayList<>();
        Map<String, String> params = new TreeMap<>(conf.parameters(Key.JOB_COMP_PARAMS));
        if (isAsked(conf)) {
            properties(conf.text(Key.JOB_COMP_LOC), settings, without, faults);
            params.keySet().stream()
                    .filter(p -> !PARAMS.contains(p))
                    .forEach(p -> faults.add("JobCompParams=" + p + " is not known to " + TYPE));
            for (String number : List.of("flush_timeout", "poll_interval")) {
                if (!params.getOrDefault(number, "0")
                        .matches(number.startsWith("flush") ? "-1|[0-9]{1,9}" : "[0-9]{1,10}")) {
                    faults.add("Bad value \"" + params.get(number) + "\" for JobCompParams=" + number);
                }
            }
        }
        Map<String, String> client = client(settings, faults);
        KafkaConf out = new KafkaConf(
                client,
                number(settings, "linger.ms", 5),
                number(settings, "message.timeout.ms", 300_000),
                number(settings, "retry.backoff.ms", 100),
                List.copyOf(without),
                Map.copyOf(params));
        faults.forEach(sentence -> errors.add(new ConfigError(conf.file(), 0, sentence, "")));
        return out;
    }

    private static Map.Entry<String, String> same(String name) {
        return Map.entry(name, name);
    }

    private static Map<String, String> client(Map<String, String> settings, List<String> errors) {
        NUMBERS.stream()
                .filter(n -> !settings.getOrDefault(n, "0").matches("[0-9]{1,9}"))
                .forEach(n -> errors.add("Bad value \"" + settings.remove(n) + "\" for " + n));
        oneOf(settings, "acks", List.of("all", "-1", "0", "1"), errors);
        oneOf(settings, "compression.codec", List.of("none", "gzip"), errors);
        oneOf(settings, "enable.idempotence", List.of("true", "false"), errors);
        oneOf(settings, "security.protocol", List.of("plaintext", "ssl", "sasl_plaintext", "sasl_ssl"), errors);
        Map<String, String> out = new TreeMap<>();
        settings.forEach((name, value) -> out.put(KNOWN.get(name), value));
        out.putIfAbsent("client.id", "rdkafka");
        out.putIfAbsent("enable.idempotence", "false");
        out.putIfAbsent("request.timeout.ms", "30000");
        // messages are collected, and tried again, before they come there: one try, in order
        out.put("linger.ms", "0");
        if (out.get("enable.idempotence").equals("false")) {
            out.put("retries", "0");
        }
        out.put("max.in.flight.requests.per.connection", "1");
        out.put("delivery.timeout.ms", out.get("request.timeout.ms"));
        out.put("max.block.ms", out.get("request.timeout.ms"));
        out.remove("message.timeout.ms");
        out.computeIfPresent("security.protocol", (n, v) -> v.toUpperCase(Locale.ROOT));
        out.computeIfPresent("ssl.endpoint.identification.algorithm", (n, v) -> v.equals("none") ? "" : v);
        if (out.containsKey("ssl.truststore.certificates")) {
            out.put("ssl.truststore.type", "PEM");
        }
        if (out.containsKey("ssl.keystore.key")) {
            out.put("ssl.keystore.type", "PEM");
        }
        sasl(settings, out, errors);
        return Map.copyOf(out);
    }

    private static void sasl(Map<String, String> settings, Map<String, String> out, List<String> errors) {
        out.remove("sasl.username");
        out.remove("sasl.password");
        if (!settings.getOrDefault("security.protocol", "")
                .toLowerCase(Locale.ROOT)
                .startsWith("sasl")) {
            return;
        }
        String mechanism = settings.getOrDefault("sasl.mechanism", "");
        String username = settings.getOrDefault("sasl.username", "");
        if (!MECHANISMS.contains(mechanism) || username.isEmpty()) {
            errors.add("security.protocol=" + settings.get("security.protocol")
                    + " needs sasl.username, sasl.password and sasl.mechanism, which is " + "one of "
                    + String.join(", ", MECHANISMS));
            return;
        }
        String module = "org.apache.kafka.common.security."
                + (mechanism.equals("PLAIN") ? "plain.PlainLoginModule" : "scram.ScramLoginModule");
        out.put(
                "sasl.jaas.config",
                module + " required username=" + quoted(username) + " password="
                        + quoted(settings.getOrDefault("sasl.password", "")) + ";");
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    private static void properties(
            String place, Map<String, String> settings, List<String> without, List<String> errors) {
        if (!place.startsWith("/")) {
            errors.add(TYPE + " needs JobCompLoc, the absolute path of a file with at least bootstrap.servers");
            return;
        }
        try {
            for (String raw : Files.readAllLines(Path.of(place))) {
                String line = raw.strip();
                int equalSign = line.indexOf('=');
                if (line.isEmpty() || line.startsWith("#")) {
                    continue;
                }
                String name =
                        equalSign < 0 ? line : line.substring(0, equalSign).strip();
                name = OTHER_NAMES.getOrDefault(name, name);
                if (equalSign < 0 || !KNOWN.containsKey(name) && !WITHOUT.contains(name)) {
                    errors.add(place + ": the property " + name + " is not part of this version");
                } else if (WITHOUT.contains(name)) {
                    without.add(name);
                } else {
                    settings.put(name, line.substring(equalSign + 1).strip());
                }
            }
        } catch (IOException e) {
            errors.add("JobCompLoc=" + place + ": " + ErrorSentence.reason(e));
            return;
        }
        if (settings.getOrDefault("bootstrap.servers", "").isEmpty()) {
            errors.add(place + ": bootstrap.servers is needed");
        }
    }

    private static void oneOf(Map<String, String> settings, String name, List<String> known, List<String> errors) {
        String value = settings.getOrDefault(name, known.getFirst()).toLowerCase(Locale.ROOT);
        if (!known.contains(value)) {
            errors.add(name + "=" + value + " is not part of this version; there is " + String.join(", ", known));
            settings.remove(name);
        } else if (settings.containsKey(name)) {
            settings.put(name, value);
        }
    }

    private static int number(Map<String, String> settings, String name, int fallback) {
        return Integer.parseInt(settings.getOrDefault(name, Integer.toString(fallback)));
    }
}
