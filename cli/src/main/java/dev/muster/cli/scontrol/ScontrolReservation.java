package dev.muster.cli.scontrol;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.CommonOptions;
import dev.muster.cli.request.JobRequest;
import dev.muster.cli.shape.ControlJson;
import dev.muster.cli.shape.JsonOutput;
import dev.muster.json.Json;
import dev.muster.model.SlurmErrno;
import dev.muster.model.cluster.ReservationFlag;
import dev.muster.model.format.Durations;
import dev.muster.model.format.Times;
import dev.muster.model.format.UpdateSign;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs scontrol's commands about reservations: create, update, delete and show. */
public final class ScontrolReservation {
    private static final long YEAR_MINUTES = 365L * 24 * 60;
    private static final String NO_ERROR = "No error";
    private static final List<String> REPEATING = List.of("HOURLY", "DAILY", "WEEKDAY", "WEEKEND", "WEEKLY");
    /** Flags that no update removes. */
    private static final List<ReservationFlag> UNREMOVABLE = List.of(
            ReservationFlag.OVERLAP,
            ReservationFlag.NO_HOLD_JOBS_AFTER_END,
            ReservationFlag.REPLACE,
            ReservationFlag.REPLACE_DOWN,
            ReservationFlag.TIME_FLOAT);

    private static final List<String> LISTS = List.of("users", "accounts", "groups", "qos", "allowedpartitions");

    private ScontrolReservation() {}

    /** Said with the right ending for what was not done. */
    private static sealed class Wrong extends Exception {
        private static final long serialVersionUID = 1;
        protected final String sentence;
        private final String errno;

        Wrong(String sentence) {
            this(sentence, NO_ERROR);
        }

        /** @param errno what the original has as the last error then */
        Wrong(String sentence, String errno) {
            super(sentence, null, false, false);
            this.sentence = sentence;
            this.errno = errno;
        }

        String with(String ending) {
            return sentence + ending;
        }
    }

    /** Said as it is. */
    private static final class Alone extends Wrong {
        private static final long serialVersionUID = 1;

        Alone(String sentence) {
            super(sentence);
        }

        @Override
        String with(String ending) {
            return sentence;
        }
    }

    /** Values of create and update: keys full and in lower case, times in seconds. */
    private static Json.Obj values(CommandContext c, List<String> words, boolean create) throws Wrong {
        Json.Obj out = new Json.Obj();
        Set<String> seen = new HashSet<>();
        for (String word : words) {
            int eq = word.indexOf('=');
            if (eq < 0) {
                bareWord(out, word, create);
                continue;
            }
            boolean signed = eq > 1 && (word.charAt(eq - 1) == '+' || word.charAt(eq - 1) == '-');
            String typed = Texts.lower(word.substring(0, signed ? eq - 1 : eq));
            String sign = signed ? word.substring(eq - 1, eq) : "";
            String value = word.substring(eq + 1);
            String key = key(typed);
            if (key.isEmpty()) {
                throw new Wrong("Unknown parameter " + word + ".");
            }
            if (signed) {
                requireSignable(key, typed, word);
            }
            if (LISTS.contains(key) && !seen.add(key)) {
                throw new Alone("Parameter " + word + " specified more than once");
            }
            put(c, out, key, sign, value, word);
            if (!create && key.equals("flags")) {
                requireNoFloat(out, sign, value);
            }
        }
        return out;
    }

    /** No update adds or removes TIME_FLOAT by a sign. */
    private static void requireNoFloat(Json.Obj out, String sign, String value) throws Wrong {
        if ((!sign.isEmpty() || UpdateSign.isSigned(value))
                && out.text("flags" + sign).contains("TIME_FLOAT")) {
            throw new Wrong("Error parsing flags " + sign + value + ".");
        }
    }

    /** A word without a value: the entity itself, or {@code skip} of an update. */
    private static void bareWord(Json.Obj out, String word, boolean create) throws Wrong {
        String lower = Texts.lower(word);
        if (word.length() >= 3 && "reservations".startsWith(lower)) {
            return;
        }
        if (create || !lower.startsWith("skip")) {
            throw new Wrong("Misformatted parameter '" + word + "', most options have a parameter after '='.");
        }
        out.put("skip", "1");
    }

    private static void requireSignable(String key, String typed, String word) throws Wrong {
        if (key.startsWith("tres")) {
            throw new Alone("Parameter " + word + " specified a plus or minus.  This is not allowed.");
        }
        if (!LISTS.contains(key) && !List.of("nodes", "flags", "duration").contains(key)) {
            throw new Wrong("The +=/-= notation is not supported when updating " + typed + ".");
        }
    }

    private static String key(String typed) {
        record Name(String full, int least) {}
        for (Name n : List.of(
                new Name("reservationname", 3),
                new Name("accounts", 1),
                new Name("allowedpartitions", 2),
                new Name("burstbuffer", 2),
                new Name("comment", 3),
                new Name("endtime", 1),
                new Name("features", 2),
                new Name("flags", 2),
                new Name("groups", 1),
                new Name("licenses", 1),
                new Name("maxstartdelay", 1),
                new Name("nodecnt", 5),
                new Name("nodecount", 5),
                new Name("corecnt", 5),
                new Name("corecount", 5),
                new Name("nodes", 5),
                new Name("partitionname", 1),
                new Name("qos", 1),
                new Name("starttime", 1),
                new Name("duration", 1),
                new Name("users", 1),
                new Name("tres", 1),
                new Name("trespernode", 5))) {
            if (typed.length() >= n.least && n.full.startsWith(typed)) {
                if (n.full.equals("nodecount")) {
                    return "nodecnt";
                }
                if (n.full.equals("corecount")) {
                    return "corecnt";
                }
                return n.full;
            }
        }
        return typed.equals("user") ? "users" : "";
    }

    private static void put(CommandContext c, Json.Obj out, String key, String sign, String value, String word)
            throws Wrong {
        switch (key) {
            case "starttime", "endtime" -> {
                switch (Times.parse(value, c.host().nowMs() / 1000, c.host().zone(), false)) {
                    case Times.Parsed.Ok ok -> out.put(key, Long.toString(ok.epochSec()));
                    case Times.Parsed.Invalid bad -> {
                        c.err().println("Invalid time specification (pos=" + bad.position() + "): " + value);
                        throw new Wrong(
                                "Invalid " + (key.startsWith("s") ? "start" : "end") + " time " + word + ".",
                                SlurmErrno.INVALID_TIME_VALUE.sentence());
                    }
                }
            }
            case "duration" ->
                out.put(key + sign, Long.toString(60 * minutes(value, "Invalid duration " + word + ".")));
            case "maxstartdelay" -> out.put(key, Long.toString(60 * minutes(value, "Invalid duration " + word + ".")));
            case "nodecnt" -> out.put(key, nodeCount(value));
            case "corecnt" -> out.put(key, coreCount(value));
            case "flags" -> flags(out, sign, value);
            default -> out.put(key + sign, value);
        }
    }

    private static long minutes(String value, String wrong) throws Wrong {
        OptionalLong m;
        if (value.equals("-1")) {
            m = OptionalLong.of(-1);
        } else if (UpdateSign.isSigned(value)) {
            m = OptionalLong.empty();
        } else {
            m = Durations.parseMinutes(value);
        }

        if (m.isEmpty()) {
            throw new Wrong(wrong);
        }
        return m.getAsLong() < 0 ? YEAR_MINUTES : m.getAsLong();
    }

    /** {@code 2k} is 2048; one number for all since 23.11, as of cores. */
    private static String nodeCount(String value) throws Wrong {
        if (value.indexOf(',') >= 0) {
            throw new Alone("Using a comma separated array for NodeCnt is no longer valid.");
        }
        Matcher m = NODE_COUNT.matcher(value);
        if (!value.isEmpty() && !m.matches()) {
            throw new Alone("\"" + value + "\" is not a valid node count");
        }
        int shift;
        if (value.isEmpty() || m.group(2).isEmpty()) {
            shift = 0;
        } else if (m.group(2).equalsIgnoreCase("k")) {
            shift = 10;
        } else {
            shift = 20;
        }

        return value.isEmpty() ? "" : Long.toString(Math.min(NODES_MAX, Long.parseLong(m.group(1)) << shift));
    }

    private static String coreCount(String value) throws Wrong {
        if (value.indexOf(',') >= 0) {
            throw new Alone("Using a comma separated array for CoreCnt is no longer valid.");
        }
        Matcher m = LEADING_COUNT.matcher(value);
        return m.find() ? m.group(1) : "";
    }

    private static final long NODES_MAX = 1_000_000;
    private static final Pattern NODE_COUNT = Pattern.compile("\\+?([0-9]{1,6})([kKmM]?)");
    /** A number at the beginning; what follows is ignored. */
    private static final Pattern LEADING_COUNT = Pattern.compile("^\\s*\\+?([0-9]{1,7})");

    private static final int PURGE_S = 300;

    private static String purgeTime(long seconds) {
        return seconds == ReservationFlag.PURGE_NEVER_S ? "UNLIMITED" : Durations.full(seconds);
    }

    /** Returns the seconds after which PURGE_COMP removes a reservation; a time that cannot be read is the default. */
    private static int purgeSeconds(String text) {
        return text.matches("(?i)-1|infinite|unlimited")
                ? ReservationFlag.PURGE_NEVER_S
                : (int) Math.min(
                        ReservationFlag.PURGE_NEVER_S,
                        Durations.parseSeconds(text).orElse(PURGE_S));
    }

    /** Words with a sign of their own are added, or taken away: {@code flags=-daily,+flex}. */
    private static void flags(Json.Obj out, String sign, String value) throws Wrong {
        List<String> words = value.isEmpty()
                ? List.of()
                : List.of(value.replaceFirst("(?<=[^,]),$", "").split(",", -1));
        String shown = sign.isEmpty() ? value : sign + String.join("," + sign, words);
        Map<String, List<String>> names = new TreeMap<>();
        for (String word : words) {
            boolean signed = sign.isEmpty() && UpdateSign.isSigned(word);
            String item = signed ? word.substring(1) : word;
            String itemSign = signed ? word.substring(0, 1) : sign;
            int eq = item.indexOf('=');
            var flag = ReservationFlag.of(eq < 0 ? item : item.substring(0, eq));
            if (item.isEmpty() || flag.isEmpty() || !isPossible(flag.get(), itemSign, eq >= 0)) {
                throw new Wrong("Error parsing flags " + shown + ".");
            }
            names.computeIfAbsent(itemSign, k -> new ArrayList<>())
                    .add(flag.get().word());
            if (flag.get() == ReservationFlag.PURGE_COMP) {
                out.put("purge_comp", Integer.toString(eq < 0 ? PURGE_S : purgeSeconds(item.substring(eq + 1))));
            }
        }
        if (words.isEmpty()) {
            out.put("flags" + sign, "");
        }
        // flags= may come several times, and each adds its own
        names.forEach((s, all) -> {
            String before = out.text("flags" + s);
            out.put("flags" + s, (before.isEmpty() ? "" : before + ",") + String.join(",", all));
        });
    }

    private static boolean isPossible(ReservationFlag flag, String sign, boolean hasValue) {
        return !(sign.equals("-") && UNREMOVABLE.contains(flag)) && (!hasValue || flag == ReservationFlag.PURGE_COMP);
    }

    private static Json.Obj request(CommandContext c, Json.Obj values) {
        return new Json.Obj()
                .put("name", values.text("reservationname"))
                .put("values", values)
                .put("requestId", c.host().requestId());
    }

    static int create(CommandContext c, List<String> words) {
        Json.Obj values;
        try {
            values = values(c, words, true);
            complete(values);
        } catch (Wrong e) {
            c.error(e.with("  No reservation created."));
            return 1;
        }
        Json.Obj q = request(c, values);
        try {
            c.out()
                    .println("Reservation created: "
                            + c.host().controller().call("CreateReservation", q).text("name"));
            return 0;
        } catch (SlurmException e) {
            String sentence = explained(c, e);
            c.err().println("Error creating the reservation: " + sentence);
            boolean busy = e.errno() == SlurmErrno.NODES_BUSY.number()
                    || e.errno() == SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE.number();
            if (busy && values.text("nodes").isEmpty()) {
                c.out()
                        .println("Note, unless nodes are directly requested a reservation must exist in a "
                                + "single partition.");
                c.out().println("If no partition is requested the default partition is assumed.");
            }
            return 1;
        }
    }

    /** Prints slurmctld's explanation if it differs from the error's own sentence. Returns the error's sentence. */
    private static String explained(CommandContext c, SlurmException e) {
        String own = SlurmErrno.of(e.errno()).sentence();
        if (!own.equals(e.getMessage())) {
            c.error(e.getMessage());
        }
        return own;
    }

    private static void complete(Json.Obj v) throws Wrong {
        checkTimes(v);
        checkNodes(v);
        if (v.text("flags").contains("FORCE_START") && REPEATING.stream().noneMatch(v.text("flags")::contains)) {
            throw new Alone("FORCE_START flag requires a reoccuring reservation. No reservation created.");
        }
        if (LISTS.stream()
                .allMatch(k -> v.text(k).isEmpty()
                        && v.text(k + "-").isEmpty()
                        && v.text(k + "+").isEmpty())) {
            throw new Wrong("Either Users/Groups, AllowedPartitions, QOS and/or Accounts must be specified.");
        }
        if (!v.text("users").isEmpty() && !v.text("groups").isEmpty()) {
            throw new Wrong("Users and Groups are mutually exclusive.  You can have one or the other, but not both.");
        }
    }

    private static void checkTimes(Json.Obj v) throws Wrong {
        if (!v.has("starttime")) {
            throw new Wrong("A start time must be given.");
        }
        if (!v.has("endtime")) {
            if (!v.has("duration")) {
                throw new Wrong("An end time or duration must be given.");
            }
            return;
        }
        long start = Long.parseLong(v.text("starttime"));
        long end = Long.parseLong(v.text("endtime"));
        if (v.has("duration") && start + Long.parseLong(v.text("duration")) != end) {
            throw new Wrong("StartTime + Duration does not equal EndTime.");
        }
        if (end <= start) {
            throw new Wrong("Start time cannot be after end time.");
        }
    }

    /** Checks what is reserved; a partition alone stands for all of its nodes. */
    private static void checkNodes(Json.Obj v) throws Wrong {
        String nodes = v.text("nodes");
        String flags = v.text("flags");
        boolean hasPartition = !v.text("partitionname").isEmpty();
        if (!nodes.isEmpty() && Texts.split(flags, ',').stream().anyMatch(f -> f.startsWith("REPLACE"))) {
            throw new Alone("REPLACE or REPLACE_DOWN flags should be used with the NodeCnt reservation option; do "
                    + "not specify Nodes\n"
                    + "Error creating the reservation: " + SlurmErrno.INVALID_NODE_NAME.sentence());
        }
        if (flags.contains("PART_NODES") && !(hasPartition && nodes.equalsIgnoreCase("ALL"))) {
            throw new Wrong("PART_NODES flag requires specifying a Partition and ALL nodes.");
        }
        if (isAnythingReserved(v)) {
            return;
        }
        if (!hasPartition) {
            throw new Wrong("CoreCnt, Nodes, NodeCnt, TRES or Watts must be specified.");
        }
        v.put("nodes", "ALL");
    }

    private static boolean isAnythingReserved(Json.Obj v) {
        boolean features = !v.text("features").isEmpty() && v.has("partitionname");
        boolean counted = !v.text("nodecnt").isEmpty() && !v.text("nodecnt").equals("0")
                || !v.text("corecnt").isEmpty() && !v.text("corecnt").matches("0+");
        return features
                || counted
                || List.of("nodes", "licenses", "tres", "trespernode", "burstbuffer").stream()
                        .anyMatch(k -> !v.text(k).isEmpty());
    }

    static int update(CommandContext c, List<String> words) {
        Json.Obj values;
        try {
            values = values(c, words, false);
        } catch (Wrong e) {
            c.error(e.with("  No reservation update."));
            if (!e.errno.equals(NO_ERROR)) {
                c.err().println("slurm_update error: " + e.errno);
            }
            return 1;
        }
        Json.Obj q = request(c, values);
        try {
            c.host().controller().call("UpdateReservation", q);
            c.out().println("Reservation updated.");
            return 0;
        } catch (SlurmException e) {
            c.err().println("slurm_update error: " + explained(c, e));
            return 1;
        }
    }

    static int delete(CommandContext c, String typed, String name) {
        Json.Obj q = new Json.Obj();
        q.put("name", name);
        return Scontrol.simple(c, "DeleteReservation", q, "delete_reservation " + typed);
    }

    // ---- show

    static List<Json.Obj> load(CommandContext c, String name) throws SlurmException {
        Json.Obj q = new Json.Obj();
        JobRequest.put(q, "name", name);
        return c.host().controller().call("QueryReservations", q).objects("reservations");
    }

    static int show(CommandContext c, ScontrolSwitches s, String name) throws UsageException {
        List<Json.Obj> all;
        try {
            all = load(c, name);
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(c, "slurm_load_reservations error", e);
        }
        if (!s.json.isEmpty()) {
            return JsonOutput.print(
                    c, s.json, s.parser, ControlJson.reservations(all, c.host().nowMs() / 1000));
        }
        for (Json.Obj r : all) {
            c.out().println(text(c, r, s.oneLine));
        }
        if (all.isEmpty() && !name.isEmpty()) {
            c.out().println("Reservation " + name + " not found");
            return 1;
        }
        if (all.isEmpty() && !s.quiet) {
            c.out().println("No reservations in the system");
        }
        return 0;
    }

    private static String orNull(String value) {
        return value.isEmpty() ? "(null)" : value;
    }

    private static String text(CommandContext c, Json.Obj r, boolean oneLine) {
        String next = oneLine ? " " : "\n   ";
        long seconds = r.number("endTime") - r.number("startTime");
        StringBuilder out = new StringBuilder("ReservationName=")
                .append(r.text("name"))
                .append(" StartTime=")
                .append(c.time(r.number("startTime")))
                .append(" EndTime=")
                .append(c.time(r.number("endTime")))
                .append(" Duration=")
                .append(Durations.full(seconds))
                .append(next)
                .append("Nodes=")
                .append(orNull(r.text("nodes")))
                .append(" NodeCnt=")
                .append(r.number("nodeCount"))
                .append(" CoreCnt=")
                .append(r.number("coreCount"))
                .append(" Features=")
                .append(orNull(r.text("features")))
                .append(" PartitionName=")
                .append(orNull(r.text("partition")))
                .append(" Flags=")
                .append(flags(r));
        for (Json.Obj core : r.objects("cores")) {
            out.append(oneLine ? " " : "\n     ")
                    .append("NodeName=")
                    .append(core.text("node"))
                    .append(" CoreIDs=")
                    .append(core.text("ids"));
        }
        out.append(next)
                .append("TRES=")
                .append(orNull(ControlJson.reservedTres(r)))
                .append(next)
                .append("AllowedPartitions=")
                .append(orNull(r.text("allowedPartitions")))
                .append(" QOS=")
                .append(orNull(r.text("qos")))
                .append(next)
                .append("Users=")
                .append(orNull(r.text("users")))
                .append(" Groups=")
                .append(orNull(r.text("groups")))
                .append(" Accounts=")
                .append(orNull(r.text("accounts")));
        out.append(" Licenses=")
                .append(orNull(r.text("licenses")))
                .append(" State=")
                .append(r.flag("active") ? "ACTIVE" : "INACTIVE")
                .append(" BurstBuffer=(null)");
        long delay = r.number("maxStartDelaySeconds");
        out.append(next).append("MaxStartDelay=").append(delay == 0 ? "(null)" : Durations.full(delay));
        if (!r.text("comment").isEmpty()) {
            out.append(next).append("Comment=").append(r.text("comment"));
        }
        return out.append(oneLine ? "" : "\n").toString();
    }

    private static String flags(Json.Obj r) {
        List<String> out = new ArrayList<>();
        for (String f : r.texts("flags")) {
            out.add(
                    f.equals("PURGE_COMP") && r.number("purgeAfterSeconds") > 0
                            ? f + "=" + purgeTime(r.number("purgeAfterSeconds"))
                            : f);
        }
        return String.join(",", out);
    }

    /** {@code sinfo -T}. */
    public static int table(CommandContext c, boolean header) throws SlurmException {
        List<Json.Obj> all = load(c, "");
        if (all.isEmpty()) {
            c.out().println("No reservations in the system");
            return 0;
        }
        int width = 10;
        for (Json.Obj r : all) {
            width = Math.max(width, r.text("name").length());
        }
        if (header) {
            c.out().println(row(width, "RESV_NAME", "STATE", "START_TIME", "END_TIME", "DURATION", "NODELIST"));
        }
        for (Json.Obj r : all) {
            c.out()
                    .println(row(
                            width,
                            r.text("name"),
                            r.flag("active") ? "ACTIVE" : "INACTIVE",
                            c.time(r.number("startTime")),
                            c.time(r.number("endTime")),
                            Durations.full(r.number("endTime") - r.number("startTime")),
                            orNull(r.text("nodes"))));
        }
        return 0;
    }

    private static String row(
            int width, String name, String state, String start, String end, String duration, String nodes) {
        return String.format(
                java.util.Locale.ROOT,
                "%-" + width + "s %8s  %19s  %19s  %11s  %s",
                name,
                state,
                start,
                end,
                duration,
                nodes);
    }
}
