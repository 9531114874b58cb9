package dev.muster.accounting.book;

import dev.muster.model.accounting.Entities.Assoc;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * A site's rules for changes of accounting.
 *
 * @param preservesUsers users' names keep their capitals
 * @param coordinators may change what is below their accounts
 * @param noDefaults users need no default account, and get one only where it is named
 * @param absolute a resource's shares are counts, not hundredths
 * @param preservesResources resources' names keep their capitals
 * @param clusterQos what the jobs of a new cluster may be under
 * @param active the jobs of associations that have not ended
 */
public record ChangeRules(
        boolean preservesUsers,
        boolean coordinators,
        boolean noDefaults,
        boolean absolute,
        boolean preservesResources,
        String clusterQos,
        Function<Collection<Assoc>, List<Active>> active) {
    public ChangeRules(
            boolean preservesUsers,
            boolean coordinators,
            boolean noDefaults,
            boolean absolute,
            boolean preservesResources,
            String clusterQos) {
        this(preservesUsers, coordinators, noDefaults, absolute, preservesResources, clusterQos, of -> List.of());
    }

    /** The QOS that there always is. */
    public static final String STANDARD_QOS = "normal";

    public static final ChangeRules STANDARD = new ChangeRules(false, true, false, false, false, STANDARD_QOS);

    /**
     * A job that has not ended, and what it is charged to.
     *
     * @param wckey "*" for none
     */
    public record Active(int jobId, Assoc assoc, String qos, String wckey) {}

    /** The QOS of DefaultQOS, if all of them exist. */
    public static String clusterQos(AssocTree book, String wanted) {
        String lower = wanted.toLowerCase(Locale.ROOT).strip();
        return !lower.isEmpty()
                        && List.of(lower.split(",")).stream()
                                .allMatch(q -> book.qos(q).isPresent())
                ? lower
                : STANDARD_QOS;
    }
}
