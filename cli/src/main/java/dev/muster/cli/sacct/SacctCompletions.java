package dev.muster.cli.sacct;

import dev.muster.cli.command.ClientConf;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import dev.muster.json.Json;
import dev.muster.model.format.Digits;
import dev.muster.model.format.HostList;
import dev.muster.model.format.IndexSet;
import java.io.BufferedReader;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.time.DateTimeException;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Runs {@code sacct -c} and {@code -f}: shows the lines that jobcomp/filetxt wrote for ended jobs. */
final class SacctCompletions {
    static final String PLAIN = "jobid,uid,jobname,partition,nnodes,nodelist,state,end";
    static final String BRIEF = "jobid,uid,state";
    static final String LONG = "jobid,uid,jobname,partition,nnodes,nodelist,state,start,end,timelimit";
    private static final String FILETXT = "jobcomp/filetxt";
    private static final String FILE = "/var/log/slurm_jobcomp.log";
    /** A value goes up to the next word that is a key: names and directories may have blanks. */
    private static final Pattern KEY =
            Pattern.compile("(?:^| )(JobId|UserId|GroupId|Name|JobState|Partition|TimeLimit|StartTime|EndTime|NodeList|"
                    + "NodeCnt|ProcCnt|WorkDir|ReservationName|Gres|Tres|Account|QOS|WcKey|Cluster|SubmitTime|"
                    + "EligibleTime|DerivedExitCode|ExitCode|"
                    + "ArrayJobId|ArrayTaskId|HetJobId|HetJobOffset)=");
    /** Options that select records. Other options have no effect on them. */
    private static final Set<String> CONDITIONS = Set.of(
            "jobs",
            "partitions",
            "userIds",
            "allUsers",
            "groupIds",
            "accounts",
            "qos",
            "names",
            "states",
            "wckeys",
            "nodes",
            "from",
            "to",
            "duplicates",
            "allocationsOnly");

    private SacctCompletions() {}

    /**
     * Prints a line for each record that fits.
     *
     * @param file "" for the one of slurm.conf
     * @param window whether times were given; only then they count
     * @param row takes the values of a line, one for each field
     */
    static int show(
            CommandContext c,
            String file,
            Json.Obj query,
            boolean window,
            List<SacctField> fields,
            Consumer<List<String>> row)
            throws UsageException {
        ClientConf conf = c.host().settings();
        requireTextFile(c, conf.jobCompType);
        for (String asked : query.fields().keySet()) {
            if (!CONDITIONS.contains(asked)) {
                throw c.bad(1, "records of completion cannot be chosen by " + asked);
            }
        }
        c.host().needsOwnProcess(); // which opens the file as the caller
        String path;
        if (!file.isEmpty()) {
            path = file;
        } else if (conf.jobCompLoc.isEmpty()) {
            path = FILE;
        } else {
            path = conf.jobCompLoc;
        }

        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(c.host().openFile(path), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                Map<String, String> record = record(line);
                if (record.containsKey("JobId") && isWanted(c, query, window, record)) {
                    row.accept(fields.stream().map(f -> value(c, f, record)).toList());
                }
            }
        } catch (NoSuchFileException | FileNotFoundException e) {
            if (!file.isEmpty()) {
                throw new UsageException(1, List.of(file + " is not a valid file"));
            }
        } catch (AccessDeniedException e) {
            throw new UsageException(1, List.of("sacct: fatal: open " + path + ": Permission denied"));
        } catch (IOException e) {
            throw new UsageException(1, List.of(path + " is not a valid file"));
        }
        return 0;
    }

    private static void requireTextFile(CommandContext c, String jobCompType) throws UsageException {
        if (jobCompType.equals(FILETXT)) {
            return;
        }
        if (jobCompType.isEmpty() || jobCompType.equals("jobcomp/none")) {
            throw new UsageException(1, List.of("Slurm job completion is disabled"));
        }
        throw c.bad(1, "what " + jobCompType + " has written cannot be read here");
    }

    static Map<String, String> record(String line) {
        Map<String, String> out = new LinkedHashMap<>();
        Matcher m = KEY.matcher(line);
        String key = "";
        int from = 0;
        while (m.find()) {
            if (!key.isEmpty()) {
                out.putIfAbsent(key, line.substring(from, m.start()));
            }
            key = m.group(1);
            from = m.end();
        }
        if (!key.isEmpty()) {
            out.putIfAbsent(key, line.substring(from).stripTrailing());
        }
        return out;
    }

    private static boolean isWanted(CommandContext c, Json.Obj query, boolean window, Map<String, String> r) {
        List<String> jobs = query.texts("jobs");
        return (jobs.isEmpty() || jobs.stream().anyMatch(selector -> isOne(selector, r)))
                && isAnyOf(query.texts("partitions"), r.getOrDefault("Partition", ""))
                && isAnyOf(query.texts("accounts"), r.getOrDefault("Account", ""))
                && isAnyOf(query.texts("qos"), r.getOrDefault("QOS", ""))
                && isAnyOf(query.texts("names"), r.getOrDefault("Name", ""))
                && isAnyOf(query.texts("wckeys"), r.getOrDefault("WcKey", ""))
                && isAnyOf(query.texts("states"), r.getOrDefault("JobState", ""))
                && isAnyOf(numbers(query, "userIds"), id(r.get("UserId")))
                && isAnyOf(numbers(query, "groupIds"), id(r.get("GroupId")))
                && ranOn(query.texts("nodes"), r)
                && (!window || ranWithin(c, query, r));
    }

    private static boolean ranOn(List<String> nodes, Map<String, String> r) {
        return nodes.isEmpty()
                || HostList.parse(r.getOrDefault("NodeList", "")) instanceof HostList.Parsed.Ok ok
                        && ok.list().names().stream().anyMatch(nodes::contains);
    }

    private static boolean ranWithin(CommandContext c, Json.Obj query, Map<String, String> r) {
        long from = query.number("from");
        long to = query.number("to");
        long began = seconds(c, r.get("StartTime")).orElse(0);
        return seconds(c, r.get("EndTime")).orElse(0) >= from && (to == 0 || began <= to);
    }

    private static boolean isAnyOf(List<String> wanted, String value) {
        return wanted.isEmpty() || wanted.contains(value);
    }

    private static List<String> numbers(Json.Obj query, String field) {
        List<String> out = new ArrayList<>();
        query.list(field).forEach(n -> out.add(String.valueOf(n)));
        return out;
    }

    /**
     * A job by its number, a task of an array or a component by its place, or all of these by the number of the whole.
     */
    static boolean isOne(String selector, Map<String, String> r) {
        String job = selector.split("[.]", 2)[0];
        String[] task = job.split("_", 2);
        String[] component = job.split("[+]", 2);
        if (task.length > 1) {
            String tasks = task[1].replace("[", "").replace("]", "");
            String own = r.getOrDefault("ArrayTaskId", "");
            return task[0].equals(r.get("ArrayJobId"))
                    && Digits.only(own, 9)
                    && IndexSet.parse(tasks).contains(Integer.parseInt(own));
        }
        if (component.length > 1) {
            return component[0].equals(r.get("HetJobId")) && component[1].equals(r.get("HetJobOffset"));
        }
        return job.equals(r.get("JobId")) || job.equals(r.get("ArrayJobId")) || job.equals(r.get("HetJobId"));
    }

    /** Returns the number of {@code root(0)}. */
    private static String id(@Nullable String user) {
        return user == null || !user.endsWith(")") ? "" : user.substring(user.lastIndexOf('(') + 1, user.length() - 1);
    }

    private static OptionalLong seconds(CommandContext c, @Nullable String time) {
        try {
            return time == null
                    ? OptionalLong.empty()
                    : OptionalLong.of(
                            LocalDateTime.parse(time).atZone(c.host().zone()).toEpochSecond());
        } catch (DateTimeException e) {
            return OptionalLong.empty(); // Unknown and the like
        }
    }

    private static String value(CommandContext c, SacctField field, Map<String, String> r) {
        return switch (field) {
            case JOBID, JOBIDRAW -> r.getOrDefault("JobId", "");
            case UID -> id(r.get("UserId"));
            case USER -> r.getOrDefault("UserId", "");
            case GID -> id(r.get("GroupId"));
            case GROUP -> {
                String group = r.getOrDefault("GroupId", "");
                yield group.contains("(") ? group.substring(0, group.lastIndexOf('(')) : group;
            }
            case JOBNAME -> r.getOrDefault("Name", "");
            case STATE -> r.getOrDefault("JobState", "");
            case PARTITION -> r.getOrDefault("Partition", "");
            case TIMELIMIT, TIMELIMITRAW -> r.getOrDefault("TimeLimit", "");
            case START -> time(c, r.getOrDefault("StartTime", ""));
            case END -> time(c, r.getOrDefault("EndTime", ""));
            case SUBMIT -> time(c, r.getOrDefault("SubmitTime", ""));
            case ELIGIBLE -> time(c, r.getOrDefault("EligibleTime", ""));
            case NODELIST -> r.getOrDefault("NodeList", "");
            case NNODES, REQNODES, ALLOCNODES -> r.getOrDefault("NodeCnt", "");
            case NCPUS, ALLOCCPUS -> r.getOrDefault("ProcCnt", "");
            case WORKDIR -> r.getOrDefault("WorkDir", "");
            case RESERVATION -> r.getOrDefault("ReservationName", "");
            case REQTRES -> r.getOrDefault("Tres", "");
            case ACCOUNT -> r.getOrDefault("Account", "");
            case QOS -> r.getOrDefault("QOS", "");
            case WCKEY -> r.getOrDefault("WcKey", "");
            case CLUSTER -> r.getOrDefault("Cluster", "");
            case DERIVEDEXITCODE -> r.getOrDefault("DerivedExitCode", "");
            case EXITCODE -> r.getOrDefault("ExitCode", "");
            case ELAPSED, ELAPSEDRAW -> elapsed(c, field, r);
            default -> "";
        };
    }

    private static String time(CommandContext c, String written) {
        OptionalLong seconds = seconds(c, written);
        return seconds.isPresent() ? c.time(seconds.getAsLong()) : written;
    }

    private static String elapsed(CommandContext c, SacctField field, Map<String, String> r) {
        OptionalLong from = seconds(c, r.get("StartTime"));
        OptionalLong to = seconds(c, r.get("EndTime"));
        if (from.isEmpty() || to.isEmpty()) {
            return "";
        }
        long s = Math.max(0, to.getAsLong() - from.getAsLong());
        return field == SacctField.ELAPSEDRAW ? Long.toString(s) : dev.muster.model.format.Durations.full(s);
    }
}
