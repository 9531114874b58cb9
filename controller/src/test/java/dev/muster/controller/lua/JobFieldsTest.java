package dev.muster.controller.lua;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.muster.json.Bytes;
import dev.muster.json.Json;
import dev.muster.json.RecordEditor;
import dev.muster.lua.SlurmWords;
import dev.muster.model.job.JobDesc;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the values of a job's description after a script has set numbers beyond their types. */
class JobFieldsTest {
    private static final List<Object> ODD = List.of(
            3_000_000_000L,
            70_000L,
            -5L,
            1L << 31,
            1e15,
            1e19,
            1e300,
            Double.POSITIVE_INFINITY,
            Double.NEGATIVE_INFINITY,
            Double.NaN,
            Bytes.of("99999999999999999999"),
            Bytes.of("0x10"),
            Bytes.of("1e4"),
            Bytes.of(" 7.9 "));

    @ParameterizedTest
    @ValueSource(
            strings = {
                "min_nodes",
                "max_nodes",
                "num_tasks",
                "pn_min_tmp_disk",
                "segment_size",
                "cpus_per_task",
                "pn_min_cpus",
                "cores_per_socket",
                "sockets_per_node",
                "threads_per_core",
                "ntasks_per_node",
                "ntasks_per_socket",
                "ntasks_per_tres",
                "core_spec",
                "thread_spec",
                "begin_time",
                "time_limit",
                "time_min",
                "priority",
                "nice",
                "pn_min_memory",
                "min_mem_per_node",
                "min_mem_per_cpu",
                "req_switch",
                "wait4switch",
                "delay_boot",
                "cpu_freq_min",
                "cpu_freq_max",
                "cpu_freq_gov",
                "site_factor",
                "mail_type"
            })
    void numberIsReadAgainOrOutOfRange(String name) {
        for (Object number : ODD) {
            RecordEditor<JobDesc> job = RecordEditor.of(JobDesc.empty());
            long stored = JobFields.stored(name, number);
            try {
                assertThat(JobFields.set(job, name, number)).isEmpty();
            } catch (Json.MalformedException outOfRange) {
                continue;
            }
            Object read = JobFields.get(job, name);
            if (!"cpu_freq_gov mail_type nice site_factor delay_boot".contains(name)) {
                assertThat(((Number) read).longValue())
                        .as(name + " = " + number)
                        .isEqualTo(stored);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "cpus_per_task, 4294967294, 65534",
        "cpus_per_task, 1.8446744073709552E19, 65534",
        "cpus_per_task, -2, 65534",
        "num_tasks, -2, 4294967294",
        "num_tasks, 1.8446744073709552E19, 4294967294",
        "num_tasks, 2.9, 2",
        "num_tasks, 0x10, 16",
        "time_limit, -1, 4294967295",
        "time_limit, 4294967295, 4294967295",
        "site_factor, 2147483653, 2147483653",
        "nice, 2147483653, 2147483653",
        "requeue, 65534, 65534",
        "pn_min_memory, -2, 9223372036854775807",
        "pn_min_memory, 500, 500",
        "delay_boot, 90, 120",
    })
    void numberOfNoValueIsTakenByEachWidth(String name, String number, long read) {
        RecordEditor<JobDesc> job = RecordEditor.of(JobDesc.empty());
        assertThat(JobFields.set(job, name, Bytes.of(number))).isEmpty();
        assertThat(((Number) JobFields.get(job, name)).longValue()).isEqualTo(read);
    }

    @Test
    void negativeMemoryIsOutOfRange() {
        RecordEditor<JobDesc> job = RecordEditor.of(JobDesc.empty());
        for (String name : List.of("pn_min_memory", "min_mem_per_node", "min_mem_per_cpu")) {
            assertThatThrownBy(() -> JobFields.set(job, name, -5L))
                    .isInstanceOf(Json.MalformedException.class)
                    .hasMessageContaining("out of range");
        }
        JobFields.set(job, "pn_min_memory", SlurmWords.MEM_PER_CPU + 4096);
        assertThat(job.record().request().memPerCpuMb()).isEqualTo(4096);
    }
}
