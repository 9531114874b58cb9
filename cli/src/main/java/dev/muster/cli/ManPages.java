package dev.muster.cli;

import static java.util.Objects.requireNonNull;

import dev.muster.cli.command.GetOpt;
import dev.muster.cli.option.JobOption;
import dev.muster.cli.option.OptionHelp;
import dev.muster.cli.scontrol.ScontrolHelp;
import dev.muster.model.Release;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Writes manual pages and completions of bash and zsh from the option tables of the commands. {@code muster install}
 * runs it.
 */
public final class ManPages {
    private static final String JOB_STATES =
            "PENDING RUNNING SUSPENDED COMPLETING CONFIGURING COMPLETED CANCELLED FAILED TIMEOUT NODE_FAIL PREEMPTED"
                    + " BOOT_FAIL DEADLINE OUT_OF_MEMORY STOPPED all";
    /** Commands that list the values of an option. */
    private static final List<String[]> LISTED = List.of(
            new String[] {"partition", "sinfo -h -a -o %R"},
            new String[] {"nodelist", "sinfo -h -N -o %N"},
            new String[] {"exclude", "sinfo -h -N -o %N"},
            new String[] {"nodes", "sinfo -h -N -o %N"},
            new String[] {"jobs", "squeue -h -o %i"},
            new String[] {"jobid", "squeue -h -o %i"},
            new String[] {"qos", "sacctmgr -n -P show qos format=name"},
            new String[] {"account", "sacctmgr -n -P show account format=account"},
            new String[] {"states", "echo " + JOB_STATES});

    private static final List<String> TAKES_JOBS = List.of(
            "scancel", "sattach", "qdel", "qhold", "qrls", "qrerun", "qalter", "qstat", "bkill", "bjobs", "seff",
            "muster");

    /** @param examples command lines */
    record Page(String summary, String operands, List<String> text, List<String> examples) {}

    private ManPages() {}

    /** @param args the directory that gets {@code man}, {@code bash-completion} and {@code zsh} */
    public static void main(String[] args) throws IOException {
        Path share = Path.of(args[0]);
        Path man = Files.createDirectories(share.resolve("man/man1"));
        Path bash = Files.createDirectories(share.resolve("bash-completion/completions"));
        Path zsh = Files.createDirectories(share.resolve("zsh/site-functions"));
        var pages = pages();
        for (String command : CommandTable.NAMES) {
            Files.writeString(
                    man.resolve(command + ".1"), manual(command, requireNonNull(pages.get(command), command)));
            Files.writeString(bash.resolve(command), bash(command));
            Files.writeString(zsh.resolve("_" + command), zsh(command));
        }
    }

    /**
     * {@code man.txt}: {@code =} a command, {@code -} its summary, {@code @} its operands, {@code +} an example,
     * anything else a paragraph.
     */
    static TreeMap<String, Page> pages() {
        TreeMap<String, Page> out = new TreeMap<>();
        try (InputStream in = ManPages.class.getResourceAsStream("man.txt")) {
            String name = "";
            Page page = new Page("", "", new ArrayList<>(), new ArrayList<>());
            for (String line : new String(in.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
                String remainder = line.length() > 2 ? line.substring(2) : "";
                switch (line.charAt(0)) {
                    case '=' -> {
                        name = remainder;
                        page = new Page("", "", new ArrayList<>(), new ArrayList<>());
                    }
                    case '-' -> page = new Page(remainder, page.operands, page.text, page.examples);
                    case '@' -> page = new Page(page.summary, remainder, page.text, page.examples);
                    case '+' -> page.examples.add(remainder);
                    default -> paragraph(page.text, line);
                }
                out.put(name, page);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out;
    }

    /** Appends a line to the paragraph before it if that paragraph ends within a sentence. */
    private static void paragraph(List<String> text, String line) {
        if (text.isEmpty() || text.getLast().matches(".*[.:!?)]")) {
            text.add(line);
        } else {
            text.set(text.size() - 1, text.getLast() + " " + line);
        }
    }

    private static List<GetOpt.Opt> options(String command) {
        return CommandTable.of(command).orElseThrow().options().stream()
                .filter(o -> !o.name().isEmpty())
                .toList();
    }

    // ---- manual

    private static String named(String command, GetOpt.Opt option) {
        return dev.muster.cli.wrap.Wrapper.sign(CommandTable.of(command).orElseThrow(), option) + option.name();
    }

    /** Between an option and its value. */
    private static String joint(String command, GetOpt.Opt option) {
        return named(command, option).startsWith("--") ? "=" : " ";
    }

    private static String roff(String text) {
        String out = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq");
        return out.startsWith(".") ? "\\&" + out : out;
    }

    static String manual(String command, Page page) {
        OptionHelp texts = new OptionHelp(command);
        StringBuilder out = new StringBuilder(
                ".TH " + command.toUpperCase(java.util.Locale.ROOT) + " 1 \"\" \"Muster\" \"Commands\"\n");
        out.append(".SH NAME\n")
                .append(command)
                .append(" \\- ")
                .append(roff(page.summary))
                .append('\n');
        out.append(".SH SYNOPSIS\n.B ")
                .append(command)
                .append('\n')
                .append(roff(page.operands))
                .append('\n');
        out.append(".SH DESCRIPTION\n");
        page.text.forEach(t -> out.append(roff(t)).append("\n.PP\n"));
        out.append(".SH OPTIONS\n");
        for (GetOpt.Opt option : options(command)) {
            out.append(".TP\n.B ")
                    .append(option.letter() == 0 ? "" : "\\-" + option.letter() + ", ")
                    .append(roff(named(command, option)));
            switch (option.arg()) {
                case NONE -> {}
                case OPTIONAL ->
                    out.append("[=").append(roff(texts.value(option))).append(']');
                case REQUIRED -> out.append(joint(command, option)).append(roff(texts.value(option)));
            }
            out.append('\n').append(roff(texts.of(option).meaning())).append(".\n");
        }
        variables(command, out);
        out.append(".SH EXIT STATUS\n0 if all went well, the exit code of the tasks where the command runs "
                + "some, and another number after an\n"
                + "error, which is told on standard error.\n");
        out.append(".SH EXAMPLES\n");
        page.examples.forEach(e -> out.append(".nf\n").append(roff(e)).append("\n.fi\n"));
        out.append(".SH SEE ALSO\n");
        List<String> others = CommandTable.NAMES.stream()
                .filter(n -> !n.equals(command))
                .map(n -> "\\fB" + n + "\\fR(1)")
                .toList();
        out.append(String.join(", ", others)).append('\n');
        out.append(".PP\nThis is Muster; it answers as Slurm ")
                .append(roff(Release.VERSION))
                .append(" does.\n");
        return out.toString();
    }

    private static void variables(String command, StringBuilder out) {
        char letter = switch (command) {
            case "sbatch" -> 'B';
            case "srun" -> 'R';
            case "salloc" -> 'A';
            default -> 0;
        };
        if (letter == 0) {
            return;
        }
        out.append(".SH ENVIRONMENT\nEach stands for the option beside it, which comes before it.\n");
        for (GetOpt.Opt option : options(command)) {
            for (String variable : JobOption.of(letter, option.name()).variables(letter)) {
                out.append(".TP\n.B ")
                        .append(variable)
                        .append("\n\\-\\-")
                        .append(roff(option.name()))
                        .append('\n');
            }
        }
    }

    // ---- completion

    private static String listed(String command, GetOpt.Opt option) {
        if (option.name().equals("nodes") && List.of("sbatch", "srun", "salloc").contains(command)) {
            // a number of nodes
            return "";
        }
        String name = option.name().equals("partitions")
                        || option.name().equals("state")
                        || option.name().equals("accounts")
                ? option.name().replaceFirst("s$", "")
                : option.name();
        for (String[] entry : LISTED) {
            if (entry[0].equals(name) && option.arg() != GetOpt.Arg.NONE) {
                return entry[1];
            }
        }
        return "";
    }

    static String bash(String command) {
        StringBuilder words = new StringBuilder();
        StringBuilder cases = new StringBuilder();
        for (GetOpt.Opt option : options(command)) {
            words.append(words.isEmpty() ? "" : " ")
                    .append(named(command, option))
                    .append(
                            option.arg() == GetOpt.Arg.REQUIRED
                                    ? joint(command, option).strip()
                                    : "");
            String lister = listed(command, option);
            if (!lister.isEmpty()) {
                cases.append("    ")
                        .append(named(command, option))
                        .append(option.letter() == 0 ? "" : "|-" + option.letter())
                        .append(") COMPREPLY=($(compgen -W \"$(")
                        .append(lister)
                        .append(" 2>/dev/null | sort -u)\" -- \"$cur\")); return ;;\n");
            }
        }
        String words1 = firstWords(command);
        String first = words1.isEmpty()
                ? ""
                : "[ \"$COMP_CWORD\" != 1 ] || { COMPREPLY=($(compgen -W \"" + words1 + "\" -- \"$cur\")); return; }; ";
        String remainder = first + (command.equals("scontrol") ? SCONTROL : operands(command));
        return completion(command, cases.toString(), words.toString(), remainder);
    }

    private static String operands(String command) {
        return TAKES_JOBS.contains(command)
                ? "COMPREPLY=($(compgen -W \"$(squeue -h -o %i 2>/dev/null)\" -- \"$cur\"))"
                : "COMPREPLY=($(compgen -f -- \"$cur\"))";
    }

    /** Words behind a command of scontrol: entities, jobs, and names behind NodeName= and its like. */
    private static final String SCONTROL = """
        case ${COMP_WORDS[1]} in
                show) [ "$COMP_CWORD" != 2 ] || COMPREPLY=($(compgen -W "assoc_mgr bbstat burstbuffer config daemons federation hostlist \
                  hostlistsorted hostnames job licenses node partition reservation slurmd step topology" -- "$cur"))
                  case $prev in
                    node) COMPREPLY=($(compgen -W "$(sinfo -h -N -o %N 2>/dev/null | sort -u)" -- "$cur")) ;;
                    job) COMPREPLY=($(compgen -W "$(squeue -h -o %i 2>/dev/null)" -- "$cur")) ;;
                    partition) COMPREPLY=($(compgen -W "$(sinfo -h -a -o %R 2>/dev/null)" -- "$cur")) ;;
                  esac ;;
                update|create|delete) case ${prev,,} in
                    nodename) COMPREPLY=($(compgen -W "$(sinfo -h -N -o %N 2>/dev/null | sort -u)" -- "$cur")) ;;
                    jobid) COMPREPLY=($(compgen -W "$(squeue -h -o %i 2>/dev/null)" -- "$cur")) ;;
                    partitionname|partition) COMPREPLY=($(compgen -W "$(sinfo -h -a -o %R 2>/dev/null)" -- "$cur")) ;;
                    *) [[ $cur == *=* ]] || { compopt -o nospace
                      COMPREPLY=($(compgen -W "JobId= NodeName= PartitionName= ReservationName= StepId=" -- "$cur")); } ;;
                  esac ;;
                hold|release|requeue|requeuehold|suspend|resume|top|uhold|notify|wait_job)
                  COMPREPLY=($(compgen -W "$(squeue -h -o %i 2>/dev/null)" -- "$cur")) ;;
                reboot|cancel_reboot|power) COMPREPLY=($(compgen -W "$(sinfo -h -N -o %N 2>/dev/null | sort -u)" -- "$cur")) ;;
              esac\
        """;

    /** The words that a command begins with; "" where it has none. */
    private static String firstWords(String command) {
        return switch (command) {
            case "muster" -> "report why plan watch top page";
            case "scontrol" -> ScontrolHelp.words();
            case "sacctmgr" ->
                "add archive clear create delete dump list load modify ping reconfigure remove show shutdown version";
            default -> "";
        };
    }

    private static String completion(String command, String cases, String words, String remainder) {
        return """
            # completion of @NAME@ for bash
            _muster_@FUNCTION@() {
              local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
              [ "$cur" = "=" ] && cur=
              [ "$prev" = "=" ] && prev=${COMP_WORDS[COMP_CWORD-2]}
              case $prev in
            @CASES@    *) ;;
              esac
              case $cur in
                -*) COMPREPLY=($(compgen -W "@WORDS@" -- "$cur")); [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace ;;
                *) @REST@ ;;
              esac
            }
            complete -o default -F _muster_@FUNCTION@ @NAME@
            """.replace("@FUNCTION@", command.replace('.', '_'))
                .replace("@NAME@", command)
                .replace("@CASES@", cases)
                .replace("@WORDS@", words)
                .replace("@REST@", remainder);
    }

    static String zsh(String command) {
        OptionHelp texts = new OptionHelp(command);
        StringBuilder out = new StringBuilder("#compdef " + command + "\n_arguments -s \\\n");
        for (GetOpt.Opt option : options(command)) {
            String meaning = texts.of(option)
                    .meaning()
                    .replace("'", "")
                    .replace("[", "(")
                    .replace("]", ")")
                    .replace(":", " ");
            String lister = listed(command, option);
            String value = switch (option.arg()) {
                case NONE -> "";
                case OPTIONAL -> "::" + texts.value(option).replace(":", " ") + ":";
                case REQUIRED ->
                    ":" + texts.value(option).replace(":", " ") + ":"
                            + (lister.isEmpty() ? "" : "($(" + lister + " 2>/dev/null))");
            };
            String sign;
            if (option.arg() == GetOpt.Arg.NONE || joint(command, option).equals(" ")) {
                sign = "";
            } else {
                sign = "=" + (option.arg() == GetOpt.Arg.OPTIONAL ? "-" : "");
            }

            out.append("  '")
                    .append(named(command, option))
                    .append(sign)
                    .append('[')
                    .append(meaning)
                    .append(']')
                    .append(value.replace("'", ""))
                    .append("' \\\n");
        }
        return out.append("  '*: :")
                .append(TAKES_JOBS.contains(command) ? "($(squeue -h -o %i 2>/dev/null))" : "_files")
                .append("'\n")
                .toString();
    }
}
