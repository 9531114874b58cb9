package dev.muster.core;

import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.MessageRights;
import java.util.Optional;

/**
 * The user who may issue a command. {@link #of} is the table: every command stands in it once. Where the command alone
 * decides ({@link #OPERATOR}, {@link #ADMINISTRATOR}) it is refused before any rule looks at it; where it depends on
 * what it is about, the rule that finds that asks {@link Access}.
 */
public enum Rights {
    /** A command of the daemon itself, or a report of a node over its own stream; no user can send it. */
    DAEMON,
    /** A user for itself; root and SlurmUser for any user: the command runs programs as that user. */
    SELF,
    /** A job's owner, the coordinators of its account and those above it, operators. */
    OWNER,
    /**
     * Operators, and users named by the object or the configuration: users of a FLEX reservation,
     * {@code enable_user_top}.
     */
    OPERATOR_OR_NAMED,
    OPERATOR,
    ADMINISTRATOR,
    /**
     * SlurmUser; with allow_user_triggers every user if SlurmUser is root, because only then slurmctld can run a
     * program as its owner.
     */
    SLURM_USER,
    /** The user who created the object, and root. */
    MAKER;

    public static Rights of(Command command) {
        return switch (command) {
            case Command.ApplyConfig c -> DAEMON;
            case Command.ApplyPolicy c -> DAEMON;
            case Command.SkipReservedIds c -> DAEMON;
            case Command.ControllerProlog c -> DAEMON;
            case Command.BufferStage c -> DAEMON;
            case Command.SetPools c -> DAEMON;
            case Command.EndInactive c -> DAEMON;
            case Command.EndUnclaimed c -> DAEMON;
            case Command.Happened c -> DAEMON;
            case Command.MemoryMeasured c -> DAEMON;
            case Command.RenewGroups c -> DAEMON;
            case Command.RegisterNode c -> DAEMON;
            case Command.CertificateSigned c -> DAEMON;
            case Command.Report c -> DAEMON;
            case Command.NodeLost c -> DAEMON;
            case Command.NodeResponding c -> DAEMON;
            case Command.Schedule c -> DAEMON;
            case Command.Tick c -> DAEMON;
            case Command.Settle c -> DAEMON;
            case Command.Once c -> of(c.command());
            case Command.SubmitJob c -> SELF;
            case Command.SubmitHet c -> SELF;
            case Command.SetCrontab c -> SELF;
            case Command.CancelJobs c -> OWNER;
            case Command.TestJob c -> OWNER;
            case Command.UpdateJob c -> OWNER;
            case Command.NotifyJob c -> OWNER;
            case Command.HoldJobs c -> OWNER;
            case Command.RequeueJobs c -> OWNER;
            case Command.CompleteAllocation c -> OWNER;
            case Command.CreateStep c -> SELF;
            case Command.CreateHetStep c -> SELF;
            case Command.TopJobs c -> OPERATOR_OR_NAMED;
            case Command.SuspendJobs c -> OPERATOR;
            case Command.CreateReservation c -> OPERATOR;
            case Command.UpdateReservation c -> OPERATOR_OR_NAMED;
            case Command.DeleteReservation c -> OPERATOR_OR_NAMED;
            case Command.ChangeSetting c -> ADMINISTRATOR;
            case Command.UpdateNode c -> ADMINISTRATOR;
            case Command.RebootNodes c -> ADMINISTRATOR;
            case Command.AddNodes c -> ADMINISTRATOR;
            case Command.RemoveNodes c -> ADMINISTRATOR;
            case Command.AssignNode c -> ADMINISTRATOR;
            case Command.UpdatePartition c -> ADMINISTRATOR;
            case Command.CreatePartition c -> ADMINISTRATOR;
            case Command.DeletePartition c -> ADMINISTRATOR;
            case Command.SetTrigger c -> SLURM_USER;
            case Command.ClearTriggers c -> MAKER;
        };
    }

    /** Returns why a command is refused whatever it is about; empty where the rules have their say. */
    static Optional<Decision> refusal(State state, Command command) {
        boolean may = switch (of(command)) {
            case DAEMON, SELF, OWNER, OPERATOR_OR_NAMED, SLURM_USER, MAKER -> true;
            case OPERATOR -> Access.isOperator(state, uid(command));
            case ADMINISTRATOR -> Access.isAdmin(state, uid(command));
        };
        return may ? Optional.empty() : Optional.of(Decision.reject(word(command)));
    }

    /** Returns the error with which the message that brought the command is refused. */
    private static SlurmErrno word(Command command) {
        return switch (command) {
            case Command.Once c -> word(c.command());
            case Command.AddNodes c -> MessageRights.denial("CreateNodes");
            case Command.RemoveNodes c -> MessageRights.denial("DeleteNodes");
            default -> MessageRights.denial(command.getClass().getSimpleName());
        };
    }

    /**
     * Returns the user of a command for operators or administrators; -1, a user without rights, for any other command.
     */
    private static int uid(Command command) {
        return switch (command) {
            case Command.Once c -> uid(c.command());
            case Command.SuspendJobs c -> c.uid();
            case Command.CreateReservation c -> c.uid();
            case Command.ChangeSetting c -> c.uid();
            case Command.UpdateNode c -> c.uid();
            case Command.RebootNodes c -> c.uid();
            case Command.AddNodes c -> c.uid();
            case Command.RemoveNodes c -> c.uid();
            case Command.AssignNode c -> c.uid();
            case Command.UpdatePartition c -> c.uid();
            case Command.CreatePartition c -> c.uid();
            case Command.DeletePartition c -> c.uid();
            default -> -1;
        };
    }
}
