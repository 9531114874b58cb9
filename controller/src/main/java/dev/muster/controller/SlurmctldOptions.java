package dev.muster.controller;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * slurmctld's command line.
 *
 * @param nice -20 … 19; 0: as it was started
 * @param remarks one sentence for each option that is known and changes nothing here
 */
record SlurmctldOptions(
        boolean foreground,
        boolean clean,
        boolean changeDirectory,
        String file,
        String logFile,
        int verbose,
        int nice,
        List<String> remarks,
        Mode mode) {

    enum Mode {
        SERVE,
        HELP,
        VERSION
    }

    /** The options of the command line, or a sentence about an error in it. */
    sealed interface Parsed {
        record Ok(SlurmctldOptions options) implements Parsed {}

        record Wrong(String sentence) implements Parsed {}
    }

    static final String USAGE = """
            Usage: slurmctld [OPTIONS]
              -c              Do not recover state from last checkpoint.
              -D              Run daemon in foreground, logging copied to stdout.
              -f file         Use specified file for slurmctld configuration.
              -h              Print this help message.
              -i              Has no effect: a damaged state is never ignored.
              -L logfile      Log messages to the specified file.
              -n value        Run the daemon at the specified nice value.
              -r, -R          Have no effect: the full state is always recovered.
              -s              Change working directory to SlurmctldLogFile/StateSaveLocation.
              -v              Verbose mode. Multiple -v's increase verbosity.
              -V              Print version information and exit.
              --systemd       Started from systemd unit file.
            """;

    static Parsed parse(List<String> arguments) {
        Builder b = new Builder();
        for (int i = 0; i < arguments.size(); i++) {
            String a = arguments.get(i);
            switch (a) {
                case "--systemd" -> b.foreground = true;
                case "--help" -> b.mode = Mode.HELP;
                case "--version" -> b.mode = Mode.VERSION;
                default -> {
                    if (!a.startsWith("-") || a.length() < 2) {
                        return new Parsed.Wrong("unrecognized argument '" + a + "'");
                    }
                    for (int k = 1; k < a.length(); k++) {
                        char c = a.charAt(k);
                        if ("fLn".indexOf(c) < 0) {
                            if (!b.flag(c)) {
                                return new Parsed.Wrong("invalid option -- '" + c + "'");
                            }
                            continue;
                        }
                        boolean attached = k + 1 < a.length();
                        if (!attached && i + 1 >= arguments.size()) {
                            return new Parsed.Wrong("option requires an argument -- '" + c + "'");
                        }
                        b.value(c, attached ? a.substring(k + 1) : arguments.get(++i));
                        break;
                    }
                }
            }
        }
        if (arguments.contains("--systemd") && arguments.stream().anyMatch(a -> a.matches("-[a-zA-Z]*D"))) {
            return new Parsed.Wrong("--systemd and -D options are mutually exclusive");
        }
        return new Parsed.Ok(new SlurmctldOptions(
                b.foreground,
                b.clean,
                b.changeDirectory,
                b.file,
                b.logFile,
                b.verbose,
                b.nice,
                List.copyOf(b.remarks),
                b.mode));
    }

    /**
     * Returns the working directory of the daemon after {@code -s}, or in the background: beside its log, else with its
     * state, else in /var/tmp; the first that it can write to.
     */
    static Path workingDirectory(String logFile, Path state) {
        Path beside = logFile.startsWith("/") ? Path.of(logFile).getParent() : null;
        for (Path place : beside == null ? List.of(state) : List.of(beside, state)) {
            if (Files.isDirectory(place) && Files.isWritable(place)) {
                return place;
            }
        }
        return Path.of("/var/tmp");
    }

    private static final class Builder {
        private boolean foreground;
        private boolean clean;
        private boolean changeDirectory;
        private String file = "";
        private String logFile = "";
        private int verbose;
        private int nice;
        private final List<String> remarks = new ArrayList<>();
        private Mode mode = Mode.SERVE;

        boolean flag(char option) {
            switch (option) {
                case 'D' -> foreground = true;
                case 'c' -> clean = true;
                case 's' -> changeDirectory = true;
                case 'v' -> verbose++;
                case 'h' -> mode = Mode.HELP;
                case 'V' -> mode = Mode.VERSION;
                case 'i' ->
                    remarks.add("-i has no effect: a damaged state is never read around; the start is refused "
                            + "and the place is named");
                case 'R', 'r' ->
                    remarks.add(
                            "-" + option + " has no effect: jobs, nodes and partitions are always recovered in full");
                case 'B' -> remarks.add("-B has no effect: nodes and jobs are recovered together, as one state");
                default -> {
                    return false;
                }
            }
            return true;
        }

        void value(char option, String value) {
            switch (option) {
                case 'f' -> file = value;
                case 'L' -> logFile = value;
                case 'n' -> {
                    if (value.matches("[-+]?\\d{1,2}")) {
                        nice = Math.clamp(Integer.parseInt(value), -20, 19);
                    } else {
                        remarks.add("-n " + value + " has no effect: a nice value is a number from -20 to 19");
                    }
                }
                default -> throw new IllegalStateException("option " + option + " takes no value");
            }
        }
    }
}
