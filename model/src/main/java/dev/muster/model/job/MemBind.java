package dev.muster.model.job;

import dev.muster.model.format.BindList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * {@code --mem-bind}: {@code [quiet|verbose][,sort|nosort][,prefer][,type]}.
 *
 * @param list as in {@link CpuBind}, of NUMA nodes
 */
public record MemBind(boolean verbose, boolean sort, boolean prefer, Kind kind, List<String> list) {
    public static final MemBind DEFAULT = new MemBind(false, false, false, Kind.DEFAULT, List.of());

    /** DEFAULT: nothing was said. */
    public enum Kind {
        DEFAULT(""),
        NONE("none"),
        RANK("rank"),
        LOCAL("local"),
        MAP("map_mem:"),
        MASK("mask_mem:");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        /** Returns the text of SLURM_MEM_BIND_TYPE. */
        public String text() {
            return text;
        }
    }

    /** Empty for a mistake. */
    public static Optional<MemBind> parse(String text) {
        return mistake(text).isEmpty() ? Optional.of(read(text)) : Optional.empty();
    }

    /** The mistake in the text, in srun's words; "" if there is none. */
    public static String mistake(String text) {
        String remainder = text;
        while (!remainder.isEmpty()) {
            int comma = remainder.indexOf(',');
            String word = comma < 0 ? remainder : remainder.substring(0, comma);
            Optional<Kind> listed = listed(word);
            if (word.indexOf(':') >= 0 || listed.isPresent()) {
                return BindList.mistake("--mem-bind", listed.map(Kind::text).orElse(""), remainder);
            }
            if (!List.of("q", "quiet", "v", "verbose", "sort", "nosort", "p", "prefer", "no", "none", "rank", "local")
                    .contains(word.toLowerCase(Locale.ROOT))) {
                return "unrecognized --mem-bind argument \"" + word + "\"";
            }
            remainder = comma < 0 ? "" : remainder.substring(comma + 1);
        }
        return "";
    }

    private static MemBind read(String text) {
        MemBind out = DEFAULT;
        String remainder = text;
        while (!remainder.isEmpty()) {
            int comma = remainder.indexOf(',');
            String word = comma < 0 ? remainder : remainder.substring(0, comma);
            Optional<Kind> listed = listed(word);
            if (listed.isPresent()) {
                return out.as(
                        listed.get(),
                        BindList.items(remainder.substring(remainder.indexOf(':') + 1), listed.get() == Kind.MASK));
            }
            out = out.with(word.toLowerCase(Locale.ROOT));
            remainder = comma < 0 ? "" : remainder.substring(comma + 1);
        }
        return out;
    }

    private static Optional<Kind> listed(String word) {
        String name = word.toLowerCase(Locale.ROOT).replaceFirst(":.*", "") + ":";
        return List.of(Kind.MAP, Kind.MASK).stream()
                .filter(k -> k.text.equals(name))
                .findFirst();
    }

    private MemBind with(String word) {
        return switch (word) {
            case "v", "verbose" -> new MemBind(true, sort, prefer, kind, list);
            case "q", "quiet" -> new MemBind(false, sort, prefer, kind, list);
            case "sort" -> new MemBind(verbose, true, prefer, kind, list);
            case "nosort" -> new MemBind(verbose, false, prefer, kind, list);
            case "p", "prefer" -> new MemBind(verbose, sort, true, kind, list);
            case "rank" -> as(Kind.RANK, List.of());
            case "local" -> as(Kind.LOCAL, List.of());
            default -> as(Kind.NONE, List.of());
        };
    }

    private MemBind as(Kind as, List<String> items) {
        return new MemBind(verbose, sort, prefer, as, items);
    }

    /** The NUMA nodes that an item of the list names. */
    public List<Integer> nodes(int local) {
        return BindList.members(list.get(local % list.size()), kind == Kind.MASK);
    }

    /**
     * What a job that asks for it has for its steps: the same, without a word that is the standard, and of the parts
     * those that are there.
     */
    public List<String> ofJob() {
        if (kind == Kind.DEFAULT && !verbose && !prefer && !sort) {
            return List.of();
        }
        String whole = String.join(
                ",",
                java.util.stream.Stream.of(
                                verbose ? "verbose" : "",
                                sort ? "sort" : "",
                                prefer ? "prefer" : "",
                                kind.text + String.join(",", list))
                        .filter(s -> !s.isEmpty())
                        .toList());
        List<String> out = new java.util.ArrayList<>(List.of("SLURM_MEM_BIND=" + whole));
        environment().stream()
                .filter(e -> !e.startsWith("SLURM_MEM_BIND=") && !e.endsWith("="))
                .forEach(out::add);
        return out;
    }

    /** SLURM_MEM_BIND and its parts; none where nothing was said. */
    public List<String> environment() {
        if (kind == Kind.DEFAULT && !verbose && !prefer && !sort) {
            return List.of();
        }
        String verbosity = verbose ? "verbose" : "quiet";
        String named = kind.text + String.join(",", list);
        String whole = String.join(
                ",",
                java.util.stream.Stream.of(verbosity, prefer ? "prefer" : "", named)
                        .filter(s -> !s.isEmpty())
                        .toList());
        List<String> out = new java.util.ArrayList<>(List.of(
                "SLURM_MEM_BIND=" + whole,
                "SLURM_MEM_BIND_VERBOSE=" + verbosity,
                "SLURM_MEM_BIND_TYPE=" + kind.text,
                "SLURM_MEM_BIND_LIST=" + String.join(",", list)));
        if (sort) {
            out.add("SLURM_MEM_BIND_SORT=sort");
        }
        if (prefer) {
            out.add("SLURM_MEM_BIND_PREFER=prefer");
        }
        return out;
    }
}
