package dev.muster.scheduler.queue;

/** What is remembered of groups of jobs that preemption did not help. */
public interface GroupVerdicts {
    /** What the jobs of some groups may preempt. */
    interface Kind {}

    /** Groups have other numbers from now on. */
    void forgetGroups();

    /** Each group is judged anew. */
    void unsettle();
}
