package dev.muster.cli;

/** {@code --json} and {@code --yaml} of the commands that list things. */
final class JobsJson {
    private JobsJson() {}

    static int print(CommandContext c, Squeue.Wanted w) throws UsageException {
        throw c.bad(1, "--" + w.json + " is not supported by this version");
    }
}
