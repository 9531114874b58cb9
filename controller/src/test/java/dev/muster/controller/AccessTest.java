package dev.muster.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.controller.view.PrivateDataFilter;
import dev.muster.core.command.Access;
import dev.muster.core.command.Command;
import dev.muster.core.state.Job;
import dev.muster.core.state.State;
import dev.muster.model.accounting.DbdMessages.Policy;
import dev.muster.model.accounting.DbdMessages.UserPolicy;
import dev.muster.model.accounting.Entities.AdminLevel;
import java.util.List;
import org.junit.jupiter.api.Test;

class AccessTest {
    private final Site site = new Site("DefMemPerCPU=1");

    /** A job of user 1000 in account lab; what user 7 may. */
    private String may(UserPolicy... users) {
        site.apply(new Command.ApplyPolicy(new Policy(List.of(), List.of(), List.of(users), List.of())));
        State s = site.core().state();
        Job job = s.jobs().at(1);
        return (Access.isAdmin(s, 7) ? "all " : "")
                + (Access.isOperator(s, 7) ? "jobs " : "")
                + (Access.mayChange(s, 7, job) ? "job" : "");
    }

    private static UserPolicy user(AdminLevel level, String coordinates) {
        return new UserPolicy("u", level, coordinates.isEmpty() ? List.of() : List.of(coordinates), 7);
    }

    @Test
    void adminLevelOrCoordinatorGrantsAccess() {
        site.submit("owner.uid=1000 charge.account=lab");
        assertThat(may()).isEmpty();
        assertThat(may(user(AdminLevel.NONE, ""))).isEmpty();
        assertThat(may(user(AdminLevel.ADMINISTRATOR, ""))).isEqualTo("all jobs job");
        assertThat(may(user(AdminLevel.OPERATOR, ""))).isEqualTo("jobs job");
        assertThat(may(user(AdminLevel.NONE, "lab"))).isEqualTo("job");
        assertThat(may(user(AdminLevel.NONE, "other"))).isEmpty();
        assertThat(may(user(AdminLevel.OPERATOR, "").withUid(8))).isEmpty();
        assertThat(may(user(AdminLevel.OPERATOR, "").withUid(-1))).isEmpty();
        assertThat(may()).isEmpty();
    }

    @Test
    void privateJobsAreShownToOwnersOperatorsAndCoordinators() {
        site.submit("owner.uid=1000 charge.account=lab");
        assertThat(sees(1000)).isTrue();
        assertThat(sees(7)).isFalse();
        assertThat(sees(7, user(AdminLevel.NONE, "lab"))).isTrue();
        assertThat(sees(7, user(AdminLevel.NONE, "other"))).isFalse();
        assertThat(sees(7, user(AdminLevel.OPERATOR, ""))).isTrue();
        assertThat(sees(0)).isTrue();
    }

    private boolean sees(int uid, UserPolicy... users) {
        site.apply(new Command.ApplyPolicy(new Policy(List.of(), List.of(), List.of(users), List.of())));
        State s = site.core().state();
        return new PrivateDataFilter(List.of("jobs"), s, uid, "u" + uid)
                .shows(s.jobs().at(1));
    }
}
