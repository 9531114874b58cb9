package dev.muster.cli.profile;

import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.command.Texts;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.option.OptionHelp;
import dev.muster.config.sister.AcctGatherConf;
import dev.muster.model.Release;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.hdf5.Hdf5;
import dev.muster.model.hdf5.Hdf5.Group;
import java.io.BufferedOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs {@code sh5util}, which merges a job's files of time series and extracts values from them. */
public final class Sh5util implements Command {
    private static final List<GetOpt.Opt> OPTIONS = GetOpt.table(
            "extract:E:n",
            "item-extract:I:n",
            "list:L:n",
            "data:d:r",
            "input:i:r",
            "jobs:j:r",
            "level:l:r",
            "node:N:r",
            "output:o:r",
            "profiledir:p:r",
            "series:s:r",
            "savefiles:S:n",
            "user::r",
            "help:h:n",
            "usage::n",
            "version:V:n");
    private static final Pattern JOB = Pattern.compile("(\\d{1,9})(?:\\.(\\w+))?");
    private static final Pattern SERIES = Pattern.compile("Energy|Filesystem|Network|Tasks?|Task_\\d+");
    /** Exit code for wrong arguments and for data that a file lacks, as in Slurm. */
    private static final int MISTAKE = 255;

    private static final int ABSENT = 237;

    private enum Mode {
        MERGE,
        EXTRACT,
        ITEM,
        LIST
    }

    private static final class Options {
        private Mode mode = Mode.MERGE;
        private String job = "";
        private final TreeSet<String> steps = new TreeSet<>();
        private String user = "";
        private String directory = "";
        private String input = "";
        private String output = "";
        private String node = "";
        private String series = "";
        private String data = "";
        private boolean totals = true;
        private boolean keep;
    }

    @Override
    public List<GetOpt.Opt> options() {
        return OPTIONS;
    }

    @Override
    public int run(CommandContext context) throws UsageException {
        GetOpt.Parsed parsed = GetOpt.parse(OPTIONS, context.args(), false);
        if (!parsed.error().isEmpty()) {
            throw new UsageException(MISTAKE, List.of(context.program() + ": " + parsed.error()));
        }
        Options options = new Options();
        for (GetOpt.Hit hit : parsed.hits()) {
            switch (hit.opt().name()) {
                case "help" -> {
                    OptionHelp.help(context, OPTIONS, "-j job[.step]");
                    return 0;
                }
                case "usage" -> {
                    OptionHelp.usage(context, OPTIONS, "-j job[.step]");
                    return 0;
                }
                case "version" -> {
                    context.out().println(Release.LINE);
                    return 0;
                }
                default -> option(context, options, hit.opt().name(), hit.value());
            }
        }
        if (!parsed.operands().isEmpty()) {
            throw context.bad(
                    MISTAKE, "Unrecognized argument: " + parsed.operands().getFirst());
        }
        if (options.job.isEmpty()) {
            throw context.bad(MISTAKE, "JobID must be specified.");
        }
        if (options.mode == Mode.ITEM && options.data.isEmpty()) {
            throw new UsageException(1, List.of("sh5util: fatal: Must specify data option --data "));
        }
        if (options.mode != Mode.MERGE && options.series.isEmpty()) {
            throw new UsageException(1, List.of("sh5util: fatal: Must specify series option --series"));
        }
        context.host().needsOwnProcess();
        return options.mode == Mode.MERGE ? merge(context, options) : fromFile(context, options);
    }

    private static void option(CommandContext context, Options options, String name, String value)
            throws UsageException {
        switch (name) {
            case "extract" -> options.mode = Mode.EXTRACT;
            case "item-extract" -> options.mode = Mode.ITEM;
            case "list" -> options.mode = Mode.LIST;
            case "data" -> options.data = value;
            case "input" -> options.input = value;
            case "jobs" -> jobs(context, options, value);
            case "level" -> {
                if (!value.equals("Node:Totals") && !value.equals("Node:TimeSeries")) {
                    throw context.bad(MISTAKE, "Bad value for --level=\"" + value + "\"");
                }
                options.totals = value.equals("Node:Totals");
            }
            case "node" -> options.node = value;
            case "output" -> options.output = value;
            case "profiledir" -> options.directory = value;
            case "series" -> {
                if (!SERIES.matcher(value).matches()) {
                    throw context.bad(MISTAKE, "Bad value for --series=\"" + value + "\"");
                }
                options.series = value;
            }
            case "savefiles" -> options.keep = true;
            default -> {
                int uid = context.host().userId(value);
                if (uid < 0) {
                    throw context.bad(MISTAKE, "No such user --uid=\"" + value + "\"");
                }
                options.user = context.host().userName(uid);
            }
        }
    }

    /** Steps of one job; the job alone stands for all of them. */
    private static void jobs(CommandContext context, Options options, String value) throws UsageException {
        boolean all = false;
        for (String word : value.split(",")) {
            Matcher matcher = JOB.matcher(word);
            if (!matcher.matches()) {
                throw context.bad(
                        MISTAKE,
                        "Invalid job or step: " + word + " (array tasks and components go by their own job IDs)");
            }
            if (!options.job.isEmpty() && !options.job.equals(matcher.group(1))) {
                throw context.bad(MISTAKE, "One job at a time: " + options.job + " and " + matcher.group(1));
            }
            options.job = matcher.group(1);
            all |= matcher.group(2) == null;
            if (matcher.group(2) != null) {
                options.steps.add(matcher.group(2));
            }
        }
        if (all) {
            options.steps.clear();
        }
    }

    private static Path path(CommandContext context, String name) {
        return Path.of(Texts.absolute(name, context.host().workDir()));
    }

    // ---- merge

    private static String directory(CommandContext context, Options options) {
        String all = options.directory;
        if (all.isEmpty()) {
            File conf = new File(context.host().settings().path()).getAbsoluteFile();
            all = AcctGatherConf.read(new File(conf.getParentFile(), "acct_gather.conf"), new ArrayList<>())
                    .profile()
                    .getOrDefault("profilehdf5dir", "");
        }
        String user =
                options.user.isEmpty() ? context.host().userName(context.host().uid()) : options.user;
        return Texts.absolute(all + "/" + user, context.host().workDir());
    }

    private static int merge(CommandContext context, Options options) throws UsageException {
        String name = options.output.isEmpty() ? "./job_" + options.job + ".h5" : options.output;
        Path output = path(context, name);
        context.info("Merging node-step files into " + name);
        String directory = directory(context, options);
        TreeMap<String, TreeMap<String, Path>> steps = new TreeMap<>();
        Pattern fileName = Pattern.compile(options.job + "_([A-Za-z0-9]+)_(.+)\\.h5");
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of(directory), options.job + "_*.h5")) {
            for (Path file : files) {
                Matcher matcher = fileName.matcher(file.getFileName().toString());
                if (matcher.matches() && (options.steps.isEmpty() || options.steps.contains(matcher.group(1)))) {
                    steps.computeIfAbsent(matcher.group(1), k -> new TreeMap<>())
                            .put(matcher.group(2), file);
                }
            }
        } catch (IOException e) {
            throw context.bad(
                    MISTAKE, "Cannot open " + directory + " job profile directory: " + ErrorSentence.reason(e));
        }
        if (steps.isEmpty()) {
            context.info("No node-step files found for jobid " + options.job);
            return 0;
        }
        List<SeriesFile> open = new ArrayList<>();
        try {
            together(context, steps, open, output, name);
        } finally {
            for (SeriesFile file : open) {
                closed(file);
            }
        }
        if (!options.keep) {
            for (TreeMap<String, Path> nodes : steps.values()) {
                for (Path file : nodes.values()) {
                    remove(context, file);
                }
            }
        }
        return 0;
    }

    private static void together(
            CommandContext context,
            TreeMap<String, TreeMap<String, Path>> steps,
            List<SeriesFile> open,
            Path output,
            String name)
            throws UsageException {
        Map<String, Hdf5> groups = new TreeMap<>();
        for (Map.Entry<String, TreeMap<String, Path>> step : steps.entrySet()) {
            Map<String, Hdf5> nodes = new TreeMap<>();
            for (Path file : step.getValue().values()) {
                try {
                    SeriesFile from = SeriesFile.open(file);
                    open.add(from);
                    nodes.putAll(from.root().members());
                } catch (IOException e) {
                    throw context.bad(MISTAKE, "Failed to open " + file + ": " + ErrorSentence.reason(e));
                }
            }
            groups.put(
                    step.getKey(),
                    new Group(Map.of("Number of Nodes", nodes.size()), Map.of("Nodes", new Group(Map.of(), nodes))));
        }
        // the files that it is made of go away afterwards: a half written one must never stand in its place
        Path fresh = output.resolveSibling("." + output.getFileName() + ".new");
        try {
            SeriesFile.write(
                    fresh,
                    new Group(Map.of("Number of Steps", groups.size()), Map.of("Steps", new Group(Map.of(), groups))));
            Files.move(fresh, output, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw context.bad(MISTAKE, "Failed create HDF5 file " + name + ": " + ErrorSentence.reason(e));
        }
    }

    private static void closed(SeriesFile file) {
        try {
            file.close();
        } catch (IOException e) {
            // it was only read
        }
    }

    private static void remove(CommandContext context, Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            context.error("Cannot remove " + file + ": " + ErrorSentence.reason(e));
        }
    }

    // ---- what is taken out of a job's file

    private static int fromFile(CommandContext context, Options options) throws UsageException {
        String input = options.input.isEmpty() ? "./job_" + options.job + ".h5" : options.input;
        String output;
        if (!options.output.isEmpty()) {
            output = options.output;
        } else if (options.mode == Mode.ITEM) {
            output = "./" + options.series + "_" + options.data + "_" + options.job + ".csv";
        } else {
            output = "./extract_" + options.job + ".csv";
        }

        context.info(
                switch (options.mode) {
                    case LIST -> "Listing items from " + input;
                    case ITEM ->
                        "Extracting '" + options.data + "' from '" + options.series + "' data from " + input + " into "
                                + output;
                    default -> "Extracting job data from " + input + " into " + output;
                });
        SeriesFile file;
        try {
            file = SeriesFile.open(path(context, input));
        } catch (IOException e) {
            throw context.bad(MISTAKE, "Failed to open " + input);
        }
        try {
            List<SeriesFile.Place> places = file.tables(options.series);
            if (places.isEmpty()) {
                throw context.bad(ABSENT, "Series " + options.series + " not found");
            }
            if (options.mode == Mode.LIST) {
                places.getFirst()
                        .table()
                        .columns()
                        .forEach(column -> context.out().println(column.name()));
                return 0;
            }
            return written(
                    context,
                    options,
                    places.stream()
                            .filter(p -> (options.node.isEmpty() || options.node.equals(p.node()))
                                    && (options.steps.isEmpty() || options.steps.contains(p.step())))
                            .toList(),
                    output);
        } finally {
            closed(file);
        }
    }

    private static int written(CommandContext context, Options options, List<SeriesFile.Place> places, String output)
            throws UsageException {
        List<String> messages = new ArrayList<>();
        String error = "";
        Path path = path(context, output);
        try (PrintStream out =
                new PrintStream(new BufferedOutputStream(Files.newOutputStream(path)), false, StandardCharsets.UTF_8)) {
            if (options.mode == Mode.ITEM) {
                error = Extract.item(places, options.series, options.data, out, messages);
            } else if (options.totals) {
                Extract.totals(places, out);
            } else {
                Extract.series(places, out);
            }
            if (out.checkError()) {
                error = "Failed to write output file " + output;
            }
        } catch (IOException e) {
            throw context.bad(MISTAKE, "Failed to create output file " + output + " -- " + ErrorSentence.reason(e));
        }
        if (!error.isEmpty()) {
            remove(context, path);
            throw context.bad(ABSENT, error);
        }
        messages.forEach(context.out()::println);
        return 0;
    }
}
