package dev.muster.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The order of the packages inside each room: a package uses those before it. A leading "." puts the room's own package
 * first; else it stands last.
 */
class WallsTest {
    private static final String ROOT_PACKAGE = "";
    private static final int FILES_MAX = 26;
    /** Most classes that may all depend on each other. */
    private static final int CYCLE_MAX = 8;

    private static final Map<String, List<String>> ORDER = new TreeMap<>(Map.of(
            "model", order(". hdf5 format cluster job node api accounting"),
            "core", order("options state index tres command limits step reservation job partition node preempt timer"),
            "scheduler", order("request node timeline claim queue preempt pass forecast"),
            "controller", order("ha outbox kafka config stats lua dbd view site engine accounting nodes edge"),
            "node", order("spool os hardware config meter cgroup step job io"),
            "cli",
                    order("command connection option request profile format shape wrap submit service "
                            + "scontrol report acct list step sacct"),
            "rest", order("http contract operation page"),
            "config", order("key file sister"),
            "transport", order("tls"),
            "accounting", order("db book archive report table dbd")));

    /** The uses against the order that are left. Rooms without a line have none. */
    private static final String LEFT = "upward-arrows.txt";

    private static JavaClasses all;

    private static List<String> order(String packages) {
        List<String> out = new ArrayList<>(List.of(packages.split(" ")));
        if (out.remove(".")) {
            out.addFirst(ROOT_PACKAGE);
        } else {
            out.add(ROOT_PACKAGE);
        }
        return out;
    }

    @BeforeAll
    static void read() {
        all = new ClassFileImporter()
                .importPaths(ORDER.keySet().stream()
                        .map(r -> Repository.ROOT.resolve(r).resolve("target/classes"))
                        .toList());
    }

    private static String room(JavaClass c) {
        return c.getPackageName().split("\\.")[2];
    }

    private static String part(JavaClass c) {
        String[] parts = c.getPackageName().split("\\.");
        return parts.length > 3 ? parts[3] : ROOT_PACKAGE;
    }

    private static String topName(JavaClass c) {
        return c.getName().replaceFirst("\\$.*", "").substring("dev.muster.".length());
    }

    /** Uses of a package that stands later in its room's order: {@code core.state.State > core.job.Dependencies}. */
    private static TreeSet<String> upward() {
        TreeSet<String> out = new TreeSet<>();
        for (JavaClass from : all) {
            List<String> order = ORDER.get(room(from));
            from.getDirectDependenciesFromSelf().forEach(d -> {
                JavaClass to = d.getTargetClass();
                boolean same = to.getPackageName().startsWith("dev.muster.") && room(to).equals(room(from));
                if (same && order.indexOf(part(from)) < order.indexOf(part(to))) {
                    out.add(topName(from) + " > " + topName(to));
                }
            });
        }
        return out;
    }

    @Test
    void everyPackageHasAPlace() {
        for (JavaClass c : all) {
            assertThat(ORDER.get(room(c))).as(c.getName()).contains(part(c));
        }
    }

    /** The file may only get shorter: an arrow that is gone leaves it. */
    @Test
    void packagesUseOnlyPackagesBeforeThem() throws IOException {
        Set<String> rooms = all.stream().map(WallsTest::room).collect(Collectors.toSet());
        List<String> left;
        try (Stream<String> lines = Files.lines(Path.of("src/test/resources", LEFT))) {
            // a build of some rooms alone knows only their arrows
            left = lines.filter(l -> !l.startsWith("#"))
                    .filter(l -> rooms.contains(l.split("\\.")[0]))
                    .toList();
        }
        TreeSet<String> now = upward();
        Files.write(Path.of("target", LEFT), now);
        assertThat(now).containsExactlyElementsOf(left);
    }

    @Test
    void noPackageIsCrowded() throws IOException {
        for (String room : ORDER.keySet()) {
            Path source = Repository.ROOT
                    .resolve(room)
                    .resolve("src/main/java/dev/muster")
                    .resolve(room);
            try (Stream<Path> dirs = Files.walk(source)) {
                for (Path dir : dirs.filter(Files::isDirectory).toList()) {
                    try (Stream<Path> files = Files.list(dir)) {
                        assertThat(files.filter(f -> f.toString().endsWith(".java"))
                                        .count())
                                .as(dir.toString())
                                .isLessThanOrEqualTo(FILES_MAX);
                    }
                }
            }
        }
    }

    @Test
    void everyRoomHasAPageWithAPicture() throws IOException {
        try (Stream<Path> dirs = Files.list(Repository.ROOT)) {
            for (Path room :
                    dirs.filter(dir -> Files.exists(dir.resolve("pom.xml"))).toList()) {
                assertThat(room.resolve("README.md")).content().contains("```");
            }
        }
    }

    @Test
    void noCycleIsLong() {
        for (String room : all.stream().map(WallsTest::room).collect(Collectors.toCollection(TreeSet::new))) {
            Map<String, Set<String>> uses = uses(room);
            Map<String, Set<String>> reached = new TreeMap<>();
            uses.keySet().forEach(name -> reached.put(name, reached(uses, name)));
            for (String name : uses.keySet()) {
                Set<String> cycle = new TreeSet<>(reached.get(name));
                cycle.removeIf(other -> !reached.get(other).contains(name));
                assertThat(cycle)
                        .as("classes that depend on %s and on which it depends", name)
                        .hasSizeLessThanOrEqualTo(CYCLE_MAX);
            }
        }
    }

    /** Classes of a room, nested ones as part of theirs, and the others that each uses. */
    private static Map<String, Set<String>> uses(String room) {
        Map<String, Set<String>> out = new TreeMap<>();
        all.stream().filter(c -> room(c).equals(room)).forEach(from -> {
            Set<String> used = out.computeIfAbsent(topName(from), n -> new TreeSet<>());
            from.getDirectDependenciesFromSelf().stream()
                    .map(Dependency::getTargetClass)
                    .map(JavaClass::getBaseComponentType)
                    .filter(to -> to.getPackageName().startsWith("dev.muster.") && room(to).equals(room))
                    .map(WallsTest::topName)
                    .forEach(used::add);
        });
        return out;
    }

    /** All classes that one uses, directly or through others. */
    private static Set<String> reached(Map<String, Set<String>> uses, String from) {
        Set<String> out = new TreeSet<>();
        Deque<String> open = new ArrayDeque<>(uses.getOrDefault(from, Set.of()));
        while (!open.isEmpty()) {
            String next = open.pop();
            if (out.add(next)) {
                open.addAll(uses.getOrDefault(next, Set.of()));
            }
        }
        return out;
    }
}
