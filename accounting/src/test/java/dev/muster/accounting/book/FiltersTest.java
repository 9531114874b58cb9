package dev.muster.accounting.book;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.model.accounting.DbdMessages.Show;
import dev.muster.model.accounting.Entities.Transaction;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** No condition of a list that is accepted is without effect. */
class FiltersTest {
    private AssocTree book = AssocTree.initial(1);
    private final List<Map<String, String>> log = new ArrayList<>();

    private void root(String line) {
        AssocTree draft = book.draft();
        assertThat(new Changes(draft, "root", true, Lines.change(line), 7).run().error())
                .as(line)
                .isEmpty();
        for (Transaction t : draft.transactions()) {
            log.add(Map.of(
                    "ID",
                    Integer.toString(log.size() + 1),
                    "Time",
                    "7",
                    "Action",
                    t.action(),
                    "Actor",
                    t.actor(),
                    "Cluster",
                    t.cluster(),
                    "Where",
                    t.name(),
                    "Info",
                    t.info()));
        }
        book = AssocTree.of(draft);
    }

    @BeforeEach
    void aSite() {
        root("add cluster name=c");
        root("add account name=phys set description=d organization=o");
        root("add account name=lab set parent=phys");
        root("add qos name=high set PreemptMode=cancel");
        root("add user name=ann account=lab,phys set DefaultQOS=high QOS=high");
        root("add user name=bob account=phys partition=p");
        root("add coordinator name=bob account=lab");
        root("add user name=ann wckey=k");
        root("add resource name=lic server=s set count=10 servertype=flexlm");
        root("add account name=old");
        root("delete account name=old");
    }

    private List<Map<String, String>> show(String entity, Map<String, String> where, String... options) {
        return new Views(book, new Show(entity, where, List.of(options)), name -> true)
                .rows()
                .orElseThrow();
    }

    /** Whatever a list may be asked for, something that nothing has leaves nothing. */
    @Test
    void filterWithoutMatchFindsNoRow() {
        TreeSet<String> without = new TreeSet<>();
        for (String entity : List.of(
                "account", "association", "cluster", "coordinator", "qos", "resource", "tres", "user", "wckey")) {
            assertThat(show(entity, Map.of())).as(entity).isNotEmpty();
            for (String condition : RequestFilters.honoured().get("show " + entity)) {
                for (String[] options : new String[][] {{}, {"withassoc", "withclusters", "withdeleted"}}) {
                    if (!show(entity, Map.of(condition, "77777"), options).isEmpty()) {
                        without.add(entity + " " + condition);
                    }
                }
            }
        }
        assertThat(without).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "account, partition=p, phys",
        "user, wckey=k, ann",
        "resource, servertype=flexlm, lic",
        "account, user=ann, lab phys",
        "user, account=lab, ann"
    })
    void filterFindsMatchingRows(String entity, String condition, String names) {
        String[] pair = condition.split("=");
        String column =
                Map.of("account", "Account", "user", "User", "resource", "Name").get(entity);
        assertThat(show(entity, Map.of(pair[0], pair[1])))
                .extracting(r -> r.get(column))
                .containsExactlyInAnyOrder(names.split(" "));
    }

    private List<String> changes(String... conditions) {
        Map<String, String> where = new LinkedHashMap<>();
        for (String c : conditions) {
            where.put(c.substring(0, c.indexOf('=')), c.substring(c.indexOf('=') + 1));
        }
        return new Transactions(book, new Show("transaction", where, List.of("withassoc")))
                .of(log).stream()
                        .map(r -> (r.get("Action") + " "
                                        + (r.get("Account").isEmpty()
                                                ? r.get("Where")
                                                : r.get("Account") + "/" + r.get("User")))
                                .strip())
                        .toList();
    }

    /**
     * A change of an account or a user changes it and its associations; a change that names both changes only
     * associations of both.
     */
    @Test
    void transactionFilterFindsChangesOfAccountOrUser() {
        assertThat(changes("account=lab"))
                .containsExactlyInAnyOrder(
                        "Add Accounts lab",
                        "Add Associations lab/",
                        "Add Associations lab/ann",
                        "Add Account Coord bob");
        assertThat(changes("account=old")).contains("Add Accounts old", "Remove Accounts old", "Add Associations old/");
        assertThat(changes("user=ann"))
                .containsExactlyInAnyOrder(
                        "Add Users ann", "Add Associations lab/ann", "Add Associations phys/ann", "Add WCKeys k");
        assertThat(changes("user=bob")).contains("Add Account Coord bob", "Add Users bob", "Add Associations phys/bob");
        assertThat(changes("user=ann", "account=lab")).containsExactly("Add Associations lab/ann");
        assertThat(changes("account=nosuch")).isEmpty();
        assertThat(changes("cluster=nosuch")).isEmpty();
        assertThat(changes("action=Add Accounts", "actor=ROOT")).hasSize(3);
    }
}
