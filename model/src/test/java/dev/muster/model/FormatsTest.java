package dev.muster.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.model.format.Durations;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import dev.muster.model.format.MemorySize;
import dev.muster.model.format.Times;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tables taken from what Slurm's own programs print. */
class FormatsTest {
    /** 2026-11-21T09:46:20Z, a Saturday. */
    private static final long NOW = 1795254380L;

    private static String moment(String text, boolean past) {
        return switch (Times.parse(text, NOW, ZoneOffset.UTC, past)) {
            case Times.Parsed.Ok ok -> Times.iso(ok.epochSec(), ZoneOffset.UTC);
            case Times.Parsed.Invalid bad -> "pos=" + bad.position();
        };
    }

    private static HostList hosts(String text) {
        return ((HostList.Parsed.Ok) HostList.parse(text)).list();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            n[1-3,5],m0[08-11]  | n[1-3,5],m0[08-11] | m0[08-11],n[1-3,5]
            r[1-2]n[1-4]        | r1n[1-4],r2n[1-4]  | r1n[1-4],r2n[1-4]
            [1,3-5]             | [1,3-5]            | [1,3-5]
            n[01-3]             | n[01-03]           | n[01-03]
            n[1,1,2]            | n[1,1-2]           | n[1,1-2]
            a,b,a               | a,b,a              | a,a,b
            n1-3                | n1-3               | n1-3
            n[8-12]             | n[8-12]            | n[8-12]
            n[09-10]-int        | n09-int,n10-int    | n09-int,n10-int
            r[1-2]n[1]x7        | r1n1x7,r2n1x7      | r1n1x7,r2n1x7
            n1,n2,n10,n9        | n[1-2,10,9]        | n[1-2,9-10]
            n1,n01,n001,n2      | n[1,01,001,2]      | n[1-2,01,001]
            ,a,,b               | a,b                | a,b
            1,2,3,5             | [1-3,5]            | [1-3,5]
            n1 n2               | n[1-2]             | n[1-2]
            n[0-1]a[3]          | n0a3,n1a3          | n0a3,n1a3
            n1,n2,n3,m1,n4      | n[1-3],m1,n4       | m1,n[1-4]
            n3,n2,n1            | n[3,2,1]           | n[1-3]
            n1,n02,n3,n010,n11  | n[1,02,3,010,11]   | n[1,3,02,11,010]
            b,a,c,a1            | b,a,c,a1           | a,a1,b,c
            n09,n10,n11         | n[09-11]           | n[09-11]
            3,1,2,10            | [3,1-2,10]         | [1-3,10]
            r2n1,r1n1,r2n2,r1n2 | r2n1,r1n1,r2n2,r1n2 | r1n[1-2],r2n[1-2]
            n99999999999999999999[1-2] | n99999999999999999999[1-2] | n99999999999999999999[1-2]
            """)
    void hostListsPrintAsScontrolDoes(String text, String compressed, String sorted) {
        HostList list = hosts(text);
        assertThat(list.compressed()).isEqualTo(compressed);
        assertThat(list.sorted().compressed()).isEqualTo(sorted);
        assertThat(hosts(list.compressed()).names()).isEqualTo(list.names());
        assertThat(list.names()).hasSize(list.size()).allMatch(list::contains);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            n[3-1]     | Invalid range: `3-1'
            n[a-c]     | Invalid range: `a-c'
            n[1-3,]    | Invalid range: `'
            n[1-70000] | Too many hosts in range `1-70000'
            n[1-300]x[1-300] | Too many hosts in range `1-300'
            n[1-2      | ''
            n1]        | ''
            n[1[2]]    | ''
            """)
    void badHostListsAreRefused(String text, String detail) {
        assertThat(HostList.parse(text)).isEqualTo(new HostList.Parsed.Invalid(detail));
    }

    @Test
    void hostListsExpandInOrder() {
        assertThat(hosts("n[9-11],m[08-09]").names()).containsExactly("n9", "n10", "n11", "m08", "m09");
        assertThat(hosts("n[1-3],n[2-4]").distinct().compressed()).isEqualTo("n[1-4]");
        assertThat(hosts("n[1-60000]").name(59_999)).isEqualTo("n60000");
        assertThat(hosts("n[08-11]").contains("n8")).isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            5         | 5:00        | 00:05:00
            0         | 0:00        | 00:00:00
            1:30      | 1:30        | 00:01:30
            90        | 1:30:00     | 01:30:00
            1:2:3     | 1:02:03     | 01:02:03
            2-3       | 2-03:00:00  | 2-03:00:00
            2-3:4     | 2-03:04:00  | 2-03:04:00
            1-2:3:4   | 1-02:03:04  | 1-02:03:04
            1-        | 1-00:00:00  | 1-00:00:00
            0:90000   | 1-01:00:00  | 1-01:00:00
            25:00:00  | 1-01:00:00  | 1-01:00:00
            UNLIMITED | UNLIMITED   | UNLIMITED
            infinite  | UNLIMITED   | UNLIMITED
            -1        | UNLIMITED   | UNLIMITED
            """)
    void durationsAreReadAndPrinted(String text, String brief, String full) {
        long s = Durations.parseSeconds(text).orElseThrow();
        assertThat(Durations.brief(s)).isEqualTo(brief);
        assertThat(Durations.full(s)).isEqualTo(full);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            textBlock = "1: | 1:: | 1:2:3:4 | '' | 1.5 | ' 5' | +5 | -5 | 1-x | 1:x | 5x | 1-2:3:4:5")
    void badDurationsAreRefused(
            String a,
            String b,
            String c,
            String d,
            String e,
            String f,
            String g,
            String h,
            String i,
            String j,
            String k,
            String l) {
        for (String s : new String[] {a, b, c, d, e, f, g, h, i, j, k, l}) {
            assertThat(Durations.parseSeconds(s)).as(s).isEqualTo(OptionalLong.empty());
        }
    }

    @Test
    void limitsRoundUpToMinutes() {
        assertThat(Durations.parseMinutes("0:0:30")).hasValue(1);
        assertThat(Durations.parseMinutes("1:30")).hasValue(2);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            1K | 1M
            1025K | 2M
            10MB | 10M
            1Gb | 1G
            10000G | 10000G
            2T | 2T
            1536 | 1.50G
            1500 | 1500M
            102400 | 100G
            5000000 | 5000000M
            2048000 | 2000G
            0 | 0
            1.5G | refused
            1P | refused
            -5 | refused
            x | refused
            """)
    void memorySizeIsParsedAndPrinted(String text, String printed) {
        OptionalLong mb = MemorySize.parseMb(text);
        assertThat(mb.isEmpty() ? "refused" : MemorySize.print(mb.getAsLong())).isEqualTo(printed);
    }

    @Test
    void memorySizeIsPrintedRounded() {
        assertThat(MemorySize.printRounded(4000, 'M')).isEqualTo("3.91G");
        assertThat(MemorySize.printRounded(2048, 'K')).isEqualTo("2M");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            now | 2026-11-21T09:46:20
            now+1hour | 2026-11-21T10:46:20
            now + 2 days | 2026-11-23T09:46:20
            now-1week | 2026-11-14T09:46:20
            now+60 | 2026-11-21T09:47:20
            now+1h | pos=4
            16:00 | 2026-11-21T16:00:00
            9:00 | 2026-11-22T09:00:00
            16:00:30 | 2026-11-21T16:00:30
            10:00 pm | 2026-11-21T22:00:00
            12:30am | 2026-11-22T00:30:00
            midnight | 2026-11-22T00:00:00
            Noon | 2026-11-21T12:00:00
            fika | 2026-11-21T15:00:00
            elevenses | 2026-11-21T11:00:00
            teatime | 2026-11-21T16:00:00
            noon tomorrow | 2026-11-22T12:00:00
            noon-tomorrow | 2026-11-22T12:00:00
            tomorrow-16:00 | 2026-11-22T16:00:00
            -noon | pos=0
            today | 2026-11-21T00:00:00
            1121 | 2027-11-21T00:00:00
            112127 | 2027-11-21T00:00:00
            11/22/26 | 2026-11-22T00:00:00
            11.22.26 | 2026-11-22T00:00:00
            11/22/27-10:00 | 2027-11-22T10:00:00
            10:00 11/30 | 2026-11-30T10:00:00
            2026-11-22T10:00 | 2026-11-22T10:00:00
            2026-12-01T | 2026-12-01T00:00:00
            2027-01-02 10:00 | 2027-01-02T10:00:00
            uts1795290000 | 2026-11-21T19:40:00
            4pm | pos=1
            13pm | pos=2
            2026-13-01 | pos=5
            10:60 | pos=3
            24:00 | pos=0
            2026-12-01T10 | pos=13
            1795255200 | pos=0
            2026-02-30 | 2026-03-02T00:00:00
            2/30 | 2027-03-02T00:00:00
            2035-01-2 | 2035-01-02T00:00:00
            2035-1-02 | pos=0
            2035-01 | pos=0
            2035-00-10 | pos=5
            2035-01-32 | pos=8
            now+5Minutes | 2026-11-21T09:51:20
            now+x | pos=3
            now+-5 | pos=3
            now+ x | pos=4
            now + 5 x | pos=7
            now+1hour30 | pos=9
            now+5 minutesx | pos=13
            now5 | pos=3
            noonx | pos=4
            nooon | pos=0
            todayx | pos=5
            """)
    void momentsAreRead(String text, String iso) {
        assertThat(moment(text, false)).isEqualTo(iso);
    }

    @Test
    void momentMayBePastOrInAnotherZone() {
        assertThat(moment("9:00", true)).isEqualTo("2026-11-21T09:00:00");
        assertThat(moment("1120", true)).isEqualTo("2026-11-20T00:00:00");
        ZoneId berlin = ZoneId.of("Europe/Berlin");
        assertThat(Times.iso(NOW, berlin)).isEqualTo("2026-11-21T10:46:20");
        assertThat(Times.print(NOW, berlin, "%s %Z %z %d.%m.%y %H:%M", NOW))
                .isEqualTo(NOW + " +0100 +0100 21.11.26 10:46");
        assertThat(Times.print(NOW - 86_400, ZoneOffset.UTC, "relative", NOW)).isEqualTo("Ystday 09:46");
        assertThat(Times.isoOr(0, ZoneOffset.UTC, "N/A")).isEqualTo("N/A");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            0-15:4 | 0,4,8,12 | 0-12:4
            1,3 | 1,3 | 1,3
            1-9%2 | 1-9%2 | 1-9
            1,2,2,1 | 1-2 | 1-2
            [1-3] | 1-3 | 1-3
            3,1 | 1,3 | 1,3
            1-3,5-9:2 | 1-3,5,7,9 | 1-3,5-9:2
            1-3%0 | 1-3 | 1-3
            1-7:10 | 1 | 1
            4000000 | 4000000 | 4000000
            0-40000 | 0-40000 | 0-40000
            63,64,127-129 | 63-64,127-129 | 63-64,127-129
            5-1 | refused | refused
            1-3:0 | refused | refused
            1- | refused | refused
            a | refused | refused
            4000001 | refused | refused
            '1:2' | refused | refused
            '' | refused | refused
            ',' | refused | refused
            1, | 1 | 1
            ',1' | 1 | 1
            '1, 3' | 1,3 | 1,3
            1,,3 | 1,3 | 1,3
            '1 -3' | refused | refused
            """)
    void indexSetSpecIsParsedAndPrinted(String text, String printed, String compact) {
        var parsed = IndexSet.parseSpec(text, IndexSet.MAX_INDEX);
        assertThat(parsed.isEmpty() ? "refused" : parsed.getFirst().print(0)).isEqualTo(printed);
        assertThat(parsed.isEmpty() ? "refused" : parsed.getFirst().indexes().compact())
                .isEqualTo(compact);
        for (IndexSet.Spec spec : parsed) {
            assertThat(IndexSet.parseSpec(compact, IndexSet.MAX_INDEX)
                            .getFirst()
                            .indexes())
                    .isEqualTo(spec.indexes());
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            1-3%2 | 1-3%2
            %2 | 0%2
            % | 0
            '-' | 0
            1-3%x | 1-3
            1-3%-1 | 1-3
            1-3%2% | 1-3%2
            1-3%2x | 1-3%2
            '1-3%2,5' | '1-3,5%2'
            '1-3%2,5%3' | '1-3,5%2'
            '1-3%2 ,5' | '1-3,5%2'
            '1-3,%2' | 0-3%2
            '%2,5' | '0,5%2'
            1%2-3 | 1%2
            1%2%3 | 1%2
            1-3%+2 | 1-3%2
            1-3%0x4 | 1-3
            1-3%4294967295 | 1-3
            +1 | 1
            1-+3 | 1-3
            '1-3:+2' | '1,3'
            [1-3 | 1-3
            1-3] | 1-3
            [1-3%2] | 1-3%2
            [1-3]%2 | 1-3%2
            '[1-3],5' | '1-3,5'
            '[1],[2]' | 1-2
            ' 1-3' | 1-3
            '1, 2' | 1-2
            '1,,2' | 1-2
            '1-3 ' | refused
            '1-3 %2' | refused
            '1 -3' | refused
            3-1 | refused
            1- | refused
            -3 | refused
            1--3 | refused
            1-3- | refused
            '1-5:' | refused
            '1-5:0' | refused
            '1-5:x' | refused
            1x | refused
            x | refused
            '1;2' | refused
            '' | refused
            ',' | refused
            """)
    void arraysAreReadAsSlurmReadsThem(String text, String printed) {
        var parsed = IndexSet.parseArray(text, IndexSet.MAX_INDEX);
        assertThat(parsed.isEmpty() ? "refused" : parsed.getFirst().print(0)).isEqualTo(printed);
    }

    @Test
    void indexSetsAreValues() {
        IndexSet all = IndexSet.range(0, IndexSet.MAX_INDEX, 1);
        assertThat(all.count()).isEqualTo(IndexSet.MAX_INDEX + 1);
        IndexSet less = all.without(16_384).without(0);
        assertThat(less.print(0)).isEqualTo("1-16383,16385-4000000");
        assertThat(less.with(0).with(16_384)).isEqualTo(all).hasSameHashCodeAs(all);
        assertThat(less.next(16_384)).isEqualTo(16_385);
        assertThat(less.last()).isEqualTo(IndexSet.MAX_INDEX);
        assertThat(all.minus(all).isEmpty()).isTrue();
        assertThat(all.minus(IndexSet.range(1, IndexSet.MAX_INDEX, 1))).isEqualTo(IndexSet.of(0));
        assertThat(IndexSet.of(1, 2)
                        .union(IndexSet.of(9))
                        .intersect(IndexSet.range(2, 20, 1))
                        .compact())
                .isEqualTo("2,9");
        assertThat(IndexSet.of(1, 3).without(1).without(3)).isEqualTo(IndexSet.empty());
        assertThat(IndexSet.range(1, 199, 2).print(10)).isEqualTo("1,3,5,7,9,...");
    }
}
