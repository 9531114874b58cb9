package dev.muster.cli.request;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.JobOptions;
import dev.muster.cli.option.OptionCheck;
import dev.muster.json.Json;
import dev.muster.transport.Syslog;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Runs {@code cli_filter/syslog}: writes the options and environment of an accepted job or step to the system's log.
 */
public final class SubmissionLog {
    static final String PLUGIN = "cli_filter/syslog";
    /** A job without a step to speak of. */
    public static final long NO_STEP = 4294967294L;

    private SubmissionLog() {}

    static void log(JobOptions options, int jobId, long stepId, List<String> words) throws UsageException {
        CommandContext context = options.context();
        if (context.host().cliFilters().stream().anyMatch(p -> p.equals(PLUGIN) || p.equals("syslog"))) {
            String text = "post_submit: " + text(options, jobId, stepId, words);
            Syslog.open("slurm/" + PLUGIN, Syslog.USER).ifPresent(log -> log.notice(text));
        }
    }

    /** Returns the entry as one line of JSON. */
    static String text(JobOptions o, int jobId, long stepId, List<String> words) throws UsageException {
        Json.Obj options = new Json.Obj();
        for (JobOption option : JobOption.values()) {
            if (o.has(option)) {
                options.put(option.longName, OptionCheck.shown(option, o.text(option)));
            }
        }
        Json.Obj env = new Json.Obj();
        for (Map.Entry<String, String> entry : o.context().env().entrySet()) {
            env.put(entry.getKey(), entry.getValue());
        }
        return new Json.Obj()
                .put("jobid", (long) jobId)
                .put("stepid", stepId)
                .put("options", options.put("argv", new ArrayList<Object>(words)))
                .put("env", env)
                .toString();
    }
}
