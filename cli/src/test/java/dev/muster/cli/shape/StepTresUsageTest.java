package dev.muster.cli.shape;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Input and output of a step's tasks as sacct's steps list them: input under requested, output under consumed. */
class StepTresUsageTest {
    private static Json.Obj step(String usage) {
        return Json.object(
                ("{\"tasks\":2,\"nodes\":\"n[1-2]\",\"usage\":{" + usage + "}}").getBytes(StandardCharsets.UTF_8));
    }

    private static String listed(Object list) {
        return new String(Json.print(list), StandardCharsets.UTF_8)
                .replace("\"", "")
                .replace(",name:,", ",");
    }

    @Test
    void sumsAndAveragesAreOfAllTasks() {
        Json.Obj in = StepTresUsage.in(
                step("\"userCpuUs\":300000,\"systemCpuUs\":100000,\"aveRssKb\":4,\"aveVmKb\":8,\"readBytes\":10"));
        assertThat(listed(in.raw("total")))
                .isEqualTo("[{type:cpu,id:1,count:400},{type:mem,id:2,count:8192},{type:energy,id:3,count:0},"
                        + "{type:fs,name:disk,id:6,count:10},{type:vmem,id:7,count:16384},{type:pages,id:8,count:0}]");
        assertThat(listed(in.raw("average"))).startsWith("[{type:cpu,id:1,count:200},{type:mem,id:2,count:4096}");
        assertThat(listed(in.raw("max"))).as("no task is known by itself").isEqualTo("[]");
        assertThat(listed(StepTresUsage.out(step("\"writeBytes\":6")).raw("average")))
                .isEqualTo("[{type:energy,id:3,count:0},{type:fs,name:disk,id:6,count:3}]");
    }

    @Test
    void extremesNameTaskAndNode() {
        Json.Obj in = StepTresUsage.in(step("\"extremes\":\"MEM=9@1@n2/3@0@n1\""));
        assertThat(listed(in.raw("max")) + listed(in.raw("min")))
                .contains("{type:mem,id:2,count:9216,task:1,node:n2}", "{type:mem,id:2,count:3072,task:0,node:n1}");
    }
}
