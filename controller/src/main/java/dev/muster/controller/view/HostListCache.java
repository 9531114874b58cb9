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
final class HostListCache {
    private static volatile CachedList ofAllocation = new CachedList(List.of(), "");
    private static volatile CachedList ofStep = new CachedList(List.of(), "");

    /** @param list known by its identity: the state's lists never change */
    private record CachedList(List<?> list, String text) {
        CachedList or(List<?> wanted, Supplier<String> make) {
            return list == wanted ? this : new CachedList(wanted, make.get());
        }
    }

    private HostListCache() {}

    static String of(Allocation allocation) {
        CachedList made = ofAllocation.or(allocation.nodes(), allocation::hostList);
        ofAllocation = made;
        return made.text;
    }

    static String of(List<Step.Part> parts) {
        CachedList made = ofStep.or(
                parts,
                () -> HostList.of(parts.stream().map(Step.Part::node).toList()).compressed());
        ofStep = made;
        return made.text;
    }
}
