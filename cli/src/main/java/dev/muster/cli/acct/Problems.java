package dev.muster.cli.acct;

import dev.muster.cli.SlurmException;

/** Why slurmdbd did not answer as hoped. */
final class Problems {
    private Problems() {}

    static String line(SlurmException e) {
        return e.errno() == 1800 ? "sacctmgr: error: Sending PersistInit msg: Connection refused" : " Error with request: " + e.getMessage();
    }
}
