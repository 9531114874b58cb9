package dev.muster.accounting.book;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.model.accounting.DbdMessages.Changed;
import dev.muster.model.accounting.DbdMessages.Show;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Entities in use are not deleted, and settings that a command does not name stay as they are; the sentences are
 * Slurm's.
 */
class InUseTest {
    private AssocTree book = AssocTree.initial(1);

    private Changed root(String line) {
        AssocTree draft = book.draft();
        Changed result = new Changes(draft, "root", true, Lines.change(line), 7).run();
        if (result.error().isEmpty()) {
            book = AssocTree.of(draft);
        }
        return result;
    }

    private List<Map<String, String>> rows(String entity, Map<String, String> where, String... options) {
        return new Views(book, new Show(entity, where, List.of(options)), name -> true)
                .rows()
                .orElseThrow();
    }

    @BeforeEach
    void aTree() {
        root("add cluster name=c");
        root("add account name=a,b");
        root("add user name=ann account=a,b");
        root("add user name=bob account=b");
        root("add qos name=q,r");
    }

    @Test
    void anAccountThatIsADefaultStays() {
        root("add account name=d");
        root("add user name=bob account=d");
        assertThat(root("delete account name=b").error())
                .containsExactly(
                        " Error with request: You can not remove the default account of a user",
                        "  C = c               A = b          U = bob      ",
                        " Please either remove the accounts listed above from list and resubmit,\n"
                                + " or change these users' default accounts to remove the account(s).\n Changes "
                                + "Discarded");
        assertThat(book.assoc("c", "b", "bob", "")).isPresent();
        // a user without another account loses this one with the account
        assertThat(root("delete account name=b,d").names()).containsExactly("b", "d");
        assertThat(book.assoc("c", "b", "bob", "")).isEmpty();
        assertThat(root("delete account name=a cluster=c").error()).isEmpty();
    }

    @Test
    void aQosThatIsADefaultStays() {
        root("modify account name=b set QOS=q,r DefaultQOS=q");
        assertThat(root("delete qos name=q").error())
                .containsExactly(
                        " Error with request: Associations listed below have these as their Default QOS.",
                        "  DefQOS = q          C = c          A = b",
                        "  DefQOS = q          C = c          A = b                    U = ann      ",
                        "  DefQOS = q          C = c          A = b                    U = bob      ",
                        " Please either remove the qos' listed above from list and resubmit,\n"
                                + " or change the default qos to remove the qos.\n Changes Discarded");
        assertThat(root("delete qos name=r").names()).containsExactly("r");
    }

    @Test
    void aResourceKeepsWhatIsNotSaidAgain() {
        root("add resource name=lic set server=s count=10 servertype=flexlm description=text");
        root("add resource name=lic cluster=c set server=s allowed=50");
        assertThat(rows("resource", Map.of()).getFirst())
                .containsEntry("ServerType", "flexlm")
                .containsEntry("Description", "text");
        assertThat(root("modify resource name=lic set allowed=60").error())
                .containsExactly("Can't change \"allowed\" without specifying a cluster.");
        assertThat(root("modify resource name=lic cluster=d set allowed=60").names())
                .isEmpty();
        assertThat(root("add resource name=x set count=3 type=nosuch").error())
                .containsExactly(" Unknown resource type: 'nosuch'  Valid resources is License.");
    }

    @Test
    void aUserGetsANewName() {
        root("add coordinator name=bob account=a");
        root("modify user name=bob set MaxJobs=3");
        int id = book.assoc("c", "b", "bob", "").orElseThrow().id();
        assertThat(root("modify user name=bob set newname=ann").error()).isNotEmpty();
        assertThat(root("modify user name=ann,bob set newname=x").error()).isNotEmpty();
        assertThat(root("modify user name=bob set newname=rob").names()).containsExactly("bob");
        assertThat(book.user("bob")).isEmpty();
        assertThat(book.assoc("c", "b", "bob", "")).isEmpty();
        assertThat(book.assoc("c", "b", "rob", "").orElseThrow())
                .matches(
                        a -> a.id() == id && a.isDefault() && a.limit("MaxJobs").equals("3"));
        assertThat(book.coordinators("c", "a")).containsExactly("rob");
        assertThat(root("modify user name=rob set newname=rob").names()).containsExactly("rob");
        assertThat(root("modify user name=rob set newname=robert adminlevel=operator")
                        .names())
                .containsExactly("rob");
        assertThat(book.user("robert").orElseThrow().adminLevel().name()).isEqualTo("OPERATOR");
        assertThat(root("modify user name=robert set newname=rob").names()).containsExactly("robert");
        // the old name is free
        assertThat(root("add user name=bob account=b").error()).isEmpty();
        assertThat(book.assoc("c", "b", "bob", "").orElseThrow().id()).isNotEqualTo(id);
        assertThat(book.assoc("c", "b", "rob", "").orElseThrow().id()).isEqualTo(id);
    }

    @Test
    void resourcesMayBeCalledByTheirNumbers() {
        assertThat(root("modify account name=a set GrpTRES=1=7,4=3").error()).isEmpty();
        assertThat(book.assoc("c", "a", "", "").orElseThrow().limit("GrpTRES")).isEqualTo("cpu=7,node=3");
        assertThat(root("modify account name=a set GrpTRES=77=1").error())
                .containsExactly("sacctmgr: error: slurmdb_format_tres_str: no TRES known by type 77");
    }

    @Test
    void invalidSettingIsRefusedEvenForUnknownEntities() {
        assertThat(root("modify user name=nobody set QOS=nosuch").error())
                .containsExactly("sacctmgr: error: You gave a bad qos 'nosuch'. Valid QOS's are normal,q,r");
        assertThat(root("modify account name=nosuch set GrpTRES=nosuch=1").error())
                .containsExactly("sacctmgr: error: slurmdb_format_tres_str: no TRES known by type nosuch");
        assertThat(root("modify qos name=nosuch set Preempt=other").error())
                .containsExactly("sacctmgr: error: You gave a bad qos 'other'. Valid QOS's are normal,q,r");
        assertThat(root("add coordinator account=a").error()).containsExactly(" You need to specify a user list here.");
        assertThat(root("add coordinator name=ann").error())
                .containsExactly(" You need to specify an account list here.");
        assertThat(root("modify cluster name=c set classification=nosuch").error())
                .hasSize(1);
        root("modify cluster name=c set classification=CAPACITY");
        assertThat(book.cluster("c").orElseThrow().classification()).isEqualTo("Capacity");
    }

    @Test
    void rawQosShowsTheListAsItWasSet() {
        root("modify account name=b set QOS=q");
        root("modify user name=bob set QOS=+r,-q");
        Map<String, String> bob = Map.of("user", "bob");
        assertThat(rows("association", bob).getFirst()).containsEntry("QOS", "r");
        assertThat(rows("association", bob, "rawqos").getFirst()).containsEntry("QOS", "+r,-q,q");
        assertThat(rows("association", bob, "rawqos", "woplimits").getFirst()).containsEntry("QOS", "+r,-q");
    }
}
