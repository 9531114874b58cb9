package dev.muster.core.reservation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.core.command.Command;
import dev.muster.core.testkit.Cluster;
import dev.muster.core.testkit.Play;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which nodes replace those of counted reservations that jobs take or that fail. */
class ReservationReplacementTest {
    /**
     * A node that a job takes is replaced in the entry that starts the job: a listing right after the start shows other
     * nodes.
     */
    @ParameterizedTest
    @CsvSource(delimiter = '!', textBlock = """
            flags=REPLACE      ! n1 n2 ! n2 n3
            flags=REPLACE_DOWN ! n1 n2 ! n1 n2
            flags=FLEX         ! n1 n2 ! n1 n2
            """)
    void takenNodesAreReplacedAtOnce(String flags, String before, String after) {
        Cluster c = new Cluster("n[1-3] cpus=2", "p nodes=n[1-3] default=yes defmempercpu=1", "");
        new Play(c).lines("reserve r starttime=+0 duration=600 nodecnt=2 users=alice " + flags);
        assertThat(String.join(" ", c.state().reservations().at("r").nodes())).isEqualTo(before);
        new Play(c).lines("submit kind=BATCH charge.reservation=r owner.user=alice\nschedule");
        assertThat(String.join(" ", c.state().reservations().at("r").nodes())).isEqualTo(after);
    }

    /** Reservations whose nodes are replaced in one entry get different nodes. */
    @ParameterizedTest
    @CsvSource(delimiter = '!', textBlock = """
            n[1-6] ! n2 n5 ! n4 n6
            n[1-5] ! n2 n5 ! n3 n4
            n[1-4] ! n1 n2 ! n3 n4
            """)
    void takenNodesOfTwoReservationsAreReplacedByDifferentNodes(String nodes, String first, String second) {
        Cluster c = new Cluster(nodes + " cpus=2", "p nodes=" + nodes + " default=yes defmempercpu=1", "");
        new Play(c).lines("""
                reserve r starttime=+0 duration=600 nodecnt=2 users=alice flags=REPLACE
                reserve s starttime=+0 duration=600 nodecnt=2 users=alice flags=REPLACE
                submit kind=BATCH charge.reservation=r owner.user=alice
                submit kind=BATCH charge.reservation=s owner.user=alice
                schedule
                """);
        assertThat(String.join(" ", c.state().reservations().at("r").nodes())).isEqualTo(first);
        assertThat(String.join(" ", c.state().reservations().at("s").nodes())).isEqualTo(second);
    }

    /** Nodes of two reservations fail at the same time. */
    @ParameterizedTest
    @CsvSource(delimiter = '!', textBlock = """
            flags=REPLACE      ! n2 n5 ! n3 n4
            flags=REPLACE_DOWN ! n2 n5 ! n3 n4
            flags=DAILY        ! n2 n5 ! n3 n4
            """)
    void failedNodesOfTwoReservationsAreReplacedByDifferentNodes(String flags, String first, String second) {
        Cluster c = new Cluster("n[1-5] cpus=2", "p nodes=n[1-5] default=yes defmempercpu=1", "");
        new Play(c)
                .lines("reserve r starttime=+0 duration=600 nodecnt=2 users=alice " + flags + "\n"
                        + "reserve s starttime=+0 duration=600 nodecnt=2 users=alice " + flags);
        c.apply(new Command.UpdateNode(0, List.of("n1", "n3"), Map.of("state", "DRAIN", "reason", "broken")));
        new Play(c).lines("pass 1");
        assertThat(String.join(" ", c.state().reservations().at("r").nodes())).isEqualTo(first);
        assertThat(String.join(" ", c.state().reservations().at("s").nodes())).isEqualTo(second);
    }
}
