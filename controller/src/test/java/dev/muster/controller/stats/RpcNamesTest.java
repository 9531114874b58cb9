package dev.muster.controller.stats;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.DaemonLog;
import dev.muster.daemon.Requests;
import dev.muster.model.api.ClusterMessages;
import dev.muster.model.api.ClusterMessages.RpcCount;
import dev.muster.transport.Caller;
import dev.muster.transport.Server.Reply;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the names that sdiag has for requests, as Slurm's has after the same commands. */
class RpcNamesTest {
    @ParameterizedTest
    @CsvSource({
        "hold, REQUEST_UPDATE_JOB, 3001",
        "uhold, REQUEST_UPDATE_JOB, 3001",
        "release, REQUEST_UPDATE_JOB, 3001",
        "suspend, REQUEST_SUSPEND, 5014",
        "resume, REQUEST_SUSPEND, 5014",
        "requeue, REQUEST_JOB_REQUEUE, 5023",
        "requeuehold, REQUEST_JOB_REQUEUE, 5023",
        "top, REQUEST_TOP_JOB, 5038",
        "notify, REQUEST_JOB_NOTIFY, 4022"
    })
    void jobActionCountsUnderSlurmsRpc(String action, String name, int number) {
        String as = RpcNames.ofAction(action);
        assertThat(RpcNames.name(as)).isEqualTo(name);
        assertThat(RpcNames.number(as)).isEqualTo(number);
    }

    /** Muster's own requests are counted under the RPC that Slurm's command would send. */
    @ParameterizedTest
    @CsvSource({
        "AwaitChange, REQUEST_JOB_INFO_SINGLE, 2021",
        "AwaitSteps, REQUEST_JOB_STEP_INFO, 2005",
        "QueryAccounting, REQUEST_DBD_RELAY, 1028"
    })
    void ownRequestCountsUnderSlurmsRpc(String message, String name, int number) {
        assertThat(RpcNames.name(message)).isEqualTo(name);
        assertThat(RpcNames.number(message)).isEqualTo(number);
    }

    @ParameterizedTest
    @CsvSource({"info,'','',1010", "'',+backfill,'',1014", "'','',1,1013"})
    void setDebugCountsUnderSlurmsRpc(String level, String flags, String scheduler, int number) {
        assertThat(RpcNames.number(RpcNames.of(new ClusterMessages.SetDebug("", level, flags, scheduler, ""))))
                .isEqualTo(number);
    }

    /** A hold and a change of a job are one row; a name holds for its own request alone. */
    @Test
    void countsOfOneNameAreOne() throws java.io.IOException {
        Requests requests = new Requests(new DaemonLog("slurmctld", "", false, 0, ""), java.util.Set.of());
        Caller caller = new Caller(0, 0);
        for (String action : new String[] {"hold", "release", "requeue"}) {
            requests.serve(caller, "JobAction", () -> {
                requests.countAs(RpcNames.ofAction(action));
                return Reply.of(new ClusterMessages.QueryDiagnostics(false));
            });
        }
        requests.serve(caller, "UpdateJob", () -> Reply.of(new ClusterMessages.QueryDiagnostics(false)));
        assertThat(RpcNames.counts(requests))
                .extracting(RpcCount::name, RpcCount::number, RpcCount::count)
                .containsExactlyInAnyOrder(
                        org.assertj.core.groups.Tuple.tuple("REQUEST_UPDATE_JOB", 3001, 3L),
                        org.assertj.core.groups.Tuple.tuple("REQUEST_JOB_REQUEUE", 5023, 1L));
    }
}
