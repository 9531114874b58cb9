package dev.muster.core;

import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.command.Decision;
import dev.muster.core.state.State;
import dev.muster.model.SlurmErrno;
import dev.muster.model.api.MessageRights;
import java.util.Optional;

/**
 * Who may have a command done. {@link #of} is the table: every command stands in it once. Where the command alone
 * decides ({@link #OPERATOR}, {@link #ADMINISTRATOR}) it is refused before any rule looks at it; where it depends on
 * what it is about, the rule that finds that asks {@link Access}.
 */
public enum Rights {
    /** The daemon's own doing, or what a node says of itself over its own stream: nobody else can send it. */
    DAEMON,
    /** Everybody for himself; root and SlurmUser for others: it runs programs as that user. */
    SELF,
    /** A job's owner, the coordinators of its account and those above it, operators. */
    OWNER,
    /**
     * Operators, and whom the thing or the configuration itself names: FLEX users' reservations,
     * {@code enable_user_top}.
     */
    OPERATOR_OR_NAMED,
    OPERATOR,
    ADMINISTRATOR,
    /**
     * SlurmUser; where that is root, and allow_user_triggers says so, everybody: programs run as their owner only if
     * slurmctld can make them so.
     */
    SLURM_USER,
    /** Who made it, and root. */
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

    /** Why a command is refused whatever it is about; empty where the rules have their say. */
    static Optional<Decision> refusal(State state, Command command) {
        boolean may = switch (of(command)) {
            case DAEMON, SELF, OWNER, OPERATOR_OR_NAMED, SLURM_USER, MAKER -> true;
            case OPERATOR -> Access.isOperator(state, uid(command));
            case ADMINISTRATOR -> Access.isAdmin(state, uid(command));
        };
        return may ? Optional.empty() : Optional.of(Decision.reject(word(command)));
    }

    /** As the message that brought the command is refused. */
    private static SlurmErrno word(Command command) {
        return switch (command) {
            case Command.Once c -> word(c.command());
            case Command.AddNodes c -> MessageRights.denial("CreateNodes");
            case Command.RemoveNodes c -> MessageRights.denial("DeleteNodes");
            default -> MessageRights.denial(command.getClass().getSimpleName());
        };
    }

    /** Whose doing a command of operators or administrators is; -1, whom nothing is allowed, for any other. */
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
