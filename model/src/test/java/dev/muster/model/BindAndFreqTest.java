package dev.muster.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.model.job.CpuFreq;
import dev.muster.model.job.MemBind;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What --mem-bind and --cpu-freq take, and the words for what they do not. */
class BindAndFreqTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "local             | quiet,local",
                "v,none            | verbose,none",
                "verbose,map_mem:0,1 | verbose,map_mem:0,1",
                "mask_mem:0x1*2,f  | quiet,mask_mem:1,1,f",
                "prefer,rank       | quiet,prefer,rank",
                "v                 | verbose",
            })
    void memBindIsReadToItsVariable(String text, String told) {
        assertThat(MemBind.parse(text).orElseThrow().environment().getFirst()).isEqualTo("SLURM_MEM_BIND=" + told);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bogus      | unrecognized --mem-bind argument \"bogus\"",
                "map_mem    | missing list for \"--mem-bind=map_mem:<list>\"",
                "map_mem:zz | Failed to validate number: zz, the offending character is z",
            })
    void invalidMemBindIsRefused(String text, String why) {
        assertThat(MemBind.mistake(text)).isEqualTo(why);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "low | Low",
                "low-high:performance | Low-High:Performance",
                "2400000 | 2400000",
                "ondemand | OnDemand",
                "highm1 | Highm1",
                "1000-high:userspace | 1000-High:UserSpace",
            })
    void cpuFreqIsParsed(String text, String told) {
        assertThat(CpuFreq.parse(text).orElseThrow().text()).isEqualTo(told);
    }

    /** Frequencies are counted as Slurm's squeue --json counts them. */
    @ParameterizedTest
    @CsvSource({
        "Low, 2147483649",
        "Medium, 2147483650",
        "High, 2147483651",
        "Highm1, 2147483652",
        "2400000, 2400000",
        "OnDemand, 2214592512",
        "UserSpace, 2155872256",
        "Performance, 2181038080",
        "Conservative, 2281701376",
        "PowerSave, 2164260864",
        "SchedUtil, 2151677952"
    })
    void cpuFrequencyHasSlurmsNumber(String word, long number) {
        assertThat(CpuFreq.number(word)).isEqualTo(number);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bogus           | unrecognized --cpu-freq argument \"bogus\"",
                "p1-low:ondemand | unrecognized --cpu-freq argument \"p1\"",
                "high-low:ondemand | min cpu-frec (high) must be < max cpu-freq (low)",
                "low:performance | gov on cpu-frec (performance) illegal without max",
                "low-performance:ondemand | unrecognized --cpu-freq argument \"performance\"",
                "1000-2000:foo   | illegal governor: foo on --cpu-freq",
            })
    void invalidCpuFreqIsRefused(String text, String why) {
        assertThat(CpuFreq.mistake(text)).isEqualTo(why);
        assertThat(CpuFreq.parse(text)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"1000-2000", "low-high", "2000-1000", "1000-foo"})
    void rangesNeedAGovernor(String text) {
        assertThat(CpuFreq.mistake(text)).startsWith("You must explicitly choose a governor when defining a range.");
    }

    /** One value alone implies the governor that lets a frequency be set; the environment does not repeat it. */
    @ParameterizedTest
    @CsvSource({
        "1000, UserSpace",
        "high, UserSpace",
        "performance, Performance",
        "low-high:ondemand, OnDemand",
        "1000-2000, ''"
    })
    void frequencyImpliesItsGovernor(String text, String governor) {
        assertThat(CpuFreq.parse(text).orElseThrow().governor()).isEqualTo(governor);
    }

    @ParameterizedTest
    @CsvSource({
        "1000, 4294967294, 4294967294, 1000-:",
        "1000, 2000, 2181038080, 1000-2000:Performance",
        "4294967294, 2147483651, 2155872256, -High:UserSpace",
        "4294967294, 4294967294, 2214592512, -:OnDemand",
        "4294967294, 4294967294, 4294967294, ''",
        "0, 0, 0, ''"
    })
    void storedPartsAreReadAgain(long min, long max, long governor, String stored) {
        CpuFreq made = CpuFreq.of(min, max, governor);
        assertThat(made.stored()).isEqualTo(stored);
        assertThat(stored.isEmpty() || CpuFreq.parse(stored).orElseThrow().equals(made))
                .isTrue();
    }
}
