package dev.muster.cli.list;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.format.RowFormat;
import dev.muster.model.format.HostList;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Prints what {@code sinfo -v} shows first: the options in force, and the columns that separate rows. */
final class SinfoReport {
    private static final String RULE = "-----------------------------";

    /** Options as Slurm writes them, blanks included: the name with its suffix, and the columns that set it. */
    private enum Flag {
        ALLOC_MEM("alloc_mem_flag  = ", SinfoField.ALLOC_MEM),
        AVAIL("avail_flag      = ", SinfoField.AVAILABLE),
        COMMENT("comment_flag    = ", SinfoField.COMMENT),
        CPUS("cpus_flag       = ", SinfoField.CPUS, SinfoField.CPUS_STATE),
        DEFAULT_TIME("default_time_flag =", SinfoField.DEFAULT_TIME),
        DISK("disk_flag       = ", SinfoField.DISK),
        EXTRA("extra_flag      = ", SinfoField.EXTRA),
        FEATURES("features_flag   = ", SinfoField.FEATURES),
        ACTIVE_FEATURES("features_flag_act = ", SinfoField.ACTIVE_FEATURES),
        GROUPS("groups_flag     = ", SinfoField.GROUPS),
        GRES("gres_flag       = ", SinfoField.GRES),
        GRES_USED("gres_used_flag  = ", SinfoField.GRES_USED),
        JOB_SIZE("job_size_flag   = ", SinfoField.SIZE),
        MAX_TIME("max_time_flag   = ", SinfoField.TIME_LIMIT),
        MEMORY("memory_flag     = ", SinfoField.MEMORY),
        PARTITION("partition_flag  = ", SinfoField.PARTITION, SinfoField.PARTITION_NAME),
        PORT("port_flag       = ", SinfoField.PORT),
        PRIORITY_JOB_FACTOR("priority_job_factor_flag   = ", SinfoField.PRIO_FACTOR),
        PRIORITY_TIER("priority_tier_flag   = ", SinfoField.PRIO_TIER),
        REASON("reason_flag     = ", SinfoField.REASON),
        REASON_TIMESTAMP("reason_timestamp_flag = ", SinfoField.TIMESTAMP),
        REASON_USER("reason_user_flag = ", SinfoField.USER, SinfoField.USER_LONG),
        RESERVATION("reservation_flag = "),
        ROOT("root_flag       = ", SinfoField.ROOT),
        OVERSUBSCRIBE("oversubscribe_flag      = ", SinfoField.OVERSUBSCRIBE),
        STATE("state_flag      = ", SinfoField.STATE_COMPACT, SinfoField.STATE_LONG),
        STATE_COMPLETE("statecomplete_flag = ", SinfoField.STATE_COMPLETE),
        WEIGHT("weight_flag     = ", SinfoField.WEIGHT);

        private final String label;

        @SuppressWarnings("ImmutableEnumChecker") // List.of
        private final List<SinfoField> fields;

        Flag(String label, SinfoField... fields) {
            this.label = label;
            this.fields = List.of(fields);
        }
    }

    private SinfoReport() {}

    /**
     * @param columns in force
     * @param format as typed, or the default one in words
     */
    static void options(CommandContext context, Sinfo.Options options, RowFormat columns, String format) {
        List<String> lines = new ArrayList<>(List.of(RULE));
        for (String[] row : values(options, format)) {
            lines.add(row[0] + " ".repeat(Math.max(0, 12 - row[0].length())) + "= " + row[1]);
        }
        lines.add(RULE);
        lines.add("all_flag        = " + flag(options.all || !options.partitions.isEmpty()));
        Set<SinfoField> shown = EnumSet.noneOf(SinfoField.class);
        columns.columns().stream()
                .filter(col -> col.field() != RowFormat.LITERAL)
                .forEach(col -> shown.add(SinfoField.at(col.field())));
        for (Flag f : Flag.values()) {
            boolean on = f == Flag.RESERVATION
                    ? options.reservations
                    : f.fields.stream().anyMatch(shown::contains);
            lines.add(f.label + flag(on));
        }
        lines.add(RULE + "\n");
        lines.forEach(context.out()::println);
    }

    private static String[][] values(Sinfo.Options options, String format) {
        boolean usual = options.format.isEmpty() && options.wideFormat.isEmpty();
        String states = options.reasons ? "down" : "(null)";
        return new String[][] {
            {"dead", flag(options.dead)},
            {"exact", options.exact ? "1" : "0"},
            {"filtering", flag(hasFilters(options))},
            {"format", format},
            {"iterate", Integer.toString(options.iterateSeconds)},
            {"long", flag(options.longForm)},
            {"no_header", flag(options.noHeader)},
            {"node_field", flag(usual && options.byNode)},
            {"node_format", flag(options.byNode)},
            {
                "nodes",
                options.nodes.isEmpty() ? "n/a" : HostList.of(options.nodes).compressed()
            },
            {"part_field", flag(usual && (options.byNode || !options.reasons))},
            {"partition", options.partitions.isEmpty() ? "n/a" : String.join(",", options.partitions)},
            {"responding", flag(options.responding)},
            {"states", options.states.isEmpty() ? states : String.join(",", options.states)},
            {"sort", options.sort.isEmpty() ? "(null)" : options.sort},
            {"summarize", flag(options.summary)},
            {"verbose", Integer.toString(options.verbose)}
        };
    }

    private static boolean hasFilters(Sinfo.Options options) {
        return options.dead
                || options.responding
                || options.reasons
                || !options.states.isEmpty()
                || !options.nodes.isEmpty()
                || !options.partitions.isEmpty();
    }

    private static String flag(boolean set) {
        return set ? "true" : "false";
    }
}
