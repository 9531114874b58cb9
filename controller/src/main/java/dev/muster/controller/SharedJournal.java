package dev.muster.controller;

import dev.muster.controller.ha.Membership;
import dev.muster.journal.Journal;
import java.util.Optional;

/**
 * The journal that the leading controller keeps together with others.
 *
 * @param followed the state that this controller has followed until it led, as of the journal's last entry; empty where
 *     it has to read the journal
 */
record SharedJournal(Journal journal, Membership membership, Optional<RecoveredState> followed) {}
