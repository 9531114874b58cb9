package dev.muster.core.tres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.limits.TresCounts;
import dev.muster.core.state.Job;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@code AccountingStorageTRES=gres/gpu,gres/gpu:a}: GPUs of one type are counted, limited and charged beside all GPUs.
 */
class TrackedTypesTest {
    private static Cluster cluster(String tracked, String limit) {
        Cluster c = new Cluster(
                "n1 cpus=8 mem=4096 gpus=a:2,b:2",
                "p nodes=n1 default=yes",
                "gresTypes=gpu options.tracked_gres=" + tracked
                        + " options.accounting_enforce=associations,limits,qos");
        int eq = limit.indexOf('=');
        Map<String, String> limits =
                limit.isEmpty() ? Map.of() : Map.of(limit.substring(0, eq), limit.substring(eq + 1));
        c.apply(new Command.ApplyPolicy(new Policy(
                List.of(
                        new AssocPolicy(1, 0, "root", "", "", false, Map.of(), List.of("normal"), ""),
                        new AssocPolicy(2, 1, "a", "", "", false, Map.of(), List.of("normal"), ""),
                        new AssocPolicy(3, 2, "a", "u", "", true, Map.of(), List.of("normal"), "")),
                List.of(new QosPolicy(1, "normal", limits)),
                List.of(),
                List.of())));
        return c;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        gpu,gpu:a | GrpTRES=gres/gpu:a=1     | gpu:a:1 gpu:a:1 gpu:b:1 | RUNNING QOSGrpGRES RUNNING
        gpu,gpu:a | GrpTRES=gres/gpu:a=1     | gpu:b:2 gpu:1 gpu:1     | RUNNING RUNNING RUNNING
        gpu,gpu:a | GrpTRES=gres/gpu:a=1     | gpu:1 gpu:a:1           | RUNNING QOSGrpGRES
        gpu,gpu:a | GrpTRES=gres/gpu=1       | gpu:a:1 gpu:b:1         | RUNNING QOSGrpGRES
        gpu,gpu:a | MaxTRESPU=gres/gpu:a=1   | gpu:a:1 gpu:a:1         | RUNNING QOSMaxGRESPerUser
        gpu,gpu:a | MaxTRES=gres/gpu:a=1     | gpu:a:2 gpu:b:2         | QOSMaxGRESPerJob RUNNING
        gpu       | ''                       | gpu:a:2 gpu:b:2         | RUNNING RUNNING
        """)
    void limitOnATrackedTypeHoldsTheJob(String tracked, String limit, String jobs, String outcome) {
        Cluster c = cluster(tracked, limit);
        List<Integer> ids = new ArrayList<>();
        for (String gres : jobs.split(" ")) {
            c.submit(
                    "charge.account=a owner.user=u charge.qos=normal tasks=1 memPerNodeMb=100 request.tresPerNode=gres/"
                            + gres);
            ids.add(c.state().nextJobId() - 1);
            c.schedule();
        }
        assertThat(ids.stream()
                        .map(id -> c.state().jobs().at(id))
                        .map(j -> j.isPending()
                                ? c.core().planner().reason(j.id()).word()
                                : j.state().name())
                        .toList())
                .isEqualTo(List.of(outcome.split(" ")));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        gpu,gpu:a | gpu:a:2 | {gpu=2, gpu:a=2} | {gpu=2, gpu:a=2} | 21
        gpu,gpu:a | gpu:3   | {gpu=3}          | {gpu=3, gpu:a=2} | 21
        gpu       | gpu:a:1 | {gpu=1}          | {gpu=1}          | 1
        """)
    void trackedGresTypesAreRequestedCountedAndBilled(
            String tracked, String gres, String asked, String had, long billing) {
        Cluster c = cluster(tracked, "");
        c.apply(new Command.UpdatePartition(0, "p", Map.of("tresbillingweights", "CPU=1,GRES/gpu:a=10")));
        c.submit("charge.account=a owner.user=u charge.qos=normal tasks=1 request.tresPerNode=gres/" + gres);
        Job job = c.state().jobs().at(c.state().nextJobId() - 1);
        assertThat(TresCounts.requested(c.state(), job).gres().toString()).isEqualTo(asked);
        c.schedule();
        job = c.state().jobs().at(job.id());
        TresCounts has = TresCounts.of(c.state(), job.run().allocation());
        assertThat(has.gres().toString()).isEqualTo(had);
        assertThat(has.billing(c.state(), job.desc())).isEqualTo(billing);
    }
}
