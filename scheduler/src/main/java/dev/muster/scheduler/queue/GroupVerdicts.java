package dev.muster.scheduler.queue;

/** Remembers the groups of jobs for which preemption freed too little. */
public interface GroupVerdicts {
    /** What the jobs of some groups may preempt. */
    interface Kind {}

    /** Groups have other numbers from now on. */
    void forgetGroups();

    /** Each group is judged anew. */
    void unsettle();
}
