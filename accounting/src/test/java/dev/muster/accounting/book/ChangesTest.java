package dev.muster.accounting.book;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.model.accounting.DbdMessages.AssocRef;
import dev.muster.model.accounting.DbdMessages.Change;
import dev.muster.model.accounting.DbdMessages.Changed;
import dev.muster.model.accounting.DbdMessages.Register;
import dev.muster.model.accounting.DbdMessages.Show;
import dev.muster.model.accounting.Entities.Assoc;
import dev.muster.model.accounting.LimitField;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChangesTest {
    private AssocTree book = AssocTree.initial(1);

    private Changed as(String actor, boolean superuser, String line) {
        AssocTree draft = book.draft();
        Changed result = new Changes(draft, actor, superuser, Lines.change(line), 7).run();
        if (result.error().isEmpty()) {
            book = AssocTree.of(draft);
        }
        return result;
    }

    private Changed root(String line) {
        return as("root", true, line);
    }

    private Map<String, String> effective(String account, String user) {
        return EffectiveLimits.limits(book, book.assoc("c", account, user, "").orElseThrow());
    }

    @BeforeEach
    void aTree() {
        root("add cluster name=c");
        root("add account name=phys");
        root("add account name=lab set parent=phys");
        root("add user name=ann,bob account=phys,lab");
        root("add qos name=high,low");
    }

    @Test
    void aClusterNeedsAName() {
        assertThat(root("add cluster").error()).containsExactly(" Need name of cluster to add.");
    }

    /**
     * Adds users as slurmrestd does: their associations come later. sacctmgr wants an account, and a coordinator has
     * none for such a user.
     */
    @Test
    void aUserMayBeMadeAlone() {
        assertThat(root("add user name=zoe").error()).containsExactly(" Need name of account or wckey to add.");
        root("add coordinator name=ann account=phys");
        as("ann", false, "add user name=zoe set alone=yes");
        assertThat(book.user("zoe")).isEmpty();
        assertThat(root("add user name=zoe set alone=yes").names()).containsExactly("zoe");
        assertThat(book.user("zoe")).isPresent();
        assertThat(root("add user name=zoe account=phys").error()).isEmpty();
        assertThat(book.assoc("c", "phys", "zoe", "").orElseThrow().isDefault()).isTrue();
        assertThat(root("modify user name=zoe set alone=yes").error())
                .containsExactly(" The setting 'alone' of 'modify user' is not supported by this version");
    }

    /** An empty variable of a script names no QOS and not all of them. */
    @Test
    void anEmptyNameMeansNone() {
        assertThat(root("modify qos name= set Priority=6").names()).isEmpty();
        assertThat(root("delete qos name= id=99").names()).isEmpty();
        assertThat(book.qos("high").orElseThrow().limits()).doesNotContainKey("Priority");
        root("add resource name=r,s set count=3");
        assertThat(root("modify resource name= set count=4").names()).isEmpty();
        assertThat(root("modify resource set count=4").names()).hasSize(2);
    }

    @Test
    void anAccountsUsersMayBeMeantByTheirNames() {
        root("modify account name=phys user=ann set MaxJobs=7");
        assertThat(effective("phys", "ann")).containsEntry("MaxJobs", "7");
        assertThat(effective("phys", "bob")).doesNotContainKey("MaxJobs");
        assertThat(book.assoc("c", "phys", "", "").orElseThrow().limits()).doesNotContainKey("MaxJobs");
    }

    /** The values of a QOS's PreemptMode. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            PreemptMode=cancel,within           | WITHIN,CANCEL | -
            PreemptMode=within                  | WITHIN        | -
            PreemptMode=off                     | -             | -
            PreemptMode=cluster                 | -             | -
            PreemptMode=requeue,cancel          | -             | ' Bad Preempt Mode given: preemptmode=requeue,cancel'
            PreemptMode=foo                     | -             | ' Bad Preempt Mode given: preemptmode=foo'
            """)
    void qosPreemptModeIsStoredOrRefused(String set, String kept, String said) {
        List<String> error = root("modify qos name=low set " + set).error();
        assertThat(error).isEqualTo(said == null ? List.of() : List.of(said));
        assertThat(book.qos("low").orElseThrow().limits().get("PreemptMode")).isEqualTo(kept);
    }

    @Test
    void qosPreemptionLoopIsRefused() {
        root("add qos name=mid set Preempt=low");
        root("modify qos name=high set Preempt=mid");
        for (String line : List.of(
                "low set Preempt=low", "low set Preempt=mid", "low set Preempt=high", "low,mid set Preempt=high")) {
            assertThat(root("modify qos name=" + line).error())
                    .as(line)
                    .contains(" Error with request: QOS Preemption loop detected");
        }
        assertThat(book.qos("low").orElseThrow().limit("Preempt")).isEmpty();
        assertThat(root("modify qos name=high set Preempt=mid,low").error()).isEmpty();
    }

    private String reset(String account, String user) {
        return EffectiveLimits.policy(book, "c").assocs().stream()
                .filter(a -> a.account().equals(account) && a.user().equals(user))
                .map(a -> a.limits().getOrDefault(LimitField.USAGE_RESET, "-"))
                .findFirst()
                .orElseThrow();
    }

    private String resetOfHigh(String cluster) {
        return EffectiveLimits.policy(book, cluster).qos().stream()
                .filter(q -> q.name().equals("high"))
                .map(q -> q.limits().getOrDefault(LimitField.USAGE_RESET, "-"))
                .findFirst()
                .orElseThrow();
    }

    /** The controllers see another number each time; lists show none. */
    @Test
    void usageResetIsStoredAsAGrowingNumber() {
        assertThat(root("modify user name=ann account=phys cluster=c set rawusage=0")
                        .error())
                .isEmpty();
        assertThat(List.of(reset("phys", "ann"), reset("phys", "bob"), reset("lab", "ann")))
                .containsExactly("7", "-", "-");
        root("modify account name=phys cluster=c set rawusage=0");
        assertThat(List.of(
                        reset("phys", ""),
                        reset("phys", "ann"),
                        reset("lab", ""),
                        reset("lab", "bob"),
                        reset("root", "")))
                .containsExactly("7", "8", "7", "7", "-");
        root("add cluster name=d");
        root("modify qos name=high cluster=c set rawusage=0");
        root("modify qos name=high set priority=3");
        assertThat(List.of(resetOfHigh("c"), resetOfHigh("d"))).containsExactly("7", "-");
        for (String entity : List.of("qos", "association", "cluster")) {
            assertThat(new Views(book, new Show(entity, Map.of(), List.of()), n -> true)
                            .rows()
                            .orElseThrow())
                    .allSatisfy(row -> assertThat(row.keySet()).noneMatch(k -> k.startsWith(LimitField.USAGE_RESET)));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            modify qos name=high cluster=c set rawusage=1               | can only be set to 0
            modify qos name=nix cluster=c set rawusage=0                | Failed to find QOS nix
            modify qos name=high cluster=x set rawusage=0               | Failed to find cluster x in database
            modify qos name=high set rawusage=0                         | A cluster is required
            modify user name=nix account=phys cluster=c set rawusage=0  | cluster c account phys user nix association
            modify account name=nix cluster=c set rawusage=0            | cluster c account nix association
            modify user name=ann cluster=c set rawusage=0               | An account must be specified
            modify user name=ann account=phys cluster=c partition=p set rawusage=0 | 'partition'
            """)
    void invalidUsageResetIsRefused(String line, String sentence) {
        assertThat(root(line).error()).anySatisfy(e -> assertThat(e).contains(sentence));
    }

    @Test
    void coordinatorsResetNothing() {
        root("add coordinator name=ann account=phys");
        assertThat(as("ann", false, "modify account name=phys cluster=c set rawusage=0")
                        .errno())
                .isEqualTo(Changes.ACCESS_DENIED);
    }

    @Test
    void aUsersDefaultsComeBesideWhatElseIsNamed() {
        root("add user name=eve account=phys wckey=k1 set defaultaccount=lab defaultwckey=k2");
        assertThat(book.tree("c").stream().filter(a -> a.user().equals("eve")).map(a -> a.account() + a.isDefault()))
                .containsExactlyInAnyOrder("physfalse", "labtrue");
        assertThat(book.wckeysEver().stream().map(w -> w.name() + w.isDefault()))
                .containsExactlyInAnyOrder("k2true", "k1false");
    }

    @Test
    void aUserLosesAWckeyAndStays() {
        root("add user name=ann wckey=k1,k2");
        root("delete user name=ann wckey=k1");
        assertThat(book.wckeysEver().stream().filter(w -> !w.deleted()).map(w -> w.user() + "/" + w.name()))
                .containsExactly("ann/k2");
        assertThat(book.assoc("c", "phys", "ann", "")).isPresent();
    }

    @Test
    void associationTreeIsInOrder() {
        assertThat(book.tree("c"))
                .extracting(a -> a.account() + "/" + a.user())
                .containsExactly("root/", "root/root", "phys/", "phys/ann", "phys/bob", "lab/", "lab/ann", "lab/bob");
        assertThat(book.tree("c").stream().filter(Assoc::isDefault))
                .extracting(a -> a.account() + "/" + a.user())
                .containsExactly("root/root", "phys/ann", "phys/bob");
    }

    @Test
    void limitsComeFromAboveAndOwnOnesWin() {
        root("modify account name=phys set MaxJobs=7 MaxTRES=cpu=3,node=2 GrpJobs=9 Fairshare=4");
        root("modify user name=ann account=lab set MaxJobs=9 MaxTRES=cpu=5");
        assertThat(effective("lab", "bob"))
                .containsEntry("MaxJobs", "7")
                .containsEntry("MaxTRES", "cpu=3,node=2")
                .doesNotContainKey("GrpJobs");
        assertThat(effective("lab", "ann"))
                .containsEntry("MaxJobs", "9")
                .containsEntry("MaxTRES", "cpu=5,node=2")
                .containsEntry("Fairshare", "1");
        root("modify account name=phys set MaxTRES=node=-1 MaxJobs= Fairshare=");
        assertThat(effective("phys", ""))
                .containsEntry("MaxTRES", "cpu=3")
                .doesNotContainKey("MaxJobs")
                .containsEntry("Fairshare", "1");
    }

    @Test
    void aModificationNamesWhatGetsItFromThere() {
        Changed touched = root("modify account name=phys set MaxJobs=7");
        assertThat(touched.assocs())
                .extracting(a -> a.account() + "/" + a.user())
                .containsExactly("phys/", "phys/ann", "phys/bob", "lab/ann", "lab/bob");
        assertThat(root("modify user name=nobody set MaxJobs=1").assocs()).isEmpty();
    }

    @Test
    void qosAreAddedToAndTakenFromTheParents() {
        root("modify account name=phys set QOS=high");
        assertThat(effective("lab", "ann")).containsEntry("QOS", "high");
        root("modify user name=ann account=lab set QOS=+=low");
        assertThat(effective("lab", "ann")).containsEntry("QOS", "high,low");
        root("modify user name=ann account=lab set QOS=-=high");
        assertThat(effective("lab", "ann")).containsEntry("QOS", "low");
        root("modify user name=bob set QOS=+low,-high");
        assertThat(effective("phys", "bob")).containsEntry("QOS", "low");
        assertThat(root("modify user name=ann set QOS=nope").error())
                .containsExactly("sacctmgr: error: You gave a bad qos 'nope'. Valid QOS's are normal,high,low");
        root("delete qos name=low");
        assertThat(effective("lab", "ann").get("QOS")).isNull();
    }

    @Test
    void existingEntityIsNotAddedAgainAndDeletedOneReturns() {
        assertThat(root("add account name=phys").error()).containsExactly(" Nothing new added.");
        assertThat(root("add cluster name=c").error()).containsExactly(" This cluster c already exists.  Not adding.");
        int id = book.assoc("c", "lab", "ann", "").orElseThrow().id();
        book.usersEver().stream()
                .filter(u -> !u.name().equals("root"))
                .map(u -> "delete user name=" + u.name())
                .toList()
                .forEach(this::root);
        assertThat(root("delete account name=phys").names()).containsExactly("phys");
        assertThat(book.tree("c")).hasSize(2);
        root("add account name=lab");
        root("add user name=ann account=lab");
        assertThat(book.assoc("c", "lab", "ann", "").orElseThrow().id()).isEqualTo(id);
        assertThat(rows(new Show("user", Map.of(), List.of("withdeleted")))).hasSize(3);
    }

    @Test
    void aUserKeepsADefaultAccount() {
        assertThat(root("delete user name=ann account=phys").error().getFirst())
                .contains("You can not remove the default account of a user");
        assertThat(root("modify user name=ann set defaultaccount=lab").names()).containsExactly("ann");
        assertThat(root("delete user name=ann account=phys").assocs()).hasSize(1);
        assertThat(root("modify user name=ann set defaultaccount=phys").error().getFirst())
                .startsWith(" Can't modify because these users");
        assertThat(root("delete user name=ann account=lab").more()).containsExactly("ann");
        assertThat(book.user("ann")).isEmpty();
    }

    @Test
    void aTreeHasNoRing() {
        assertThat(root("modify account name=phys set parent=lab").error()).isNotEmpty();
        assertThat(root("modify account name=lab set parent=lab").error())
                .containsExactly("  Requested parent account lab is a child of lab on "
                        + "cluster c. Please re-parent lab before using it as a parent.");
        assertThat(root("modify account name=lab set parent=root").assocs())
                .extracting(AssocRef::user)
                .containsExactly("", "ann", "bob");
        assertThat(book.assoc("c", "lab", "", "").orElseThrow().parent()).isEqualTo("root");
    }

    @Test
    void changeNeedsAdminLevelOrCoordinator() {
        assertThat(as("ann", false, "add account name=x").errno()).isEqualTo(Changes.ACCESS_DENIED);
        root("add coordinator name=ann account=phys");
        assertThat(as("ann", false, "modify account name=lab set MaxJobs=3").error())
                .isEmpty();
        assertThat(as("ann", false, "add account name=lab2 set parent=lab").error())
                .isEmpty();
        assertThat(as("ann", false, "add account name=x").errno()).isEqualTo(Changes.ACCESS_DENIED);
        assertThat(as("ann", false, "add qos name=q").errno()).isEqualTo(Changes.ACCESS_DENIED);
        root("modify user name=bob set adminlevel=operator");
        assertThat(as("bob", false, "add account name=y").error()).isEmpty();
        assertThat(as("bob", false, "modify user name=bob set adminlevel=admin").errno())
                .isEqualTo(Changes.ACCESS_DENIED);
        root("modify user name=bob set adminlevel=admin");
        assertThat(as("bob", false, "modify user name=ann set adminlevel=operator")
                        .error())
                .isEmpty();
    }

    /** What a coordinator of phys, a member of it, may change; lab is below phys, chem is not. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            add account name=sub set parent=phys                      | yes
            add account name=sub set parent=lab MaxJobs=3             | yes
            add account name=sub set parent=chem                      | no
            add account name=sub                                      | no
            add account name=sub set parent=phys QOS=low              | no
            add user name=eve account=lab                             | yes
            add user name=eve account=lab set MaxJobs=6               | no
            add user name=eve account=lab,chem                        | no
            add user name=eve account=lab set adminlevel=operator     | no
            add user name=eve account=lab set QOS=high                | yes
            add user name=eve account=lab set QOS=low                 | no
            add coordinator name=bob account=lab                      | yes
            add coordinator name=bob account=chem                     | no
            modify account name=phys set GrpJobs=3                    | no
            modify account name=phys set description=x                | no
            modify account name=lab set description=x                 | no
            modify account name=lab set GrpJobs=3                     | yes
            modify account name=lab set parent=root                   | no
            modify account name=lab set MaxJobs=5                     | yes
            modify account name=lab set MaxJobs=6                     | no
            modify account name=lab set MaxTRES=cpu=5,node=7          | no
            modify account name=lab set MaxTRES=cpu=4,node=7          | yes
            modify account name=lab set QOS=+high                     | yes
            modify account name=lab set QOS=+low                      | no
            modify user name=bob account=lab set MaxJobs=2            | yes
            modify user name=bob set MaxJobs=2                        | yes
            modify user name=carl set MaxJobs=2                       | no
            modify user name=bob,carl set MaxJobs=2                   | no
            modify user name=bob set MaxJobs=6                        | no
            modify user name=bob set defaultaccount=lab               | no
            modify user name=bob set newname=bobby                    | no
            modify user name=bob set adminlevel=operator              | no
            delete user name=bob account=lab                          | yes
            delete user name=bob                                      | yes
            delete user name=carl                                     | no
            delete user name=idle                                     | no
            delete coordinator name=ann account=phys                  | yes
            delete account name=lab                                   | no
            add qos name=x                                            | no
            modify cluster name=c set GrpJobs=2                       | no
            """)
    void coordinatorChangesOnlyItsAccountAndAccountsBelow(String line, String may) {
        root("add account name=chem");
        root("add user name=carl account=chem");
        root("modify account name=phys set MaxJobs=5 MaxTRES=cpu=4 QOS=normal,high");
        root("add coordinator name=ann account=phys");
        book = AssocTree.of(withUser("idle"));
        AssocTree was = book;
        Changed done = as("ann", false, line);
        assertThat(done.errno()).isEqualTo(may.equals("yes") ? 0 : Changes.ACCESS_DENIED);
        assertThat(book == was).isEqualTo(may.equals("no"));
        assertThat(as("carl", false, line).errno()).isEqualTo(Changes.ACCESS_DENIED);
    }

    private AssocTree withUser(String name) {
        AssocTree draft = book.draft();
        draft.put(new dev.muster.model.accounting.Entities.User(
                name, dev.muster.model.accounting.Entities.AdminLevel.NONE, 1, 1, false));
        return draft;
    }

    /** Operators change what hangs in the tree; what all clusters share is administrators' to change. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            add account name=sub                                                  | yes
            delete account name=lab                                               | yes
            modify account name=phys set description=x                            | yes
            modify user name=ann set MaxJobs=3                                    | yes
            modify user name=ann account=phys cluster=c set rawusage=0            | yes
            modify cluster name=c set GrpJobs=2                                   | yes
            add user name=eve account=phys set adminlevel=operator                | yes
            add user name=eve account=phys set adminlevel=admin                   | no
            modify user name=ann set adminlevel=operator                          | no
            modify user name=ann set adminlevel=none                              | no
            add qos name=x                                                        | no
            modify qos name=high set GrpJobs=3                                    | no
            delete qos name=low                                                   | no
            add cluster name=d                                                    | no
            delete cluster name=c                                                 | no
            clean cluster name=c                                                  | no
            add resource name=r server=s set count=3 servertype=f type=license    | no
            """)
    void operatorChangesTheTreeButNoSharedEntity(String line, String may) {
        root("modify user name=bob set adminlevel=operator");
        assertThat(as("ann", false, line).errno()).isEqualTo(Changes.ACCESS_DENIED);
        assertThat(as("bob", false, line).errno()).isEqualTo(may.equals("yes") ? 0 : Changes.ACCESS_DENIED);
        assertThat(as("ann", true, line).errno()).isNotEqualTo(Changes.ACCESS_DENIED);
    }

    @ParameterizedTest
    @CsvSource({
        "add user name=eve account=phys set,color",
        "modify account name=phys set,color",
        "add qos name=x set,MaxJobs",
        "modify cluster name=c set,adminlevel",
        "add coordinator name=bob account=phys set,GrpJobs"
    })
    void aSettingThatIsNoneIsRefused(String line, String setting) {
        assertThat(root(line + " " + setting + "=1").error())
                .containsExactly(" The setting '" + setting + "' of '"
                        + String.join(" ", List.of(line.split(" ")).subList(0, 2))
                        + "' is not supported by this version");
    }

    @Test
    void theRootAccountStays() {
        assertThat(root("delete account name=root").error())
                .containsExactly(" You are not allowed to remove the root account.\n Use remove cluster instead.");
    }

    @Test
    void aCoordinatorHasTheAccountsBelow() {
        root("add coordinator name=ann account=phys");
        assertThat(coordinates("ann")).containsExactlyInAnyOrder("phys", "lab");
        root("modify account name=lab set parent=root");
        assertThat(coordinates("ann")).containsExactly("phys");
    }

    /**
     * The account's users, with the flag, coordinate the account and its subaccounts on every cluster until
     * NoUsersAreCoords.
     */
    @Test
    void usersOfAFlaggedAccountCoordinateIt() {
        assertThat(root("modify account name=phys cluster=c set Flags=usersarecoords")
                        .names())
                .containsExactly("phys");
        assertThat(book.account("phys").orElseThrow().flags()).isEqualTo("UsersAreCoords");
        assertThat(coordinates("ann")).containsExactlyInAnyOrder("phys", "lab");
        assertThat(listed("account", "phys", "Flags")).isEqualTo("UsersAreCoords");
        assertThat(listed("account", "lab", "AllCoordinators")).contains("ann");
        assertThat(listed("account", "lab", "Coordinators")).isEmpty();
        assertThat(listed("user", "ann", "AllCoordinators")).isEqualTo("lab,phys");
        assertThat(root("modify account name=phys set Flags=foo").error()).containsExactly(" Unknown Flag(s)=foo");
        root("modify account name=phys set Flags=NoUsersAreCoords");
        assertThat(coordinates("ann")).isEmpty();
        assertThat(root("modify user name=ann set Flags=UsersAreCoords").error())
                .containsExactly(" The setting 'Flags' of 'modify user' is not supported by this version");
    }

    private String listed(String entity, String name, String column) {
        return new Views(book, new Show(entity, Map.of("name", name), List.of("withcoord")), n -> true)
                .rows()
                .orElseThrow()
                .getFirst()
                .getOrDefault(column, "");
    }

    private List<String> coordinates(String user) {
        return EffectiveLimits.policy(book, "c").users().stream()
                .filter(u -> u.user().equals(user))
                .findFirst()
                .orElseThrow()
                .coordinates();
    }

    @Test
    void coordinatorsGoWithTheirUsers() {
        root("add coordinator name=ann account=phys");
        root("delete user name=ann");
        assertThat(book.account("phys").orElseThrow().coordinators()).isEmpty();
        assertThat(root("add coordinator name=nobody account=phys").error())
                .containsExactly(" You specified a non-existent user 'nobody'.");
    }

    @Test
    void numbersOfTheTreeNestWithoutHoles() {
        List<Map<String, String>> rows = rows(new Show("association", Map.of(), List.of()));
        java.util.TreeSet<Integer> numbers = new java.util.TreeSet<>();
        for (Map<String, String> r : rows) {
            numbers.add(Integer.parseInt(r.get("LFT")));
            numbers.add(Integer.parseInt(r.get("RGT")));
        }
        assertThat(numbers).hasSize(2 * rows.size());
        assertThat(numbers.first()).isEqualTo(1);
        assertThat(numbers.last()).isEqualTo(2 * rows.size());
        assertThat(rows)
                .extracting(r -> r.get("Lineage"))
                .contains("/", "/0-root/", "/phys/lab/0-ann/")
                .doesNotHaveDuplicates();
    }

    /** A condition that were passed over could change or delete everything. */
    @Test
    void aConditionThatHasNoEffectIsRefused() {
        assertThat(as("root", true, "delete user defaultwckey=x").error())
                .containsExactly(" The condition 'defaultwckey' of 'delete user' is not supported by this version");
        assertThat(as("root", true, "modify user adminlevel=none set fairshare=3")
                        .error())
                .hasSize(1);
        assertThat(book.user("ann")).isPresent();
        assertThat(RequestFilters.refused("account", Map.of("flags", "x"))).isPresent();
        assertThat(RequestFilters.refused("event", Map.of("state", "DOWN", "user", "root")))
                .isEmpty();
        assertThat(rows(new Show("account", Map.of("defaultqos", "none"), List.of())))
                .isEmpty();
        assertThat(rows(new Show("user", Map.of("name", "ann", "defaultwckey", "none"), List.of())))
                .isEmpty();
    }

    @Test
    void aResourceIsSharedOutOnceAndInNumbers() {
        assertThat(root("add cluster name=d").error()).isEmpty();
        assertThat(root("add resource name=lic cluster=c set count=10 allowed=60")
                        .error())
                .isEmpty();
        for (Map.Entry<String, String> wrong : Map.of(
                        "add resource name=other set count=many", " Invalid value for count (many)",
                        "add resource name=lic cluster=d set allowed=50",
                                " Total percentage allowed for resource 'lic@slurmdb' exceeds 100%",
                        "modify resource name=lic cluster=c set allowed=101",
                                " Total percentage allowed for resource 'lic@slurmdb' exceeds 100%",
                        "modify resource name=lic set lastconsumed=x", " Invalid value for lastconsumed (x)",
                        "modify resource name=lic set flags=nosuch", " Unknown resource flag: nosuch",
                        "modify resource name=lic set flags=SharedPool",
                                " With SharedPool a cluster is allowed 0 or all of resource 'lic@slurmdb'",
                        "modify resource name=lic cluster=c set allowed=half", " Invalid value for allowed (half)",
                        "delete resource", " No conditions given to remove, not executing.",
                        "delete qos", " No conditions given to remove, not executing.",
                        "delete cluster", " No conditions given to remove, not executing.")
                .entrySet()) {
            assertThat(root(wrong.getKey()).error()).as(wrong.getKey()).containsExactly(wrong.getValue());
        }
        assertThat(book.resourcesEver()).singleElement().satisfies(r -> {
            assertThat(r.count()).isEqualTo(10);
            assertThat(r.allowed()).isEqualTo(Map.of("c", "60"));
        });
    }

    @Test
    void showProblemListsIncompleteEntities() {
        root("add account name=alone");
        root("add user name=carl,ann account=alone");
        root("add cluster name=d");
        root("delete cluster name=c");
        assertThat(rows(new Show("problem", Map.of(), List.of())))
                .extracting(r -> String.join("|", r.get("Cluster"), r.get("Account"), r.get("User"), r.get("Problem")))
                .contains(
                        "|alone||Account has no Associations",
                        "||ann|User has no Associations",
                        "||carl|User does not have a uid");
    }

    @Test
    void limitsOfItsOwnAloneAreNamedWithoutSigns() {
        root("modify account name=phys set QOS=+high");
        root("modify account name=lab set QOS=-high");
        List<Map<String, String>> rows = rows(new Show("association", Map.of("user", ""), List.of("woplimits")));
        assertThat(rows)
                .extracting(r -> r.get("Account") + " " + r.getOrDefault("QOS", ""))
                .contains("phys high", "lab ");
    }

    @Test
    void anAccountBelowTheRootIsAnOrganizationOfItsOwn() {
        root("add account name=top set parent=root");
        assertThat(List.of(
                        book.account("top").orElseThrow().organization(),
                        book.account("lab").orElseThrow().organization()))
                .containsExactly("top", "phys");
    }

    /** Whose own value there is none of are told of, whether it is another one than before or not. */
    @Test
    void changeNamesEveryAssociationThatInheritsIt() {
        root("modify user name=bob account=phys set MaxJobs=2");
        for (String set : List.of(
                "MaxJobs=5", "MaxJobs=5", "MaxJobs=-1", "QOS=normal,high", "QOS=normal,high", "DefaultQOS=high")) {
            Changed said = root("modify account name=phys set " + set);
            assertThat(said.error()).as(set).isEmpty();
            assertThat(said.assocs())
                    .extracting(a -> a.account() + "/" + a.user())
                    .as(set)
                    .containsExactlyElementsOf(
                            set.startsWith("Max")
                                    ? List.of("phys/", "phys/ann", "lab/ann", "lab/bob")
                                    : List.of("phys/", "phys/ann", "phys/bob", "lab/ann", "lab/bob"));
        }
        assertThat(root("modify account name=phys set GrpJobs=5").assocs()).hasSize(1);
        assertThat(root("modify account name=phys set QOS=normal").error())
                .containsExactly(
                        " These associations don't have access to their default qos.\n Please give them "
                                + "access before the default can be set to this.",
                        "  DefQOS = high       C = c          A = phys",
                        "  DefQOS = high       C = c          A = phys                 U = ann      ",
                        "  DefQOS = high       C = c          A = phys                 U = bob      ",
                        "  DefQOS = high       C = c          A = lab                  U = ann      ",
                        "  DefQOS = high       C = c          A = lab                  U = bob      ");
    }

    /** The system knows ann alone. */
    private List<Map<String, String>> rows(Show show) {
        return new Views(book, show, name -> name.equals("ann")).rows().orElseThrow();
    }

    private Changed ruled(String actor, ChangeRules rules, Change change) {
        AssocTree draft = book.draft();
        Changed result = new Changes(draft, actor, false, change, 7, rules).run();
        if (result.error().isEmpty()) {
            book = AssocTree.of(draft);
        }
        return result;
    }

    @Test
    void capitalsOfUsersAreKeptWhereTheSiteSaysSo() {
        root("add user name=root account=phys set adminlevel=Administrator");
        Change add = new Change("add", "user", Map.of(), Map.of("name", "Ann.Lee", "account", "PHYS"), true);
        ruled("root", new ChangeRules(true, true, false, false, false, ""), add);
        assertThat(book.user("Ann.Lee")).isPresent();
        assertThat(book.assoc("c", "phys", "Ann.Lee", "")).isPresent();
        ruled(
                "root",
                ChangeRules.STANDARD,
                new Change("add", "user", Map.of(), Map.of("name", "Bob.Lee", "account", "phys"), true));
        assertThat(book.user("bob.lee")).isPresent();
        assertThat(book.user("Bob.Lee")).isEmpty();
    }

    /** Flags are shown in their own letters, however they were typed. */
    @Test
    void resourceFlagsKeepTheirOwnLetters() {
        assertThat(root("add resource name=lic cluster=c set count=10 allowed=10 flags=ABSOLUTE,sharedpool")
                        .error())
                .isEmpty();
        assertThat(book.resourcesEver()).extracting(r -> r.flags()).containsExactly("SharedPool,Absolute");
    }

    /** PreserveCaseResource, and without. */
    @ParameterizedTest
    @CsvSource({"true, MatLab", "false, matlab"})
    void capitalsOfResourcesAreKeptWhereTheSiteSaysSo(boolean preserves, String name) {
        ChangeRules rules = new ChangeRules(false, true, false, false, preserves, "");
        ruled("root", rules, new Change("add", "resource", Map.of("count", "5"), Map.of("name", "MatLab"), true));
        assertThat(book.resourcesEver()).extracting(r -> r.name()).containsExactly(name);
        assertThat(ruled(
                                "root",
                                rules,
                                new Change("modify", "resource", Map.of("count", "6"), Map.of("name", "MatLab"), true))
                        .error())
                .isEmpty();
        assertThat(book.resourcesEver()).extracting(r -> r.count()).containsExactly(6L);
    }

    /** DefaultQOS is the default QOS of a new cluster's root, whichever administrator adds the cluster. */
    @ParameterizedTest
    @CsvSource({"high, high", "'HIGH,normal', 'high,normal'", "none, normal", "'', normal"})
    void newClustersRootGetsTheDefaultQos(String said, String expected) {
        root("add qos name=high");
        ChangeRules rules = new ChangeRules(false, true, false, false, false, said);
        ruled("root", rules, new Change("add", "cluster", Map.of(), Map.of("name", "d"), true));
        assertThat(book.assoc("d", "root", "", "").orElseThrow().limit("QOS")).isEqualTo(expected);
        AssocTree draft = book.draft();
        Registration.apply(
                draft, new Register("e", "j", 5, "h", 6817, 1, "cpu=1", "n1", 1, List.of()), "root", 1, said);
        assertThat(draft.assoc("e", "root", "", "").orElseThrow().limit("QOS")).isEqualTo(expected);
    }

    /**
     * A cluster that keeps its rows elsewhere is known by its address; it becomes an ordinary one when it brings its
     * rows.
     */
    @Test
    void anExternalClusterSaysWhereItIs() {
        Register own = new Register("far", "j", 5, "h", 6817, 1, "cpu=1", "n1", 1, List.of("gres/gpu"));
        AssocTree draft = book.draft();
        assertThat(Registration.apply(draft, own.abroad(), "root", 1, "")).isTrue();
        assertThat(Registration.apply(draft, own.abroad(), "root", 2, ""))
                .as("nothing new")
                .isFalse();
        assertThat(draft.cluster("far").orElseThrow())
                .matches(Registration::isExternal)
                .matches(c -> c.controlPort() == 6817);
        assertThat(draft.tres()).extracting(t -> t.full()).doesNotContain("gres/gpu");
        Registration.apply(draft, own, "root", 3, "");
        assertThat(draft.cluster("far").orElseThrow()).matches(c -> !Registration.isExternal(c));
    }

    @Test
    void coordinatorsMayNothingWhereTheSiteSaysSo() {
        root("add coordinator name=bob account=phys");
        Change add = new Change("add", "account", Map.of("parent", "phys"), Map.of("name", "sub"), true);
        assertThat(ruled("bob", new ChangeRules(false, false, false, false, false, ""), add)
                        .errno())
                .isEqualTo(2002);
        assertThat(ruled("bob", ChangeRules.STANDARD, add).error()).isEmpty();
    }

    /** What jobs are charged to stays until they have ended. */
    @ParameterizedTest
    @CsvSource({"user, ann", "account, phys", "cluster, c", "qos, high"})
    void entityWithActiveJobsIsNotRemoved(String entity, String name) {
        root("add user name=ann account=phys");
        root("add qos name=high");
        root("add qos name=low");
        ChangeRules rules = new ChangeRules(
                false,
                true,
                false,
                false,
                false,
                "",
                of -> of.stream()
                        .filter(a -> a.user().equals("ann") && a.account().equals("phys"))
                        .map(a -> new ChangeRules.Active(8, a, "high", ""))
                        .toList());
        Change delete = new Change("delete", entity, Map.of(), Map.of("name", name), true);
        assertThat(ruled("root", rules, delete).error())
                .containsExactly(
                        " Error with request: Job(s) active, cancel job(s) before remove",
                        "  JobID = 8          C = c          A = phys       U = ann       Q = high      W = *        ");
        assertThat(ruled("root", rules, new Change("delete", "qos", Map.of(), Map.of("name", "low"), true))
                        .error())
                .isEmpty();
        assertThat(book.assoc("c", "phys", "ann", "")).isPresent();
        assertThat(book.cluster("c")).isPresent();
        assertThat(ruled("root", ChangeRules.STANDARD, delete).error()).isEmpty();
    }

    @Test
    void aCleanedClusterHasItsRootAndItsPast() {
        root("add user name=ann cluster=c wckey=key");
        assertThat(root("clean cluster name=c").error()).isEmpty();
        assertThat(book.tree("c").stream().map(Assoc::account).distinct()).containsExactly("root");
        assertThat(book.treeEver("c").stream().map(Assoc::account)).contains("phys", "lab");
        assertThat(book.assocNumber("c", "phys", "ann", "")).isPositive();
        assertThat(as("bob", false, "clean cluster name=c").errno()).isEqualTo(2002);
    }
}
