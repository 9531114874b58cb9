package dev.muster.scheduler.queue;

/** Remembers the groups of jobs for which preemption freed too little. */
public interface GroupVerdicts {
    /** The jobs that jobs of some groups may preempt. */
    interface Kind {}

    /** Forgets the groups' numbers: they have others from now on. */
    void forgetGroups();

    /** Lets each group be judged anew. */
    void unsettle();
}
