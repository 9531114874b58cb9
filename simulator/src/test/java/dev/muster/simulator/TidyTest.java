package dev.muster.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Reads the repository itself. */
class TidyTest {
    /** A formatter wraps all lines but those of texts: {@code ./muster format}. */
    private static final int LINE_MAX = 150;

    /** A public method named get…; {@code getMessage} overrides Throwable's. */
    private static final Pattern GETTER = Pattern.compile("^    public [^=(]*\\bget(?!Message\\()[A-Z]\\w*\\(.*");

    private static final Pattern UNNAMED = Pattern.compile(
            "\\s*(\\*|//|/\\*\\*).*\\b((?i:somebody|nobody|everybody|whoever|likewise|whom)|so many|so much|As above|Who)\\b.*");
    private static final Pattern UNFINISHED = Pattern.compile(".*\\b(TO" + "DO|FIX" + "ME|X" + "XX)\\b.*");

    private static List<String> offenders(BiPredicate<Path, String> offends) {
        List<String> out = new ArrayList<>();
        for (Path file : Repository.sources()) {
            int number = 0;
            for (String line : Repository.lines(file)) {
                number++;
                if (offends.test(file, line)) {
                    out.add(Repository.ROOT.relativize(file) + ":" + number);
                }
            }
        }
        return out;
    }

    @Test
    void linesFitAScreen() {
        assertThat(offenders((file, line) -> line.length() > LINE_MAX)).isEmpty();
    }

    @Test
    void sourcesHaveNoUnfinishedMarks() {
        assertThat(offenders((file, line) -> UNFINISHED.matcher(line).matches()))
                .isEmpty();
    }

    @Test
    void noTabsAndNoTrailingBlanks() {
        assertThat(offenders((file, line) -> line.indexOf('\t') >= 0 || line.endsWith(" ")))
                .isEmpty();
    }

    @Test
    void accessorsAreNamedAfterTheThing() {
        assertThat(offenders((file, line) -> GETTER.matcher(line).matches())).isEmpty();
    }

    /** Comments say which program, user or job they mean. */
    @Test
    void commentsNameTheirSubject() {
        assertThat(offenders((file, line) -> file.toString().endsWith(".java")
                        && UNNAMED.matcher(line).matches()))
                .isEmpty();
    }

    @Test
    void importsNameWhatTheyImport() {
        assertThat(offenders((file, line) -> line.startsWith("import ") && line.endsWith(".*;")))
                .isEmpty();
    }

    /**
     * An age by the machine's clock is negative after a step back, and huge after one forward: MonotonicClock, or
     * Session.isOld.
     */
    @Test
    void agesAreNotTakenFromTheMachinesClock() {
        Pattern age = Pattern.compile(
                ".*(currentTimeMillis\\(\\)( / 1000)? [-<>]|[-<>]=? System\\.currentTimeMillis\\(\\)).*");
        Set<String> dates = Set.of(
                // a time limit is kept on disk over a restart, where no other clock goes on
                "Jobs.java",
                // a token's end is a date
                "Auth.java",
                // by the date of a file
                "NodeCertificate.java");
        assertThat(offenders((file, line) -> !file.toString().contains("/test/")
                        && !dates.contains(file.getFileName().toString())
                        && age.matcher(line).matches()))
                .isEmpty();
    }

    /** Only a file with a main method ends the process. */
    @Test
    void onlyAFileWithMainEndsTheProcess() {
        List<Path> out = Repository.sources().stream()
                .filter(f -> !f.toString().contains("/test/"))
                .filter(f -> {
                    List<String> lines = Repository.lines(f);
                    return lines.stream().anyMatch(l -> l.contains("System.exit("))
                            && lines.stream().noneMatch(l -> l.contains("static void main("));
                })
                .toList();
        assertThat(out).isEmpty();
    }
}
