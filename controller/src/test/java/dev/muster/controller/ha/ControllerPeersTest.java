package dev.muster.controller.ha;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.model.api.ClusterMessages.JournalMember;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ControllerPeersTest {
    /** Columns: role of the other controller; id of its directory; whether this one, with directory a, may not lead. */
    @ParameterizedTest
    @CsvSource(textBlock = """
            leads,   a,  false
            leads,   b,  true
            # a single controller with the slurm.conf of before
            leads,   '', true
            follows, a,  false
            follows, b,  true
            # it waits for a directory with a state
            follows, '', false
            """)
    void aControllerWithAnotherDirectoryObjects(String role, String directory, boolean objects) {
        JournalMember other = new JournalMember(role.equals("leads"), "", 1, 0, directory);
        assertThat(ControllerPeers.isOfAnother(other, "a")).isEqualTo(objects);
    }
}
