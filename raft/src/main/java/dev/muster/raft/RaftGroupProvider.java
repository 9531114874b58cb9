package dev.muster.raft;

import dev.muster.journal.JournalGroup;

/** Found by the service loader where slurm.conf names three or more SlurmctldHost. */
public final class RaftGroupProvider implements JournalGroup.Provider {
    @Override
    public JournalGroup join(JournalGroup.Options options, JournalGroup.Roles roles) {
        return RaftMember.join(options, roles);
    }
}
