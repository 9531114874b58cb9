package dev.muster.cli.scontrol;

import dev.muster.cli.command.CommandContext;
import dev.muster.cli.command.GetOpt;
import dev.muster.cli.option.OptionHelp;
import java.util.List;

/** Prints {@code scontrol --help}: options, then commands. */
public final class ScontrolHelp {
    private static final String[][] COMMANDS = {
        {"all", "show hidden partitions too"},
        {"cancel_reboot <nodelist>", "take a pending reboot back"},
        {"completing", "jobs that are still being cleaned up"},
        {"create <SPECIFICATIONS>", "make a partition or reservation"},
        {"delete <SPECIFICATIONS>", "remove a partition or reservation"},
        {"details", "show more of each record"},
        {"errnumstr <number>", "sentence of an error number"},
        {"exit, quit", "leave scontrol"},
        {"getent [<node>]", "users and groups of the steps on this node"},
        {"help", "this text"},
        {"fsdampeningfactor <factor>", "set FairShareDampeningFactor until slurm.conf is read again"},
        {"hide", "do not show hidden partitions"},
        {"hold <job_list>", "keep jobs from starting"},
        {"listjobs [<node>]", "jobs with processes on this node"},
        {"listpids [<job_id[.step]>]", "processes of jobs on this node"},
        {"liststeps [<node>]", "steps with processes on this node"},
        {"notify <job_id> <text>", "send a line to a job"},
        {"oneliner", "one line for each record"},
        {"pidinfo <pid>", "the job a process of this node belongs to"},
        {"ping", "whether the controller answers"},
        {"power {up|down} [asap|force] <nodelist> [action=<name>]", "start or stop nodes"},
        {"quiet", "errors only"},
        {"reboot [ASAP|FORCE] <nodelist> [action=<name>]", "reboot nodes"},
        {"reconfigure", "read the configuration again"},
        {"release <job_list>", "let held jobs start"},
        {"requeue <job_list>", "run batch jobs again"},
        {"requeuehold <job_list>", "put batch jobs back and hold them"},
        {"resume <job_list>", "let suspended jobs run on"},
        {"schedloglevel {0|1}", "whether SlurmSchedLogFile is written"},
        {"setdebug <level> [nodes=<nodelist>]", "how much slurmctld, or slurmd on nodes, logs"},
        {"show <ENTITY> [<ID>]", "records of an entity, all or one"},
        {"shutdown [slurmctld]", "end all daemons, or the controller alone"},
        {"suspend <job_list>", "stop running jobs"},
        {"top <job_list>", "put jobs first among those of their user"},
        {"uhold <job_list>", "hold jobs as their user would"},
        {"update <SPECIFICATIONS>", "change a job, node, partition, reservation or step"},
        {"verbose", "say more"},
        {"version", "version of Slurm this stands for"},
        {"wait_job <job_id>", "wait until the nodes of a job are ready"},
        {"write batch_script <job_id> [<file>]", "the script of a job into a file"},
        {"write config [<file>]", "the configuration in force into a file"},
    };

    private ScontrolHelp() {}

    /** The commands alone, for completion. */
    public static String words() {
        StringBuilder out = new StringBuilder();
        for (String[] row : COMMANDS) {
            out.append(out.isEmpty() ? "" : " ")
                    .append(row[0].replaceFirst("(?<!,) .*", "").replace(",", ""));
        }
        return out.toString();
    }

    static void print(CommandContext context, List<GetOpt.Opt> options) {
        OptionHelp.help(context, options, "[<COMMAND>]");
        context.out().println("\nWithout a command, commands are read line by line.\n\nValid <COMMAND> values are:");
        for (String[] row : COMMANDS) {
            context.out().println("  " + row[0] + " ".repeat(Math.max(2, 38 - row[0].length())) + row[1]);
        }
        context.out()
                .println("\n<ENTITY> may be config, daemons, hostlist, hostlistsorted, hostnames, job, "
                        + "licenses, node, partition,\n"
                        + "reservation, slurmd, step, topoconf or topology. <SPECIFICATIONS> are Key=value "
                        + "pairs as show prints them.");
    }
}
