package dev.muster.controller;

import dev.muster.config.SlurmConf;
import dev.muster.config.key.ConfigError;
import dev.muster.config.key.Key;
import dev.muster.controller.accounting.Accounting;
import dev.muster.controller.accounting.DbdAccounting;
import dev.muster.controller.accounting.EmbeddedAccounting;
import dev.muster.controller.accounting.NoAccounting;
import dev.muster.controller.config.PartitionQos;
import dev.muster.controller.engine.CoreHandle;
import dev.muster.controller.engine.TriggerEventRelay;
import dev.muster.core.command.Command;
import dev.muster.daemon.Sessions;
import dev.muster.journal.Journal;
import dev.muster.json.Bytes;
import dev.muster.model.Identity;
import dev.muster.model.accounting.DbdMessages;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;

/**
 * Opens the accounting that AccountingStorageType names, and puts the policy that slurmdbd sends in force.
 *
 * @param clusterId of the journal that the accounting follows
 * @param sharesDirectory several controllers use one StateSaveLocation
 */
record AccountingStorage(
        ControllerEnvironment environment,
        Sessions sessions,
        UUID clusterId,
        boolean sharesDirectory,
        Journal journal,
        CoreHandle core,
        TriggerEventRelay events) {

    /**
     * @param directory StateSaveLocation
     * @param contents scripts and environments by their hash
     */
    Accounting open(SlurmConf conf, Path directory, Function<String, Bytes> contents) {
        String type = conf.text(Key.ACCOUNTING_STORAGE_TYPE);
        if (sharesDirectory && conf.controllers().size() > 1 && !type.equals("accounting_storage/slurmdbd")) {
            // tables in StateSaveLocation cannot be fenced against a former leader
            environment.log().info("controllers that share StateSaveLocation keep no accounting without slurmdbd");
            return new NoAccounting();
        }
        return switch (type) {
            case "accounting_storage/none" ->
                conf.given(Key.ACCOUNTING_STORAGE_TYPE) ? new NoAccounting() : embedded(directory, contents);
            case "accounting_storage/slurmdbd" ->
                new DbdAccounting(
                        environment::conf,
                        sessions,
                        clusterId.toString(),
                        journal::lastIndex,
                        core::durable,
                        this::apply,
                        contents,
                        environment.log()::info,
                        events::happened,
                        () -> environment.fault(
                                new IOException("MaxDBDMsgs: more waits for slurmdbd (max_dbd_msg_action=exit)")));
            default -> embedded(directory, contents);
        };
    }

    private Accounting embedded(Path directory, Function<String, Bytes> contents) {
        return EmbeddedAccounting.open(directory, clusterId, journal.lastIndex(), contents, environment.log()::info);
    }

    /** Puts the associations and QOS from slurmdbd in force; they are durable when this returns. */
    private void apply(DbdMessages.Policy policy) {
        List<DbdMessages.UserPolicy> users = policy.users().stream()
                .map(u -> u.isPrivileged() ? u.withUid(uid(u.user())) : u)
                .toList();
        boolean first = core.durable().accounts().isEmpty();
        core.execute(new Command.ApplyPolicy(policy.withUsers(users)));
        (first ? PartitionQos.unknown(environment.conf(), core.durable()) : List.<ConfigError>of())
                .forEach(e -> environment.log().error(e.message()));
    }

    /** Returns the user's number, -1 for an unknown user. */
    private int uid(String user) {
        return environment.identities().byName(user).map(Identity::uid).orElse(-1);
    }
}
