package dev.muster.config.sister;

import dev.muster.config.key.ConfigError;
import dev.muster.config.key.KeyTable;
import dev.muster.config.key.Values;
import java.io.File;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * oci.conf: how containers are run on a node. Patterns are command lines for a shell, with what stands behind {@code %}
 * still to be filled in; "" where there is none.
 *
 * @param isThere without the file {@code --container} is only noted
 * @param spool ContainerPath, a pattern; "" for a directory below SlurmdSpoolDir
 * @param mountSpool MountSpoolDir, a pattern
 * @param run RunTimeRun; where it is empty, create and start
 * @param environment whether and how the environment is written into a file as well
 * @param disabledHooks kinds of hooks that are taken out of config.json
 * @param ignoreConfig IgnoreFileConfigJson: the runtime needs no config.json
 * @param keepFiles DisableCleanup
 * @param without keys of the file that have no effect
 */
public record OciConf(
        boolean isThere,
        String spool,
        String mountSpool,
        String create,
        String start,
        String run,
        String query,
        String kill,
        String delete,
        EnvFile environment,
        Optional<Pattern> excluded,
        Optional<Pattern> runtimeExcluded,
        List<String> disabledHooks,
        boolean ignoreConfig,
        boolean keepFiles,
        List<String> without) {

    /** CreateEnvFile. */
    public enum EnvFile {
        DISABLED,
        NEWLINE,
        NULL
    }

    private static final KeyTable TABLE = new KeyTable("""
        ContainerPath text -
        CreateEnvFile text disabled
        DebugFlags text -
        DisableCleanup yesno no
        DisableHooks text -
        EnvExclude text -
        FileDebug text -
        IgnoreFileConfigJson yesno no
        MountSpoolDir text -
        RunTimeCreate text -
        RunTimeDelete text -
        RunTimeEnvExclude text -
        RunTimeKill text -
        RunTimeQuery text -
        RunTimeRun text -
        RunTimeStart text -
        SrunArgs text -
        SrunPath text -
        StdIODebug text -
        SyslogDebug text -\
        """, "");
    /** Keys of the container's own log, which is that of slurmstepd here, and of scrun. */
    private static final List<String> INERT =
            List.of("DebugFlags", "FileDebug", "StdIODebug", "SyslogDebug", "SrunArgs", "SrunPath");

    private static final String ANYWHERE = "%bejmnrstuU@";
    public static final OciConf NONE = new OciConf(
            false,
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            "",
            EnvFile.DISABLED,
            Optional.empty(),
            Optional.empty(),
            List.of(),
            false,
            false,
            List.of());

    /** Reads the file; mistakes are added to {@code errors}. */
    public static OciConf read(File file, List<ConfigError> errors) {
        if (!file.exists()) {
            return NONE;
        }
        Set<String> names = new HashSet<>();
        Map<String, String> read = TABLE.read(file, errors, names);
        List<String> complaints = new ArrayList<>();
        OciConf conf = new OciConf(
                true,
                Values.of(read, "containerpath"),
                Values.of(read, "mountspooldir"),
                Values.of(read, "runtimecreate"),
                Values.of(read, "runtimestart"),
                Values.of(read, "runtimerun"),
                Values.of(read, "runtimequery"),
                Values.of(read, "runtimekill"),
                Values.of(read, "runtimedelete"),
                envFile(Values.of(read, "createenvfile"), complaints),
                regex("EnvExclude", Values.of(read, "envexclude"), complaints),
                regex("RunTimeEnvExclude", Values.of(read, "runtimeenvexclude"), complaints),
                Values.of(read, "disablehooks").isEmpty()
                        ? List.of()
                        : List.of(Values.of(read, "disablehooks").split(" *, *")),
                Values.of(read, "ignorefileconfigjson").equals("yes"),
                Values.of(read, "disablecleanup").equals("yes"),
                INERT.stream()
                        .filter(k -> names.contains(k.toLowerCase(Locale.ROOT)))
                        .toList());
        conf.check(complaints);
        complaints.forEach(c -> errors.add(new ConfigError(file.getPath(), 0, c, "")));
        return conf;
    }

    private void check(List<String> complaints) {
        String[][] patterns = {
            {"ContainerPath", spool},
            {"MountSpoolDir", mountSpool},
            {"RunTimeCreate", create},
            {"RunTimeStart", start},
            {"RunTimeRun", run},
            {"RunTimeQuery", query},
            {"RunTimeKill", kill},
            {"RunTimeDelete", delete}
        };
        for (String[] p : patterns) {
            String known = p[0].equals("RunTimeKill") || p[0].equals("RunTimeDelete") ? ANYWHERE + "p" : ANYWHERE;
            for (int i = p[1].indexOf('%'); i >= 0; i = p[1].indexOf('%', i + 2)) {
                char c = i + 1 < p[1].length() ? p[1].charAt(i + 1) : 0;
                if (c == 0 || known.indexOf(c) < 0) {
                    complaints.add(p[0] + ": unexpected replacement character: " + (c == 0 ? "none" : c));
                }
            }
        }
        if (run.isEmpty() && (create.isEmpty() || start.isEmpty())) {
            complaints.add("oci.conf needs RunTimeRun, or RunTimeCreate and RunTimeStart");
        }
        if (run.isEmpty() && query.isEmpty() && !create.isEmpty()) {
            complaints.add("RunTimeCreate needs RunTimeQuery");
        }
    }

    private static EnvFile envFile(String value, List<String> complaints) {
        return switch (value.toLowerCase(Locale.ROOT)) {
            case "null", "true", "yes", "1" -> EnvFile.NULL;
            case "newline" -> EnvFile.NEWLINE;
            case "disabled", "false", "no", "0" -> EnvFile.DISABLED;
            default -> {
                complaints.add("Invalid value of CreateEnvFile: " + value);
                yield EnvFile.DISABLED;
            }
        };
    }

    private static Optional<Pattern> regex(String key, String text, List<String> complaints) {
        try {
            return text.isEmpty() ? Optional.empty() : Optional.of(Pattern.compile(text));
        } catch (PatternSyntaxException e) {
            complaints.add(key + ": " + e.getDescription());
            return Optional.empty();
        }
    }
}
