package dev.muster.cli.shape;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is expected is what Slurm's own commands print of such texts. */
class YamlTextTest {
    private static String of(String json, boolean tags) {
        StringBuilder b = new StringBuilder();
        Tree.document(
                "yaml", Json.object(json.replace('`', '"').getBytes(StandardCharsets.UTF_8)), false, tags, b::append);
        return b.toString();
    }

    @Test
    void treeIsWrittenAsYaml() {
        String json = "{`meta`:{`slurm`:{`major`:22}},`errors`:[],`none`:{},"
                + "`nodes`:[{`name`:`n1`,`up`:true,`load`:0.5,`why`:null,`in`:[`a`,[`b`]]},``]}";
        assertThat(of(json, true)).isEqualTo("""
            %YAML 1.1
            --- !!map
            !!str meta: !!map
              !!str slurm: !!map
                !!str major: !!int 22
            !!str errors: !!seq []
            !!str none: !!map {}
            !!str nodes: !!seq
            - !!map
              !!str name: !!str n1
              !!str up: !!bool true
              !!str load: !!float 0.500000
              !!str why: !!null null
              !!str in: !!seq
              - !!str a
              - !!seq
                - !!str b
            - !!str
            ...
            """);
        assertThat(of(json, false)).isEqualTo("""
            %YAML 1.1
            ---
            meta:
              slurm:
                major: 22
            errors: []
            none: {}
            nodes:
            - name: n1
              up: true
              load: 0.500000
              why: null
              in:
              - a
              - - b
            - ''
            ...
            """);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '~', quoteCharacter = '^', textBlock = """
            two words ~ two words
            a: b      ~ 'a: b'
            a:b       ~ a:b
            a:        ~ 'a:'
            - x       ~ '- x'
            -x        ~ -x
            -         ~ '-'
            #c        ~ '#c'
            a #c      ~ 'a #c'
            a#c       ~ a#c
            true      ~ true
            12        ~ 12
            it's      ~ it's
            it's: x   ~ 'it''s: x'
            x,y       ~ x,y
            [x]       ~ '[x]'
            a[x]      ~ a[x]
            ?x        ~ ?x
            ? x       ~ '? x'
            %x        ~ '%x'
            :x        ~ :x
            ::        ~ '::'
            ---       ~ '---'
            =         ~ =
            a  b      ~ a  b
            é         ~ "\\xE9"
            日本       ~ "\\u65E5\\u672C"
            😀        ~ "\\U0001F600"
            """)
    void textIsQuotedWhereYamlNeedsIt(String text, String written) {
        assertThat(written(text)).isEqualTo("!!str " + written);
    }

    private static String written(String text) {
        StringBuilder b = new StringBuilder();
        YamlText yaml = new YamlText(b, true);
        yaml.open(false);
        yaml.key("jobs");
        yaml.open(true);
        yaml.open(false);
        yaml.key("comment");
        yaml.text(text);
        return b.substring(b.indexOf("comment: ") + 9, b.length() - 1);
    }

    @Test
    void multilineAndLongTextsAreQuotedAndFolded() {
        assertThat(written("a\nb")).isEqualTo("!!str 'a\n\n    b'");
        assertThat(written("\na")).isEqualTo("!!str '\n\n    a'");
        assertThat(written("a\n")).isEqualTo("!!str 'a\n\n    '");
        assertThat(written("a\n\nb")).isEqualTo("!!str 'a\n\n\n    b'");
        assertThat(written("a\n b")).isEqualTo("!!str \"a\\n b\"");
        assertThat(written("a \nb")).isEqualTo("!!str \"a \\nb\"");
        assertThat(written("a\tb")).isEqualTo("!!str \"a\\tb\"");
        assertThat(written(" lead")).isEqualTo("!!str ' lead'");
        assertThat(written("")).isEqualTo("!!str");
        String end = "\n    long long long long long long long long end";
        String first = "long long long long long long long long long long long";
        assertThat(written(first + " long" + " long".repeat(8) + " end")).isEqualTo("!!str " + first + " long" + end);
        assertThat(written("long: " + first + " long".repeat(8) + " end"))
                .isEqualTo("!!str 'long: " + first + end + "'");
    }
}
