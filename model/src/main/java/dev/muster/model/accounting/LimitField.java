package dev.muster.model.accounting;

import dev.muster.model.format.Durations;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One thing that can be set on an association or a QOS, and how its value is written. Values are kept as text in one
 * form: counts and minutes as numbers, TRES as {@code cpu=4,mem=1024}, lists with commas; "" is "not set".
 *
 * @param name the word for people and the key of the value
 * @param kind what a value may be
 * @param inherited an association that has none of its own takes its parent's
 * @param words accepted spellings with the shortest abbreviation of each: {@code grpjobs:4}
 */
public record LimitField(String name, Kind kind, boolean inherited, List<String> words) {
    /** Kinds of values. */
    public enum Kind {
        COUNT,
        TRES,
        MINUTES,
        SECONDS,
        REAL,
        SHARES,
        NAME,
        NAMES,
        TEXT,
        FLAGS
    }

    /**
     * Stands among the limits that a controller gets: another number than before means that usage is forgotten. It is
     * none.
     */
    public static final String USAGE_RESET = "RawUsageReset";

    /** {@code Fairshare=parent}. */
    public static final String PARENT_SHARES = "parent";
    /** The same, as files of {@code sacctmgr dump} have it. */
    public static final String PARENT_SHARES_NUMBER = "2147483647";

    private static final String ASSOC_TABLE = """
        Fairshare SHARES - fairshare:1 shares:1
        GrpJobs COUNT - grpjobs:4
        GrpJobsAccrue COUNT - grpjobsaccrue:8
        GrpSubmitJobs COUNT - grpsubmitjobs:4 grpsubmit:4
        GrpTRES TRES - grptres:7
        GrpTRESMins TRES - grptresmins:8
        GrpTRESRunMins TRES - grptresrunmins:8
        GrpWall MINUTES - grpwall:4
        MaxJobs COUNT inherited maxjobs:4 maxjobsperuser:9
        MaxJobsAccrue COUNT inherited maxjobsaccrue:8
        MaxSubmitJobs COUNT inherited maxsubmitjobs:4
        MaxTRES TRES inherited maxtres:7 maxtresperjob:8 maxtrespj:9
        MaxTRESPerNode TRES inherited maxtrespernode:11 maxtrespn:9
        MaxTRESMins TRES inherited maxtresmins:8 maxtresminsperjob:11 maxtresminspj:13
        MaxTRESRunMins TRES inherited maxtresrunmins:8
        MaxWall MINUTES inherited maxwall:4 maxwalldurationperjob:8
        MinPrioThresh COUNT inherited minpriothreshold:4
        Priority COUNT inherited priority:3
        DefaultQOS NAME inherited defaultqos:8
        QOS NAMES inherited qoslevel:1 qos:1
        Comment TEXT - comment:3
        Flags FLAGS - flags:2\
        """;

    private static final String QOS_TABLE = """
        Description TEXT - description:1
        Flags FLAGS - flags:2
        GraceTime SECONDS - gracetime:3
        GrpJobs COUNT - grpjobs:4
        GrpJobsAccrue COUNT - grpjobsaccrue:8
        GrpSubmitJobs COUNT - grpsubmitjobs:8 grpsubmit:4
        GrpTRES TRES - grptres:7
        GrpTRESMins TRES - grptresmins:8
        GrpTRESRunMins TRES - grptresrunmins:8
        GrpWall MINUTES - grpwall:4
        LimitFactor REAL - limitfactor:2
        MaxJobsAccruePA COUNT - maxjobsaccruepa:15 maxjobsaccrueperaccount:16
        MaxJobsAccruePU COUNT - maxjobsaccruepu:15 maxjobsaccrueperuser:16 maxjobsaccrue:13
        MaxJobsPA COUNT - maxjobsperaccount:11 maxjobspa:9
        MaxJobsPU COUNT - maxjobsperuser:8 maxjobspu:8 maxjobs:4
        MaxSubmitJobsPA COUNT - maxsubmitjobsperaccount:17 maxsubmitjobspa:15 maxsubmitpa:11
        MaxSubmitJobsPU COUNT - maxsubmitjobsperuser:16 maxsubmitjobspu:15 maxsubmitpu:10 maxsubmitjobs:4
        MaxTRES TRES - maxtres:7 maxtresperjob:11 maxtrespj:9
        MaxTRESPerNode TRES - maxtrespernode:11 maxtrespn:9
        MaxTRESPU TRES - maxtresperuser:11 maxtrespu:9
        MaxTRESPA TRES - maxtresperaccount:11 maxtrespa:9
        MaxTRESMins TRES - maxtresmins:8 maxtresminsperjob:11 maxtresminspj:13
        MaxTRESRunMinsPA TRES - maxtresrunminspa:16 maxtresrunminsperaccount:18
        MaxTRESRunMinsPU TRES - maxtresrunminspu:8 maxtresrunminsperuser:8 maxtresrunmins:8
        MaxWall MINUTES - maxwalldurationperjob:4
        MinPrioThresh COUNT - minpriothreshold:4
        MinTRES TRES - mintresperjob:7 mintres:7
        Preempt NAMES - preempt:7
        PreemptMode FLAGS - preemptmode:8
        PreemptExemptTime SECONDS - preemptexempttime:8
        Priority COUNT - priority:3
        UsageFactor REAL - usagefactor:6
        UsageThreshold REAL - usagethreshold:6\
        """;

    /** Limits of an association, in the order of listings. */
    public static final List<LimitField> ASSOC = table(ASSOC_TABLE);
    /** Limits of a QOS. */
    public static final List<LimitField> QOS = table(QOS_TABLE);
    /** Words that a QOS's Flags may hold. */
    public static final List<String> QOS_FLAGS = List.of(
            "DenyOnLimit",
            "EnforceUsageThreshold",
            "PartitionMinNodes",
            "PartitionMaxNodes",
            "PartitionTimeLimit",
            "RequiresReservation",
            "OverPartQOS",
            "NoReserve",
            "NoDecay",
            "Relative",
            "UsageFactorSafe");
    /** The word that an account's Flags may hold: its users coordinate it. */
    public static final String USERS_ARE_COORDS = "UsersAreCoords";
    /** Words that a QOS's PreemptMode may hold. */
    public static final List<String> PREEMPT_MODES =
            List.of("WITHIN", "PRIORITY", "CLUSTER", "OFF", "CANCEL", "REQUEUE", "SUSPEND", "GANG");

    private static List<LimitField> table(String text) {
        List<LimitField> out = new ArrayList<>();
        for (String line : text.split("\n")) {
            String[] word = line.split(" ");
            out.add(new LimitField(
                    word[0],
                    Kind.valueOf(word[1]),
                    word[2].equals("inherited"),
                    List.of(word).subList(3, word.length)));
        }
        return List.copyOf(out);
    }

    /** The field that a typed word means: the first that it abbreviates. */
    public static Optional<LimitField> find(List<LimitField> table, String typed) {
        String lower = typed.toLowerCase(Locale.ROOT);
        for (LimitField field : table) {
            for (String word : field.words) {
                int colon = word.indexOf(':');
                String full = word.substring(0, colon);
                if (full.equals(lower)) {
                    return Optional.of(field);
                }
            }
        }
        for (LimitField field : table) {
            for (String word : field.words) {
                int colon = word.indexOf(':');
                if (lower.length() >= Integer.parseInt(word.substring(colon + 1))
                        && word.substring(0, colon).startsWith(lower)) {
                    return Optional.of(field);
                }
            }
        }
        return Optional.empty();
    }

    /**
     * A typed value in its stored form; empty if it is invalid. {@code -1} clears the limit. Names of TRES, QOS and
     * flags are not checked here, but by slurmdbd.
     */
    public Optional<String> canonical(String typed) {
        String raw = typed.strip();
        if (raw.equals("-1") && kind != Kind.TEXT) {
            return Optional.of("");
        }
        return switch (kind) {
            case COUNT ->
                raw.equalsIgnoreCase("INFINITE") || raw.equalsIgnoreCase("UNLIMITED") ? Optional.of("") : number(raw);
            case SHARES ->
                raw.equalsIgnoreCase(PARENT_SHARES) || raw.equals(PARENT_SHARES_NUMBER)
                        ? Optional.of(PARENT_SHARES)
                        : number(raw);
            case MINUTES -> duration(Durations.parseMinutes(raw));
            case SECONDS -> {
                if (raw.isEmpty()) {
                    yield Optional.empty();
                }
                if (name.equals("GraceTime")) {
                    yield seconds(raw);
                }
                yield exempt(raw);
            }
            case REAL -> real(raw);
            case TRES -> tres(raw);
            case NAME, NAMES, FLAGS -> Optional.of(raw);
            case TEXT -> Optional.of(typed);
        };
    }

    private static Optional<String> number(String raw) {
        try {
            long n = Long.parseLong(raw);
            return n < 0 || n > 0xfffffffdL ? Optional.empty() : Optional.of(Long.toString(n));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static Optional<String> seconds(String raw) {
        boolean plain = raw.chars().allMatch(Character::isDigit);
        return plain ? number(raw) : duration(Durations.parseSeconds(raw));
    }

    /** PreemptExemptTime is typed as a time limit is: a plain number is minutes. */
    private static Optional<String> exempt(String raw) {
        boolean plain = raw.chars().allMatch(Character::isDigit);
        return plain
                ? number(raw).map(m -> Long.toString(Long.parseLong(m) * 60))
                : duration(Durations.parseSeconds(raw));
    }

    private static Optional<String> duration(OptionalLong parsed) {
        if (parsed.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(parsed.getAsLong() < 0 ? "" : Long.toString(parsed.getAsLong()));
    }

    private static Optional<String> real(String raw) {
        try {
            double d = Double.parseDouble(raw);
            return d < 0 || Double.isNaN(d) || Double.isInfinite(d)
                    ? Optional.empty()
                    : Optional.of(String.format(Locale.ROOT, "%.6f", d));
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    private static Optional<String> tres(String raw) {
        List<String> out = new ArrayList<>();
        for (String item : raw.split(",")) {
            int equalSign = item.indexOf('=');
            if (item.isBlank()) {
                continue;
            }
            if (equalSign <= 0) {
                return Optional.empty();
            }
            char sign = item.charAt(equalSign - 1) == '+' || item.charAt(equalSign - 1) == '-'
                    ? item.charAt(equalSign - 1)
                    : '=';
            String name = item.substring(0, sign == '=' ? equalSign : equalSign - 1)
                    .strip()
                    .toLowerCase(Locale.ROOT);
            Optional<String> count =
                    count(item.substring(equalSign + 1).strip(), name.equals("mem") || name.startsWith("bb/"));
            if (count.isEmpty() || name.isEmpty()) {
                return Optional.empty();
            }
            out.add(name + (sign == '=' ? "" : sign) + "=" + count.get());
        }
        out.sort(java.util.Comparator.comparing(item -> item.substring(0, item.indexOf('='))));
        return Optional.of(String.join(",", out));
    }

    /** The largest count there is. */
    public static final BigInteger COUNT_MAX = new BigInteger("18446744073709551600");

    private static final int DIGITS_MAX = 100;

    /** A number with a unit: of memory in MiB, otherwise a plain count (k = 1024); at most {@link #COUNT_MAX}. */
    private static Optional<String> count(String text, boolean memory) {
        if (text.equals("-1")) {
            return Optional.of("-1");
        }
        int end = 0;
        while (end < text.length() && Character.isDigit(text.charAt(end))) {
            end++;
        }
        if (end == 0 || end > DIGITS_MAX) {
            return Optional.empty();
        }
        BigInteger n = new BigInteger(text.substring(0, end));
        String unit = text.substring(end).toUpperCase(Locale.ROOT);
        if (unit.endsWith("B") && unit.length() > 1) {
            unit = unit.substring(0, unit.length() - 1);
        }
        if (unit.isEmpty()) {
            return Optional.of(n.min(COUNT_MAX).toString());
        }
        int power = "KMGTP".indexOf(unit.charAt(0));
        if (unit.length() > 1 || power < 0) {
            return Optional.empty();
        }
        int shift = (power + 1) * 10 - (memory ? 20 : 0);
        return Optional.of(n.shiftLeft(shift).min(COUNT_MAX).toString());
    }
}
