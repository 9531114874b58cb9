package dev.muster.core.timer;

import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.node.PowerSavingTimes;
import dev.muster.core.options.PowerSavingOptions;
import dev.muster.core.options.UsageDecayOptions;
import dev.muster.core.state.Change;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Settings that can be changed while the cluster runs; the next reading of slurm.conf sets them again. */
public final class SettingRules {
    private static final int DAMPENING_MAX = 65535;

    private SettingRules() {}

    public static Decision set(State state, Command.ChangeSetting c) {
        return switch (c.key()) {
            case "suspendexcnodes" -> nodes(state, c.value());
            case "suspendexcparts" ->
                words(
                        state.settings().options().power().kept().partitions(),
                        PowerSavingOptions.KEPT_PARTITIONS,
                        c.value(),
                        name -> state.partitions().has(name)
                                ? Optional.empty()
                                : Optional.of(SlurmErrno.INVALID_PARTITION_NAME));
            case "suspendexcstates" ->
                words(
                        split(state.settings().options().power().kept().statesText()),
                        PowerSavingOptions.KEPT_STATES,
                        c.value().toUpperCase(Locale.ROOT),
                        name -> PowerSavingTimes.STATES.contains(name)
                                ? Optional.empty()
                                : Optional.of(SlurmErrno.INVALID_NODE_STATE));
            case "fairsharedampeningfactor" -> dampening(c.value());
            default ->
                new Decision.Rejected(
                        SlurmErrno.NOT_SUPPORTED,
                        "Updating " + c.key() + " is not supported by this version of Muster");
        };
    }

    private static Decision dampening(String value) {
        boolean good = value.matches("[1-9][0-9]{0,4}") && Integer.parseInt(value) <= DAMPENING_MAX;
        return good
                ? changed(UsageDecayOptions.DAMPENING, value)
                : new Decision.Rejected(SlurmErrno.NOT_SUPPORTED, "invalid dampening factor: " + value);
    }

    private static Decision changed(String option, String value) {
        return Decision.of(List.of(new Change.OptionsChanged(Map.of(option, value))), "");
    }

    private interface Check {
        Optional<SlurmErrno> wrong(String word);
    }

    /** Changes a list: a whole list, or what is added to it (+) or taken from it (-). */
    private static Decision words(List<String> before, String option, String value, Check check) {
        char mode = value.isEmpty() ? '=' : value.charAt(0);
        List<String> named = split(mode == '+' || mode == '-' ? value.substring(1) : value);
        for (String word : named) {
            Optional<SlurmErrno> wrong = check.wrong(word);
            if (wrong.isPresent()) {
                return Decision.reject(wrong.get());
            }
        }
        Set<String> after = new LinkedHashSet<>(mode == '+' || mode == '-' ? before : List.of());
        if (mode == '-') {
            named.forEach(after::remove);
        } else {
            after.addAll(named);
        }
        return changed(option, String.join(",", after));
    }

    /**
     * Changes a list of nodes: nodes by name, or {@code n[1-9]:2} for two of them. What is taken away is taken from the
     * names; a count goes as it was written.
     */
    private static Decision nodes(State state, String value) {
        char mode = value.isEmpty() ? '=' : value.charAt(0);
        List<String> expanded = new ArrayList<>();
        for (String word : HostList.split(mode == '+' || mode == '-' ? value.substring(1) : value)) {
            Optional<List<String>> names = names(state, word);
            if (names.isEmpty()) {
                return Decision.reject(SlurmErrno.INVALID_NODE_NAME);
            }
            expanded.addAll(names.get());
        }
        Set<String> after = new LinkedHashSet<>();
        if (mode == '+' || mode == '-') {
            HostList.split(state.settings().options().power().kept().nodesText())
                    .forEach(word -> after.addAll(names(state, word).orElse(List.of(word))));
        }
        if (mode == '-') {
            expanded.forEach(after::remove);
        } else {
            after.addAll(expanded);
        }
        List<String> plain = after.stream().filter(w -> w.indexOf(':') < 0).toList();
        List<String> out = new ArrayList<>(
                plain.isEmpty()
                        ? List.of()
                        : List.of(HostList.of(plain).sorted().compressed()));
        after.stream().filter(w -> w.indexOf(':') >= 0).forEach(out::add);
        return changed(PowerSavingOptions.KEPT_NODES, String.join(",", out));
    }

    /** Returns the names of nodes, or the word itself where it has a count; empty where a name is none. */
    private static Optional<List<String>> names(State state, String word) {
        int colon = word.lastIndexOf(':');
        if (colon >= 0 && !word.substring(colon + 1).matches("[0-9]{1,9}")
                || !(HostList.parse(colon < 0 ? word : word.substring(0, colon)) instanceof HostList.Parsed.Ok ok)
                || !ok.list().names().stream().allMatch(state.nodes()::has)) {
            return Optional.empty();
        }
        return Optional.of(colon < 0 ? ok.list().names() : List.of(word));
    }

    private static List<String> split(String text) {
        return text.isEmpty() ? List.of() : List.of(text.split(","));
    }
}
