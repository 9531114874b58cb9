package dev.muster.cli.acct;

import dev.muster.cli.command.SlurmException;
import dev.muster.model.SlurmErrno;

/** Turns errors of slurmdbd into sacctmgr's sentences. */
final class DbdErrors {
    private DbdErrors() {}

    static String line(SlurmException e) {
        return e.errno() == SlurmErrno.CTLD_CONNECT.number()
                ? "sacctmgr: error: Sending PersistInit msg: Connection refused"
                : " Error with request: " + e.getMessage();
    }
}
