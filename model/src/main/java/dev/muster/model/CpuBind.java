package dev.muster.model;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * {@code --cpu-bind}: {@code [quiet|verbose][,type]}.
 *
 * @param list what map_cpu and mask_cpu name: CPU numbers or hexadecimal masks, one per task, used again from the first when there are more
 */
public record CpuBind(boolean verbose, Kind kind, List<String> list) {
    public static final CpuBind DEFAULT = new CpuBind(false, Kind.DEFAULT, List.of());

    /** DEFAULT: nothing was said, tasks get cores of their own. THREADS: as many threads as a task has CPUs. */
    public enum Kind {
        DEFAULT(""), NONE("none"), CORES("cores"), THREADS("threads"), MAP("map_cpu:"), MASK("mask_cpu:");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        /** As SLURM_CPU_BIND_TYPE has it. */
        public String text() {
            return text;
        }
    }

    /** Empty for a mistake, and for a kind of binding that is not known here. */
    public static Optional<CpuBind> parse(String text) {
        boolean verbose = false;
        Kind kind = Kind.DEFAULT;
        String rest = text.toLowerCase(Locale.ROOT);
        while (!rest.isEmpty()) {
            if (rest.matches("map_cpu:[0-9]{1,5}(,[0-9]{1,5})*")) {
                return Optional.of(new CpuBind(verbose, Kind.MAP, List.of(rest.substring(8).split(","))));
            }
            if (rest.matches("mask_cpu:(0x)?[0-9a-f]{1,2048}(,(0x)?[0-9a-f]{1,2048})*")) {
                return Optional.of(new CpuBind(verbose, Kind.MASK, List.of(text.substring(text.length() - rest.length() + 9).split(","))));
            }
            int comma = rest.indexOf(',');
            String word = comma < 0 ? rest : rest.substring(0, comma);
            rest = comma < 0 ? "" : rest.substring(comma + 1);
            switch (word) {
                case "q", "quiet" -> verbose = false;
                case "v", "verbose" -> verbose = true;
                case "none", "no" -> kind = Kind.NONE;
                case "core", "cores" -> kind = Kind.CORES;
                case "thread", "threads" -> kind = Kind.THREADS;
                default -> {
                    return Optional.empty();
                }
            }
        }
        return Optional.of(new CpuBind(verbose, kind, List.of()));
    }
}
