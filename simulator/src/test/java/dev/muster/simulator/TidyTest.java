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
    /** The formatter's width ({@code ./muster format}); it wraps neither literals nor preformatted comments. */
    private static final int LINE_MAX = 120;

    /** In a text block, where a row of a table is as long as its value. */
    private static final int TEXT_BLOCK_LINE_MAX = 150;

    private static final String TEXT_BLOCK_QUOTES = "\"\"\"";

    /** A public method named get…; {@code getMessage} overrides Throwable's. */
    private static final Pattern GETTER = Pattern.compile("^    public [^=(]*\\bget(?!Message\\()[A-Z]\\w*\\(.*");

    private static final Pattern UNNAMED = Pattern.compile(
            "\\s*(\\*|//|/\\*\\*).*\\b((?i:somebody|nobody|everybody|whoever|likewise|whom)|so many|so much|"
                    + "As above|Who)\\b.*");
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

    /** Lines of a file that exceed the width that their place has, as {@code path:number}. */
    private static List<String> longLines(Path file) {
        List<String> out = new ArrayList<>();
        boolean inTextBlock = false;
        int number = 0;
        for (String line : Repository.lines(file)) {
            number++;
            if (line.length() > (inTextBlock ? TEXT_BLOCK_LINE_MAX : LINE_MAX)) {
                out.add(Repository.ROOT.relativize(file) + ":" + number);
            }
            inTextBlock ^= togglesTextBlock(line);
        }
        return out;
    }

    /** Whether a line opens a text block that it does not close, or closes one that it does not open. */
    private static boolean togglesTextBlock(String line) {
        int quotes = 0;
        for (int at = line.indexOf(TEXT_BLOCK_QUOTES); at >= 0; at = line.indexOf(TEXT_BLOCK_QUOTES, at + 3)) {
            if (at == 0 || line.charAt(at - 1) != '\\') {
                quotes++;
            }
        }
        return quotes % 2 == 1;
    }

    @Test
    void linesFitAScreen() {
        assertThat(Repository.sources().stream().map(TidyTest::longLines).flatMap(List::stream))
                .isEmpty();
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
        assertThat(offenders((file, line) -> GETTER.matcher(line).matches() && !isOfRatis(line)))
                .isEmpty();
    }

    /** Methods of the library for the replicated log, which the room raft has to override by their names. */
    private static boolean isOfRatis(String line) {
        return line.contains("getStateMachineStorage()");
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
