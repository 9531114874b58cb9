package dev.muster.model;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GpuVariablesTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "''                        | CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES ZE_AFFINITY_MASK GPU_DEVICE_ORDINAL",
        "CountOnly                 | CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES ZE_AFFINITY_MASK GPU_DEVICE_ORDINAL",
        "amd_gpu_env               | ROCR_VISIBLE_DEVICES",
        "opencl_env,nvidia_gpu_env | CUDA_VISIBLE_DEVICES GPU_DEVICE_ORDINAL",
        "no_gpu_env                | ''",
    })
    void whatTheFlagsSay(String flags, String variables) {
        assertThat(String.join(" ", GpuVariables.of(List.of(flags.split(","))))).isEqualTo(variables);
    }
}
