package dev.muster.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.testkit.Cluster;
import dev.muster.model.accounting.DbdMessages.AssocPolicy;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.QosPolicy;
import dev.muster.model.accounting.DbdMessages.UserPolicy;
import dev.muster.model.accounting.Entities.AdminLevel;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests which changes users, coordinators, operators and administrators may make to a job that is charged to an account
 * and a QOS.
 */
class JobChargeRightsTest {
    private static final int OPERATOR = 2000;
    private static final int COORDINATOR = 2001;

    private static AssocPolicy assoc(int id, int parent, String account, String user) {
        return new AssocPolicy(
                id,
                parent,
                account,
                user,
                "",
                id == 3,
                Map.of(),
                user.isEmpty() || id != 3 ? List.of("normal") : List.of("normal", "fast"),
                "");
    }

    /** The users that may give alice's job a QOS or an account, as in Slurm 26.05. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            alice       | qos=fast                   |
            alice       | qos=slow                   | Invalid qos specification
            coordinator | qos=slow                   | Invalid qos specification
            operator    | qos=slow                   |
            root        | qos=slow                   |
            root        | qos=nowhere                | Invalid qos specification
            alice       | account=other              |
            coordinator | account=other              | Invalid user id
            operator    | account=other              |
            operator    | account=nowhere            | Invalid account or account/partition combination specified
            root        | account=other qos=slow     |
            alice       | comment=x                  |
            coordinator | timelimit=5                |
            alice       | admincomment=x             | Access/permission denied
            operator    | admincomment=x             | Access/permission denied
            root        | admincomment=x             |
            """)
    void jobQosOrAccountIsChangedOnlyByEntitledUsers(String who, String change, String refusal) {
        Cluster cluster = new Cluster(
                "n[1-2] cpus=4 mem=1000",
                "p nodes=n[1-2] default=yes defmempercpu=10",
                "options.accounting_enforce=associations,qos");
        cluster.apply(new Command.ApplyPolicy(new Policy(
                List.of(
                        assoc(1, 0, "root", ""),
                        assoc(2, 1, "dept", ""),
                        assoc(3, 2, "dept", "alice"),
                        assoc(4, 1, "other", ""),
                        assoc(5, 4, "other", "alice")),
                List.of(
                        new QosPolicy(1, "normal", Map.of()),
                        new QosPolicy(2, "fast", Map.of()),
                        new QosPolicy(3, "slow", Map.of())),
                List.of(
                        new UserPolicy("op", AdminLevel.OPERATOR, List.of(), OPERATOR),
                        new UserPolicy("coord", AdminLevel.NONE, List.of("dept"), COORDINATOR)),
                List.of())));
        int id = cluster.accept("charge.account=dept");
        int uid = switch (who) {
            case "root" -> 0;
            case "operator" -> OPERATOR;
            case "coordinator" -> COORDINATOR;
            default -> Cluster.USER;
        };
        Map<String, String> changes = new TreeMap<>();
        for (String word : change.split(" ")) {
            changes.put(word.substring(0, word.indexOf('=')), word.substring(word.indexOf('=') + 1));
        }
        Command.JobRef job = new Command.JobRef(Integer.toString(id), id, -1, Command.JobRef.NO_STEP);
        Decision decision = cluster.apply(new Command.UpdateJob(uid, job, changes));
        assertThat(decision instanceof Decision.Rejected no ? no.sentence() : null)
                .isEqualTo(refusal);
        if (refusal == null && change.contains("qos=slow")) {
            assertThat(cluster.state().jobs().at(id).desc().charge().qos()).isEqualTo("slow");
            assertThat(cluster.apply(new Command.UpdateJob(Cluster.USER, job, Map.of("partition", "p", "wckey", "w"))))
                    .as("it keeps that QOS")
                    .isInstanceOf(Decision.Accepted.class);
        }
    }
}
