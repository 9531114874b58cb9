package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.view.PrivateDataFilter;
import dev.muster.core.state.State;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Hidden partitions are left out of replies to commands without -a. */
class HiddenPartitionsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0    | p h g hg | 1 2 3",
                "1000 | p        | 1 3",
            })
    void hiddenPartitionIsShownOnlyOnRequest(int uid, String partitions, String jobs) {
        Site site = new Site(
                "PartitionName=p Nodes=ALL Default=YES",
                "PartitionName=h Nodes=ALL Hidden=YES",
                "PartitionName=g Nodes=ALL AllowGroups=nosuchgroup",
                "PartitionName=hg Nodes=ALL Hidden=YES AllowGroups=nosuchgroup");
        for (String partition : List.of("p", "h", "h,p")) {
            site.submit("timing.hold=true partition=" + partition);
        }
        State state = site.core().state();
        PrivateDataFilter sight = new PrivateDataFilter(List.of(), state, uid, "u");
        assertThat(List.of("p", "h", "g", "hg").stream()
                        .filter(name -> sight.shows(state.partitions().at(name)))
                        .collect(Collectors.joining(" ")))
                .isEqualTo(partitions);
        assertThat(state.jobs().values().stream()
                        .filter(sight::showsPartition)
                        .map(j -> "" + j.id())
                        .collect(Collectors.joining(" ")))
                .isEqualTo(jobs);
    }
}
