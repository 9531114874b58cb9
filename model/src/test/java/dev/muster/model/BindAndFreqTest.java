package dev.muster.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What --mem-bind and --cpu-freq take, and the words for what they do not. */
class BindAndFreqTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "local             | quiet,local",
        "v,none            | verbose,none",
        "verbose,map_mem:0,1 | verbose,map_mem:0,1",
        "mask_mem:0x1*2,f  | quiet,mask_mem:1,1,f",
        "prefer,rank       | quiet,prefer,rank",
        "v                 | verbose",
    })
    void memBind(String text, String told) {
        assertThat(MemBind.parse(text).orElseThrow().environment().getFirst()).isEqualTo("SLURM_MEM_BIND=" + told);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "bogus      | unrecognized --mem-bind argument \"bogus\"",
        "map_mem    | missing list for \"--mem-bind=map_mem:<list>\"",
        "map_mem:zz | Failed to validate number: zz, the offending character is z",
    })
    void memBindMistakes(String text, String why) {
        assertThat(MemBind.mistake(text)).isEqualTo(why);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "low | Low", "low-high:performance | Low-High:Performance", "2400000 | 2400000", "ondemand | OnDemand", "highm1 | Highm1",
        "1000-high | 1000-High",
    })
    void cpuFreq(String text, String told) {
        assertThat(CpuFreq.parse(text).orElseThrow().text()).isEqualTo(told);
    }

    /** As squeue --json of the original counts them. */
    @ParameterizedTest
    @CsvSource({"Low, 2147483649", "Medium, 2147483650", "High, 2147483651", "Highm1, 2147483652", "2400000, 2400000", "OnDemand, 2214592512",
        "UserSpace, 2155872256", "Performance, 2181038080", "Conservative, 2281701376", "PowerSave, 2164260864", "SchedUtil, 2151677952"})
    void asNumbers(String word, long number) {
        assertThat(CpuFreq.number(word)).isEqualTo(number);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "bogus           | unrecognized --cpu-freq argument \"bogus\"",
        "p1-low          | unrecognized --cpu-freq argument \"p1\"",
        "high-low        | min cpu-frec (high) must be < max cpu-freq (low)",
        "low:performance | gov on cpu-frec (performance) illegal without max",
        "low-performance | unrecognized --cpu-freq argument \"performance\"",
    })
    void cpuFreqMistakes(String text, String why) {
        assertThat(CpuFreq.mistake(text)).isEqualTo(why);
        assertThat(CpuFreq.parse(text)).isEmpty();
    }
}
