package dev.muster.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.config.key.Key;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
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

/**
 * No key of slurm.conf is taken silently: what has no effect says why, what has one is read, and docs/configuration.md
 * says which.
 */
class KeysTest {
    private static final Path TABLE = Repository.ROOT.resolve("docs/configuration.md");
    private static final List<String> BOOKKEEPING =
            List.of("Key.java", "KeyCheck.java", "ShowConfig.java", "SisterFiles.java", "SlurmConf.java");
    private static final Pattern METHOD = Pattern.compile("    public [\\w.<>, ]+ (\\w+)\\(.*\\{");

    private static String text(Path file) {
        return String.join("\n", Repository.lines(file));
    }

    private static List<Path> product() {
        return Repository.sources().stream()
                .filter(f -> f.toString().contains("/src/main/"))
                .toList();
    }

    /** Accessors of SlurmConf by the key that they read. */
    private static TreeMap<String, List<String>> accessors() {
        Path file = product().stream()
                .filter(f -> f.endsWith("config/SlurmConf.java"))
                .findFirst()
                .orElseThrow();
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
    void everyHonouredKeyIsRead() {
        String all = String.join(
                "\n",
                product().stream()
                        .filter(f -> !BOOKKEEPING.contains(f.getFileName().toString()))
                        .map(KeysTest::text)
                        .toList());
        TreeMap<String, List<String>> accessors = accessors();
        List<String> unread = new ArrayList<>();
        for (Key key : Key.values()) {
            boolean direct =
                    Pattern.compile("Key\\." + key.name() + "\\b").matcher(all).find();
            boolean through =
                    accessors.getOrDefault(key.name(), List.of()).stream().anyMatch(m -> all.contains("." + m + "("));
            boolean byCommands = all.contains("\"" + key.slurmName().toLowerCase(Locale.ROOT) + "\"");
            if (key.honoured() && !direct && !through && !byCommands) {
                unread.add(key.slurmName());
            }
        }
        assertThat(unread).isEmpty();
    }

    private static TreeMap<String, String> tests() throws IOException {
        List<Path> tests = new ArrayList<>(Repository.sources().stream()
                .filter(f -> f.toString().contains("/src/test/"))
                .toList());
        try (Stream<Path> scripts = Files.list(Repository.ROOT.resolve("packaging/cluster-tests"))) {
            tests.addAll(
                    scripts.filter(f -> f.toString().endsWith(".sh")).sorted().toList());
        }
        TreeMap<String, String> texts = new TreeMap<>();
        tests.forEach(t -> texts.put(t.getFileName().toString(), text(t)));
        return texts;
    }

    /** {@code shows: Key, Key} in a test says that what it looks at depends on these keys. */
    private static final Pattern SHOWS =
            Pattern.compile("shows:\\s+(?:\\* )?([A-Za-z0-9]+(?:,\\s+(?:\\* )?[A-Za-z0-9]+)*)");

    private static TreeMap<String, String> shown() throws IOException {
        TreeMap<String, String> out = new TreeMap<>();
        tests().forEach((file, text) -> {
            Matcher m = SHOWS.matcher(text);
            while (!file.equals("KeysTest.java") && m.find()) {
                for (String key : m.group(1).split(",[\\s*]+")) {
                    out.putIfAbsent(key, file);
                }
            }
        });
        return out;
    }

    private static String table() throws IOException {
        TreeMap<String, String> shown = shown();
        StringBuilder out = new StringBuilder("""
                # slurm.conf, key by key

                Every key that Slurm 26.05 knows. A key with an effect names the test that shows it, where there is one: such a test
                says so of itself (`shows: Key`). One without an effect says why, as slurmctld does in its log when the key is given.
                Words of a list that have no effect are told there as well.

                | key | default | effect |
                |---|---|---|
                """);
        int honoured = 0;
        int seen = 0;
        for (Key key : Key.values()) {
            String test = shown.getOrDefault(key.slurmName(), "");
            honoured += key.honoured() ? 1 : 0;
            seen += key.honoured() && !test.isEmpty() ? 1 : 0;
            out.append("| ")
                    .append(key.slurmName())
                    .append(" | ")
                    .append(key.fallback().replace("|", "\\|"))
                    .append(" | ")
                    .append(
                            key.honoured()
                                    ? "yes" + (test.isEmpty() ? "" : ": `" + test + "`")
                                    : "none: " + key.whyInert())
                    .append(" |\n");
        }
        return out.append("\n")
                .append(honoured)
                .append(" of ")
                .append(Key.values().length)
                .append(" keys have an effect; ")
                .append(seen)
                .append(" of them name their test.\n")
                .toString();
    }

    @Test
    void testSetsTheKeyThatItShows() throws IOException {
        TreeMap<String, String> texts = tests();
        List<String> wrong = new ArrayList<>();
        shown().forEach((name, file) -> {
            boolean known = java.util.Arrays.stream(Key.values())
                    .anyMatch(k -> k.slurmName().equals(name) && k.honoured());
            // beyond the remark itself: the key, or what the core calls it
            String rest = SHOWS.matcher(texts.get(file)).replaceAll("");
            if (!known
                    || file.endsWith(".sh")
                            && !Pattern.compile("(?i)\\b" + name + "\\b")
                                    .matcher(rest)
                                    .find()) {
                wrong.add(file + " shows " + name);
            }
        });
        assertThat(wrong).isEmpty();
    }

    @Test
    void tableOfKeysIsCurrent() throws IOException {
        assertThat(text(TABLE) + "\n").as("KeysTest.main writes it").isEqualTo(table());
    }

    /**
     * docs/other-files.md has every key that the readers of the other files know, every file that is not read, and
     * tests that there are.
     */
    @Test
    void pageOfOtherFilesListsAllTheirKeys() throws IOException {
        String told = text(Repository.ROOT.resolve("docs/other-files.md"));
        Path config = Repository.ROOT.resolve("config/src/main/java/dev/muster/config/sister");
        List<String> wanted = new ArrayList<>();
        find(wanted, "(?m)^        (\\w+) (?:text|number|yesno|percent) ", text(config.resolve("CgroupConf.java")));
        find(wanted, "(?m)^        (\\w+) (?:text|number|yesno|percent) ", text(config.resolve("OciConf.java")));
        find(
                wanted,
                "(?:entry\\(|LINUX_KINDS = Map.of\\(|\"flags\", )\"(\\w+)\", \"",
                text(config.resolve("JobContainerConf.java")));
        for (String reader : List.of("GresConf.java", "TopologyConf.java")) {
            List<String> cases = new ArrayList<>();
            find(cases, "case ((?:\"\\w+\"(?:, )?)+) -> ", text(config.resolve(reader)));
            cases.forEach(c -> find(wanted, "\"(\\w+)\"", c));
        }
        find(
                wanted,
                "\"(\\w+)\"",
                text(config.resolve("HelpersConf.java")).split("KEYS =")[1].split(";")[0]);
        wanted.add("SysfsInterfaces");
        find(wanted, "\"((?:energy|profile|infiniband)\\w+)\"", text(config.resolve("AcctGatherConf.java")));
        find(
                wanted,
                "\\{\"([\\w.]+)\", \"",
                text(config.resolveSibling("file").resolve("SisterFiles.java")).split("UNKEPT_WORDS")[0]);
        List<String> untold = wanted.stream()
                .filter(w -> !told.toLowerCase(Locale.ROOT).contains(w.toLowerCase(Locale.ROOT))
                        && !told.toLowerCase(Locale.ROOT).replace("_", "").contains(w))
                .toList();
        assertThat(wanted.size()).isGreaterThan(45);
        assertThat(untold).isEmpty();
        List<String> tests = new ArrayList<>();
        find(tests, "`(\\w+\\.(?:java|sh))`", told);
        assertThat(tests()).containsKeys(tests.toArray(String[]::new));
    }

    /** The other way round: a row's key is known to the file's reader, and the tests that it names have it. */
    @Test
    void pageOfOtherFilesNamesKnownKeysAndTests() throws IOException {
        TreeMap<String, String> tests = tests();
        Map<String, String> readers = Map.of(
                "cgroup.conf",
                "CgroupConf",
                "gres.conf",
                "GresConf",
                "acct_gather.conf",
                "AcctGatherConf",
                "oci.conf",
                "OciConf",
                "helpers.conf",
                "HelpersConf",
                "slurmdbd.conf",
                "../SlurmdbdConf");
        List<String> wrong = new ArrayList<>();
        Set<String> seen = new TreeSet<>();
        for (String part : text(Repository.ROOT.resolve("docs/other-files.md")).split("\n## ")) {
            String reader = readers.get(part.lines().findFirst().orElse(""));
            Matcher row =
                    Pattern.compile("(?m)^\\| (\\w+(?:, \\w+)*) \\| (.*) \\|$").matcher(part);
            while (reader != null && row.find()) {
                String source = text(
                        Repository.ROOT.resolve("config/src/main/java/dev/muster/config/sister/" + reader + ".java"));
                List<String> named = new ArrayList<>();
                find(named, "`(\\w+\\.(?:java|sh))`", row.group(2));
                String shown = String.join(
                        "\n", named.stream().map(t -> tests.getOrDefault(t, "")).toList());
                for (String key : row.group(1).equals("key")
                        ? new String[0]
                        : row.group(1).split(", ")) {
                    seen.add(reader);
                    Pattern word = Pattern.compile("(?i)" + key + "\\b");
                    if (!word.matcher(source).find()) {
                        wrong.add(reader + " does not know " + key);
                    }
                    if (!named.isEmpty() && !word.matcher(shown).find()) {
                        wrong.add(named + " do not have " + key);
                    }
                }
            }
        }
        assertThat(seen).hasSize(readers.size());
        assertThat(wrong).isEmpty();
    }

    private static void find(List<String> out, String pattern, String in) {
        Matcher m = Pattern.compile(pattern).matcher(in);
        while (m.find()) {
            out.add(m.group(1));
        }
    }

    /** Writes the table. */
    public static void main(String[] args) throws IOException {
        Files.writeString(TABLE, table());
    }
}
