package dev.muster.core;

/** Who may do what. */
final class Access {
    private Access() {}

    /** root and SlurmUser may do everything. */
    static boolean isAdmin(State state, int uid) {
        return uid == 0 || uid == state.settings().slurmUid();
    }

    static boolean mayChange(State state, int uid, Job job) {
        return uid == job.desc().owner().uid() || isAdmin(state, uid);
    }
}
