package dev.muster.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import dev.muster.model.api.MessageRights;
import dev.muster.rest.contract.Contract;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each request of slurmrestd's operations and of the commands is in the table of rights, and the table has no other.
 */
class RequestRightsTest {
    /** What is answered without a question to anybody. */
    private static final Set<String> OWN = Set.of("util_{v}_post_hostnames", "util_{v}_post_hostlist");

    private static final List<Map<String, MessageRights.Rule>> TABLES =
            List.of(MessageRights.controller(), MessageRights.accounting(), MessageRights.node());

    private static boolean isThere(String message, Json.Obj body) {
        String word = switch (message) {
            case "Show" -> body.text("entity");
            case "Report" -> body.text("kind");
            case "JobAction" -> body.text("action");
            default -> "";
        };
        return TABLES.stream()
                .anyMatch(t -> MessageRights.rule(t, message, word).isPresent());
    }

    @ParameterizedTest
    @MethodSource("dev.muster.rest.contract.ContractTest#versions")
    void everyOperationChecksItsRights(int version) throws IOException {
        Set<String> without = new TreeSet<>();
        Set<String> silent = new TreeSet<>();
        for (Contract.Operation o : Contract.read().operations(version)) {
            Rig rig = new Rig();
            Samples.fill(rig.answers);
            rig.answers.put("Submit", new Json.Obj().put("jobId", 12L));
            String target = o.path().replace("{v}", "v0.0." + version).replaceAll("\\{\\w+}", "7");
            // no user may delete all associations
            String which = o.id().contains("delete_assoc") ? "?user=7" : "";
            rig.ask(o.method().toUpperCase(Locale.ROOT), target + which, PassedOverTest.least(o.id()));
            if (rig.asked.isEmpty() && !OWN.contains(o.id())) {
                silent.add(o.id());
            }
            for (String asked : rig.asked) {
                int space = asked.indexOf(' ');
                if (!isThere(
                        asked.substring(0, space),
                        Json.object(asked.substring(space + 1).getBytes(StandardCharsets.UTF_8)))) {
                    without.add(o.id() + ": " + asked);
                }
            }
        }
        assertThat(without).isEmpty();
        assertThat(silent).isEmpty();
    }

    /** The messages that the sources of commands, daemons and slurmrestd name when they ask. */
    @Test
    void everyRequestOfACommandHasItsRights() throws IOException {
        Pattern call = Pattern.compile(
                "\\b(?:call|asked?|held|send)" + "\\((?:[^\"()]|\\([^()]*\\))*\"([A-Z][a-z]+[A-Za-z]*)\"");
        Map<String, String> named = new TreeMap<>();
        for (String room : List.of("cli", "rest", "node", "controller", "daemon", "accounting")) {
            try (Stream<Path> files = Files.walk(Path.of("..", room, "src", "main", "java"))) {
                for (Path file :
                        files.filter(f -> f.toString().endsWith(".java")).toList()) {
                    Matcher m = call.matcher(Files.readString(file));
                    while (m.find()) {
                        named.put(m.group(1), file.getFileName().toString());
                    }
                }
            }
        }
        // keys of oci.conf are asked for as well
        named.keySet()
                .removeIf(message -> message.startsWith("RunTime")
                        || TABLES.stream()
                                .anyMatch(t -> t.keySet().stream().anyMatch(k -> k.split(" ")[0].equals(message))));
        assertThat(named).isEmpty();
    }
}
