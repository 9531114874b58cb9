package dev.muster.model.job;

import dev.muster.model.format.BindList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * {@code --cpu-bind}: {@code [quiet|verbose][,type]}.
 *
 * @param list what a map or masks name, one per task, used again from the first when there are more: CPU or NUMA node
 *     numbers, or hexadecimal masks of them
 */
public record CpuBind(boolean verbose, Kind kind, List<String> list) {
    public static final CpuBind DEFAULT = new CpuBind(false, Kind.DEFAULT, List.of());

    /** DEFAULT: nothing was said, tasks get cores of their own. THREADS: as many threads as a task has CPUs. */
    public enum Kind {
        DEFAULT(""),
        NONE("none"),
        RANK("rank"),
        MAP("map_cpu:"),
        MASK("mask_cpu:"),
        LDRANK("rank_ldom"),
        LDMAP("map_ldom:"),
        LDMASK("mask_ldom:"),
        SOCKETS("sockets"),
        CORES("cores"),
        THREADS("threads"),
        LDOMS("ldoms");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        /** Returns the text of SLURM_CPU_BIND_TYPE. */
        public String text() {
            return text;
        }

        /** A list of numbers or masks belongs to it. */
        public boolean hasList() {
            return text.endsWith(":");
        }

        /** Its list is of masks. */
        public boolean hasMasks() {
            return text.startsWith("mask");
        }

        /**
         * Whether the binding uses CPU numbers of the whole node: it is refused to a step that has only some of them.
         */
        public boolean wantsWholeNode() {
            return switch (this) {
                case RANK, LDRANK, LDMAP, LDMASK -> true;
                case DEFAULT, NONE, MAP, MASK, SOCKETS, CORES, THREADS, LDOMS -> false;
            };
        }
    }

    /** The CPUs or NUMA nodes that an item of the list names. */
    public List<Integer> named(int local) {
        return BindList.members(list.get(local % list.size()), kind.hasMasks());
    }

    /**
     * The binding that CpuBind of a node or a partition names, by the word of {@code --cpu-bind}; "" for none of their
     * own.
     *
     * @return empty for a word that is none
     */
    public static Optional<String> defaultMode(String word) {
        return switch (word.toLowerCase(Locale.ROOT)) {
            case "", "off" -> Optional.of("");
            case "none" -> Optional.of("none");
            case "socket", "sockets" -> Optional.of("sockets");
            case "ldom", "ldoms" -> Optional.of("ldoms");
            case "core", "cores" -> Optional.of("cores");
            case "thread", "threads" -> Optional.of("threads");
            default -> Optional.empty();
        };
    }

    /** Empty for a mistake, and for a kind of binding that is not known here. */
    public static Optional<CpuBind> parse(String text) {
        return mistake(text).isEmpty() ? Optional.of(read(text)) : Optional.empty();
    }

    /** The mistake in the text, in srun's words; "" if there is none. */
    public static String mistake(String text) {
        String remainder = text;
        while (!remainder.isEmpty()) {
            int comma = remainder.indexOf(',');
            String word = comma < 0 ? remainder : remainder.substring(0, comma);
            if (word.indexOf(':') >= 0 || kindOfList(word).isPresent()) {
                return BindList.mistake(
                        "--cpu-bind", kindOfList(word).map(Kind::text).orElse(""), remainder);
            }
            if (plain(word).isEmpty() && !isManner(word)) {
                return "unrecognized --cpu-bind argument \"" + word + "\"";
            }
            remainder = comma < 0 ? "" : remainder.substring(comma + 1);
        }
        return "";
    }

    private static CpuBind read(String text) {
        boolean verbose = false;
        Kind kind = Kind.DEFAULT;
        String remainder = text;
        while (!remainder.isEmpty()) {
            int comma = remainder.indexOf(',');
            String word = comma < 0 ? remainder : remainder.substring(0, comma);
            Optional<Kind> listed = kindOfList(word);
            if (listed.isPresent()) {
                return new CpuBind(
                        verbose,
                        listed.get(),
                        BindList.items(
                                remainder.substring(remainder.indexOf(':') + 1),
                                listed.get().hasMasks()));
            }
            verbose = isManner(word) ? word.toLowerCase(Locale.ROOT).startsWith("v") : verbose;
            kind = plain(word).orElse(kind);
            remainder = comma < 0 ? "" : remainder.substring(comma + 1);
        }
        return new CpuBind(verbose, kind, List.of());
    }

    private static boolean isManner(String word) {
        return List.of("q", "quiet", "v", "verbose", "one_thread").contains(word.toLowerCase(Locale.ROOT));
    }

    private static Optional<Kind> kindOfList(String word) {
        String name = word.toLowerCase(Locale.ROOT).replaceFirst(":.*", "") + ":";
        return List.of(Kind.MAP, Kind.MASK, Kind.LDMAP, Kind.LDMASK).stream()
                .filter(k -> k.text.equals(name)
                        || k.text.equals(name.replace("mapcpu", "map_cpu").replace("maskcpu", "mask_cpu")))
                .findFirst();
    }

    private static Optional<Kind> plain(String word) {
        return Optional.ofNullable(
                switch (word.toLowerCase(Locale.ROOT)) {
                    case "no", "none" -> Kind.NONE;
                    case "rank" -> Kind.RANK;
                    case "rank_ldom", "rankldom" -> Kind.LDRANK;
                    case "socket", "sockets" -> Kind.SOCKETS;
                    case "core", "cores" -> Kind.CORES;
                    case "thread", "threads" -> Kind.THREADS;
                    case "ldom", "ldoms" -> Kind.LDOMS;
                    default -> null;
                });
    }
}
