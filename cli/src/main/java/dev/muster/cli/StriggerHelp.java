package dev.muster.cli;

/** What {@code strigger --help} says of each option. */
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

            Not supported by this version: --burst_buffer, --front_end, and the events
            of slurmctld, slurmdbd and the database (-a -A -b -B -c -C -e -g -G -h -H).

            Help options:
                  --help          show this help message
                  --usage         display brief usage message""";

    private StriggerHelp() {}

    static void print(CommandContext c) {
        c.out().println(TEXT);
    }
}
