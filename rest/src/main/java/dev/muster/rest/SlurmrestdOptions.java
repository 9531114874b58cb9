package dev.muster.rest;

import dev.muster.daemon.DaemonLog;
import dev.muster.model.format.LogLevels;
import dev.muster.rest.contract.Contract;
import dev.muster.rest.contract.Forms;
import dev.muster.rest.contract.OpenApiPlugins;
import dev.muster.rest.contract.Words;
import dev.muster.rest.http.StartupException;
import dev.muster.rest.operation.Auth;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The command line, over the environment's SLURMRESTD_ settings.
 *
 * @param listen {@code host:port} and {@code unix:/path}; none means standard input and output
 * @param file slurm.conf, "" to be looked for
 * @param printed what was asked for instead of serving; "" otherwise
 * @param document the OpenAPI document is wanted and nothing else
 * @param notes lines for the log about flags of data parsers that change nothing
 */
public record SlurmrestdOptions(
        List<String> listen,
        Served served,
        String file,
        RunAs runAs,
        Limits limits,
        Logging logging,
        boolean checked,
        String printed,
        boolean document,
        List<String> notes) {
    /**
     * Parts of the API that slurmrestd serves.
     *
     * @param tags slurm, slurmdb, util
     * @param versions of the data parser
     * @param page the page for browsers is served at /
     * @param forms how answers are laid out
     */
    public record Served(Set<String> auth, Set<String> tags, Set<Integer> versions, boolean page, Forms forms) {}

    /** User and group to become, "" to stay. */
    public record RunAs(String user, String group) {}

    /** Requests that are worked on at a time, and connections. */
    public record Limits(int threads, int connections) {}

    /** Levels of what is logged to standard error, and of what also goes to syslog. */
    public record Logging(int level, int syslogLevel) {}

    private static final int THREADS = 20;
    private static final int CONNECTIONS = 124;
    private static final int COUNT_MAX = 65_535;
    private static final List<String> SECURITY =
            List.of("disable_unshare_files", "disable_unshare_sysv", "disable_user_check", "become_user");

    static final String USAGE = """
        Usage: slurmrestd [OPTIONS] [[https://]host:port | unix:/path/to/socket]...
        \t-a <authentication types>
        \t\tKinds of authentication to accept, with commas: rest_auth/jwt, rest_auth/local; "list" shows them.
        \t-d <data parsers>
        \t\tVersions of the data parser to serve, with commas: v0.0.42 to v0.0.45; "list" shows them.
        \t-f file
        \t\tConfiguration of the cluster (slurm.conf).
        \t-g <group>
        \t\tBecome this group before requests are read.
        \t-h
        \t\tPrint this help message.
        \t--generate-openapi-spec
        \t\tPrint the OpenAPI document of what would be served.
        \t--no-page
        \t\tServe programs only: no page for browsers.
        \t--max-connections <count>
        \t\tConnections that are served at a time.
        \t-s <OpenAPI plugins>
        \t\tParts to serve, with commas: slurmctld, slurmdbd, util; "list" shows them.
        \t-t <thread count>
        \t\tRequests that are worked on at a time.
        \t-u <user>
        \t\tBecome this user before requests are read.
        \t-v
        \t\tVerbose mode. Multiple -v's increase verbosity.
        \t-V
        \t\tPrint version information and exit.
        """;

    /** @param args behind the program's name */
    public static SlurmrestdOptions read(List<String> args, Map<String, String> env) throws StartupException {
        Reader r = new Reader();
        r.auth = env.getOrDefault("SLURMRESTD_AUTH_TYPES", "");
        r.parts = env.getOrDefault("SLURMRESTD_OPENAPI_PLUGINS", "");
        r.parsers = env.getOrDefault("SLURMRESTD_DATA_PARSER_PLUGINS", "");
        r.file = env.getOrDefault("SLURM_CONF", "");
        r.connections = count(
                env.getOrDefault("SLURMRESTD_MAX_CONNECTIONS", "" + CONNECTIONS), 1, "SLURMRESTD_MAX_CONNECTIONS");
        r.levels(env);
        List<String> security = Words.of(env.getOrDefault("SLURMRESTD_SECURITY", ""));
        for (String word : security) {
            if (!SECURITY.contains(word) || word.equals("become_user")) {
                throw new StartupException("Unexpected value in SLURMRESTD_SECURITY=" + word);
            }
        }
        r.all(args);
        if (r.listen.isEmpty()) {
            r.listen.addAll(Words.of(env.getOrDefault("SLURMRESTD_LISTEN", "")));
        }
        return r.options(!security.contains("disable_user_check"), Forms.read(env));
    }

    private static int count(String text, int minimum, String name) throws StartupException {
        if (!text.matches("[0-9]{1,5}") || Integer.parseInt(text) < minimum || Integer.parseInt(text) > COUNT_MAX) {
            throw new StartupException("Invalid value for " + name + ": " + text);
        }
        return Integer.parseInt(text);
    }

    private static final class Reader {
        private final List<String> listen = new ArrayList<>();
        private String auth = "";
        private String parts = "";
        private String parsers = "";
        private String file = "";
        private String user = "";
        private String group = "";
        private String printed = "";
        private boolean document;
        private boolean page = true;
        private int threads = THREADS;
        private int connections = CONNECTIONS;
        private int verbose;
        private int level = DaemonLog.INFO;
        private int syslogLevel;
        private List<String> operands = List.of();

        /**
         * Sets levels by the most particular variable; where one place has a level of its own, the others' variables
         * count no more.
         */
        void levels(Map<String, String> env) throws StartupException {
            String all = "SLURMRESTD_DEBUG";
            String levelVariable = all + "_STDERR";
            String syslog = all + "_SYSLOG";
            String variable;
            if (env.containsKey(levelVariable) || env.containsKey(syslog)) {
                variable = levelVariable;
            } else {
                variable = env.containsKey(all) ? all : "SLURM_DEBUG";
            }
            level = level(env, variable, level);
            syslogLevel = level(env, syslog, 0);
        }

        private static int level(Map<String, String> env, String variable, int otherwise) throws StartupException {
            int level = env.containsKey(variable) ? LogLevels.of(env.get(variable)) : otherwise;
            if (level < 0) {
                throw new StartupException("Invalid value for " + variable + ": " + env.get(variable));
            }
            return level;
        }

        void all(List<String> args) throws StartupException {
            operands = new ArrayList<>(args);
            while (!operands.isEmpty()) {
                String a = operands.removeFirst();
                if (a.startsWith("--")) {
                    longOption(a);
                } else if (a.startsWith("-") && a.length() > 1) {
                    letters(a);
                } else {
                    listen.add(a);
                }
            }
        }

        private void longOption(String argument) throws StartupException {
            int equals = argument.indexOf('=');
            String name = equals < 0 ? argument : argument.substring(0, equals);
            switch (name) {
                case "--help" -> printed = USAGE;
                case "--version" -> printed = dev.muster.model.Release.LINE + "\n";
                case "--generate-openapi-spec" -> document = true;
                case "--no-page" -> page = false;
                case "--max-connections" ->
                    connections = count(equals < 0 ? value(name) : argument.substring(equals + 1), 1, name);
                default -> throw new StartupException("unrecognized option '" + argument + "'");
            }
        }

        private String value(String option) throws StartupException {
            if (operands.isEmpty()) {
                throw new StartupException("option requires an argument -- '" + option + "'");
            }
            return operands.removeFirst();
        }

        private void letters(String argument) throws StartupException {
            for (int i = 1; i < argument.length(); i++) {
                char c = argument.charAt(i);
                switch (c) {
                    case 'h' -> printed = USAGE;
                    case 'V' -> printed = dev.muster.model.Release.LINE + "\n";
                    case 'v' -> verbose++;
                    default -> {
                        if ("adfgstu".indexOf(c) < 0) {
                            throw new StartupException("invalid option -- '" + c + "'");
                        }
                        valued(c, i + 1 < argument.length() ? argument.substring(i + 1) : value(String.valueOf(c)));
                        return;
                    }
                }
            }
        }

        private void valued(char option, String value) throws StartupException {
            switch (option) {
                case 'a' -> auth = value;
                case 'd' -> parsers = value;
                case 'f' -> file = value;
                case 'g' -> group = value;
                case 's' -> parts = value;
                case 'u' -> user = value;
                default -> {
                    threads = count(value, 0, "-t");
                    if (threads < 2) {
                        throw new StartupException("Request at least 2 threads for processing");
                    }
                }
            }
        }

        SlurmrestdOptions options(boolean checked, Forms forms) throws StartupException {
            List<String> notes = new ArrayList<>();
            Set<String> kinds = authentication();
            Set<String> tags = plugins();
            Set<Integer> versions = parserVersions(notes);
            return new SlurmrestdOptions(
                    List.copyOf(listen),
                    new Served(kinds, tags, versions, page, forms),
                    file,
                    new RunAs(user, group),
                    new Limits(threads, connections),
                    new Logging(level + verbose, syslogLevel > 0 ? syslogLevel + verbose : 0),
                    checked,
                    printed,
                    document,
                    List.copyOf(notes));
        }

        private Set<String> authentication() throws StartupException {
            Set<String> kinds = new TreeSet<>();
            if (auth.equals("list")) {
                printed = listed("REST authentication", List.of(Auth.LOCAL, Auth.JWT));
            } else {
                for (String word : auth.isEmpty() ? List.of(Auth.LOCAL, Auth.JWT) : Words.of(auth)) {
                    String whole = word.startsWith("rest_auth/") ? word : "rest_auth/" + word;
                    found(List.of(Auth.LOCAL, Auth.JWT).contains(whole), whole);
                    kinds.add(whole);
                }
            }
            return kinds;
        }

        private Set<String> plugins() throws StartupException {
            Set<String> tags = new TreeSet<>();
            if (parts.equals("list")) {
                printed = listed(
                        "OpenAPI",
                        OpenApiPlugins.TAGS.keySet().stream()
                                .map(p -> "openapi/" + p)
                                .toList());
            } else {
                for (String word : parts.isEmpty() ? OpenApiPlugins.TAGS.keySet() : Words.of(parts)) {
                    String bare = word.replace("openapi/", "");
                    found(OpenApiPlugins.TAGS.containsKey(bare), "openapi/" + bare);
                    tags.add(OpenApiPlugins.TAGS.get(bare));
                }
            }
            return tags;
        }

        private Set<Integer> parserVersions(List<String> notes) throws StartupException {
            Set<Integer> versions = new TreeSet<>();
            if (parsers.equals("list")) {
                printed = listed(
                        "data_parser",
                        Contract.VERSIONS.stream()
                                .map(v -> "data_parser/v0.0." + v)
                                .toList());
            } else {
                for (String word : parsers.isEmpty()
                        ? Contract.VERSIONS.stream().map(v -> "v0.0." + v).toList()
                        : Words.of(parsers)) {
                    String[] parser = word.replace("data_parser/", "").split("\\+");
                    String plugin = "data_parser/" + parser[0];
                    Optional<Integer> version = Contract.VERSIONS.stream()
                            .filter(v -> parser[0].equals("v0.0." + v))
                            .findFirst();
                    found(version.isPresent(), plugin);
                    versions.add(version.get());
                    for (String flag : List.of(parser).subList(1, parser.length)) {
                        parserFlag(plugin, flag, notes);
                    }
                }
            }
            return versions;
        }

        /**
         * A flag of a data parser, {@code v0.0.45+fast}. Requests are always checked in full, which {@code fast} only
         * allows to leave out; flags that would change what is written are refused.
         */
        private static void parserFlag(String plugin, String flag, List<String> notes) throws StartupException {
            switch (flag.toLowerCase(Locale.ROOT)) {
                case "fast" -> notes.add(plugin + " flag fast: requests are checked in full all the same");
                case "prefer_refs" -> notes.add(plugin + " ignoring default flag FLAG_PREFER_REFS");
                case "minimize_refs", "inline_enums", "complex" ->
                    throw new StartupException(
                            plugin + " flag " + flag + " is not supported by this version of Muster");
                default -> notes.add("warning: " + plugin + " ignoring unknown flag " + flag);
            }
        }

        private static void found(boolean there, String plugin) throws StartupException {
            if (!there) {
                throw new StartupException("Unable to find plugin: " + plugin);
            }
        }

        private static String listed(String kind, List<String> names) {
            StringBuilder out = new StringBuilder("slurmrestd: Possible " + kind + " plugins:\n");
            names.forEach(n -> out.append("slurmrestd: ").append(n).append('\n'));
            return out.toString();
        }
    }
}
