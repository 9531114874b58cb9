package dev.muster.cli.shape;

import static java.util.Objects.requireNonNull;

import dev.muster.json.Json;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A data parser as {@code --json=v0.0.44+complex} names it: version of the shapes and form of values. Trees are made in
 * the shape of the newest version; {@link #shaped} converts a tree to an older version.
 *
 * @param version the last part of v0.0.N
 * @param flags each with its plus, as typed
 * @param complex numbers stand alone, and a text that is not set is null
 * @param notes lines for stderr about flags without an effect
 */
public record DataParser(int version, String flags, boolean complex, List<String> notes) {
    public static final int NEWEST = 45;
    private static final int OLDEST = 42;
    private static final String PREFIX = "data_parser/";
    /** First version with a field, by the field's place in the tree. */
    private static final Map<String, Integer> SINCE = since("""
        43 queue: licenses_allocated segment_size stderr_expanded stdin_expanded stdout_expanded
        43 ended: segment_size reservation.requested steps.step.stderr steps.step.stdin steps.step.stdout
        43 ended: steps.step.stderr_expanded steps.step.stdin_expanded steps.step.stdout_expanded steps.time.limit
        43 nodes: cert_flags tls_cert_last_renewal topology
        43 partitions: topology
        43 steps: stderr stdin stdout stderr_expanded stdin_expanded stdout_expanded
        44 queue: step_id submit_line
        44 licenses: Nodes
        44 users: default.qos
        45 queue: container_type memory_update_delay memory_update_margin
        45 ended: exclusive original_sluid oversubscribe sluid steps.submit_line
        45 pings: status
        45 nodes: suspend_time
        45 partitions: flags preempt_mode partition.exclusive partition.oversubscribe
        45 steps: container_type sluid
        45 sinfo: reason_set_by_user\
        """);
    /** First version with a flag or a state. */
    private static final Map<String, Integer> WORDS = Map.ofEntries(
            Map.entry("EXTERNAL_JOB", 43),
            Map.entry("DELETED", 43),
            Map.entry("PARTITION_QOS", 43),
            Map.entry("JOB_ALTERED", 44),
            Map.entry("EXPEDITING", 44),
            Map.entry("SPREAD_SEGMENTS", 44),
            Map.entry("CONSOLIDATE_SEGMENTS", 44),
            Map.entry("EXPEDITED_REQUEUE", 44),
            Map.entry("EXTERNAL", 44),
            Map.entry("BLOCKED", 44),
            Map.entry("NO_ANY_NODES", 44),
            Map.entry("REPLACE_DOWN", 44),
            Map.entry("NO_MAGNETIC", 44),
            Map.entry("FORCE_START", 44),
            Map.entry("TRES_PER_NODE", 44),
            Map.entry("JOB_IMPLICIT_MAX_NODES", 45),
            Map.entry("POWER_DOWN_ASAP", 45),
            Map.entry("POWER_DOWN_FORCE", 45));
    /** Texts that stay texts in complex form when they are empty. */
    private static final Set<String> NEVER_NULL = Set.of(
            "ended.constraints",
            "ended.wckey.wckey",
            "ended.kill_request_user",
            "ended.mcs.label",
            "ended.script",
            "ended.stderr",
            "ended.stdin",
            "ended.stdout",
            "ended.steps.kill_request_user",
            "ended.steps.step.stderr",
            "ended.steps.step.stdin",
            "ended.steps.step.stdout",
            "queue.stderr_expanded",
            "nodes.reason_set_by_user",
            "nodes.owner",
            "sinfo.reason_set_by_user",
            "steps.stderr_expanded",
            "steps.stdin_expanded",
            "steps.stdout_expanded",
            "users.default.wckey",
            "slurmdbd_conf.StorageUser",
            "slurmdbd_conf.StoragePassScript",
            "slurmdbd_conf.DebugLevelSyslog",
            "slurmdbd_conf.StorageLoc",
            "slurm_conf.SlurmctldSyslogDebug",
            "slurm_conf.SlurmdSyslogDebug");
    /** Limits of partitions that are null in complex form without a value. */
    private static final Set<String> NULL_WITHOUT = Set.of(
            "partitions.maximums.memory_per_cpu",
            "partitions.maximums.oversubscribe.flags",
            "partitions.maximums.oversubscribe.jobs",
            "partitions.maximums.shares",
            "partitions.defaults.memory_per_cpu",
            "queue.shared");

    private static final long NO_TASK = 0xffff_fffeL;

    private static Map<String, Integer> since(String table) {
        Map<String, Integer> out = new java.util.HashMap<>();
        for (String line : table.split("\n")) {
            int colon = line.indexOf(':');
            for (String field : line.substring(colon + 2).split(" ")) {
                out.put(line.substring(3, colon) + "." + field, Integer.parseInt(line.substring(0, 2)));
            }
        }
        return Map.copyOf(out);
    }

    /**
     * @param text behind {@code --json=}
     * @return empty for a data parser that this release does not have
     */
    public static Optional<DataParser> parse(String text) {
        String bare = text.startsWith(PREFIX) ? text.substring(PREFIX.length()) : text;
        int plus = bare.indexOf('+');
        String name = plus < 0 ? bare : bare.substring(0, plus);
        int version;
        if (text.isEmpty() || name.equals("latest")) {
            version = NEWEST;
        } else if (name.matches("v0\\.0\\.4[2-5]")) {
            version = Integer.parseInt(name.substring(5));
        } else {
            version = 0;
        }

        if (version < OLDEST) {
            return Optional.empty();
        }
        String flags = plus < 0 ? "" : bare.substring(plus);
        boolean complex = false;
        List<String> notes = new ArrayList<>();
        for (String flag : flags.isEmpty() ? new String[0] : flags.substring(1).split("\\+")) {
            switch (flag.toLowerCase(Locale.ROOT)) {
                case "complex" -> complex = true;
                // references occur in API documents only; the flag's value is checked nevertheless
                case "fast", "minimize_refs", "" -> {}
                case "prefer_refs" -> notes.add(PREFIX + "v0.0." + version + " ignoring default flag FLAG_PREFER_REFS");
                default -> notes.add("warning: " + PREFIX + "v0.0." + version + " ignoring unknown flag " + flag);
            }
        }
        return Optional.of(new DataParser(version, flags, complex, List.copyOf(notes)));
    }

    /** Returns the names of all data parsers, for {@code --json=list}. */
    public static List<String> all() {
        List<String> out = new ArrayList<>();
        for (int v = OLDEST; v <= NEWEST; v++) {
            out.add(PREFIX + "v0.0." + v);
        }
        return out;
    }

    /** Returns the name as answers print it. */
    public String name() {
        return PREFIX + "v0.0." + version + flags;
    }

    /** @param answer in the newest version's shape; it is not changed */
    public Json.Obj shaped(Json.Obj answer) {
        if (version == NEWEST && !complex) {
            return answer;
        }
        Json.Obj out = new Json.Obj();
        answer.fields().forEach((name, value) -> {
            String place;
            if (name.equals("jobs")) {
                if (answer.has("last_backfill")) {
                    place = "queue";
                } else {
                    place = "ended";
                }
            } else {
                place = name;
            }

            out.put(name, shaped(value, place));
        });
        return out;
    }

    private @Nullable Object shaped(@Nullable Object value, String place) {
        return switch (value) {
            case Json.Obj o when complex && o.has("infinite") && o.has("set") && o.has("number") -> plainNumber(o);
            case Json.Obj o -> object(o, place);
            case List<?> l -> list(l, place);
            case Iterable<?> i -> lazily(i, place);
            case String text when complex && text.isEmpty() && !NEVER_NULL.contains(place) -> null;
            case Long n when complex && isNullNumber(n, place) -> null;
            case null -> null;
            default -> value;
        };
    }

    private static @Nullable Object plainNumber(Json.Obj o) {
        if (o.flag("infinite")) {
            return "Infinity";
        }
        return o.flag("set") ? o.raw("number") : null;
    }

    private static boolean isNullNumber(long n, String place) {
        return n == 0 && NULL_WITHOUT.contains(place) || n == NO_TASK && place.equals("steps.array.task_id");
    }

    private Iterable<Object> lazily(Iterable<?> rows, String place) {
        return () -> {
            Iterator<?> each = rows.iterator();
            return new Iterator<>() {
                @Override
                public boolean hasNext() {
                    return each.hasNext();
                }

                @Override
                public @Nullable Object next() {
                    return shaped(each.next(), place);
                }
            };
        };
    }

    private @Nullable Object list(List<?> all, String place) {
        if (complex && all.isEmpty() && NULL_WITHOUT.contains(place)) {
            return null;
        }
        List<Object> out = new ArrayList<>();
        for (Object one : all) {
            Object made = shaped(one, place);
            if (!(made instanceof String word) || WORDS.getOrDefault(word, OLDEST) <= version) {
                out.add(made);
            }
        }
        return version < NEWEST && place.endsWith("select_type") ? olderSelection(out) : out;
    }

    private Json.Obj object(Json.Obj o, String place) {
        Json.Obj out = new Json.Obj();
        o.fields().forEach((name, value) -> {
            String below = place.equals("sinfo") && name.equals("partition") ? "partitions" : place + "." + name;
            if (SINCE.getOrDefault(below, OLDEST) <= version) {
                out.put(name, version < NEWEST ? older(below, shaped(value, below), o) : shaped(value, below));
            }
        });
        if (version < NEWEST) {
            addRemovedFields(place, out);
        }
        return out;
    }

    /** Replaces values that differ before v0.0.45. */
    private static @Nullable Object older(String place, @Nullable Object value, Json.Obj whole) {
        return switch (place) {
            case "partitions.cpus.task_binding" ->
                value instanceof List<?> words && !words.isEmpty() ? NodesJson.bindings(words) : (Object) 0L;
            case "partitions.maximums" -> {
                Json.Obj maximums = requireNonNull((Json.Obj) value, place);
                // a partition without sharing places one job on each resource
                if (whole.obj("partition").text("oversubscribe").equals("NO")) {
                    maximums.put("shares", 1L);
                    maximums.obj("oversubscribe").put("jobs", 1L);
                }
                yield value;
            }
            case "sinfo.reason" ->
                requireNonNull((Json.Obj) value, place).put("user", whole.text("reason_set_by_user"));
            default -> value;
        };
    }

    /** Adds fields that v0.0.45 removed. */
    private static void addRemovedFields(String place, Json.Obj out) {
        switch (place) {
            case "queue" -> out.put("power", new Json.Obj().put("flags", new ArrayList<>()));
            case "ended.steps" -> out.put("pid", "");
            case "clusters" -> out.put("select_plugin", "");
            case "nodes" ->
                out.put("external_sensors", new Json.Obj())
                        .put("power", new Json.Obj())
                        .put("tres_weighted", 0.0);
            case "reservations" -> out.put("watts", new Json.Obj());
            case "statistics" -> {
                // slurmdbd's statistics have no such field
                if (out.has("bf_active")) {
                    out.put("parts_packed", 0L);
                }
            }
            default -> {}
        }
    }

    private static List<Object> olderSelection(List<Object> words) {
        List<Object> out = new ArrayList<>();
        for (Object word : words) {
            if (!word.equals("NONE")) {
                out.add(word.toString().replace("CR_", "").replace("_MEMORY", ""));
            }
        }
        return out;
    }
}
