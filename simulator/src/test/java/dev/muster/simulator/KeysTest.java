package dev.muster.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.Key;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** No key of slurm.conf is taken silently: what has no effect says why, what has one is read, and docs/configuration.md says which. */
class KeysTest {
    private static final Path TABLE = Repository.ROOT.resolve("docs/configuration.md");
    private static final List<String> BOOKKEEPING = List.of("Key.java", "KeyCheck.java", "ShowConfig.java", "SisterFiles.java", "SlurmConf.java");
    private static final Pattern METHOD = Pattern.compile("    public [\\w.<>, ]+ (\\w+)\\(.*\\{");

    private static String text(Path file) {
        return String.join("\n", Repository.lines(file));
    }

    private static List<Path> product() {
        return Repository.sources().stream().filter(f -> f.toString().contains("/src/main/")).toList();
    }

    /** Accessors of SlurmConf by the key that they read. */
    private static TreeMap<String, List<String>> accessors() {
        Path file = product().stream().filter(f -> f.endsWith("config/SlurmConf.java")).findFirst().orElseThrow();
        TreeMap<String, List<String>> out = new TreeMap<>();
        String method = "";
        for (String line : Repository.lines(file)) {
            Matcher m = METHOD.matcher(line);
            method = m.matches() ? m.group(1) : method;
            Matcher key = Pattern.compile("Key\\.([A-Z0-9_]+)").matcher(line);
            while (key.find()) {
                out.computeIfAbsent(key.group(1), k -> new ArrayList<>()).add(method);
            }
        }
        return out;
    }

    @Test
    void everyKeyThatHasAnEffectIsRead() {
        String all = String.join("\n", product().stream().filter(f -> !BOOKKEEPING.contains(f.getFileName().toString()))
                .map(KeysTest::text).toList());
        TreeMap<String, List<String>> accessors = accessors();
        List<String> unread = new ArrayList<>();
        for (Key key : Key.values()) {
            boolean direct = Pattern.compile("Key\\." + key.name() + "\\b").matcher(all).find();
            boolean through = accessors.getOrDefault(key.name(), List.of()).stream().anyMatch(m -> all.contains("." + m + "("));
            boolean byCommands = all.contains("\"" + key.slurmName().toLowerCase(Locale.ROOT) + "\"");
            if (key.honoured() && !direct && !through && !byCommands) {
                unread.add(key.slurmName());
            }
        }
        assertThat(unread).isEmpty();
    }

    private static TreeMap<String, String> tests() throws IOException {
        List<Path> tests = new ArrayList<>(Repository.sources().stream().filter(f -> f.toString().contains("/src/test/")).toList());
        try (Stream<Path> scripts = Files.list(Repository.ROOT.resolve("packaging/cluster-tests"))) {
            tests.addAll(scripts.filter(f -> f.toString().endsWith(".sh")).sorted().toList());
        }
        TreeMap<String, String> texts = new TreeMap<>();
        tests.forEach(t -> texts.put(t.getFileName().toString(), text(t)));
        return texts;
    }

    private static String table() throws IOException {
        TreeMap<String, String> texts = tests();
        StringBuilder out = new StringBuilder("""
                # slurm.conf, key by key

                Every key that Slurm 26.05 knows. A key with an effect names the test in which it stands, where it does in one; one without
                says why, as slurmctld does in its log when the key is given. Words of a list that have no effect are told there as well.

                | key | default | effect |
                |---|---|---|
                """);
        int honoured = 0;
        for (Key key : Key.values()) {
            Pattern use = Pattern.compile("(?i)\\b" + key.slurmName() + "=|\"" + key.slurmName() + "\"");
            String shown = texts.entrySet().stream().filter(e -> use.matcher(e.getValue()).find()).map(e -> e.getKey()).findFirst().orElse("");
            honoured += key.honoured() ? 1 : 0;
            out.append("| ").append(key.slurmName()).append(" | ").append(key.fallback().replace("|", "\\|")).append(" | ")
                    .append(key.honoured() ? "yes" + (shown.isEmpty() ? "" : ": `" + shown + "`") : "none: " + key.whyInert()).append(" |\n");
        }
        return out.append("\n").append(honoured).append(" of ").append(Key.values().length).append(" keys have an effect.\n").toString();
    }

    private static String withoutTests(String table) {
        return table.replaceAll(": `[^`]*` \\|", " |");
    }

    /** Of which key a test is named is free, as long as the test has it. */
    @Test
    void theTableIsTrue() throws IOException {
        String now = text(TABLE) + "\n";
        TreeMap<String, String> texts = tests();
        assertThat(withoutTests(now)).as("KeysTest.main writes it").isEqualTo(withoutTests(table()));
        Matcher named = Pattern.compile("(?m)^\\| (\\w+) \\|.*`([^`]*)` \\|$").matcher(now);
        while (named.find()) {
            String key = named.group(1).toLowerCase(Locale.ROOT);
            assertThat(texts.getOrDefault(named.group(2), "").toLowerCase(Locale.ROOT)).as(named.group(2)).contains(key);
        }
    }

    /** Writes the table. */
    public static void main(String[] args) throws IOException {
        Files.writeString(TABLE, table());
    }
}
