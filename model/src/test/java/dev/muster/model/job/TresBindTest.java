package dev.muster.model.job;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TresBindTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "gres/gpu:map:",
                "gres/gpu:map:0",
                "gres/gpu:map_gpu:0,1",
                "gres/gpu:map:0*2",
                "gres/gpu:mask:",
                "gres/gpu:mask:abc",
                "gres/gpu:mask:0x1,0x2",
                "gres/gpu:mask:0x1*2",
                "gres/gpu:none",
                "gres/gpu:closest",
                "gres/gpu:verbose,closest",
                "gres/gpu:per_task:2",
                "gres/gpu:single:1+gres/nic:closest"
            })
    void validTresBindIsAccepted(String text) {
        assertThat(TresBind.isValid(text)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gres/gpu:map:abcd",
                "gres/gpu:map:0x00",
                "gres/gpu:mask:x000",
                "gres/gpu:mask:wxyz",
                "gres/gpu:map:z",
                "gres/gpu:mask:00z",
                "gres/gpu:v",
                "gres/gpu:verbose",
                "gres/gpu:v,closest",
                "gres/gpu:map_gpu:0z",
                "gres/gpu:",
                "gres/gpu",
                "gpu:map:0",
                "gres/gpu:nearest",
                "gres/gpu:closest+",
                "gres/gpu:map:0,,1"
            })
    void invalidTresBindIsRefused(String text) {
        assertThat(TresBind.isValid(text)).isFalse();
    }
}
