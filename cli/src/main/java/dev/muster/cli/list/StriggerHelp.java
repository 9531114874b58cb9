package dev.muster.cli.list;

import dev.muster.cli.command.CommandContext;

/** Prints {@code strigger --help}. */
final class StriggerHelp {
    private static final String TEXT = """
          -d, --down          a node goes DOWN
          -u, --up            a node comes back from DOWN
              --draining      a node is to be drained and has jobs yet
          -D, --drained       a node is DRAINED
          -R, --resume        a node is set to RESUME
          -F, --fail          a node is about to FAIL
          -I, --idle          a node has been IDLE for the time of --offset
          -r, --reconfig      the configuration was read again
          -f, --fini          the job of --jobid has ended
          -t, --time          the job of --jobid reaches its time limit

          -i, --id=#          number of a trigger
          -j, --jobid=#       number of a job
          -n, --node[=host]   nodes; all of them without a value
          -o, --offset=#      seconds after the event, negative before it
          -p, --program=path  what to run, with its arguments
              --flags=perm    the trigger stays when it has fired
              --user=name     triggers of that user, by name or number

          -N, --noheader      no heading
          -Q, --quiet         no errors that do not matter
          -v, --verbose       print detailed event logging
          -M, --cluster=name  cluster to ask
          -V, --version       print the version

          -b, -A              slurmctld has been started and goes on (resumed_control,
                              resumed_operation of primary_slurmctld)
          -e, --primary_slurmctld_acct_buffer_full   slurmdbd is too far behind
          -g, -G              slurmdbd does not answer, answers again
          -h, -H              its database fails, is there again
              --burst_buffer  a burst buffer's script has failed

        With several SlurmctldHost only:
          -a, -B              the primary slurmctld, a backup fails
          -c, -C              a backup is there again, takes control

        Help options:
              --help          show this help message
              --usage         display brief usage message\
        """;

    private StriggerHelp() {}

    static void print(CommandContext context) {
        context.out().println(TEXT);
    }
}
