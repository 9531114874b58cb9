package dev.muster.cli.list;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.format.NaturalOrder;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Sorts rows by sinfo's sort keys. */
final class SinfoOrder implements Comparator<SinfoRow> {
    /** @param byConfiguration {@code #}: partitions in the order of the configuration */
    private record Key(SinfoField field, boolean descending, boolean byConfiguration) {}

    private final List<Key> keys = new ArrayList<>();
    private final SinfoField.View view;

    private SinfoOrder(CommandContext context) {
        view = new SinfoField.View(context, 0, "");
    }

    static SinfoOrder of(CommandContext context, String text) throws UsageException {
        SinfoOrder order = new SinfoOrder(context);
        boolean descending = false;
        boolean hash = false;
        for (int i = 0; i < text.length(); i++) {
            char k = text.charAt(i);
            if (k == '-' || k == '+' || k == ',' || k == '#') {
                descending = k == '-' || k == '#' && descending;
                hash = k == '#' || k != ',' && hash;
                continue;
            }
            int f = SinfoField.TABLE.byLetter(k);
            if (f < 0) {
                throw context.bad(1, "Invalid sort specification: " + k);
            }
            order.keys.add(new Key(SinfoField.at(f), descending, hash));
            descending = false;
            hash = false;
        }
        return order;
    }

    @Override
    public int compare(SinfoRow a, SinfoRow b) {
        for (int i = 0; i < keys.size(); i++) {
            Key key = keys.get(i);
            int c = compare(key, a, b);
            if (c != 0) {
                return key.descending ? -c : c;
            }
        }
        return 0;
    }

    private int compare(Key key, SinfoRow a, SinfoRow b) {
        return switch (key.field) {
            case PARTITION, PARTITION_NAME ->
                key.byConfiguration
                        ? Integer.compare(a.order, b.order)
                        : a.partition.text("name").compareTo(b.partition.text("name"));
            case STATE_COMPACT, STATE_LONG, STATE_COMPLETE -> Long.compare(a.stateOrder(), b.stateOrder());
            case NODE_LIST ->
                NaturalOrder.compare(a.first().text("name"), b.first().text("name"));
            case CPUS -> Long.compare(a.min("cpus"), b.min("cpus"));
            case MEMORY -> Long.compare(a.min("memoryMb"), b.min("memoryMb"));
            case DISK -> Long.compare(a.min("tmpDiskMb"), b.min("tmpDiskMb"));
            case WEIGHT -> Long.compare(a.min("weight"), b.min("weight"));
            case NODES -> Integer.compare(a.nodes.size(), b.nodes.size());
            case PRIO_TIER -> byPartition(a, b, "priorityTier");
            case PRIO_FACTOR -> byPartition(a, b, "priorityJobFactor");
            case TIMESTAMP ->
                Long.compare(a.first().number("reasonTime"), b.first().number("reasonTime"));
            case REASON -> a.first().text("reason").compareTo(b.first().text("reason")); // none before all others
            case TIME_LIMIT -> Long.compare(limit(a), limit(b));
            default -> key.field.value(a, view).compareTo(key.field.value(b, view));
        };
    }

    private static int byPartition(SinfoRow a, SinfoRow b, String field) {
        return Long.compare(a.partition.number(field), b.partition.number(field));
    }

    private static long limit(SinfoRow r) {
        long v = r.partition.number("maxTimeMin");
        return v < 0 ? Long.MAX_VALUE : v;
    }
}
