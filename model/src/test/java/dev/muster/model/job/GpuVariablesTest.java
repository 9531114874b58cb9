package dev.muster.model.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GpuVariablesTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''                        | CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES ZE_AFFINITY_MASK "
                        + "GPU_DEVICE_ORDINAL",
                "env_uuid                  | CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES ZE_AFFINITY_MASK "
                        + "GPU_DEVICE_ORDINAL",
                "CountOnly                 | CUDA_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES ZE_AFFINITY_MASK "
                        + "GPU_DEVICE_ORDINAL",
                "amd_gpu_env               | ROCR_VISIBLE_DEVICES",
                "opencl_env,nvidia_gpu_env | CUDA_VISIBLE_DEVICES GPU_DEVICE_ORDINAL",
                "no_gpu_env                | ''",
            })
    void flagsChooseTheGpuVariables(String flags, String variables) {
        assertThat(String.join(" ", GpuVariables.of(List.of(flags.split(","))))).isEqualTo(variables);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "CUDA_VISIBLE_DEVICES | 0,1 | GPU-a,GPU-b",
                "ROCR_VISIBLE_DEVICES | 1   | GPU-b",
                "CUDA_VISIBLE_DEVICES | 1,2 | GPU-b,2",
                "ZE_AFFINITY_MASK     | 0,1 | 0,1",
                "GPU_DEVICE_ORDINAL   | 0   | 0",
                "CUDA_VISIBLE_DEVICES | x   | x",
            })
    void driversTakeUuidsForNumbers(String variable, String ids, String value) {
        assertThat(GpuVariables.withUuids(variable, ids, List.of("GPU-a", "GPU-b", "")))
                .isEqualTo(value);
        assertThat(GpuVariables.withUuids(variable, ids, List.of())).isEqualTo(ids);
    }
}
