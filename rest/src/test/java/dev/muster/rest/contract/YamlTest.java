package dev.muster.rest.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.cli.shape.Tree;
import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies in YAML: the tree that they mean, as JSON. */
class YamlTest {
    private static String json(String yaml) throws Yaml.Unreadable {
        return new String(
                Json.print(Yaml.parse(yaml.replace("~", "\n").getBytes(StandardCharsets.UTF_8))),
                StandardCharsets.UTF_8);
    }

    /** Lines between tildes. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            a: 1~b: x y                                        | {"a":1,"b":"x y"}
            ---~a: "l\\nm"  ~b: 'it''s'~...                    | {"a":"l\\nm","b":"it's"}
            a:~  b:~    - c~    - d: 1~      e: [1,"f"]~g: {}  | {"a":{"b":["c",{"d":1,"e":[1,"f"]}]},"g":{}}
            a:~- 1~- -2~-~b:                                   | {"a":[1,-2,null],"b":null}
            # x~a: true # y~~b: 1.5~c: 0x1                     | {"a":true,"b":1.5,"c":"0x1"}
            {"a":1}                                            | {"a":1}
            "a b": http://x:1/                                 | {"a b":"http://x:1/"}
            - - 1~  - 2~- 3                                    | [[1,2],3]
            %YAML 1.1~--- !!map~!!str a: !!seq~- !!map~  !!str b: !!str 12~  !!str c: !!str~- !!seq []~... | {"a":[{"b":"12","c":""},[]]}
            a: one~  two~b: 'x~~  it''s'~c: "\\xE9\\u65e5~  \\U0001F600\\e" | {"a":"one two","b":"x\\nit's","c":"é日 😀\\u001b"}
            a: !!map~  b: 1~c: !!null null~d: !!float 0.5~e: !!bool true | {"a":{"b":1},"c":null,"d":0.5,"e":true}
            """)
    void yamlIsReadAsItsTree(String yaml, String tree) throws Yaml.Unreadable {
        assertThat(json(yaml)).isEqualTo(tree);
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '^', textBlock = """
            s: |~  #!/bin/sh~    a: b~~  c~t: 1, ^{"s":"#!/bin/sh\\n  a: b\\n\\nc\\n","t":1}^
            s: |-~  a~~,                         ^{"s":"a"}^
            s: >~  a~  b,                        ^{"s":"a b\\n"}^
            """)
    void textIsWhatIsIndented(String yaml, String tree) throws Yaml.Unreadable {
        assertThat(json(yaml)).isEqualTo(tree);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a: &x 1",
                "a: *x",
                "a: !x 1",
                "a: !!binary eA==",
                "a: \"\\q\"",
                "a: [1,",
                "a: 'x",
                "a: 1~  b: 2",
                "a: 1~a: 2",
                "- 1~b: 2",
                "\t- a"
            })
    void unreadableYamlIsRefusedWithItsLine(String yaml) {
        assertThatThrownBy(() -> json(yaml)).isInstanceOf(Yaml.Unreadable.class).hasMessageStartingWith("line ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"{\"a\":{\"b\":[{\"c\":\"x: y\"},{\"d\":[]}],\"e\":\"#\"},\"f\":\"\"}"})
    void writtenYamlIsReadBack(String tree) throws Yaml.Unreadable {
        byte[] yaml = Tree.document("yaml", Json.object(tree.getBytes(StandardCharsets.UTF_8)))
                .getBytes(StandardCharsets.UTF_8);
        assertThat(new String(Json.print(Yaml.parse(yaml)), StandardCharsets.UTF_8))
                .isEqualTo(tree);
    }
}
