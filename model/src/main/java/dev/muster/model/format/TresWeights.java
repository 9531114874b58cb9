package dev.muster.model.format;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Weights of one unit of each resource, as written: {@code CPU=1.0,Mem=0.25G,GRES/gpu=2.0,License/matlab=5}. */
public final class TresWeights {
    private static final String ITEM = "(?i)(cpu|mem|node|billing|energy|vmem|pages|(gres|license|bb|fs|ic)/[^=]+)"
            + "=-?([0-9]{1,9}(\\.[0-9]{0,9})?|\\.[0-9]{1,9})";
    /** Resources that every cluster has. */
    private static final Set<String> ALWAYS =
            Set.of("cpu", "mem", "node", "billing", "energy", "vmem", "pages", "fs/disk");

    private TresWeights() {}

    /** @param units a weight may end with K, M, G, T or P and is then a weight of that unit */
    public static boolean isValid(String weights, boolean units) {
        for (String item : weights.isEmpty() ? new String[0] : weights.split(",", -1)) {
            if (!item.matches(ITEM + (units ? "[KMGTP]?" : ""))) {
                return false;
            }
        }
        return true;
    }

    /**
     * The first resource that the cluster does not have, as it is written: its weight would never count.
     *
     * @param weights that are valid
     * @param also what the cluster has beside what every cluster has, {@code gres/gpu}, {@code license/matlab}
     */
    public static Optional<String> unknown(String weights, Collection<String> also) {
        Set<String> known = new TreeSet<>(ALWAYS);
        also.forEach(name -> known.add(lower(name)));
        return names(weights).stream()
                .filter(name -> !known.contains(lower(name)))
                .findFirst();
    }

    private static List<String> names(String weights) {
        List<String> out = new ArrayList<>();
        for (String item : weights.isEmpty() ? new String[0] : weights.split(",", -1)) {
            out.add(item.substring(0, item.indexOf('=')));
        }
        return out;
    }

    private static String lower(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
