package dev.muster.cli;

import dev.muster.cli.acct.Sacctmgr;
import dev.muster.cli.command.Command;
import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.SlurmException;
import dev.muster.cli.command.UsageException;
import dev.muster.cli.list.Scancel;
import dev.muster.cli.list.Sdiag;
import dev.muster.cli.list.Sinfo;
import dev.muster.cli.list.Sprio;
import dev.muster.cli.list.Squeue;
import dev.muster.cli.list.Sshare;
import dev.muster.cli.list.Strigger;
import dev.muster.cli.list.Sview;
import dev.muster.cli.list.Swait;
import dev.muster.cli.option.Clusters;
import dev.muster.cli.profile.Sh5util;
import dev.muster.cli.report.Sreport;
import dev.muster.cli.sacct.Sacct;
import dev.muster.cli.sacct.Sstat;
import dev.muster.cli.scontrol.Scontrol;
import dev.muster.cli.step.Sattach;
import dev.muster.cli.step.Sbcast;
import dev.muster.cli.step.Srun;
import dev.muster.cli.submit.Salloc;
import dev.muster.cli.submit.Sbatch;
import dev.muster.cli.submit.Scrontab;
import dev.muster.cli.wrap.Bsub;
import dev.muster.cli.wrap.LsfCommand;
import dev.muster.cli.wrap.Mpiexec;
import dev.muster.cli.wrap.MusterCommand;
import dev.muster.cli.wrap.PbsJob;
import dev.muster.cli.wrap.PbsNodes;
import dev.muster.cli.wrap.Qstat;
import dev.muster.cli.wrap.Qsub;
import dev.muster.cli.wrap.Seff;
import dev.muster.cli.wrap.Sgather;
import dev.muster.cli.wrap.Sjstat;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Finds and runs the commands by name. */
public final class CommandTable {
    /** Names of all commands. */
    static final List<String> NAMES = List.of(
            "bjobs",
            "bkill",
            "bsub",
            "lsid",
            "mpiexec.slurm",
            "muster",
            "pbsnodes",
            "qalter",
            "qdel",
            "qhold",
            "qrerun",
            "qrls",
            "qstat",
            "qsub",
            "sacct",
            "sacctmgr",
            "salloc",
            "sattach",
            "sbatch",
            "sbcast",
            "scancel",
            "scontrol",
            "scrontab",
            "sdiag",
            "seff",
            "sgather",
            "sh5util",
            "sinfo",
            "sjstat",
            "sprio",
            "squeue",
            "sreport",
            "srun",
            "sshare",
            "sstat",
            "strigger",
            "sview",
            "swait");

    private CommandTable() {}

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
            case "sacctmgr" -> Optional.of(new Sacctmgr());
            case "sdiag" -> Optional.of(new Sdiag());
            case "sstat" -> Optional.of(new Sstat());
            case "sprio" -> Optional.of(new Sprio());
            case "sshare" -> Optional.of(new Sshare());
            case "sview" -> Optional.of(new Sview());
            case "swait" -> Optional.of(new Swait());
            case "strigger" -> Optional.of(new Strigger());
            case "scrontab" -> Optional.of(new Scrontab());
            case "sgather" -> Optional.of(new Sgather(CommandTable::run));
            case "sh5util" -> Optional.of(new Sh5util());
            case "sjstat" -> Optional.of(new Sjstat(CommandTable::run));
            case "muster" -> Optional.of(new MusterCommand(CommandTable::run));
            case "seff" -> Optional.of(new Seff(CommandTable::run));
            case "qsub" -> Optional.of(new Qsub(CommandTable::run));
            case "qstat" -> Optional.of(new Qstat(CommandTable::run));
            case "qdel", "qhold", "qrls", "qrerun", "qalter" -> Optional.of(PbsJob.of(CommandTable::run, name));
            case "pbsnodes" -> Optional.of(new PbsNodes(CommandTable::run));
            case "mpiexec.slurm" -> Optional.of(new Mpiexec(CommandTable::run));
            case "bsub" -> Optional.of(new Bsub(CommandTable::run));
            case "bjobs", "bkill", "lsid" -> Optional.of(LsfCommand.of(CommandTable::run, name));
            case "sreport" -> Optional.of(new Sreport());
            default -> Optional.empty();
        };
    }

    /** A configuration with an unknown SlurmUser belongs to another host. Help and version need no configuration. */
    private static void knowSlurmUser(CommandContext context) throws UsageException {
        String user = context.host().settings().slurmUser;
        if (!user.equals("root")
                && context.args().stream().noneMatch(NEEDS_NO_CONFIGURATION::contains)
                && context.host().userId(user) < 0) {
            throw new UsageException(
                    1,
                    List.of(
                            context.name() + ": error: Invalid user for SlurmUser " + user + ", ignored",
                            context.name() + ": fatal: Unable to process configuration file"));
        }
    }

    private static final Set<String> NEEDS_NO_CONFIGURATION =
            Set.of("--help", "--usage", "--version", "-V", "--helpformat");

    /** Runs one command to its exit code, whatever happens in it. */
    public static int run(CommandContext context) {
        Optional<Command> command = of(context.name());
        if (command.isEmpty()) {
            context.err().println(context.name() + ": not a command of this installation");
            context.err().flush();
            return 127;
        }
        int rc;
        try {
            knowSlurmUser(context);
            Optional<Integer> spread = Clusters.runForEach(context, command.get());
            rc = spread.isPresent() ? spread.get() : command.get().run(context);
        } catch (UsageException e) {
            context.out().flush();
            for (String line : e.lines()) {
                context.err().println(line);
            }
            rc = e.exitCode();
        } catch (SlurmException e) {
            context.error(e.getMessage());
            rc = 1;
        }
        context.out().flush();
        context.err().flush();
        return rc;
    }
}
