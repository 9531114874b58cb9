package dev.muster.controller.view;

import dev.muster.core.state.Allocation;
import dev.muster.core.state.Step;
import dev.muster.model.format.HostList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The compressed hostlists that every node of a job is told. Those last made are kept: a step over a thousand nodes is
 * told to a thousand, and each message would else write the thousand names anew.
 */
final class NodeLists {
    private static volatile Made ofAllocation = new Made(List.of(), "");
    private static volatile Made ofStep = new Made(List.of(), "");

    /** @param list known by its identity: the state's lists never change */
    private record Made(List<?> list, String text) {
        Made or(List<?> wanted, Supplier<String> make) {
            return list == wanted ? this : new Made(wanted, make.get());
        }
    }

    private NodeLists() {}

    static String of(Allocation allocation) {
        Made made = ofAllocation.or(allocation.nodes(), allocation::hostList);
        ofAllocation = made;
        return made.text;
    }

    static String of(List<Step.Part> parts) {
        Made made = ofStep.or(
                parts,
                () -> HostList.of(parts.stream().map(Step.Part::node).toList()).compressed());
        ofStep = made;
        return made.text;
    }
}
