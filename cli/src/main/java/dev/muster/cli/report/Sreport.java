package dev.muster.cli.report;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.submit.InteractiveShell;
import dev.muster.model.Release;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Runs sreport, which reports usage from accounting. */
public final class Sreport implements Command {
    private static final String SLURMDBD = "accounting_storage/slurmdbd";
    private static final List<GetOpt.Opt> TABLE = GetOpt.table(
            "all_clusters:a:n",
            "cluster:M:r",
            "clusters:M:r",
            "federation::n",
            "help:h:n",
            "local::n",
            "noheader:n:n",
            "parsable:p:n",
            "parsable2:P:n",
            "quiet:Q:n",
            ":t:r",
            "tres:T:r",
            "usage::n",
            "verbose:v:n",
            "version:V:n");

    @Override
    public List<GetOpt.Opt> options() {
        return TABLE;
    }

    @Override
    public int run(CommandContext context) throws SlurmException, UsageException {
        GetOpt.Parsed parsed = GetOpt.parse(TABLE, context.args(), false);
        if (!parsed.error().isEmpty()) {
            throw new UsageException(
                    1,
                    List.of(context.program() + ": " + parsed.error(), "Try \"sreport --help\" for more information"));
        }
        SreportSwitches switches = new SreportSwitches();
        environment(context, switches);
        for (GetOpt.Hit hit : parsed.hits()) {
            if (option(context, switches, hit)) {
                return 0;
            }
        }
        if (!context.host().accountingType().equals(SLURMDBD)) {
            context.err().println("You are not running a supported accounting_storage plugin");
            context.err().println("Only '" + SLURMDBD + "' is supported.");
            return 1;
        }
        return parsed.operands().isEmpty()
                ? interactive(context, switches)
                : runCommand(context, switches, parsed.operands());
    }

    private static void environment(CommandContext context, SreportSwitches switches) {
        switches.tres = context.env("SREPORT_TRES");
        switches.clusters.addAll(ReportRequest.split(context.env("SREPORT_CLUSTER")));
    }

    /** Applies an option. Returns whether it completes the command. */
    private static boolean option(CommandContext context, SreportSwitches switches, GetOpt.Hit hit) {
        switch (hit.opt().name()) {
            case "all_clusters" -> switches.allClusters = true;
            case "cluster", "clusters" -> {
                switches.clusters.clear();
                switches.clusters.addAll(ReportRequest.split(hit.value()));
            }
            case "help", "usage" -> {
                SreportHelp.print(context);
                return true;
            }
            case "noheader" -> switches.header = false;
            case "parsable" -> switches.bars(true, true);
            case "parsable2" -> switches.bars(true, false);
            case "" -> time(context, switches, hit.value());
            case "tres" -> switches.tres = hit.value();
            case "version" -> {
                context.out().println(Release.LINE);
                return true;
            }
            default -> {}
        }
        return false;
    }

    private static void time(CommandContext context, SreportSwitches switches, String typed) {
        UsageUnit.of(typed)
                .ifPresentOrElse(u -> switches.unit = u, () -> context.err().println("unknown time format " + typed));
    }

    private int interactive(CommandContext context, SreportSwitches switches) {
        context.host().needsOwnProcess();
        return InteractiveShell.run(
                context,
                true,
                first -> first.length() >= 3 && ("exit".startsWith(first) || "quit".startsWith(first))
                        || first.equals("\\q"),
                words -> runCommand(context, switches, words));
    }

    private static boolean means(String typed, int minimum, String word) {
        return typed.length() >= minimum && word.startsWith(typed);
    }

    /** Returns whether the first letters of a report's name are the word's; what follows them is ignored. */
    private static boolean begins(String typed, int letters, String word) {
        return typed.length() >= letters && word.startsWith(typed.substring(0, letters));
    }

    private int runCommand(CommandContext context, SreportSwitches switches, List<String> words) throws UsageException {
        String verb = words.getFirst().toLowerCase(Locale.ROOT);
        String type = reportType(verb);
        boolean isTime = type.isEmpty() && means(verb, 1, "time");
        if (words.size() < 2 && (isTime || !type.isEmpty())) {
            return tooFewWords(context, words);
        }
        if (!type.isEmpty()) {
            return report(context, switches, type, words.get(1), new ArrayList<>(words.subList(2, words.size())));
        }
        if (isTime) {
            time(context, switches, words.get(1));
        } else if (means(verb, 4, "help")) {
            SreportHelp.print(context);
        } else if (verb.equals("parsable2")) {
            switches.bars(true, false);
        } else if (means(verb, 2, "parsable")) {
            switches.bars(true, true);
        } else if (means(verb, 3, "nonparsable")) {
            switches.bars(false, false);
        } else if (means(verb, 4, "version")) {
            context.out().println(Release.LINE);
        } else if (!isWithoutEffect(verb)) {
            context.err().println("invalid keyword: " + words.getFirst());
            return 1;
        }
        return 0;
    }

    /** The kind of report that a verb begins, "" for none. */
    private static String reportType(String verb) {
        if (means(verb, 2, "cluster")) {
            return "cluster";
        }
        if (means(verb, 1, "job")) {
            return "job";
        }
        if (means(verb, 3, "reservation")) {
            return "reservation";
        }
        return means(verb, 1, "user") ? "user" : "";
    }

    private static boolean isWithoutEffect(String verb) {
        return means(verb, 4, "quiet") || means(verb, 4, "verbose") || means(verb, 3, "exit") || means(verb, 4, "quit");
    }

    private static int tooFewWords(CommandContext context, List<String> words) {
        context.err().println("too few arguments for keyword:" + words.getFirst());
        return 1;
    }

    private static int report(
            CommandContext context, SreportSwitches switches, String type, String name, List<String> words)
            throws UsageException {
        String typed = name.toLowerCase(Locale.ROOT);
        return switch (type) {
            case "cluster" -> cluster(context, switches, typed, name, words);
            case "job" -> {
                String grouping;
                if (means(typed, 1, "sizesbyaccount")) {
                    grouping = "account";
                } else if (means(typed, 15, "sizesbyaccountandwckey")) {
                    grouping = "accountandwckey";
                } else if (means(typed, 8, "sizesbywckey")) {
                    grouping = "wckey";
                } else {
                    grouping = "";
                }

                yield grouping.isEmpty()
                        ? unknown(
                                context,
                                name,
                                "job reports are, \"SizesByAccount, SizesByAccountAndWcKey, and  SizesByWckey\"")
                        : new JobReports(context, switches, ReportRequest.of(context, type, words)).sizes(grouping);
            }
            case "reservation" ->
                begins(typed, 1, "utilization")
                        ? new ReservationReport(context, switches, ReportRequest.of(context, type, words)).utilization()
                        : unknown(context, name, "reservation reports are, \"Utilization\"");
            default ->
                begins(typed, 1, "topusage")
                        ? new ClusterReports(context, switches, ReportRequest.of(context, type, words)).top()
                        : unknown(context, name, "user reports are, \"Top\"");
        };
    }

    private static int cluster(
            CommandContext context, SreportSwitches switches, String typed, String name, List<String> words)
            throws UsageException {
        if (begins(typed, 21, "accountutilizationbyqos")) {
            return new ClusterReports(context, switches, ReportRequest.of(context, "cluster", words)).accountsByQos();
        } else if (begins(typed, 21, "accountutilizationbyuser")) {
            return new ClusterReports(context, switches, ReportRequest.of(context, "cluster", words)).accountsByUser();
        } else if (begins(typed, 18, "userutilizationbyaccount")) {
            return new ClusterReports(context, switches, ReportRequest.of(context, "cluster", words)).usersByAccount();
        } else if (begins(typed, 18, "userutilizationbywckey")) {
            return new ClusterReports(context, switches, ReportRequest.of(context, "cluster", words)).usersByWckey();
        } else if (begins(typed, 2, "utilization")) {
            return new ClusterReports(context, switches, ReportRequest.of(context, "cluster", words)).utilization();
        } else if (begins(typed, 1, "wckeyutilizationbyuser")) {
            return new ClusterReports(context, switches, ReportRequest.of(context, "cluster", words)).wckeysByUser();
        }
        return unknown(
                context,
                name,
                "cluster reports are, \"AccountUtilizationByUser\", \"AccountUtilizationByQOS\", "
                        + "\"UserUtilizationByAccount\", "
                        + "\"UserUtilizationByWckey\", \"Utilization\", and \"WCKeyUtilizationByUser\"");
    }

    private static int unknown(CommandContext context, String name, String valid) {
        context.err().println("Not valid report " + name);
        context.err().println("Valid " + valid);
        return 1;
    }
}
