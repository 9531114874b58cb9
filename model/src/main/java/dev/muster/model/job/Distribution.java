package dev.muster.model.job;

import java.util.Optional;

/**
 * How tasks are laid out: {@code --distribution=nodes[:sockets[:cores]][,pack|nopack]}.
 *
 * @param nodes over the nodes
 * @param plane tasks of one block where nodes is PLANE, else 0
 * @param sockets of the tasks' CPUs over a node's sockets; UNSET if not said
 * @param cores of a task's CPUs over cores; UNSET if not said
 */
public record Distribution(Nodes nodes, int plane, Level sockets, Level cores, Packing packing) {
    public static final Distribution UNSET = new Distribution(Nodes.UNSET, 0, Level.UNSET, Level.UNSET, Packing.UNSET);

    /** Over nodes. ARBITRARY: as a list of hosts says. */
    public enum Nodes {
        UNSET,
        BLOCK,
        CYCLIC,
        PLANE,
        ARBITRARY
    }

    /** Over sockets and cores. */
    public enum Level {
        UNSET,
        BLOCK,
        CYCLIC,
        FCYCLIC
    }

    /** Whether a node is filled before the next one gets a task. */
    public enum Packing {
        UNSET,
        PACK,
        NOPACK
    }

    /** Reads it; "" is {@link #UNSET}, a mistake is empty. {@code *} stands for the default of its level. */
    public static Optional<Distribution> parse(String text) {
        if (text.isEmpty()) {
            return Optional.of(UNSET);
        }
        String[] parts = text.split(",", -1);
        Packing packing = packing(parts[parts.length - 1]);
        if (parts.length == 1 && packing != Packing.UNSET) {
            return Optional.of(new Distribution(Nodes.UNSET, 0, Level.UNSET, Level.UNSET, packing));
        }
        String[] levels = parts[0].split(":", -1);
        if (parts.length > 2 || parts.length == 2 && packing == Packing.UNSET || levels.length > 3) {
            return Optional.empty();
        }
        Optional<Distribution> first = nodes(levels[0], packing);
        boolean hasLevels = levels.length > 1;
        Optional<Level> sockets = hasLevels ? level(levels[1], Level.CYCLIC) : Optional.of(Level.UNSET);
        Optional<Level> cores =
                levels.length > 2 ? level(levels[2], sockets.orElse(Level.CYCLIC)) : Optional.of(Level.UNSET);
        if (first.isEmpty() || sockets.isEmpty() || cores.isEmpty()) {
            return Optional.empty();
        }
        Nodes nodes = first.get().nodes;
        return takes(nodes, hasLevels, parts.length > 1)
                ? Optional.of(new Distribution(nodes, first.get().plane, sockets.get(), cores.get(), packing))
                : Optional.empty();
    }

    /** Whether further levels and a packing may stand behind a distribution over nodes. */
    private static boolean takes(Nodes nodes, boolean levels, boolean packing) {
        return switch (nodes) {
            case ARBITRARY -> !levels;
            case PLANE -> !levels && !packing;
            default -> true;
        };
    }

    private static Packing packing(String word) {
        if (word.equalsIgnoreCase("pack")) {
            return Packing.PACK;
        }
        if (word.equalsIgnoreCase("nopack")) {
            return Packing.NOPACK;
        }
        return Packing.UNSET;
    }

    private static Optional<Distribution> nodes(String word, Packing packing) {
        String w = word.toLowerCase(java.util.Locale.ROOT);
        return switch (w) {
            case "*", "block" -> Optional.of(of(Nodes.BLOCK, 0, packing));
            case "cyclic" -> Optional.of(of(Nodes.CYCLIC, 0, packing));
            case "arbitrary" -> Optional.of(of(Nodes.ARBITRARY, 0, packing));
            // the size may come by SLURM_DIST_PLANESIZE; without either it is 1
            case "plane" -> Optional.of(of(Nodes.PLANE, 1, packing));
            default -> plane(w).map(size -> of(Nodes.PLANE, size, packing));
        };
    }

    private static Distribution of(Nodes nodes, int plane, Packing packing) {
        return new Distribution(nodes, plane, Level.UNSET, Level.UNSET, packing);
    }

    private static Optional<Integer> plane(String word) {
        if (!word.matches("plane=[0-9]{1,9}") || Integer.parseInt(word.substring(6)) == 0) {
            return Optional.empty();
        }
        return Optional.of(Integer.parseInt(word.substring(6)));
    }

    private static Optional<Level> level(String word, Level standard) {
        return switch (word.toLowerCase(java.util.Locale.ROOT)) {
            case "*" -> Optional.of(standard);
            case "block" -> Optional.of(Level.BLOCK);
            case "cyclic" -> Optional.of(Level.CYCLIC);
            case "fcyclic" -> Optional.of(Level.FCYCLIC);
            default -> Optional.empty();
        };
    }

    /** Returns the text of SLURM_DISTRIBUTION; "" if unset. */
    public String text() {
        StringBuilder out = new StringBuilder(nodes == Nodes.UNSET ? "" : lower(nodes));
        if (sockets != Level.UNSET) {
            out.append(':').append(lower(sockets));
        }
        if (cores != Level.UNSET) {
            out.append(':').append(lower(cores));
        }
        if (packing != Packing.UNSET) {
            out.append(out.isEmpty() ? "" : ",").append(lower(packing));
        }
        return out.toString();
    }

    private static String lower(Enum<?> word) {
        return word.name().toLowerCase(java.util.Locale.ROOT);
    }
}
