package dev.muster.controller.edge;

import static dev.muster.lua.SlurmWords.INFINITE;
import static dev.muster.lua.SlurmWords.MEM_PER_CPU;
import static dev.muster.lua.SlurmWords.NICE_OFFSET;
import static dev.muster.lua.SlurmWords.NO_VAL;
import static dev.muster.lua.SlurmWords.NO_VAL16;
import static dev.muster.lua.SlurmWords.NO_VAL64;

import dev.muster.controller.lua.MailTypeFlags;
import dev.muster.core.state.Job;
import dev.muster.json.Bytes;
import dev.muster.json.RecordEditor;
import dev.muster.model.format.Digits;
import dev.muster.model.format.Durations;
import dev.muster.model.format.MemorySize;
import dev.muster.model.job.JobDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Maps the changes of {@code scontrol update} to the {@code job_desc} that slurm_job_modify reads, and the fields that
 * the script sets back to changes. The fields read as in 26.05.3: a field that the update does not name is nil or
 * NO_VAL, whatever the job has.
 *
 * <p>A field is in one of two places. {@link #description} has the fields that a new job's description has in the same
 * form; {@link #values} has the values that differ from those of a new job's, by their names in Lua, and takes
 * precedence.
 */
final class UpdateDescription {
    /** The group of an update, which has none. */
    private static final long NO_GROUP = 99;

    private static final long DEFAULT_ACCOUNT = 0x200_0000;
    private static final long DEFAULT_PARTITION = 0x400_0000;
    private static final long DEFAULT_QOS = 0x800_0000;
    private static final long DEFAULT_WCKEY = 0x1000_0000;
    private static final long RESET_ACCRUE_TIME = 0x20_0000;
    private static final int NICE_DEFAULT = 100;
    private static final String GRES_PREFIX = "gres/";

    /** Puts the text of an update into a description. */
    private interface Reader extends BiConsumer<UpdateDescription, String> {}

    /**
     * The text of an update for what the script left in the fields; empty where it unset them, or where no update says
     * that.
     */
    private interface Writer extends Function<Fields, Optional<String>> {}

    /**
     * The fields after the script.
     *
     * @param set those with another value than before
     */
    private record Fields(Job job, Map<String, Object> before, Map<String, Object> set) {
        /**
         * Returns the value of a field; empty where the field is unset. What one name of a field sets counts, not what
         * another had before.
         */
        Optional<Object> value(String name) {
            boolean overridden = MEMORY.contains(name) && MEMORY.stream().anyMatch(set::containsKey);
            Optional<Object> own = given(set.get(name));
            if (own.isPresent()) {
                return own;
            }
            if (set.containsKey(name) || overridden) {
                return Optional.empty();
            }
            return given(before.get(name));
        }

        boolean isSet(String name) {
            return given(set.get(name)).isPresent();
        }
    }

    /**
     * @param keys of the update, the canonical one first
     * @param names of the field in Lua; it may have several
     */
    private record Field(List<String> keys, List<String> names, Reader reader, Writer writer) {
        String key() {
            return keys.getFirst();
        }
    }

    private static final List<Field> FIELDS = new ArrayList<>();
    private static final List<String> MEMORY = List.of("pn_min_memory", "min_mem_per_node", "min_mem_per_cpu");

    private static List<String> words(String text) {
        return List.of(text.split(" "));
    }

    private static void text(String keys, String names, String path) {
        FIELDS.add(new Field(
                words(keys),
                words(names),
                (d, text) -> {
                    d.put(path, text);
                    words(names).forEach(name -> d.valueIfEmpty(name, text));
                },
                fields -> Optional.of(fields.value(words(names).getFirst())
                        .map(Object::toString)
                        .orElse(""))));
    }

    private static void path(String key, String name) {
        FIELDS.add(new Field(
                List.of(key),
                List.of(name),
                (d, text) -> d.values.put(name, Bytes.of(text)),
                fields -> Optional.of(fields.value(name).map(Object::toString).orElse(""))));
    }

    private static void count(String keys, String name) {
        FIELDS.add(new Field(
                words(keys),
                List.of(name),
                (d, text) -> number(text).ifPresent(n -> d.values.put(name, n)),
                fields -> fields.value(name).map(UpdateDescription::whole)));
    }

    private static void minutes(String key, String name) {
        FIELDS.add(new Field(
                List.of(key),
                List.of(name),
                (d, text) -> d.minutes(text).ifPresent(n -> d.values.put(name, n < 0 ? INFINITE : n)),
                fields -> fields.value(name).map(v -> real(v) == INFINITE ? "UNLIMITED" : whole(v))));
    }

    /** Seconds since 1970; scontrol has read what users write. */
    private static void moment(String keys, String name) {
        FIELDS.add(new Field(
                words(keys),
                List.of(name),
                (d, text) -> number(text).ifPresent(n -> d.values.put(name, n)),
                fields -> fields.value(name).filter(v -> real(v) > 0).map(UpdateDescription::whole)));
    }

    private static void yesNo(String keys, String name) {
        FIELDS.add(new Field(
                words(keys),
                List.of(name),
                (d, text) -> d.values.put(name, isYes(text) ? 1L : 0L),
                fields -> fields.value(name).map(v -> real(v) == 0 ? "0" : "1")));
    }

    static {
        text("account", "account", "charge.account");
        text("admincomment", "admin_comment", "extras.adminComment");
        text("burstbuffer", "burst_buffer", "extras.burstBuffer");
        text("clusters", "clusters", "extras.cluster");
        text("comment", "comment", "extras.comment");
        text("dependency", "dependency", "timing.dependency");
        text("excnodelist", "exc_nodes", "request.excludeList");
        text("extra", "extra", "extras.extra");
        text("features", "features", "request.features");
        text("licenses", "licenses", "request.licenses");
        text("mailuser", "mail_user", "extras.mailUser");
        text("mcslabel", "mcs_label", "extras.mcsLabel");
        text("name jobname", "name", "name");
        text("network", "network", "request.network");
        text("partition", "partition", "partition");
        text("prefer", "prefer", "request.prefer");
        text("qos", "qos", "charge.qos");
        text("reqnodelist nodelist", "req_nodes", "request.nodeList");
        text("reservationname reservation", "reservation", "charge.reservation");
        text("tresbind", "tres_bind", "extras.tresBind");
        text("tresperjob", "tres_per_job", "request.tresPerJob");
        text("trespersocket", "tres_per_socket", "request.tresPerSocket");
        text("trespertask", "tres_per_task", "request.tresPerTask");
        text("wckey", "wckey", "charge.wckey");
        path("stderr", "std_err");
        path("stdin", "std_in");
        path("stdout", "std_out");
        path("workdir", "work_dir");
        count("corespec", "core_spec");
        count("cpuspertask cpus/task", "cpus_per_task");
        count("mincpusnode", "pn_min_cpus");
        count("numtasks reqtasks reqprocs", "num_tasks");
        count("reqcores", "cores_per_socket");
        count("reqsockets", "sockets_per_node");
        count("reqthreads", "threads_per_core");
        count("taskspernode ntaskspernode", "ntasks_per_node");
        count("threadspec", "thread_spec");
        minutes("timelimit", "time_limit");
        minutes("timemin", "time_min");
        moment("deadline", "deadline");
        moment("endtime", "end_time");
        moment("starttime eligibletime", "begin_time");
        yesNo("contiguous", "contiguous");
        yesNo("oversubscribe shared", "shared");
        yesNo("reboot", "reboot");
        yesNo("requeue", "requeue");
        composite();
    }

    private static void composite() {
        FIELDS.add(new Field(
                words("gres trespernode"),
                words("tres_per_node gres"),
                (d, text) -> {
                    String tres = d.byKey.containsKey("gres") ? withPrefix(text) : text;
                    d.values.put("gres", tres);
                    d.values.put("tres_per_node", tres);
                },
                fields -> Optional.of(fields.value(fields.set.containsKey("gres") ? "gres" : "tres_per_node")
                        .map(Object::toString)
                        .orElse(""))));
        FIELDS.add(new Field(
                words("arraytaskthrottle"),
                words("array_inx"),
                (d, text) -> d.values.put("array_inx", text),
                fields -> fields.value("array_inx")
                        .map(Object::toString)
                        .filter(text -> number(text).isPresent())));
        FIELDS.add(new Field(
                words("delayboot"),
                words("delay_boot"),
                (d, text) -> Durations.parseSeconds(text).ifPresent(s -> d.values.put("delay_boot", s)),
                fields -> fields.value("delay_boot").map(v -> Durations.full((long) real(v)))));
        sizes();
        priorities();
        counts();
        switches();
        FIELDS.add(new Field(
                words("mailtype"),
                words("mail_type"),
                (d, text) -> d.values.put("mail_type", MailTypeFlags.of(text)),
                fields -> fields.value("mail_type")
                        .map(v -> MailTypeFlags.words((long) real(v)))
                        .map(text -> text.isEmpty() ? "NONE" : text)));
    }

    private static void sizes() {
        FIELDS.add(new Field(
                words("mintmpdisknode"),
                words("pn_min_tmp_disk"),
                (d, text) -> MemorySize.parseMb(text).ifPresent(mb -> d.values.put("pn_min_tmp_disk", mb)),
                fields -> fields.value("pn_min_tmp_disk").map(UpdateDescription::whole)));
        FIELDS.add(new Field(
                words("minmemorynode"),
                MEMORY,
                (d, text) -> MemorySize.parseMb(text).ifPresent(mb -> d.memory(mb, true)),
                fields -> memory(fields, true)));
        FIELDS.add(new Field(
                words("minmemorycpu"),
                MEMORY,
                (d, text) -> MemorySize.parseMb(text).ifPresent(mb -> d.memory(mb, false)),
                fields -> memory(fields, false)));
    }

    private static void priorities() {
        FIELDS.add(new Field(
                words("nice"),
                words("nice"),
                (d, text) -> signed(text.isEmpty() ? Integer.toString(NICE_DEFAULT) : text)
                        .ifPresent(n -> d.values.put("nice", NICE_OFFSET + n)),
                fields -> fields.value("nice").map(v -> Long.toString((long) real(v) - NICE_OFFSET))));
        FIELDS.add(new Field(
                words("sitefactor"),
                words("site_factor"),
                (d, text) -> signed(text).ifPresent(n -> d.values.put("site_factor", n)),
                fields -> fields.value("site_factor")
                        .map(v -> (long) real(v))
                        .map(n -> n > Integer.MAX_VALUE ? n - NICE_OFFSET : n)
                        .filter(n -> Math.abs(n) < Integer.MAX_VALUE)
                        .map(Object::toString)));
        FIELDS.add(new Field(
                words("priority"),
                words("priority"),
                (d, text) -> (text.equalsIgnoreCase("INFINITE") ? OptionalLong.of(INFINITE) : number(text))
                        .ifPresent(n -> d.values.put("priority", n)),
                fields -> fields.value("priority").map(v -> real(v) == INFINITE ? "INFINITE" : whole(v))));
    }

    private static void counts() {
        FIELDS.add(new Field(
                words("numnodes reqnodes"),
                words("min_nodes max_nodes"),
                (d, text) -> d.range(text, "min_nodes", "max_nodes", true),
                UpdateDescription::nodes));
        FIELDS.add(new Field(
                words("numcpus"),
                words("min_cpus max_cpus"),
                (d, text) -> d.range(text, "min_cpus", "max_cpus", false),
                fields -> fields.value("min_cpus")
                        .map(v -> whole(v)
                                + fields.value("max_cpus")
                                        .map(m -> "-" + whole(m))
                                        .orElse(""))));
    }

    private static void switches() {
        FIELDS.add(new Field(
                words("switches"),
                words("req_switch wait4switch"),
                (d, text) -> {
                    String[] parts = text.split("@", 2);
                    d.values.put("req_switch", number(parts[0]).orElse(0));
                    if (parts.length > 1) {
                        Durations.parseSeconds(parts[1]).ifPresent(s -> d.values.put("wait4switch", s));
                    }
                },
                fields -> fields.value("req_switch")
                        .map(v -> whole(v)
                                + fields.value("wait4switch")
                                        .map(w -> "@" + Durations.full((long) real(w)))
                                        .orElse(""))));
        FIELDS.add(new Field(
                words("wait-for-switch"),
                words("wait4switch"),
                (d, text) -> number(text).ifPresent(n -> d.values.put("wait4switch", n)),
                fields -> fields.value("req_switch").isPresent()
                        ? Optional.empty()
                        : fields.value("wait4switch").map(UpdateDescription::whole)));
    }

    private final Job job;
    private final Map<String, String> byKey;
    private final RecordEditor<JobDesc> edit = RecordEditor.of(JobDesc.empty());
    private final Map<String, Object> values = new TreeMap<>();

    /** @param changes by whole keys in lower case */
    UpdateDescription(Job job, Map<String, String> changes) {
        this.job = job;
        this.byKey = changes;
        unset();
        for (Field f : FIELDS) {
            f.keys.stream().filter(byKey::containsKey).forEach(key -> f.reader.accept(this, byKey.get(key)));
        }
        values.put("bitflags", bits());
    }

    /** Returns the description with only the changes in it. */
    JobDesc description() {
        return edit.record();
    }

    /** Returns the values by their names in Lua that take precedence over those of {@link #description}. */
    Map<String, Object> values() {
        return new TreeMap<>(values);
    }

    /** @param unsupported names of fields that the script set and that no update can change */
    record Changes(Map<String, String> changes, Set<String> unsupported) {}

    /**
     * Returns the update after the script.
     *
     * @param set the fields with another value than before, by their names in Lua
     */
    Changes after(Map<String, Object> set) {
        Map<String, String> out = new TreeMap<>(byKey);
        Fields fields = new Fields(job, values(), set);
        Set<String> unsupported = new TreeSet<>(set.keySet());
        unsupported.removeIf(name -> !fields.isSet(name));
        for (Field f : FIELDS) {
            if (f.names.stream().anyMatch(set::containsKey)) {
                f.keys.forEach(out::remove);
                Optional<String> text = f.writer.apply(fields);
                text.ifPresent(t -> out.put(f.key(), t));
                unsupported.removeAll(text.isPresent() ? f.names : List.of());
            }
        }
        return new Changes(out, unsupported);
    }

    // ---- values

    /** Fields that an update leaves unset and that a new job's description has otherwise. */
    private void unset() {
        for (String name : List.of(
                "min_cpus",
                "max_cpus",
                "min_nodes",
                "max_nodes",
                "num_tasks",
                "req_switch",
                "wait4switch",
                "site_factor")) {
            values.put(name, NO_VAL);
        }
        for (String name :
                List.of("contiguous", "mail_type", "reboot", "requeue", "shared", "pn_min_cpus", "threads_per_core")) {
            values.put(name, NO_VAL16);
        }
        for (String name : List.of("immediate", "het_job_offset", "pack_job_offset", "end_time", "begin_time")) {
            values.put(name, 0L);
        }
        values.put("pn_min_memory", NO_VAL64);
        values.put("std_in", null);
        values.put("deadline", null);
        values.put("user_name", job.desc().owner().user());
        values.put("group_id", NO_GROUP);
    }

    private long bits() {
        return (byKey.containsKey("account") ? 0 : DEFAULT_ACCOUNT)
                | (byKey.containsKey("partition") ? 0 : DEFAULT_PARTITION)
                | (byKey.containsKey("qos") ? 0 : DEFAULT_QOS)
                | (byKey.containsKey("wckey") ? 0 : DEFAULT_WCKEY)
                | (byKey.containsKey("resetaccruetime") ? RESET_ACCRUE_TIME : 0);
    }

    private void put(String path, Object value) {
        edit.set(path, value);
    }

    /** Sets the value of a text: one that an update empties is "", and nil only where the update does not name it. */
    private void valueIfEmpty(String name, String text) {
        if (text.isEmpty()) {
            values.put(name, Bytes.EMPTY);
        }
    }

    /** Returns the minutes of a limit. {@code +5} and {@code -5} are relative to the limit that the job has. */
    private OptionalLong minutes(String text) {
        boolean relative = text.matches("[-+][0-9].*") && !text.equals("-1");
        OptionalLong minutes = Durations.parseMinutes(relative ? text.substring(1) : text);
        long limit =
                job.isPending() ? job.desc().timing().timeLimitMin() : job.run().limitMin();
        if (!relative || minutes.isEmpty()) {
            return minutes;
        }
        if (limit <= 0) {
            return OptionalLong.empty();
        }
        return OptionalLong.of(
                Math.max(0, text.startsWith("+") ? limit + minutes.getAsLong() : limit - minutes.getAsLong()));
    }

    private void memory(long mb, boolean perNode) {
        values.put("pn_min_memory", perNode ? (Object) mb : Double.valueOf(MEM_PER_CPU + mb));
        values.put(perNode ? "min_mem_per_node" : "min_mem_per_cpu", mb);
    }

    private static Optional<String> memory(Fields fields, boolean perNode) {
        Optional<Object> own = fields.value(perNode ? "min_mem_per_node" : "min_mem_per_cpu");
        if (own.isPresent()) {
            return own.map(UpdateDescription::whole);
        }
        Optional<Object> any = fields.value("pn_min_memory");
        boolean ofCpu = any.isPresent() && real(any.get()) >= MEM_PER_CPU;
        return any.filter(v -> ofCpu != perNode)
                .map(v -> Long.toString(Math.round(real(v) - (ofCpu ? MEM_PER_CPU : 0))));
    }

    /** @param both a single number is the greatest as well */
    private void range(String text, String minField, String maxField, boolean both) {
        String[] parts = text.split("-", 2);
        number(parts[0]).ifPresent(n -> values.put(minField, n));
        if (parts.length > 1 || both) {
            number(parts[parts.length - 1]).ifPresent(n -> values.put(maxField, n));
        }
    }

    private static Optional<String> nodes(Fields fields) {
        Optional<String> minNodes = fields.value("min_nodes").map(UpdateDescription::whole);
        Optional<String> maxNodes = fields.value("max_nodes").map(UpdateDescription::whole);
        if (minNodes.isEmpty() && maxNodes.isEmpty()) {
            return Optional.empty();
        }
        String first = minNodes.orElseGet(
                () -> Integer.toString(Math.max(1, fields.job.desc().request().nodesMin())));
        return Optional.of(first + maxNodes.map(m -> "-" + m).orElse(""));
    }

    // ---- texts and numbers

    private static boolean isYes(String text) {
        return List.of("yes", "y", "1", "true").contains(text.toLowerCase(Locale.ROOT));
    }

    private static String withPrefix(String gres) {
        List<String> out = new ArrayList<>();
        for (String part : gres.split(",", -1)) {
            out.add(part.startsWith(GRES_PREFIX) ? part : GRES_PREFIX + part);
        }
        return String.join(",", out);
    }

    private static OptionalLong number(String text) {
        return Digits.only(text, 12) ? OptionalLong.of(Long.parseLong(text)) : OptionalLong.empty();
    }

    private static OptionalLong signed(String text) {
        return text.matches("[-+]?[0-9]{1,10}") ? OptionalLong.of(Long.parseLong(text)) : OptionalLong.empty();
    }

    /** Returns a value that was set; empty where it is one of those that mean unset. */
    private static Optional<Object> given(@Nullable Object value) {
        return value == null
                        || value instanceof Number
                                && (real(value) == NO_VAL || real(value) == NO_VAL16 || real(value) >= NO_VAL64)
                ? Optional.empty()
                : Optional.of(value);
    }

    private static double real(Object value) {
        return value instanceof Number n
                ? n.doubleValue()
                : Double.parseDouble(value.toString().strip());
    }

    private static String whole(Object value) {
        return Long.toString((long) real(value));
    }
}
