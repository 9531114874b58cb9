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
            CommandContext context,
            String file,
            Json.Obj query,
            boolean window,
            List<SacctField> fields,
            Consumer<List<String>> row)
            throws UsageException {
        ClientConf conf = context.host().settings();
        requireTextFile(context, conf.jobCompType);
        for (String key : query.fields().keySet()) {
            if (!CONDITIONS.contains(key)) {
                throw context.bad(1, "records of completion cannot be chosen by " + key);
            }
        }
        context.host().needsOwnProcess(); // which opens the file as the caller
        String path;
        if (!file.isEmpty()) {
            path = file;
        } else if (conf.jobCompLoc.isEmpty()) {
            path = FILE;
        } else {
            path = conf.jobCompLoc;
        }

        try (BufferedReader in =
                new BufferedReader(new InputStreamReader(context.host().openFile(path), StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                Map<String, String> record = record(line);
                if (record.containsKey("JobId") && isWanted(context, query, window, record)) {
                    row.accept(
                            fields.stream().map(f -> value(context, f, record)).toList());
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

    private static void requireTextFile(CommandContext context, String jobCompType) throws UsageException {
        if (jobCompType.equals(FILETXT)) {
            return;
        }
        if (jobCompType.isEmpty() || jobCompType.equals("jobcomp/none")) {
            throw new UsageException(1, List.of("Slurm job completion is disabled"));
        }
        throw context.bad(1, "what " + jobCompType + " has written cannot be read here");
    }

    static Map<String, String> record(String line) {
        Map<String, String> out = new LinkedHashMap<>();
        Matcher matcher = KEY.matcher(line);
        String key = "";
        int from = 0;
        while (matcher.find()) {
            if (!key.isEmpty()) {
                out.putIfAbsent(key, line.substring(from, matcher.start()));
            }
            key = matcher.group(1);
            from = matcher.end();
        }
        if (!key.isEmpty()) {
            out.putIfAbsent(key, line.substring(from).stripTrailing());
        }
        return out;
    }

    private static boolean isWanted(CommandContext context, Json.Obj query, boolean window, Map<String, String> row) {
        List<String> jobs = query.texts("jobs");
        return (jobs.isEmpty() || jobs.stream().anyMatch(selector -> isOne(selector, row)))
                && isAnyOf(query.texts("partitions"), row.getOrDefault("Partition", ""))
                && isAnyOf(query.texts("accounts"), row.getOrDefault("Account", ""))
                && isAnyOf(query.texts("qos"), row.getOrDefault("QOS", ""))
                && isAnyOf(query.texts("names"), row.getOrDefault("Name", ""))
                && isAnyOf(query.texts("wckeys"), row.getOrDefault("WcKey", ""))
                && isAnyOf(query.texts("states"), row.getOrDefault("JobState", ""))
                && isAnyOf(numbers(query, "userIds"), id(row.get("UserId")))
                && isAnyOf(numbers(query, "groupIds"), id(row.get("GroupId")))
                && ranOn(query.texts("nodes"), row)
                && (!window || ranWithin(context, query, row));
    }

    private static boolean ranOn(List<String> nodes, Map<String, String> row) {
        return nodes.isEmpty()
                || HostList.parse(row.getOrDefault("NodeList", "")) instanceof HostList.Parsed.Ok ok
                        && ok.list().names().stream().anyMatch(nodes::contains);
    }

    private static boolean ranWithin(CommandContext context, Json.Obj query, Map<String, String> row) {
        long from = query.number("from");
        long to = query.number("to");
        long began = seconds(context, row.get("StartTime")).orElse(0);
        return seconds(context, row.get("EndTime")).orElse(0) >= from && (to == 0 || began <= to);
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
    static boolean isOne(String selector, Map<String, String> row) {
        String job = selector.split("[.]", 2)[0];
        String[] task = job.split("_", 2);
        String[] component = job.split("[+]", 2);
        if (task.length > 1) {
            String tasks = task[1].replace("[", "").replace("]", "");
            String taskId = row.getOrDefault("ArrayTaskId", "");
            return task[0].equals(row.get("ArrayJobId"))
                    && Digits.only(taskId, 9)
                    && IndexSet.parse(tasks).contains(Integer.parseInt(taskId));
        }
        if (component.length > 1) {
            return component[0].equals(row.get("HetJobId")) && component[1].equals(row.get("HetJobOffset"));
        }
        return job.equals(row.get("JobId")) || job.equals(row.get("ArrayJobId")) || job.equals(row.get("HetJobId"));
    }

    /** Returns the number of {@code root(0)}. */
    private static String id(@Nullable String user) {
        return user == null || !user.endsWith(")") ? "" : user.substring(user.lastIndexOf('(') + 1, user.length() - 1);
    }

    private static OptionalLong seconds(CommandContext context, @Nullable String time) {
        try {
            return time == null
                    ? OptionalLong.empty()
                    : OptionalLong.of(LocalDateTime.parse(time)
                            .atZone(context.host().zone())
                            .toEpochSecond());
        } catch (DateTimeException e) {
            return OptionalLong.empty(); // Unknown and the like
        }
    }

    private static String value(CommandContext context, SacctField field, Map<String, String> row) {
        return switch (field) {
            case JOBID, JOBIDRAW -> row.getOrDefault("JobId", "");
            case UID -> id(row.get("UserId"));
            case USER -> row.getOrDefault("UserId", "");
            case GID -> id(row.get("GroupId"));
            case GROUP -> {
                String group = row.getOrDefault("GroupId", "");
                yield group.contains("(") ? group.substring(0, group.lastIndexOf('(')) : group;
            }
            case JOBNAME -> row.getOrDefault("Name", "");
            case STATE -> row.getOrDefault("JobState", "");
            case PARTITION -> row.getOrDefault("Partition", "");
            case TIMELIMIT, TIMELIMITRAW -> row.getOrDefault("TimeLimit", "");
            case START -> time(context, row.getOrDefault("StartTime", ""));
            case END -> time(context, row.getOrDefault("EndTime", ""));
            case SUBMIT -> time(context, row.getOrDefault("SubmitTime", ""));
            case ELIGIBLE -> time(context, row.getOrDefault("EligibleTime", ""));
            case NODELIST -> row.getOrDefault("NodeList", "");
            case NNODES, REQNODES, ALLOCNODES -> row.getOrDefault("NodeCnt", "");
            case NCPUS, ALLOCCPUS -> row.getOrDefault("ProcCnt", "");
            case WORKDIR -> row.getOrDefault("WorkDir", "");
            case RESERVATION -> row.getOrDefault("ReservationName", "");
            case REQTRES -> row.getOrDefault("Tres", "");
            case ACCOUNT -> row.getOrDefault("Account", "");
            case QOS -> row.getOrDefault("QOS", "");
            case WCKEY -> row.getOrDefault("WcKey", "");
            case CLUSTER -> row.getOrDefault("Cluster", "");
            case DERIVEDEXITCODE -> row.getOrDefault("DerivedExitCode", "");
            case EXITCODE -> row.getOrDefault("ExitCode", "");
            case ELAPSED, ELAPSEDRAW -> elapsed(context, field, row);
            default -> "";
        };
    }

    private static String time(CommandContext context, String written) {
        OptionalLong seconds = seconds(context, written);
        return seconds.isPresent() ? context.time(seconds.getAsLong()) : written;
    }

    private static String elapsed(CommandContext context, SacctField field, Map<String, String> row) {
        OptionalLong from = seconds(context, row.get("StartTime"));
        OptionalLong to = seconds(context, row.get("EndTime"));
        if (from.isEmpty() || to.isEmpty()) {
            return "";
        }
        long s = Math.max(0, to.getAsLong() - from.getAsLong());
        return field == SacctField.ELAPSEDRAW ? Long.toString(s) : dev.muster.model.format.Durations.full(s);
    }
}
