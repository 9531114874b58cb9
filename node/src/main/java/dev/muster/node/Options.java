package dev.muster.node;

import java.util.List;
import java.util.Optional;

/** slurmd's command line. */
record Options(
        String nodeName,
        String configFile,
        String logFile,
        String stepd,
        boolean foreground,
        boolean cleanStart,
        boolean reportReboot,
        boolean changeDirectory,
        int verbose,
        int nice,
        Mode mode) {

    enum Mode { SERVE, SHOW_HARDWARE, SHOW_GRES, HELP, VERSION }

    /** What the command line asks for, or a sentence that says why it cannot be had. */
    sealed interface Parsed {
        record Ok(Options options) implements Parsed {}

        record Wrong(String sentence, boolean showUsage) implements Parsed {}
    }

    static final String USAGE = """
            Usage: slurmd [OPTIONS]
               -b                         Report node reboot now.
               -c                         Forget jobs of an earlier slurmd that have no process any more.
               -C                         Print node configuration information and exit.
               -d stepd                   Pathname to the slurmstepd program.
               -D                         Run daemon in foreground.
               -f config                  Read configuration from the specified file.
               -G                         Print node's GRES configuration and exit.
               -h                         Print this help message.
               -L logfile                 Log messages to the file `logfile'.
               -n value                   Run the daemon at the specified nice value.
               -N node                    Run the daemon for specified nodename.
               -s                         Change working directory to SlurmdLogFile/SlurmdSpoolDir.
               --systemd                  Stay in the foreground as a service of systemd.
               -v                         Verbose mode. Multiple -v's increase verbosity.
               -V                         Print version information and exit.
            """;

    private static final String NO_DYNAMIC = "dynamic nodes are not part of this version: name the node in slurm.conf";
    private static final String NO_CONFIGLESS =
            "fetching the configuration from slurmctld is not part of this version: give -f";

    static Parsed parse(List<String> arguments) {
        Builder b = new Builder();
        for (int i = 0; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            if (argument.startsWith("--")) {
                Optional<Parsed> wrong = b.longOption(argument);
                if (wrong.isPresent()) {
                    return wrong.get();
                }
                continue;
            }
            if (!argument.startsWith("-") || argument.length() < 2) {
                return new Parsed.Wrong("unexpected argument " + argument, true);
            }
            for (int k = 1; k < argument.length(); k++) {
                char option = argument.charAt(k);
                if ("dfLnN".indexOf(option) < 0) {
                    Optional<Parsed> wrong = b.flag(option);
                    if (wrong.isPresent()) {
                        return wrong.get();
                    }
                    continue;
                }
                boolean attached = k + 1 < argument.length();
                if (!attached && i + 1 >= arguments.size()) {
                    return new Parsed.Wrong("option requires an argument -- '" + option + "'", true);
                }
                Optional<Parsed> wrong = b.value(option, attached ? argument.substring(k + 1) : arguments.get(++i));
                if (wrong.isPresent()) {
                    return wrong.get();
                }
                break;
            }
        }
        return new Parsed.Ok(b.build());
    }

    private static final class Builder {
        private String nodeName = "";
        private String configFile = "";
        private String logFile = "";
        private String stepd = "";
        private boolean foreground;
        private boolean cleanStart;
        private boolean reportReboot;
        private boolean changeDirectory;
        private int verbose;
        private int nice;
        private Mode mode = Mode.SERVE;

        Optional<Parsed> longOption(String text) {
            String name = text.contains("=") ? text.substring(0, text.indexOf('=')) : text;
            switch (name) {
                case "--systemd" -> foreground = true;
                case "--help", "--usage" -> mode = Mode.HELP;
                case "--version" -> mode = Mode.VERSION;
                case "--conf", "--extra", "--instance-id", "--instance-type" -> {
                    return Optional.of(new Parsed.Wrong(name + ": " + NO_DYNAMIC, false));
                }
                case "--conf-server", "--authinfo" -> {
                    return Optional.of(new Parsed.Wrong(name + ": " + NO_CONFIGLESS, false));
                }
                default -> {
                    return Optional.of(new Parsed.Wrong("unrecognized option '" + text + "'", true));
                }
            }
            return Optional.empty();
        }

        Optional<Parsed> flag(char option) {
            switch (option) {
                case 'b' -> reportReboot = true;
                case 'c' -> cleanStart = true;
                case 'C' -> mode = Mode.SHOW_HARDWARE;
                case 'D' -> foreground = true;
                case 'G' -> mode = Mode.SHOW_GRES;
                case 'h' -> mode = Mode.HELP;
                case 's' -> changeDirectory = true;
                case 'v' -> verbose++;
                case 'V' -> mode = Mode.VERSION;
                case 'F', 'Z' -> {
                    return Optional.of(new Parsed.Wrong("-" + option + ": " + NO_DYNAMIC, false));
                }
                case 'M' -> {
                    return Optional.of(new Parsed.Wrong("-M: locking the daemon's memory is not possible here", false));
                }
                default -> {
                    return Optional.of(new Parsed.Wrong("invalid option -- '" + option + "'", true));
                }
            }
            return Optional.empty();
        }

        Optional<Parsed> value(char option, String value) {
            switch (option) {
                case 'd' -> stepd = value;
                case 'f' -> configFile = value;
                case 'L' -> logFile = value;
                case 'N' -> nodeName = value;
                case 'n' -> {
                    if (!value.matches("-?\\d{1,2}")) {
                        return Optional.of(new Parsed.Wrong("Invalid option for -n option (nice value), ignored: "
                                + value, false));
                    }
                    nice = Integer.parseInt(value);
                }
                default -> throw new IllegalStateException("option " + option + " takes no value");
            }
            return Optional.empty();
        }

        Options build() {
            return new Options(nodeName, configFile, logFile, stepd, foreground, cleanStart, reportReboot,
                    changeDirectory,
                    verbose, nice, mode);
        }
    }
}
