package dev.muster.controller;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.controller.accounting.DbdAccounting;
import dev.muster.controller.config.ConfigBridge;
import dev.muster.controller.config.ConfigService;
import dev.muster.controller.config.ConfigWarnings;
import dev.muster.controller.config.ReconfigureCheck;
import dev.muster.controller.edge.GroupLookup;
import dev.muster.controller.edge.SubmitFilter;
import dev.muster.core.command.Decision;
import dev.muster.model.format.ErrorSentence;
import dev.muster.model.node.NodeMessages;
import java.io.File;
import java.io.IOException;
import java.util.List;

/** Puts slurm.conf in force, at start and when it is read again. */
final class Reconfiguration {
    private final ControllerEnvironment environment;
    private final StateStore store;
    private final CoreRuntime runtime;
    private final SubmitFilter filter;
    private final GroupLookup groups;
    private final ConfigService configService;

    Reconfiguration(
            ControllerEnvironment environment,
            StateStore store,
            CoreRuntime runtime,
            SubmitFilter filter,
            GroupLookup groups,
            ConfigService configService) {
        this.environment = environment;
        this.store = store;
        this.runtime = runtime;
        this.filter = filter;
        this.groups = groups;
        this.configService = configService;
    }

    /** @throws IOException with the sentence about what is wrong */
    void apply(SlurmConf c) throws IOException {
        if (c.has(Key.SLURMCTLD_PARAMETERS, "enable_stepmgr") && !ConfigBridge.externSteps(c)) {
            throw new IOException("SlurmctldParameters=enable_stepmgr needs PrologFlags=Contain");
        }
        for (Key key : List.of(Key.PROLOG_SLURMCTLD, Key.EPILOG_SLURMCTLD)) {
            for (String program : c.list(key)) {
                if (!new File(program).canExecute()) {
                    throw new IOException(key.slurmName() + "=" + program + " cannot be executed");
                }
            }
        }
        Decision decision = runtime.thread().execute(ConfigBridge.command(c, environment.slurmUid(c)), -1);
        if (decision instanceof Decision.Rejected r) {
            throw new IOException(r.sentence());
        }
        runtime.links().dropUnknown(runtime.thread().durable());
        long updateS = c.number(Key.GROUP_UPDATE_TIME);
        boolean forced = c.number(Key.GROUP_UPDATE_FORCE) != 0;
        environment.identities().groups().update(updateS, forced);
        groups.update(updateS, forced);
        configService.take(c);
        String wrong = filter.configure(c);
        if (!wrong.isEmpty()) {
            throw new IOException("job_submit/lua: " + wrong);
        }
        wrong = runtime.buffers().configure(c);
        if (!wrong.isEmpty()) {
            throw new IOException(wrong);
        }
        ConfigWarnings.tell(c, runtime.thread().durable(), environment.log());
    }

    /** Reads the file again. A bad file changes nothing. Returns what is wrong with it, "" if nothing is. */
    synchronized String reread() {
        return switch (environment.readConf()) {
            case SlurmConf.Parsed.Invalid bad -> refused(bad.errors());
            case SlurmConf.Parsed.Ok ok -> replace(ok.conf());
        };
    }

    private String replace(SlurmConf read) {
        List<ConfigError> wrong =
                ReconfigureCheck.of(read, environment.conf(), runtime.thread().durable());
        if (!wrong.isEmpty()) {
            return refused(wrong);
        }
        try {
            apply(read);
        } catch (IOException e) {
            return ErrorSentence.of(e);
        }
        environment.replaceConf(read);
        if (store.accounting() instanceof DbdAccounting dbd) {
            dbd.reconfigured();
        }
        environment.configureLogs();
        runtime.links().broadcast(new NodeMessages.ReadConfig());
        environment.log().info("reconfigured");
        return "";
    }

    /** Logs errors, and returns the first of them. */
    private String refused(List<ConfigError> errors) {
        errors.forEach(e -> environment.log().error(e.message()));
        return ReconfigureCheck.text(errors);
    }
}
