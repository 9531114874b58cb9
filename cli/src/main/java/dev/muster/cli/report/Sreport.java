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
    public int run(CommandContext c) throws SlurmException, UsageException {
        GetOpt.Parsed p = GetOpt.parse(TABLE, c.args(), false);
        if (!p.error().isEmpty()) {
            throw new UsageException(
                    1, List.of(c.program() + ": " + p.error(), "Try \"sreport --help\" for more information"));
        }
        SreportSwitches s = new SreportSwitches();
        environment(c, s);
        for (GetOpt.Hit h : p.hits()) {
            if (option(c, s, h)) {
                return 0;
            }
        }
        if (!c.host().accountingType().equals(SLURMDBD)) {
            c.err().println("You are not running a supported accounting_storage plugin");
            c.err().println("Only '" + SLURMDBD + "' is supported.");
            return 1;
        }
        return p.operands().isEmpty() ? interactive(c, s) : runCommand(c, s, p.operands());
    }

    private static void environment(CommandContext c, SreportSwitches s) {
        s.tres = c.env("SREPORT_TRES");
        s.clusters.addAll(ReportRequest.split(c.env("SREPORT_CLUSTER")));
    }

    /** Applies an option. Returns whether it completes the command. */
    private static boolean option(CommandContext c, SreportSwitches s, GetOpt.Hit h) {
        switch (h.opt().name()) {
            case "all_clusters" -> s.allClusters = true;
            case "cluster", "clusters" -> {
                s.clusters.clear();
                s.clusters.addAll(ReportRequest.split(h.value()));
            }
            case "help", "usage" -> {
                SreportHelp.print(c);
                return true;
            }
            case "noheader" -> s.header = false;
            case "parsable" -> s.bars(true, true);
            case "parsable2" -> s.bars(true, false);
            case "" -> time(c, s, h.value());
            case "tres" -> s.tres = h.value();
            case "version" -> {
                c.out().println(Release.LINE);
                return true;
            }
            default -> {}
        }
        return false;
    }

    private static void time(CommandContext c, SreportSwitches s, String typed) {
        UsageUnit.of(typed).ifPresentOrElse(u -> s.unit = u, () -> c.err().println("unknown time format " + typed));
    }

    private int interactive(CommandContext c, SreportSwitches s) {
        c.host().needsOwnProcess();
        return InteractiveShell.run(
                c,
                true,
                first -> first.length() >= 3 && ("exit".startsWith(first) || "quit".startsWith(first))
                        || first.equals("\\q"),
                words -> runCommand(c, s, words));
    }

    private static boolean means(String typed, int least, String word) {
        return typed.length() >= least && word.startsWith(typed);
    }

    /** Returns whether the first letters of a report's name are the word's; what follows them is ignored. */
    private static boolean begins(String typed, int letters, String word) {
        return typed.length() >= letters && word.startsWith(typed.substring(0, letters));
    }

    private int runCommand(CommandContext c, SreportSwitches s, List<String> words) throws UsageException {
        String verb = words.getFirst().toLowerCase(Locale.ROOT);
        String type = reportType(verb);
        boolean isTime = type.isEmpty() && means(verb, 1, "time");
        if (words.size() < 2 && (isTime || !type.isEmpty())) {
            return tooFewWords(c, words);
        }
        if (!type.isEmpty()) {
            return report(c, s, type, words.get(1), new ArrayList<>(words.subList(2, words.size())));
        }
        if (isTime) {
            time(c, s, words.get(1));
        } else if (means(verb, 4, "help")) {
            SreportHelp.print(c);
        } else if (verb.equals("parsable2")) {
            s.bars(true, false);
        } else if (means(verb, 2, "parsable")) {
            s.bars(true, true);
        } else if (means(verb, 3, "nonparsable")) {
            s.bars(false, false);
        } else if (means(verb, 4, "version")) {
            c.out().println(Release.LINE);
        } else if (!isWithoutEffect(verb)) {
            c.err().println("invalid keyword: " + words.getFirst());
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

    private static int tooFewWords(CommandContext c, List<String> words) {
        c.err().println("too few arguments for keyword:" + words.getFirst());
        return 1;
    }

    private static int report(CommandContext c, SreportSwitches s, String type, String name, List<String> words)
            throws UsageException {
        String typed = name.toLowerCase(Locale.ROOT);
        return switch (type) {
            case "cluster" -> cluster(c, s, typed, name, words);
            case "job" -> {
                String by;
                if (means(typed, 1, "sizesbyaccount")) {
                    by = "account";
                } else if (means(typed, 15, "sizesbyaccountandwckey")) {
                    by = "accountandwckey";
                } else if (means(typed, 8, "sizesbywckey")) {
                    by = "wckey";
                } else {
                    by = "";
                }

                yield by.isEmpty()
                        ? unknown(
                                c,
                                name,
                                "job reports are, \"SizesByAccount, SizesByAccountAndWcKey, and  SizesByWckey\"")
                        : new JobReports(c, s, ReportRequest.of(c, type, words)).sizes(by);
            }
            case "reservation" ->
                begins(typed, 1, "utilization")
                        ? new ReservationReport(c, s, ReportRequest.of(c, type, words)).utilization()
                        : unknown(c, name, "reservation reports are, \"Utilization\"");
            default ->
                begins(typed, 1, "topusage")
                        ? new ClusterReports(c, s, ReportRequest.of(c, type, words)).top()
                        : unknown(c, name, "user reports are, \"Top\"");
        };
    }

    private static int cluster(CommandContext c, SreportSwitches s, String typed, String name, List<String> words)
            throws UsageException {
        if (begins(typed, 21, "accountutilizationbyqos")) {
            return new ClusterReports(c, s, ReportRequest.of(c, "cluster", words)).accountsByQos();
        } else if (begins(typed, 21, "accountutilizationbyuser")) {
            return new ClusterReports(c, s, ReportRequest.of(c, "cluster", words)).accountsByUser();
        } else if (begins(typed, 18, "userutilizationbyaccount")) {
            return new ClusterReports(c, s, ReportRequest.of(c, "cluster", words)).usersByAccount();
        } else if (begins(typed, 18, "userutilizationbywckey")) {
            return new ClusterReports(c, s, ReportRequest.of(c, "cluster", words)).usersByWckey();
        } else if (begins(typed, 2, "utilization")) {
            return new ClusterReports(c, s, ReportRequest.of(c, "cluster", words)).utilization();
        } else if (begins(typed, 1, "wckeyutilizationbyuser")) {
            return new ClusterReports(c, s, ReportRequest.of(c, "cluster", words)).wckeysByUser();
        }
        return unknown(
                c,
                name,
                "cluster reports are, \"AccountUtilizationByUser\", \"AccountUtilizationByQOS\", "
                        + "\"UserUtilizationByAccount\", "
                        + "\"UserUtilizationByWckey\", \"Utilization\", and \"WCKeyUtilizationByUser\"");
    }

    private static int unknown(CommandContext c, String name, String valid) {
        c.err().println("Not valid report " + name);
        c.err().println("Valid " + valid);
        return 1;
    }
}
