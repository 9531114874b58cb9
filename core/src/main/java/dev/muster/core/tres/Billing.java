package dev.muster.core.tres;

import dev.muster.core.options.AccountingOptions;
import dev.muster.core.options.PriorityOptions;
import dev.muster.core.state.Settings;
import dev.muster.model.format.TresWeights;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * TRESBillingWeights: what an allocation is charged per unit of each resource, {@code CPU=1.0,Mem=0.25G,GRES/gpu=2.0}.
 */
public final class Billing {
    private Billing() {}

    /** Tests whether the cluster has all that the weights name, and they are written as such. */
    public static boolean isValid(String weights, Settings settings) {
        if (weights.isEmpty()) {
            return true;
        }
        List<String> tres = new ArrayList<>();
        settings.gresTypes().forEach(name -> tres.add("gres/" + name));
        AccountingOptions tracked = settings.options().accounting();
        tracked.licenses().forEach(name -> tres.add("license/" + name));
        tracked.gres().forEach(name -> tres.add("gres/" + name));
        tracked.buffers().forEach(name -> tres.add("bb/" + name));
        settings.options().licenses().own().keySet().forEach(name -> tres.add("license/" + name));
        return TresWeights.isValid(weights, true)
                && TresWeights.unknown(weights, tres).isEmpty();
    }

    /**
     * Returns the billing of an allocation, rounded down; its CPUs where there are no weights.
     *
     * @param memoryMb mebibytes; a weight without a letter counts per mebibyte, {@code 0.25G} per gibibyte
     */
    public static long of(String weights, int cpus, long memoryMb, int nodes, Map<String, Integer> gres) {
        return of(weights, cpus, memoryMb, nodes, gres, Map.of(), Set.of());
    }

    /**
     * @param global what lies on no node, by its name as {@code license/matlab}: burst buffers in mebibytes
     * @param flags with MAX_TRES the dearest of what lies on nodes alone counts, with MAX_TRES_GRES devices besides
     */
    public static long of(
            String weights,
            int cpus,
            long memoryMb,
            int nodes,
            Map<String, Integer> gres,
            Map<String, Long> global,
            Set<PriorityOptions.Flag> flags) {
        if (weights.isEmpty()) {
            return cpus;
        }
        boolean devicesBesides = flags.contains(PriorityOptions.Flag.MAX_TRES_GRES);
        boolean dearest = devicesBesides || flags.contains(PriorityOptions.Flag.MAX_TRES);
        double dearestCost = 0;
        double sum = 0;
        for (Map.Entry<String, String> w : items(weights).entrySet()) {
            double unit = unit(w.getValue());
            double weight = Double.parseDouble(w.getValue().replaceAll("[KMGTPkmgtp]$", ""));
            double cost = switch (w.getKey()) {
                case "cpu" -> cpus * weight;
                case "mem" -> memoryMb / unit * weight;
                case "node" -> nodes * weight;
                default ->
                    isGlobal(w.getKey())
                            ? amount(global, w.getKey()) / unit * weight
                            : devices(gres, w.getKey().replaceFirst("^gres/", "")) * weight;
            };
            boolean one = dearest
                    && !isGlobal(w.getKey())
                    && !(devicesBesides && w.getKey().startsWith("gres/"));
            dearestCost = one ? Math.max(dearestCost, cost) : dearestCost;
            sum += one ? 0 : cost;
        }
        return (long) (sum + dearestCost);
    }

    private static boolean isGlobal(String name) {
        return name.startsWith("license/") || name.startsWith("bb/");
    }

    private static long amount(Map<String, Long> global, String name) {
        return global.entrySet().stream()
                .filter(e -> e.getKey().equalsIgnoreCase(name))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    private static long devices(Map<String, Integer> gres, String name) {
        return gres.entrySet().stream()
                .filter(e -> e.getKey().equalsIgnoreCase(name))
                .mapToLong(Map.Entry::getValue)
                .sum();
    }

    private static Map<String, String> items(String weights) {
        Map<String, String> out = new TreeMap<>();
        for (String item : weights.split(",")) {
            int eq = item.indexOf('=');
            out.put(item.substring(0, eq).toLowerCase(java.util.Locale.ROOT), item.substring(eq + 1));
        }
        return out;
    }

    /** Returns the mebibytes in the unit a memory weight names. */
    private static double unit(String weight) {
        return switch (Character.toUpperCase(weight.charAt(weight.length() - 1))) {
            case 'K' -> 1.0 / 1024;
            case 'G' -> 1024;
            case 'T' -> 1024.0 * 1024;
            case 'P' -> 1024.0 * 1024 * 1024;
            default -> 1;
        };
    }
}
