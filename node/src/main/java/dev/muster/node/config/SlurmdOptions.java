package dev.muster.node.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * slurmd's command line.
 *
 * @param dynamic -Z: this node is not in slurm.conf; dynamicConf, of --conf, is what it says of itself
 * @param future -F: takes the place of a FUTURE node, with that feature where there is one
 * @param confServer where the configuration comes from, "" for the file
 * @param mungeSocket of the munged that vouches for this machine until the configuration is there ({@code --authinfo});
 *     "" for the usual one
 * @param authority certificate by which the server of the configuration is known, where it speaks TLS
 * @param extra what the node is to say of itself in Extra=
 * @param instanceId of a cloud, and instanceType
 * @param parameters this node's words in addition to Parameters= of slurm.conf
 */
public record SlurmdOptions(
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
        boolean lockMemory,
        boolean dynamic,
        String dynamicConf,
        Optional<String> future,
        String confServer,
        Optional<Path> authority,
        String mungeSocket,
        String extra,
        String instanceId,
        String instanceType,
        List<String> parameters,
        Mode mode) {

    public enum Mode {
        SERVE,
        SHOW_HARDWARE,
        SHOW_GRES,
        HELP,
        VERSION
    }

    /** The options, or the error of the command line. */
    public sealed interface Parsed {
        record Ok(SlurmdOptions options) implements Parsed {}

        record Wrong(String sentence, boolean showUsage) implements Parsed {}
    }

    public static final String USAGE = """
            Usage: slurmd [OPTIONS]
               --authinfo words           AuthInfo until configs have been fetched: socket=/path of munged.
               -b                         Report node reboot now.
               -c                         Forget jobs of an earlier slurmd that have no process any more.
               -C                         Print node configuration information and exit.
               --ca-cert-file file        Whom to trust when configs are fetched over TLS.
               --conf params              Dynamic node configuration, works with -Z.
               --conf-server host[:port]  Get configs from slurmctld at `host[:port]`.
               -d stepd                   Pathname to the slurmstepd program.
               -D                         Run daemon in foreground.
               --extra                    Words for the node's Extra field.
               --instance-id id           The node's instance in a cloud.
               --instance-type type       And its type.
               -f config                  Read configuration from the specified file.
               -F[feature]                Start as Dynamic Future node w/optional Feature.
               -G                         Print node's GRES configuration and exit.
               -h                         Print this help message.
               -L logfile                 Log messages to the file `logfile'.
               -M                         Use mlock() to lock slurmd pages into memory.
               -n value                   Run the daemon at the specified nice value.
               -N node                    Run the daemon for specified nodename. Of several, n[1-64], each is
                                          served by this process, to try things out.
               --parameters words         More words for this node's SlurmdParameters.
               -s                         Change working directory to SlurmdLogFile/SlurmdSpoolDir.
               --systemd                  Stay in the foreground as a service of systemd.
               -v                         Verbose mode. Multiple -v's increase verbosity.
               -V                         Print version information and exit.
               -Z                         Start as Dynamic Normal node.
            """;

    private static final String CONFIG_OVERRIDES = "config_overrides";
    private static final List<String> WITH_VALUE = List.of(
            "--conf",
            "--conf-server",
            "--extra",
            "--instance-id",
            "--instance-type",
            "--authinfo",
            "--ca-cert-file",
            "--parameters");

    public static Parsed parse(List<String> arguments) {
        Builder b = new Builder();
        Iterator<String> rest = arguments.iterator();
        while (rest.hasNext()) {
            String argument = rest.next();
            if (!argument.startsWith("-") || argument.length() < 2) {
                return new Parsed.Wrong("unexpected argument " + argument, true);
            }
            Optional<Parsed> wrong =
                    argument.startsWith("--") ? b.longArgument(argument, rest) : b.letters(argument, rest);
            if (wrong.isPresent()) {
                return wrong.get();
            }
        }
        if (arguments.contains("--systemd") && arguments.stream().anyMatch(a -> a.matches("-[a-zA-Z]*D"))) {
            return new Parsed.Wrong("--systemd and -D options are mutually exclusive", false);
        }
        if (!b.dynamic && b.dynamicConf.toLowerCase(Locale.ROOT).matches("(.*[ \\t])?topology(addr)?=.*")) {
            return new Parsed.Wrong("Topology= in --conf is only for -Z in this version", false);
        }
        if (b.dynamic && b.future.isPresent()) {
            return new Parsed.Wrong("-F and -Z options are mutually exclusive", false);
        }
        return new Parsed.Ok(b.build());
    }

    /** Options that Slurm accepts without effect; each yields a log line. */
    public List<String> idle() {
        List<String> out = new ArrayList<>();
        if (!dynamic && !dynamicConf.isBlank()) {
            out.add("--conf without -Z has no effect: slurm.conf has this node");
        }
        parameters.stream()
                .filter(w -> !w.equalsIgnoreCase(CONFIG_OVERRIDES))
                .forEach(w -> out.add("--parameters: " + w + " has no effect in this version"));
        return out;
    }

    /** Uses the configured sizes instead of the machine's. */
    public boolean configOverrides() {
        return parameters.stream().anyMatch(CONFIG_OVERRIDES::equalsIgnoreCase);
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
        private boolean lockMemory;
        private boolean dynamic;
        private String dynamicConf = "";
        private Optional<String> future = Optional.empty();
        private String confServer = "";
        private Optional<Path> authority = Optional.empty();
        private String mungeSocket = "";
        private String extra = "";
        private String instanceId = "";
        private String instanceType = "";
        private List<String> parameters = List.of();
        private Mode mode = Mode.SERVE;

        private static Optional<Parsed> refused(String sentence) {
            return Optional.of(new Parsed.Wrong(sentence, false));
        }

        /** @param rest the arguments behind this one: the next may be its value */
        Optional<Parsed> longArgument(String argument, Iterator<String> rest) {
            int equals = argument.indexOf('=');
            String name = equals < 0 ? argument : argument.substring(0, equals);
            boolean takesValue = WITH_VALUE.contains(name);
            if (takesValue && equals < 0 && !rest.hasNext()) {
                return Optional.of(new Parsed.Wrong("option '" + name + "' requires an argument", true));
            }
            if (!takesValue && equals >= 0) {
                return Optional.of(new Parsed.Wrong("unrecognized option '" + argument + "'", true));
            }
            if (!takesValue) {
                return longOption(name, "");
            }
            return longOption(name, equals < 0 ? rest.next() : argument.substring(equals + 1));
        }

        /** Reads an argument of letters such as {@code -Dvf FILE}. */
        Optional<Parsed> letters(String argument, Iterator<String> rest) {
            for (int k = 1; k < argument.length(); k++) {
                char option = argument.charAt(k);
                if (option == 'F') {
                    future = Optional.of(argument.substring(k + 1));
                    return Optional.empty();
                }
                if ("dfLnN".indexOf(option) >= 0) {
                    boolean attached = k + 1 < argument.length();
                    if (!attached && !rest.hasNext()) {
                        return Optional.of(new Parsed.Wrong("option requires an argument -- '" + option + "'", true));
                    }
                    return value(option, attached ? argument.substring(k + 1) : rest.next());
                }
                Optional<Parsed> wrong = flag(option);
                if (wrong.isPresent()) {
                    return wrong;
                }
            }
            return Optional.empty();
        }

        Optional<Parsed> longOption(String name, String value) {
            switch (name) {
                case "--systemd" -> foreground = true;
                case "--help", "--usage" -> mode = Mode.HELP;
                case "--version" -> mode = Mode.VERSION;
                case "--conf" -> dynamicConf = value;
                case "--conf-server" -> confServer = value;
                case "--extra" -> extra = value;
                case "--instance-id" -> instanceId = value;
                case "--instance-type" -> instanceType = value;
                case "--parameters" ->
                    parameters = Stream.of(value.split(","))
                            .filter(w -> !w.isBlank())
                            .map(String::strip)
                            .toList();
                case "--ca-cert-file" -> authority = Optional.of(Path.of(value));
                case "--authinfo" -> {
                    return authInfo(value);
                }
                default -> {
                    return Optional.of(new Parsed.Wrong("unrecognized option '" + name + "'", true));
                }
            }
            return Optional.empty();
        }

        /** Reads AuthInfo as in slurm.conf: of its words only where munged listens matters this early. */
        private Optional<Parsed> authInfo(String value) {
            for (String word : value.split(",")) {
                if (word.startsWith("socket=/")) {
                    mungeSocket = word.substring("socket=".length());
                } else if (!word.matches("(ttl|cred_expire)=[0-9]{1,9}|use_client_ids|disable_sssd_ids")) {
                    return refused("--authinfo: " + word + " is not supported by this version of Muster");
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
                case 'M' -> lockMemory = true;
                case 'Z' -> dynamic = true;
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
                        return Optional.of(new Parsed.Wrong(
                                "Invalid option for -n option (nice value), ignored: " + value, false));
                    }
                    nice = Integer.parseInt(value);
                }
                default -> throw new IllegalStateException("option " + option + " takes no value");
            }
            return Optional.empty();
        }

        SlurmdOptions build() {
            return new SlurmdOptions(
                    nodeName,
                    configFile,
                    logFile,
                    stepd,
                    foreground,
                    cleanStart,
                    reportReboot,
                    changeDirectory,
                    verbose,
                    nice,
                    lockMemory,
                    dynamic,
                    dynamicConf,
                    future,
                    confServer,
                    authority,
                    mungeSocket,
                    extra,
                    instanceId,
                    instanceType,
                    parameters,
                    mode);
        }
    }
}
