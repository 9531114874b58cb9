package dev.muster.simulator;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.muster.core.command.IdAllocator;
import dev.muster.core.job.JobRules;
import dev.muster.core.job.SubmitRules;
import dev.muster.core.job.UpdateRules;
import dev.muster.core.limits.UsageRules;
import dev.muster.core.node.NodeRules;
import dev.muster.core.options.SlurmConfOptions;
import dev.muster.core.partition.PartitionRules;
import dev.muster.core.reservation.ReservationRules;
import dev.muster.core.step.StepRules;
import dev.muster.core.timer.DeadlineRules;
import dev.muster.json.NamedTexts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The rooms that each room may use, and what decisions may not touch. */
class ArchitectureTest {
    private static final String[] PURE = {
        "dev.muster.json..", "dev.muster.model..", "dev.muster.core..", "dev.muster.scheduler.."
    };

    /** The program of an installation that writes generated codecs into a jar. */
    private static final String OF_THE_BUILD = "CoderJar";

    /** Each room and the rooms it may use. */
    private static final Map<String, List<String>> USES = new TreeMap<>(Map.ofEntries(
            Map.entry("json", List.of()),
            Map.entry("model", List.of("json")),
            Map.entry("config", List.of("json", "model")),
            Map.entry("core", List.of("json", "model")),
            Map.entry("scheduler", List.of("json", "model", "core")),
            Map.entry("journal", List.of("json", "model")),
            Map.entry("raft", List.of("journal")),
            Map.entry("lua", List.of("json", "model")),
            Map.entry("transport", List.of("json", "model")),
            Map.entry("daemon", List.of("json", "model", "config", "transport")),
            Map.entry("accounting", List.of("json", "model", "config", "journal", "transport", "daemon")),
            Map.entry(
                    "controller",
                    List.of(
                            "json",
                            "model",
                            "config",
                            "core",
                            "scheduler",
                            "journal",
                            "lua",
                            "transport",
                            "daemon",
                            "accounting")),
            Map.entry("kafka", List.of("config", "controller", "daemon")),
            Map.entry("node", List.of("json", "model", "config", "transport", "daemon")),
            Map.entry("cli", List.of("json", "model", "config", "lua", "transport")),
            Map.entry("rest", List.of("json", "model", "config", "transport", "daemon", "cli")),
            Map.entry(
                    "benchmarks",
                    List.of(
                            "json",
                            "model",
                            "config",
                            "core",
                            "scheduler",
                            "journal",
                            "lua",
                            "transport",
                            "daemon",
                            "controller",
                            "accounting",
                            "node",
                            "cli")),
            Map.entry(
                    "simulator",
                    List.of(
                            "json",
                            "model",
                            "config",
                            "core",
                            "scheduler",
                            "journal",
                            "lua",
                            "transport",
                            "controller"))));

    private static JavaClasses all;

    @BeforeAll
    static void read() {
        List<Path> places = USES.keySet().stream()
                .map(room -> Repository.ROOT.resolve(room).resolve("target/classes"))
                .filter(Files::isDirectory)
                .toList();
        all = new ClassFileImporter().importPaths(places);
    }

    @Test
    void classesWereFound() {
        assertThat(all.stream().map(c -> c.getPackageName().split("\\.")[2]))
                .contains("model", "core", "scheduler", "controller");
    }

    @Test
    void roomsUseOnlyTheRoomsBelow() {
        USES.forEach((room, uses) -> {
            String[] others = USES.keySet().stream()
                    .filter(r -> !r.equals(room) && !uses.contains(r))
                    .map(r -> "dev.muster." + r + "..")
                    .toArray(String[]::new);
            noClasses()
                    .that()
                    .resideInAPackage("dev.muster." + room + "..")
                    .should()
                    .dependOnClassesThat()
                    .resideInAnyPackage(others)
                    .allowEmptyShould(true)
                    .check(all);
        });
    }

    @Test
    void decisionsTouchNothingOutside() {
        Set<String> harmless = Set.of(
                "java.io.ByteArrayOutputStream",
                "java.io.OutputStream",
                "java.io.Serializable",
                "java.io.IOException",
                "java.io.UncheckedIOException");
        noClasses()
                .that()
                .resideInAnyPackage(PURE)
                .and()
                .doNotHaveSimpleName(OF_THE_BUILD)
                .should()
                .dependOnClassesThat(new DescribedPredicate<>("touch the outside") {
                    @Override
                    public boolean test(JavaClass c) {
                        String name = c.getName();
                        return name.startsWith("java.io.") && !harmless.contains(name)
                                || name.startsWith("java.net.")
                                || name.startsWith("java.nio.file.") && !name.endsWith("Exception")
                                || name.startsWith("java.nio.channels.")
                                || name.startsWith("java.util.concurrent.locks.")
                                || name.contains("Executor")
                                || name.equals("java.lang.Thread")
                                || name.equals("java.lang.ProcessBuilder")
                                || name.equals("java.time.Clock")
                                || name.equals("java.util.Random")
                                || name.endsWith(".ThreadLocalRandom")
                                || name.endsWith(".SecureRandom")
                                || name.endsWith(".SplittableRandom")
                                || name.endsWith(".CompletableFuture");
                    }
                })
                .check(all);
    }

    @Test
    void decisionsReadNoClockOrEnvironment() {
        for (String method : List.of("currentTimeMillis", "nanoTime", "getenv", "getProperty", "identityHashCode")) {
            noClasses()
                    .that()
                    .resideInAnyPackage(PURE)
                    .and()
                    .doNotHaveSimpleName(OF_THE_BUILD)
                    .should()
                    .callMethodWhere(new DescribedPredicate<>("call System." + method) {
                        @Override
                        public boolean test(com.tngtech.archunit.core.domain.JavaMethodCall call) {
                            return call.getTargetOwner().isEquivalentTo(System.class)
                                    && call.getName().equals(method);
                        }
                    })
                    .check(all);
        }
        noClasses()
                .that()
                .resideInAnyPackage(PURE)
                .and()
                .doNotHaveSimpleName(OF_THE_BUILD)
                .should()
                .callMethodWhere(new DescribedPredicate<>("ask for the time, chance or defaults") {
                    @Override
                    public boolean test(com.tngtech.archunit.core.domain.JavaMethodCall call) {
                        String target = call.getTargetOwner().getName() + "." + call.getName();
                        return target.endsWith("Instant.now")
                                || target.endsWith("UUID.randomUUID")
                                || target.endsWith("Math.random")
                                || target.endsWith("ZoneId.systemDefault")
                                || target.endsWith("Locale.getDefault")
                                || target.endsWith("Collection.parallelStream");
                    }
                })
                .check(all);
    }

    /** Texts of options are parsed once, in core.options: rules and passes read typed values. */
    @Test
    void noRuleReadsAnOptionByName() {
        noClasses()
                .that()
                .resideInAnyPackage("dev.muster.core..", "dev.muster.scheduler..")
                .and()
                .resideOutsideOfPackage("dev.muster.core.options")
                .should()
                .callMethod(SlurmConfOptions.class, "texts")
                .orShould()
                .callMethod(NamedTexts.class, "texts")
                .check(all);
    }

    @Test
    void onlyTheCoreWritesState() {
        // no other room can make a State but by apply and the canonical constructor, and none calls the rules but
        // through Core
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.muster.core..")
                .should()
                .dependOnClassesThat(belongToAnyOf(
                        JobRules.class,
                        NodeRules.class,
                        StepRules.class,
                        SubmitRules.class,
                        DeadlineRules.class,
                        UpdateRules.class,
                        ReservationRules.class,
                        PartitionRules.class,
                        UsageRules.class,
                        IdAllocator.class))
                .check(all);
        assertThat(Arrays.stream(dev.muster.core.state.State.class.getDeclaredMethods())
                        .filter(m -> m.getName().equals("apply")))
                .hasSize(1);
    }
}
