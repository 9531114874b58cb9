package dev.muster.controller.site;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.Site;
import dev.muster.core.command.Command;
import dev.muster.core.state.Entry;
import dev.muster.core.state.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests which programs run for a reservation of one hour from second 100, as real Slurm runs them in each of these
 * histories.
 */
class ReservationTimesTest {
    private static final long BEGIN = 1_000_000;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "                  | tick 50                                              | ''",
                "                  | tick 100                                             | prolog r",
                "                  | tick 100; update duration=7200; tick 10              | prolog r",
                "                  | tick 100; update endtime=9000; tick 10               | prolog r",
                "                  | tick 100; update nodes=n2; tick 10                   | prolog r",
                "                  | tick 100; tick 3600                                  | prolog r, epilog r",
                "                  | tick 100; delete                                     | prolog r",
                "                  | delete                                               | ''",
                // slurmctld was down then
                "                  | tick 5000                                            | prolog r, epilog r",
                "                  | update starttime=200; tick 150; tick 50              | prolog r",
                "flags=DAILY       | tick 100; tick 3600; tick 10                         | prolog r, epilog r",
                "flags=DAILY       | tick 100; tick 3600; tick 82800; tick 3600           | prolog r, epilog "
                        + "r, prolog r, epilog r",
                "flags=DAILY       | tick 100; update skip=1                              | prolog r, epilog r",
                "flags=DAILY       | update skip=1                                        | ''",
                "flags=DAILY       | tick 5000                                            | prolog r, epilog r",
                "flags=TIME_FLOAT  | tick 10                                              | prolog r",
                "flags=PURGE_COMP purge_comp=60 | tick 100; tick 70                       | prolog r, epilog r",
            })
    void reservationPrologAndEpilogRunInTime(String words, String history, String expected) {
        Site site = new Site();
        change(site, true, "starttime=100 duration=3600 nodes=n1 users=root " + (words == null ? "" : words));
        for (String step : history.split("; ")) {
            String[] words2 = step.split(" ", 2);
            switch (words2[0]) {
                case "tick" -> site.pass(Long.parseLong(words2[1]));
                case "update" -> change(site, false, words2[1]);
                default -> site.apply(new Command.DeleteReservation(0, "root", List.of(), "r"));
            }
        }
        assertThat(String.join(", ", events(site))).isEqualTo(expected);
    }

    private static void change(Site site, boolean fresh, String words) {
        Map<String, String> values = new TreeMap<>();
        for (String word : words.strip().split(" ")) {
            String key = word.substring(0, word.indexOf('='));
            String value = word.substring(word.indexOf('=') + 1);
            values.put(key, key.endsWith("time") ? Long.toString(BEGIN + Long.parseLong(value)) : value);
        }
        site.apply(
                fresh
                        ? new Command.CreateReservation(0, "r", values, Map.of())
                        : new Command.UpdateReservation(0, "root", List.of(), "r", values, Map.of()));
    }

    private static List<String> events(Site site) {
        List<String> out = new ArrayList<>();
        State state = State.EMPTY;
        for (Entry entry : site.entries()) {
            State before = state;
            state = state.apply(entry);
            ReservationTimes.of(entry, before, state)
                    .forEach(e -> out.add((e.begins() ? "prolog " : "epilog ") + e.name()));
        }
        return out;
    }
}
