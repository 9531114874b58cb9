package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.daemon.Groups;
import dev.muster.daemon.Identities.Group;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** shows: GroupUpdateTime, GroupUpdateForce */
class GroupsTest {
    private long now = 1_000_000;
    private long changed;
    private String member = "ann";
    private final Groups groups = new Groups(
            k -> k.equals("none") ? Optional.empty() : Optional.of(new Group(k, 1, List.of(member))),
            () -> now,
            () -> changed);

    private String who() {
        return groups.group("g").orElseThrow().members().getFirst();
    }

    @Test
    void groupsAreReadAgainAfterGroupUpdateTime() {
        groups.update(600, true);
        assertThat(who()).isEqualTo("ann");
        member = "bob";
        now += 599_999;
        assertThat(who()).isEqualTo("ann");
        now += 1;
        assertThat(who()).isEqualTo("bob");
    }

    @Test
    void groupsWithoutForceAreReadOnlyWhenTheFileChanges() {
        groups.update(600, false);
        assertThat(who()).isEqualTo("ann");
        member = "bob";
        now += 700_000;
        assertThat(who()).isEqualTo("ann");
        changed = now - 1;
        assertThat(who()).isEqualTo("bob");
    }

    @Test
    void zeroGroupUpdateTimeReadsGroupsOnlyOnReconfigure() {
        groups.update(0, true);
        assertThat(who()).isEqualTo("ann");
        member = "bob";
        now += 1L << 40;
        assertThat(who()).isEqualTo("ann");
        groups.update(0, true);
        assertThat(who()).isEqualTo("bob");
        assertThat(groups.group("none")).isEmpty();
    }
}
