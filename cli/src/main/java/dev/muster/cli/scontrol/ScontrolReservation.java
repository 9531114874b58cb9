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

    /** An error whose message ends with the change that was refused. */
    private static sealed class Refusal extends Exception {
        private static final long serialVersionUID = 1;
        protected final String sentence;
        private final String errno;

        Refusal(String sentence) {
            this(sentence, NO_ERROR);
        }

        /** @param errno what the original has as the last error then */
        Refusal(String sentence, String errno) {
            super(sentence, null, false, false);
            this.sentence = sentence;
            this.errno = errno;
        }

        String with(String ending) {
            return sentence + ending;
        }
    }

    /** An error whose message is complete. */
    private static final class CompleteRefusal extends Refusal {
        private static final long serialVersionUID = 1;

        CompleteRefusal(String sentence) {
            super(sentence);
        }

        @Override
        String with(String ending) {
            return sentence;
        }
    }

    /** Values of create and update: keys full and in lower case, times in seconds. */
    private static Json.Obj values(CommandContext context, List<String> words, boolean create) throws Refusal {
        Json.Obj out = new Json.Obj();
        Set<String> seen = new HashSet<>();
        for (String word : words) {
            int equalSign = word.indexOf('=');
            if (equalSign < 0) {
                bareWord(out, word, create);
                continue;
            }
            boolean signed = equalSign > 1 && (word.charAt(equalSign - 1) == '+' || word.charAt(equalSign - 1) == '-');
            String typed = Texts.lower(word.substring(0, signed ? equalSign - 1 : equalSign));
            String sign = signed ? word.substring(equalSign - 1, equalSign) : "";
            String value = word.substring(equalSign + 1);
            String key = key(typed);
            if (key.isEmpty()) {
                throw new Refusal("Unknown parameter " + word + ".");
            }
            if (signed) {
                requireSignable(key, typed, word);
            }
            if (LISTS.contains(key) && !seen.add(key)) {
                throw new CompleteRefusal("Parameter " + word + " specified more than once");
            }
            put(context, out, key, sign, value, word);
            if (!create && key.equals("flags")) {
                requireNoFloat(out, sign, value);
            }
        }
        return out;
    }

    /** No update adds or removes TIME_FLOAT by a sign. */
    private static void requireNoFloat(Json.Obj out, String sign, String value) throws Refusal {
        if ((!sign.isEmpty() || UpdateSign.isSigned(value))
                && out.text("flags" + sign).contains("TIME_FLOAT")) {
            throw new Refusal("Error parsing flags " + sign + value + ".");
        }
    }

    /** A word without a value: the entity itself, or {@code skip} of an update. */
    private static void bareWord(Json.Obj out, String word, boolean create) throws Refusal {
        String lower = Texts.lower(word);
        if (word.length() >= 3 && "reservations".startsWith(lower)) {
            return;
        }
        if (create || !lower.startsWith("skip")) {
            throw new Refusal("Misformatted parameter '" + word + "', most options have a parameter after '='.");
        }
        out.put("skip", "1");
    }

    private static void requireSignable(String key, String typed, String word) throws Refusal {
        if (key.startsWith("tres")) {
            throw new CompleteRefusal("Parameter " + word + " specified a plus or minus.  This is not allowed.");
        }
        if (!LISTS.contains(key) && !List.of("nodes", "flags", "duration").contains(key)) {
            throw new Refusal("The +=/-= notation is not supported when updating " + typed + ".");
        }
    }

    private static String key(String typed) {
        record Name(String full, int least) {}
        for (Name name : List.of(
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
            if (typed.length() >= name.least && name.full.startsWith(typed)) {
                if (name.full.equals("nodecount")) {
                    return "nodecnt";
                }
                if (name.full.equals("corecount")) {
                    return "corecnt";
                }
                return name.full;
            }
        }
        return typed.equals("user") ? "users" : "";
    }

    private static void put(CommandContext context, Json.Obj out, String key, String sign, String value, String word)
            throws Refusal {
        switch (key) {
            case "starttime", "endtime" -> {
                switch (Times.parse(
                        value, context.host().nowMs() / 1000, context.host().zone(), false)) {
                    case Times.Parsed.Ok ok -> out.put(key, Long.toString(ok.epochSec()));
                    case Times.Parsed.Invalid invalid -> {
                        context.err().println("Invalid time specification (pos=" + invalid.position() + "): " + value);
                        throw new Refusal(
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

    private static long minutes(String value, String error) throws Refusal {
        OptionalLong minutes;
        if (value.equals("-1")) {
            minutes = OptionalLong.of(-1);
        } else if (UpdateSign.isSigned(value)) {
            minutes = OptionalLong.empty();
        } else {
            minutes = Durations.parseMinutes(value);
        }

        if (minutes.isEmpty()) {
            throw new Refusal(error);
        }
        return minutes.getAsLong() < 0 ? YEAR_MINUTES : minutes.getAsLong();
    }

    /** {@code 2k} is 2048; one number for all since 23.11, as of cores. */
    private static String nodeCount(String value) throws Refusal {
        if (value.indexOf(',') >= 0) {
            throw new CompleteRefusal("Using a comma separated array for NodeCnt is no longer valid.");
        }
        Matcher matcher = NODE_COUNT.matcher(value);
        if (!value.isEmpty() && !matcher.matches()) {
            throw new CompleteRefusal("\"" + value + "\" is not a valid node count");
        }
        int shift;
        if (value.isEmpty() || matcher.group(2).isEmpty()) {
            shift = 0;
        } else if (matcher.group(2).equalsIgnoreCase("k")) {
            shift = 10;
        } else {
            shift = 20;
        }

        return value.isEmpty() ? "" : Long.toString(Math.min(NODES_MAX, Long.parseLong(matcher.group(1)) << shift));
    }

    private static String coreCount(String value) throws Refusal {
        if (value.indexOf(',') >= 0) {
            throw new CompleteRefusal("Using a comma separated array for CoreCnt is no longer valid.");
        }
        Matcher matcher = LEADING_COUNT.matcher(value);
        return matcher.find() ? matcher.group(1) : "";
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
    private static void flags(Json.Obj out, String sign, String value) throws Refusal {
        List<String> words = value.isEmpty()
                ? List.of()
                : List.of(value.replaceFirst("(?<=[^,]),$", "").split(",", -1));
        String shown = sign.isEmpty() ? value : sign + String.join("," + sign, words);
        Map<String, List<String>> names = new TreeMap<>();
        for (String word : words) {
            boolean signed = sign.isEmpty() && UpdateSign.isSigned(word);
            String item = signed ? word.substring(1) : word;
            String itemSign = signed ? word.substring(0, 1) : sign;
            int equalSign = item.indexOf('=');
            var flag = ReservationFlag.of(equalSign < 0 ? item : item.substring(0, equalSign));
            if (item.isEmpty() || flag.isEmpty() || !isPossible(flag.get(), itemSign, equalSign >= 0)) {
                throw new Refusal("Error parsing flags " + shown + ".");
            }
            names.computeIfAbsent(itemSign, k -> new ArrayList<>())
                    .add(flag.get().word());
            if (flag.get() == ReservationFlag.PURGE_COMP) {
                out.put(
                        "purge_comp",
                        Integer.toString(equalSign < 0 ? PURGE_S : purgeSeconds(item.substring(equalSign + 1))));
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

    private static Json.Obj request(CommandContext context, Json.Obj values) {
        return new Json.Obj()
                .put("name", values.text("reservationname"))
                .put("values", values)
                .put("requestId", context.host().requestId());
    }

    static int create(CommandContext context, List<String> words) {
        Json.Obj values;
        try {
            values = values(context, words, true);
            complete(values);
        } catch (Refusal e) {
            context.error(e.with("  No reservation created."));
            return 1;
        }
        Json.Obj query = request(context, values);
        try {
            context.out()
                    .println("Reservation created: "
                            + context.host()
                                    .controller()
                                    .call("CreateReservation", query)
                                    .text("name"));
            return 0;
        } catch (SlurmException e) {
            String sentence = explained(context, e);
            context.err().println("Error creating the reservation: " + sentence);
            boolean busy = e.errno() == SlurmErrno.NODES_BUSY.number()
                    || e.errno() == SlurmErrno.REQUESTED_NODE_CONFIG_UNAVAILABLE.number();
            if (busy && values.text("nodes").isEmpty()) {
                context.out()
                        .println("Note, unless nodes are directly requested a reservation must exist in a "
                                + "single partition.");
                context.out().println("If no partition is requested the default partition is assumed.");
            }
            return 1;
        }
    }

    /** Prints slurmctld's explanation if it differs from the error's own sentence. Returns the error's sentence. */
    private static String explained(CommandContext context, SlurmException e) {
        String sentence = SlurmErrno.of(e.errno()).sentence();
        if (!sentence.equals(e.getMessage())) {
            context.error(e.getMessage());
        }
        return sentence;
    }

    private static void complete(Json.Obj values) throws Refusal {
        checkTimes(values);
        checkNodes(values);
        if (values.text("flags").contains("FORCE_START")
                && REPEATING.stream().noneMatch(values.text("flags")::contains)) {
            throw new CompleteRefusal("FORCE_START flag requires a reoccuring reservation. No reservation created.");
        }
        if (LISTS.stream()
                .allMatch(k -> values.text(k).isEmpty()
                        && values.text(k + "-").isEmpty()
                        && values.text(k + "+").isEmpty())) {
            throw new Refusal("Either Users/Groups, AllowedPartitions, QOS and/or Accounts must be specified.");
        }
        if (!values.text("users").isEmpty() && !values.text("groups").isEmpty()) {
            throw new Refusal("Users and Groups are mutually exclusive.  You can have one or the other, but not both.");
        }
    }

    private static void checkTimes(Json.Obj values) throws Refusal {
        if (!values.has("starttime")) {
            throw new Refusal("A start time must be given.");
        }
        if (!values.has("endtime")) {
            if (!values.has("duration")) {
                throw new Refusal("An end time or duration must be given.");
            }
            return;
        }
        long start = Long.parseLong(values.text("starttime"));
        long end = Long.parseLong(values.text("endtime"));
        if (values.has("duration") && start + Long.parseLong(values.text("duration")) != end) {
            throw new Refusal("StartTime + Duration does not equal EndTime.");
        }
        if (end <= start) {
            throw new Refusal("Start time cannot be after end time.");
        }
    }

    /** Checks what is reserved; a partition alone stands for all of its nodes. */
    private static void checkNodes(Json.Obj values) throws Refusal {
        String nodes = values.text("nodes");
        String flags = values.text("flags");
        boolean hasPartition = !values.text("partitionname").isEmpty();
        if (!nodes.isEmpty() && Texts.split(flags, ',').stream().anyMatch(f -> f.startsWith("REPLACE"))) {
            throw new CompleteRefusal(
                    "REPLACE or REPLACE_DOWN flags should be used with the NodeCnt reservation option; do "
                            + "not specify Nodes\n"
                            + "Error creating the reservation: " + SlurmErrno.INVALID_NODE_NAME.sentence());
        }
        if (flags.contains("PART_NODES") && !(hasPartition && nodes.equalsIgnoreCase("ALL"))) {
            throw new Refusal("PART_NODES flag requires specifying a Partition and ALL nodes.");
        }
        if (isAnythingReserved(values)) {
            return;
        }
        if (!hasPartition) {
            throw new Refusal("CoreCnt, Nodes, NodeCnt, TRES or Watts must be specified.");
        }
        values.put("nodes", "ALL");
    }

    private static boolean isAnythingReserved(Json.Obj values) {
        boolean features = !values.text("features").isEmpty() && values.has("partitionname");
        boolean counted = !values.text("nodecnt").isEmpty()
                        && !values.text("nodecnt").equals("0")
                || !values.text("corecnt").isEmpty() && !values.text("corecnt").matches("0+");
        return features
                || counted
                || List.of("nodes", "licenses", "tres", "trespernode", "burstbuffer").stream()
                        .anyMatch(k -> !values.text(k).isEmpty());
    }

    static int update(CommandContext context, List<String> words) {
        Json.Obj values;
        try {
            values = values(context, words, false);
        } catch (Refusal e) {
            context.error(e.with("  No reservation update."));
            if (!e.errno.equals(NO_ERROR)) {
                context.err().println("slurm_update error: " + e.errno);
            }
            return 1;
        }
        Json.Obj query = request(context, values);
        try {
            context.host().controller().call("UpdateReservation", query);
            context.out().println("Reservation updated.");
            return 0;
        } catch (SlurmException e) {
            context.err().println("slurm_update error: " + explained(context, e));
            return 1;
        }
    }

    static int delete(CommandContext context, String typed, String name) {
        Json.Obj query = new Json.Obj();
        query.put("name", name);
        return Scontrol.simple(context, "DeleteReservation", query, "delete_reservation " + typed);
    }

    // ---- show

    static List<Json.Obj> load(CommandContext context, String name) throws SlurmException {
        Json.Obj query = new Json.Obj();
        JobRequest.put(query, "name", name);
        return context.host().controller().call("QueryReservations", query).objects("reservations");
    }

    static int show(CommandContext context, ScontrolSwitches switches, String name) throws UsageException {
        List<Json.Obj> all;
        try {
            all = load(context, name);
        } catch (SlurmException e) {
            return CommonOptions.reportFailure(context, "slurm_load_reservations error", e);
        }
        if (!switches.json.isEmpty()) {
            return JsonOutput.print(
                    context,
                    switches.json,
                    switches.parser,
                    ControlJson.reservations(all, context.host().nowMs() / 1000));
        }
        for (Json.Obj reservation : all) {
            context.out().println(text(context, reservation, switches.oneLine));
        }
        if (all.isEmpty() && !name.isEmpty()) {
            context.out().println("Reservation " + name + " not found");
            return 1;
        }
        if (all.isEmpty() && !switches.quiet) {
            context.out().println("No reservations in the system");
        }
        return 0;
    }

    private static String orNull(String value) {
        return value.isEmpty() ? "(null)" : value;
    }

    private static String text(CommandContext context, Json.Obj reservation, boolean oneLine) {
        String next = oneLine ? " " : "\n   ";
        long seconds = reservation.number("endTime") - reservation.number("startTime");
        StringBuilder out = new StringBuilder("ReservationName=")
                .append(reservation.text("name"))
                .append(" StartTime=")
                .append(context.time(reservation.number("startTime")))
                .append(" EndTime=")
                .append(context.time(reservation.number("endTime")))
                .append(" Duration=")
                .append(Durations.full(seconds))
                .append(next)
                .append("Nodes=")
                .append(orNull(reservation.text("nodes")))
                .append(" NodeCnt=")
                .append(reservation.number("nodeCount"))
                .append(" CoreCnt=")
                .append(reservation.number("coreCount"))
                .append(" Features=")
                .append(orNull(reservation.text("features")))
                .append(" PartitionName=")
                .append(orNull(reservation.text("partition")))
                .append(" Flags=")
                .append(flags(reservation));
        for (Json.Obj core : reservation.objects("cores")) {
            out.append(oneLine ? " " : "\n     ")
                    .append("NodeName=")
                    .append(core.text("node"))
                    .append(" CoreIDs=")
                    .append(core.text("ids"));
        }
        out.append(next)
                .append("TRES=")
                .append(orNull(ControlJson.reservedTres(reservation)))
                .append(next)
                .append("AllowedPartitions=")
                .append(orNull(reservation.text("allowedPartitions")))
                .append(" QOS=")
                .append(orNull(reservation.text("qos")))
                .append(next)
                .append("Users=")
                .append(orNull(reservation.text("users")))
                .append(" Groups=")
                .append(orNull(reservation.text("groups")))
                .append(" Accounts=")
                .append(orNull(reservation.text("accounts")));
        out.append(" Licenses=")
                .append(orNull(reservation.text("licenses")))
                .append(" State=")
                .append(reservation.flag("active") ? "ACTIVE" : "INACTIVE")
                .append(" BurstBuffer=(null)");
        long delay = reservation.number("maxStartDelaySeconds");
        out.append(next).append("MaxStartDelay=").append(delay == 0 ? "(null)" : Durations.full(delay));
        if (!reservation.text("comment").isEmpty()) {
            out.append(next).append("Comment=").append(reservation.text("comment"));
        }
        return out.append(oneLine ? "" : "\n").toString();
    }

    private static String flags(Json.Obj reservation) {
        List<String> out = new ArrayList<>();
        for (String f : reservation.texts("flags")) {
            out.add(
                    f.equals("PURGE_COMP") && reservation.number("purgeAfterSeconds") > 0
                            ? f + "=" + purgeTime(reservation.number("purgeAfterSeconds"))
                            : f);
        }
        return String.join(",", out);
    }

    /** {@code sinfo -T}. */
    public static int table(CommandContext context, boolean header) throws SlurmException {
        List<Json.Obj> all = load(context, "");
        if (all.isEmpty()) {
            context.out().println("No reservations in the system");
            return 0;
        }
        int width = 10;
        for (Json.Obj reservation : all) {
            width = Math.max(width, reservation.text("name").length());
        }
        if (header) {
            context.out().println(row(width, "RESV_NAME", "STATE", "START_TIME", "END_TIME", "DURATION", "NODELIST"));
        }
        for (Json.Obj reservation : all) {
            context.out()
                    .println(row(
                            width,
                            reservation.text("name"),
                            reservation.flag("active") ? "ACTIVE" : "INACTIVE",
                            context.time(reservation.number("startTime")),
                            context.time(reservation.number("endTime")),
                            Durations.full(reservation.number("endTime") - reservation.number("startTime")),
                            orNull(reservation.text("nodes"))));
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
