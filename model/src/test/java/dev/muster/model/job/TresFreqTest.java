package dev.muster.model.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TresFreqTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "gpu:high",
                "gpu:1000",
                "gpu:low,memory=high",
                "gpu:high,verbose",
                "gpu:verbose",
                "gpu:medium;gpu:low"
            })
    void validTresFreqIsAccepted(String text) {
        assertThat(TresFreq.isValid(text)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bad",
                "gpu",
                "gpu:",
                "gpu:foo",
                "gpu:low,memory=foo",
                "gpu:high;verbose",
                "gpu=high",
                "GPU:high",
                "cpu:low",
                "gres/gpu:low",
                "gpu:graphics=high"
            })
    void invalidTresFreqIsRefused(String text) {
        assertThat(TresFreq.isValid(text)).isFalse();
    }
}
