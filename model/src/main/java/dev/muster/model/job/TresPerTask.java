package dev.muster.model.job;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What each task has, as {@code --tres-per-task} says it and SLURM_TRES_PER_TASK tells it: {@code cpu=2,gres/gpu=1}.
 */
public final class TresPerTask {
    public static final String VARIABLE = "SLURM_TRES_PER_TASK";

    private TresPerTask() {}

    /**
     * The text of both requests together.
     *
     * @param cpus 0 for no word of them
     * @param tres the other request, which may name the same resources
     */
    public static String of(int cpus, String tres) {
        List<String> out = new ArrayList<>(cpus > 0 ? List.of("cpu=" + cpus) : List.of());
        items(tres).filter(item -> !item.startsWith("cpu=")).forEach(out::add);
        return String.join(",", out);
    }

    /** Both say the same, in whichever order: a count may follow a colon, and one of one need not be said. */
    public static boolean areSame(String one, String other) {
        return all(one).equals(all(other));
    }

    private static Set<String> all(String text) {
        return items(text).collect(Collectors.toSet());
    }

    private static Stream<String> items(String text) {
        return Stream.of(text.split(",")).filter(item -> !item.isEmpty()).map(TresPerTask::item);
    }

    private static String item(String text) {
        int end = Math.max(text.indexOf('='), text.lastIndexOf(':'));
        boolean counted = end > 0 && end + 1 < text.length() && Character.isDigit(text.charAt(end + 1));
        return counted ? text.substring(0, end) + "=" + text.substring(end + 1) : text + "=1";
    }
}
