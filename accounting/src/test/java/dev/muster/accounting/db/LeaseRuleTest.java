package dev.muster.accounting.db;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LeaseRuleTest {
    private static final long LEASE_MS = 1_000;

    /**
     * Columns: role; history (start: it has just started, waited: it has read the lease once, held: it had the lease
     * and lost it); holder of the lease; time left by the database's clock; time since the row changed by the own
     * clock; verdict.
     */
    @ParameterizedTest
    @CsvSource(textBlock = """
        # the primary takes the lease at its start, whoever has it
        primary, start,  none,  0,     0,     take
        primary, start,  other, 900,   0,     take
        primary, start,  own,   900,   0,     take
        # and goes on to try, as the backup may have renewed it in between
        primary, waited, other, 900,   0,     take
        # the backup waits for the end of the primary's lease
        backup,  start,  none,  0,     0,     take
        backup,  start,  other, 900,   0,     wait
        backup,  start,  other, 1,     0,     wait
        backup,  start,  other, 0,     0,     take
        backup,  start,  other, -5000, 0,     take
        # a process continues the lease of its predecessor
        backup,  start,  own,   900,   0,     take
        backup,  waited, own,   900,   0,     take
        # a slurmdbd that lost its lease waits, the primary too
        primary, held,   other, 900,   0,     wait
        primary, held,   other, 0,     0,     take
        backup,  held,   other, 900,   0,     wait
        backup,  held,   other, 0,     0,     take
        # its own name in a lease that it did not take: a second process of this name
        primary, held,   own,   900,   0,     wait
        # the database's clock was set back: the own clock decides, after twice the time
        backup,  waited, other, 90000, 1999,  wait
        backup,  waited, other, 90000, 2000,  take
        backup,  waited, other, 900,   1999,  wait
        """)
    void leaseIsTakenWhenItIsFree(
            String role, String before, String holder, long leftMs, long unchangedMs, String verdict) {
        String own = role.equals("primary") ? "a" : "b";
        String other = own.equals("a") ? "b" : "a";
        LeaseRule rule = new LeaseRule(own, role.equals("primary"), LEASE_MS);
        String named = switch (holder) {
            case "own" -> own;
            case "other" -> other;
            default -> "";
        };
        LeaseRow row = new LeaseRow(holder.equals("none") ? 0 : 7, named, 1_000_000 + leftMs, 1_000_000);
        long nowMs = 50_000;
        if (before.equals("held")) {
            rule.mayTake(new LeaseRow(0, "", 0, 1_000_000), nowMs);
            rule.taken();
        }
        if (before.equals("waited")) {
            rule.mayTake(row, nowMs);
        }
        assertThat(rule.mayTake(row, nowMs + unchangedMs) ? "take" : "wait").isEqualTo(verdict);
    }
}
