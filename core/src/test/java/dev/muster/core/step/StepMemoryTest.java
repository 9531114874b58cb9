package dev.muster.core.step;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.Step;
import dev.muster.core.testkit.Cluster;
import dev.muster.json.Bytes;
import dev.muster.json.Codec;
import dev.muster.json.Json;
import dev.muster.model.job.StepDesc;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Steps begun one after the other in a job, each with the memory that it has or what it hears: steps that say how much
 * memory they need have it for themselves, those that say nothing or 0 share what the job has. On nodes with four CPUs
 * and two GPUs.
 */
class StepMemoryTest {
    private static final String MEMORY = "Memory required by task is not available";
    private static final String CPUS = "More processors requested than permitted";
    private static final String GRES = "Invalid generic resource (gres) specification";

    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            memPerNodeMb=100 ; exact memPerNodeMb=60, exact memPerNodeMb=60         ; 60 busy
            memPerNodeMb=100 ; exact memPerNodeMb=50, exact memPerNodeMb=50, exact  ; 50 50 100
            memPerNodeMb=100 ; exact memPerNodeMb=100, exact memPerNodeMb=1         ; 100 busy
            memPerNodeMb=100 ; whole memPerNodeMb=101                               ; memory
            memPerNodeMb=100 ; overlap memPerNodeMb=101                             ; memory
            memPerNodeMb=100 ; overcommit=true tasks=9 memPerNodeMb=101             ; memory
            memPerNodeMb=100 ; exact, exact memPerNodeMb=60, exact                  ; 100 60 100
            memPerNodeMb=100 ; exact memAll=true, exact memPerNodeMb=60             ; 100 60
            memPerNodeMb=100 ; exact memPerNodeMb=60, exact memAll=true             ; 60 100
            memPerNodeMb=100 ; exact memPerNodeMb=60, overlap memPerNodeMb=60       ; 60 60
            memPerNodeMb=100 ; overlap memPerNodeMb=60, exact memPerNodeMb=60       ; 60 60
            memPerNodeMb=100 ; exact memPerCpuMb=60, exact memPerCpuMb=30           ; 60 30
            memPerNodeMb=100 ; exact memPerCpuMb=60, exact memPerCpuMb=50           ; 60 busy
            memPerNodeMb=100 ; whole tasks=4 memPerCpuMb=30                         ; cpus
            memPerNodeMb=100 ; whole tasks=4 memPerCpuMb=25                         ; 100
            memPerNodeMb=100 ; whole memPerCpuMb=30                                 ; 120
            memPerNodeMb=100 ; whole memPerCpuMb=101                                ; memory
            memPerNodeMb=100 ; exact tasks=2 cpusPerTask=2 memPerCpuMb=30           ; cpus
            memPerCpuMb=30   ; exact memPerCpuMb=30, exact tasks=3 memPerCpuMb=30   ; 30 90
            memPerCpuMb=30   ; exact memPerNodeMb=100, exact memPerCpuMb=30         ; 100 busy
            memPerCpuMb=30   ; exact memPerNodeMb=80, exact memPerCpuMb=10, exact memPerCpuMb=30, exact memPerCpuMb=31   ; 80 10 30 busy
            memPerCpuMb=30   ; overcommit=true whole memPerCpuMb=40                 ; 160
            memPerCpuMb=30   ; exact overcommit=true memPerCpuMb=30, exact memPerCpuMb=30, exact overcommit=true memPerCpuMb=30 ; 120 30 120
            memPerCpuMb=30   ; exact memPerCpuMb=121                                ; memory
            memPerNodeMb=100 ; exact overcommit=true memPerNodeMb=60, exact overcommit=true memPerNodeMb=60  ; 60 busy
            memPerNodeMb=100 ; exact memPerNodeMb=60, exact overcommit=true memPerNodeMb=60                  ; 60 busy
            memPerNodeMb=100 ; exact tresPerNode=gres/gpu:2 memPerGpuMb=30, exact memPerNodeMb=50            ; 60 busy
            memPerNodeMb=100 ; exact memPerNodeMb=50, exact tresPerNode=gres/gpu:2 memPerGpuMb=30            ; 50 busy
            memPerNodeMb=100 ; exact tresPerTask=gres/gpu:1 tasks=2 memPerGpuMb=51  ; memory
            memPerNodeMb=100 ; exact tresPerJob=gres/gpu:1 memPerGpuMb=51           ; 51
            nogpus memPerNodeMb=100 ; exact memPerGpuMb=51                    ; gres
            memPerNodeMb=100 nodesMin=2 nodeList=n[1-2] tasks=8 ; exact memPerNodeMb=60, exact memPerNodeMb=60, exact memPerNodeMb=60  ; 60 60 busy
            memPerNodeMb=100 nodesMin=2 nodeList=n[1-2] tasks=8 ; exact tasks=2 nodesMin=2 memPerNodeMb=60, exact memPerNodeMb=60      ; 60+60 busy
            memPerNodeMb=100 nodesMin=2 nodeList=n[1-2] tasks=8 ; exact nodeList=n2 memPerNodeMb=60, exact nodeList=n2 memPerNodeMb=41 ; 60 busy
            memPerNodeMb=100 nodesMin=2 nodeList=n[1-2] tasks=8 ; exact tasks=2 nodesMin=2 memPerNodeMb=101 ; memory
            memPerNodeMb=100 partition=cores     ; exact memPerNodeMb=60, exact memPerNodeMb=600, exact memPerCpuMb=600   ; 0 0 0
            """)
    void stepGetsTheMemoryItRequests(String job, String steps, String outcomes) {
        assertThat(all(job, steps)).isEqualTo(outcomes);
    }

    /**
     * A step without --exact gets all CPUs of its nodes and waits until no other step has any of them, whatever its
     * tasks need.
     */
    @ParameterizedTest
    @CsvSource(delimiter = ';', textBlock = """
            memAll=true ; exact, whole                                 ; 1 busy
            memAll=true ; whole, exact                                 ; 4 busy
            memAll=true ; exact tasks=2, exact cpusPerTask=2, exact    ; 2 2 busy
            memAll=true ; exact, overlap whole                         ; 1 4
            memAll=true ; overlap whole, whole                         ; 4 4
            memAll=true ; exact, whole overcommit=true                 ; 1 busy
            memAll=true ; whole overcommit=true tasks=9, exact         ; 4 busy
            memAll=true ; whole, exact overcommit=true                 ; 4 busy
            memAll=true ; exact tasks=3, exact overcommit=true tasks=2 ; 3 1
            memAll=true ; exact overcommit=true, whole                 ; 4 4
            memAll=true ; exact overcommit=true, exact overcommit=true ; 4 4
            memAll=true nodesMin=2 nodeList=n[1-2] tasks=8 ; whole, whole, whole               ; 4 4 busy
            memAll=true nodesMin=2 nodeList=n[1-2] tasks=8 ; exact nodeList=n1, whole, exact   ; 1 4 1
            memAll=true nodesMin=2 nodeList=n[1-2] tasks=8 ; exact nodeList=n1, whole tasks=2 nodesMin=2  ; 1 busy
            memAll=true nodesMin=2 nodeList=n[1-2] tasks=8 ; exact nodeList=n1, whole distribution=arbitrary nodeList=n1  ; 1 busy
            """)
    void stepWithoutExactGetsAllCpusOfItsNodes(String job, String steps, String cpus) {
        asksForCpus = true;
        assertThat(all(job, steps)).isEqualTo(cpus);
    }

    private boolean asksForCpus;

    private String all(String job, String steps) {
        Cluster c = new Cluster(
                "n[1-2] cpus=4 mem=1000 gpus=2",
                "p nodes=n[1-2]\ncores nodes=n[1-2] select=CR_CORE",
                "memoryConsumed=true gresTypes=gpu options.select=CR_CORE_MEMORY");
        int id = c.accept((job.contains("partition=") ? "" : "partition=p ")
                + (job.contains("nodesMin=") ? "" : "tasks=4 ")
                + (job.contains("nogpus") ? "" : "tresPerNode=gres/gpu:2 ")
                + job.replace("nogpus", "").strip());
        c.schedule();
        List<String> out = new ArrayList<>();
        for (String step : steps.split(", ")) {
            out.add(begun(c, id, step.strip()));
        }
        return String.join(" ", out);
    }

    private String begun(Cluster c, int id, String words) {
        List<String> all = Arrays.asList(words.split(" "));
        String asked = all.stream().filter(w -> w.contains("=")).collect(Collectors.joining(" "));
        Json.Obj request = Json.object(Codec.encode(Cluster.desc((asked.contains("tasks=") ? "" : "tasks=1 ") + asked)
                .request()));
        Json.Obj step = new Json.Obj()
                .put("request", request)
                .put("overlap", all.contains("overlap"))
                .put("wholeNodes", all.contains("whole"));
        Decision said = c.apply(
                new Command.CreateStep(Cluster.USER, "", id, Codec.bind(step, StepDesc.class), Bytes.EMPTY, "io"));
        if (said instanceof Decision.Rejected r) {
            return switch (r.sentence()) {
                case MEMORY -> "memory";
                case CPUS -> "cpus";
                case GRES -> "gres";
                case "Requested nodes are busy" -> "busy";
                default -> r.sentence();
            };
        }
        return c.state().jobs().at(id).run().steps().getLast().nodes().stream()
                .map(this::shown)
                .collect(Collectors.joining("+"));
    }

    private String shown(Step.Part part) {
        return asksForCpus ? Integer.toString(part.cpus()) : Long.toString(part.memoryMb());
    }
}
