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
import java.nio.file.NoSuchFileException;
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

    private static final class Wanted {
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
    public int run(CommandContext c) throws UsageException {
        GetOpt.Parsed p = GetOpt.parse(OPTIONS, c.args(), false);
        if (!p.error().isEmpty()) {
            throw new UsageException(MISTAKE, List.of(c.program() + ": " + p.error()));
        }
        Wanted w = new Wanted();
        for (GetOpt.Hit h : p.hits()) {
            switch (h.opt().name()) {
                case "help" -> {
                    OptionHelp.help(c, OPTIONS, "-j job[.step]");
                    return 0;
                }
                case "usage" -> {
                    OptionHelp.usage(c, OPTIONS, "-j job[.step]");
                    return 0;
                }
                case "version" -> {
                    c.out().println(Release.LINE);
                    return 0;
                }
                default -> option(c, w, h.opt().name(), h.value());
            }
        }
        if (!p.operands().isEmpty()) {
            throw c.bad(MISTAKE, "Unrecognized argument: " + p.operands().getFirst());
        }
        if (w.job.isEmpty()) {
            throw c.bad(MISTAKE, "JobID must be specified.");
        }
        if (w.mode == Mode.ITEM && w.data.isEmpty()) {
            throw new UsageException(1, List.of("sh5util: fatal: Must specify data option --data "));
        }
        if (w.mode != Mode.MERGE && w.series.isEmpty()) {
            throw new UsageException(1, List.of("sh5util: fatal: Must specify series option --series"));
        }
        c.host().needsOwnProcess();
        return w.mode == Mode.MERGE ? merge(c, w) : fromFile(c, w);
    }

    private static void option(CommandContext c, Wanted w, String name, String value) throws UsageException {
        switch (name) {
            case "extract" -> w.mode = Mode.EXTRACT;
            case "item-extract" -> w.mode = Mode.ITEM;
            case "list" -> w.mode = Mode.LIST;
            case "data" -> w.data = value;
            case "input" -> w.input = value;
            case "jobs" -> jobs(c, w, value);
            case "level" -> {
                if (!value.equals("Node:Totals") && !value.equals("Node:TimeSeries")) {
                    throw c.bad(MISTAKE, "Bad value for --level=\"" + value + "\"");
                }
                w.totals = value.equals("Node:Totals");
            }
            case "node" -> w.node = value;
            case "output" -> w.output = value;
            case "profiledir" -> w.directory = value;
            case "series" -> {
                if (!SERIES.matcher(value).matches()) {
                    throw c.bad(MISTAKE, "Bad value for --series=\"" + value + "\"");
                }
                w.series = value;
            }
            case "savefiles" -> w.keep = true;
            default -> {
                int uid = c.host().userId(value);
                if (uid < 0) {
                    throw c.bad(MISTAKE, "No such user --uid=\"" + value + "\"");
                }
                w.user = c.host().userName(uid);
            }
        }
    }

    /** Steps of one job; the job alone stands for all of them. */
    private static void jobs(CommandContext c, Wanted w, String value) throws UsageException {
        boolean all = false;
        for (String word : value.split(",")) {
            Matcher m = JOB.matcher(word);
            if (!m.matches()) {
                throw c.bad(
                        MISTAKE,
                        "Invalid job or step: " + word + " (array tasks and components go by their own job IDs)");
            }
            if (!w.job.isEmpty() && !w.job.equals(m.group(1))) {
                throw c.bad(MISTAKE, "One job at a time: " + w.job + " and " + m.group(1));
            }
            w.job = m.group(1);
            all |= m.group(2) == null;
            if (m.group(2) != null) {
                w.steps.add(m.group(2));
            }
        }
        if (all) {
            w.steps.clear();
        }
    }

    private static Path path(CommandContext c, String name) {
        return Path.of(Texts.absolute(name, c.host().workDir()));
    }

    private static String reason(IOException e) {
        if (e instanceof NoSuchFileException) {
            return "No such file or directory";
        }
        if (e instanceof java.nio.file.AccessDeniedException) {
            return "Permission denied";
        }
        return ErrorSentence.of(e);
    }

    // ---- merge

    private static String directory(CommandContext c, Wanted w) {
        String all = w.directory;
        if (all.isEmpty()) {
            File conf = new File(c.host().settings().path()).getAbsoluteFile();
            all = AcctGatherConf.read(new File(conf.getParentFile(), "acct_gather.conf"), new ArrayList<>())
                    .profile()
                    .getOrDefault("profilehdf5dir", "");
        }
        String user = w.user.isEmpty() ? c.host().userName(c.host().uid()) : w.user;
        return Texts.absolute(all + "/" + user, c.host().workDir());
    }

    private static int merge(CommandContext c, Wanted w) throws UsageException {
        String name = w.output.isEmpty() ? "./job_" + w.job + ".h5" : w.output;
        Path output = path(c, name);
        c.info("Merging node-step files into " + name);
        String directory = directory(c, w);
        TreeMap<String, TreeMap<String, Path>> steps = new TreeMap<>();
        Pattern own = Pattern.compile(w.job + "_([A-Za-z0-9]+)_(.+)\\.h5");
        try (DirectoryStream<Path> files = Files.newDirectoryStream(Path.of(directory), w.job + "_*.h5")) {
            for (Path file : files) {
                Matcher m = own.matcher(file.getFileName().toString());
                if (m.matches() && (w.steps.isEmpty() || w.steps.contains(m.group(1)))) {
                    steps.computeIfAbsent(m.group(1), k -> new TreeMap<>()).put(m.group(2), file);
                }
            }
        } catch (IOException e) {
            throw c.bad(MISTAKE, "Cannot open " + directory + " job profile directory: " + reason(e));
        }
        if (steps.isEmpty()) {
            c.info("No node-step files found for jobid " + w.job);
            return 0;
        }
        List<SeriesFile> open = new ArrayList<>();
        try {
            together(c, steps, open, output, name);
        } finally {
            for (SeriesFile file : open) {
                closed(file);
            }
        }
        if (!w.keep) {
            for (TreeMap<String, Path> nodes : steps.values()) {
                for (Path file : nodes.values()) {
                    remove(c, file);
                }
            }
        }
        return 0;
    }

    private static void together(
            CommandContext c,
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
                    throw c.bad(MISTAKE, "Failed to open " + file + ": " + reason(e));
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
            throw c.bad(MISTAKE, "Failed create HDF5 file " + name + ": " + reason(e));
        }
    }

    private static void closed(SeriesFile file) {
        try {
            file.close();
        } catch (IOException e) {
            // it was only read
        }
    }

    private static void remove(CommandContext c, Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            c.error("Cannot remove " + file + ": " + reason(e));
        }
    }

    // ---- what is taken out of a job's file

    private static int fromFile(CommandContext c, Wanted w) throws UsageException {
        String input = w.input.isEmpty() ? "./job_" + w.job + ".h5" : w.input;
        String output;
        if (!w.output.isEmpty()) {
            output = w.output;
        } else if (w.mode == Mode.ITEM) {
            output = "./" + w.series + "_" + w.data + "_" + w.job + ".csv";
        } else {
            output = "./extract_" + w.job + ".csv";
        }

        c.info(
                switch (w.mode) {
                    case LIST -> "Listing items from " + input;
                    case ITEM ->
                        "Extracting '" + w.data + "' from '" + w.series + "' data from " + input + " into " + output;
                    default -> "Extracting job data from " + input + " into " + output;
                });
        SeriesFile file;
        try {
            file = SeriesFile.open(path(c, input));
        } catch (IOException e) {
            throw c.bad(MISTAKE, "Failed to open " + input);
        }
        try {
            List<SeriesFile.Place> places = file.tables(w.series);
            if (places.isEmpty()) {
                throw c.bad(ABSENT, "Series " + w.series + " not found");
            }
            if (w.mode == Mode.LIST) {
                places.getFirst().table().columns().forEach(column -> c.out().println(column.name()));
                return 0;
            }
            return written(
                    c,
                    w,
                    places.stream()
                            .filter(p -> (w.node.isEmpty() || w.node.equals(p.node()))
                                    && (w.steps.isEmpty() || w.steps.contains(p.step())))
                            .toList(),
                    output);
        } finally {
            closed(file);
        }
    }

    private static int written(CommandContext c, Wanted w, List<SeriesFile.Place> places, String output)
            throws UsageException {
        List<String> told = new ArrayList<>();
        String wrong = "";
        Path path = path(c, output);
        try (PrintStream out =
                new PrintStream(new BufferedOutputStream(Files.newOutputStream(path)), false, StandardCharsets.UTF_8)) {
            if (w.mode == Mode.ITEM) {
                wrong = Extract.item(places, w.series, w.data, out, told);
            } else if (w.totals) {
                Extract.totals(places, out);
            } else {
                Extract.series(places, out);
            }
            if (out.checkError()) {
                wrong = "Failed to write output file " + output;
            }
        } catch (IOException e) {
            throw c.bad(MISTAKE, "Failed to create output file " + output + " -- " + reason(e));
        }
        if (!wrong.isEmpty()) {
            remove(c, path);
            throw c.bad(ABSENT, wrong);
        }
        told.forEach(c.out()::println);
        return 0;
    }
}
