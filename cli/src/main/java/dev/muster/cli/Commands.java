package dev.muster.cli;

import java.util.List;
import java.util.Optional;

/** The commands by name. */
final class Commands {
    /** All that there are, for what goes through them. */
    static final List<String> NAMES = List.of("sacct", "sacctmgr", "salloc", "sattach", "sbatch", "sbcast", "scancel", "scontrol", "scrontab",
            "sdiag", "sinfo", "sprio", "squeue", "srun", "sshare", "sstat", "strigger", "swait");

    private Commands() {}

    static Optional<Command> of(String name) {
        return switch (name) {
            case "sbatch" -> Optional.of(new Sbatch());
            case "sattach" -> Optional.of(new Sattach());
            case "sbcast" -> Optional.of(new Sbcast());
            case "scancel" -> Optional.of(new Scancel());
            case "scontrol" -> Optional.of(new Scontrol());
            case "sinfo" -> Optional.of(new Sinfo());
            case "srun" -> Optional.of(new Srun());
            case "sacct" -> Optional.of(new Sacct());
            case "salloc" -> Optional.of(new Salloc());
            case "squeue" -> Optional.of(new Squeue());
            case "sacctmgr" -> Optional.of(new dev.muster.cli.acct.Sacctmgr());
            case "sdiag" -> Optional.of(new Sdiag());
            case "sstat" -> Optional.of(new Sstat());
            case "sprio" -> Optional.of(new Sprio());
            case "sshare" -> Optional.of(new Sshare());
            case "swait" -> Optional.of(new Swait());
            case "strigger" -> Optional.of(new Strigger());
            case "scrontab" -> Optional.of(new Scrontab());
            case "sreport" -> Optional.of(new Absent());
            default -> Optional.empty();
        };
    }

    /** Runs one command to its exit code, whatever happens in it. */
    static int run(CommandContext c) {
        Optional<Command> command = of(c.name());
        if (command.isEmpty()) {
            c.err().println(c.name() + ": not a command of this installation");
            c.err().flush();
            return 127;
        }
        int rc;
        try {
            rc = command.get().run(c);
        } catch (UsageException e) {
            c.out().flush();
            for (String line : e.lines()) {
                c.err().println(line);
            }
            rc = e.exitCode();
        } catch (SlurmException e) {
            c.error(e.getMessage());
            rc = 1;
        }
        c.out().flush();
        c.err().flush();
        return rc;
    }
}
