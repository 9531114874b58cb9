package dev.muster.core.command;

import dev.muster.core.Rights;
import dev.muster.core.state.Job;
import dev.muster.core.state.Reservation;
import dev.muster.core.state.State;
import dev.muster.model.accounting.DbdMessages.UserPolicy;
import dev.muster.model.accounting.Entities.AdminLevel;
import dev.muster.model.job.JobDesc;
import java.util.List;

/** Roles of users, by user id and by their AdminLevel in accounting. {@link Rights} says what each role may do. */
public final class Access {
    private Access() {}

    /** Tests for root and SlurmUser, who alone may run programs as another user. */
    public static boolean isSuperUser(State state, int uid) {
        return uid == 0 || uid == state.settings().slurmUid();
    }

    /**
     * Tests for root, SlurmUser and users with AdminLevel=Administrator; an administrator may do everything but run
     * programs as another user.
     */
    public static boolean isAdmin(State state, int uid) {
        return isSuperUser(state, uid) || has(state, uid, AdminLevel.ADMINISTRATOR);
    }

    /**
     * Tests whether the user may do everything to jobs and reservations, as operators may, but nothing to nodes,
     * partitions and daemons.
     */
    public static boolean isOperator(State state, int uid) {
        return isAdmin(state, uid) || has(state, uid, AdminLevel.OPERATOR);
    }

    /** Tests whether the user may change the job: its owner, operators, and coordinators of its account may. */
    public static boolean mayChange(State state, int uid, Job job) {
        return uid == job.desc().owner().uid()
                || isOperator(state, uid)
                || isCoordinator(state, uid, job.desc().charge().account());
    }

    /** Tests whether the user coordinates the account or one above it. */
    public static boolean isCoordinator(State state, int uid, String account) {
        return coordinated(state, uid).contains(account);
    }

    /** Returns the accounts that the user coordinates, with those below them. */
    public static List<String> coordinated(State state, int uid) {
        return state.accounts()
                .privileged()
                .find(uid)
                .map(UserPolicy::coordinates)
                .orElse(List.of());
    }

    private static boolean has(State state, int uid, AdminLevel level) {
        return state.accounts()
                .privileged()
                .find(uid)
                .map(UserPolicy::level)
                .filter(level::equals)
                .isPresent();
    }

    /** Returns whether a job as described may use the reservation; jobs of administrators always may. */
    public static boolean admits(State state, Reservation reservation, JobDesc job) {
        return isAdmin(state, job.owner().uid()) || reservation.isFor(state.accounts(), job);
    }
}
