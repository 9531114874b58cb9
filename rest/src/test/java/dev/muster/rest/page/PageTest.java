package dev.muster.rest.page;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.cli.command.Host;
import dev.muster.json.Json;
import dev.muster.rest.Rig;
import dev.muster.rest.Samples;
import dev.muster.rest.contract.RestException;
import dev.muster.rest.http.Http;
import dev.muster.rest.operation.Sessions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The page's files, and the users that may log in. */
class PageTest {
    private static final String TOKEN =
            "a." + java.util.Base64.getUrlEncoder().encodeToString("{\"sun\":\"ann\"}".getBytes(StandardCharsets.UTF_8))
                    + ".c";

    private static Rig rig() throws IOException {
        Rig rig = new Rig();
        rig.answers.put(
                "Follow",
                new Json.Obj()
                        .put("revision", "e.1")
                        .put("sees", "all")
                        .put("user", "ann")
                        .put("operator", true)
                        .put("coordinates", List.of("lab", "lab2")));
        return rig;
    }

    private static String text(Http.Reply r) {
        return new String(r.body(), StandardCharsets.UTF_8);
    }

    /** Asks as a browser does, without a token of its own. */
    private static Http.Reply browse(Rig rig, String method, String path, String body, String... headers) {
        List<String> all = new ArrayList<>(List.of(headers));
        all.addAll(List.of("x-slurm-user-token", "", "host", "here:6820", "content-type", "application/json"));
        return rig.ask(method, path, body, all.toArray(String[]::new));
    }

    private record Login(String cookie, String key) {}

    private static Login login(Rig rig) {
        Http.Reply r = browse(rig, "POST", "/muster/v1/session", "{\"token\":\"" + TOKEN + "\"}");
        assertThat(r.status()).as(text(r)).isEqualTo(200);
        String cookie = r.headers().get("Set-Cookie");
        assertThat(cookie)
                .startsWith("muster_session_6820=")
                .contains("HttpOnly")
                .contains("SameSite=Strict")
                .contains("Path=/");
        assertThat(text(r)).doesNotContain(TOKEN).contains("\"coordinates\":[\"lab\",\"lab2\"]");
        return new Login(
                cookie.substring(0, cookie.indexOf(';')), Json.object(r.body()).text("key"));
    }

    @Test
    void pageServesItsFilesAndNothingElse() throws IOException {
        Rig rig = rig();
        for (String path : new Page().paths()) {
            Http.Reply r = browse(rig, "GET", path, "", "accept", "text/html,*/*;q=0.8");
            assertThat(r.status()).as(path).isEqualTo(200);
            assertThat(r.headers()).as(path).containsAllEntriesOf(Page.SECURITY);
            assertThat(browse(rig, "GET", path, "", "if-none-match", r.headers().get("ETag"))
                            .status())
                    .isEqualTo(304);
        }
        assertThat(browse(rig, "GET", "/files.txt", "").status()).isEqualTo(404);
        assertThat(browse(rig, "GET", "/../Page.class", "").status()).isEqualTo(404);
        assertThat(browse(rig, "POST", "/", "").status()).isEqualTo(404);
    }

    @Test
    void contentPolicyAllowsOnlyOwnScriptsAndNoFrames() {
        assertThat(Page.SECURITY.get("Content-Security-Policy"))
                .contains("default-src 'none'")
                .contains("script-src 'self'")
                .contains("frame-ancestors 'none'")
                .contains("require-trusted-types-for 'script'")
                .doesNotContain("unsafe")
                .doesNotContain("*");
    }

    @Test
    void noTextIsEverMarkupAndNothingComesFromElsewhere() throws IOException {
        Rig rig = rig();
        Pattern made = Pattern.compile(
                "innerHTML|outerHTML|insertAdjacentHTML|document\\.write|createContextualFragment|DOMParser"
                        + "|\\beval\\(|new Function|javascript:|setAttribute\\(['\"](on|style)|srcdoc");
        Pattern elsewhere = Pattern.compile("https?://(?!www\\.w3\\.org/2000/svg)");
        Pattern imports = Pattern.compile("from '\\./([a-z]+\\.js)'");
        List<String> paths = new Page().paths();
        for (String path : paths) {
            String file = text(browse(rig, "GET", path, ""));
            assertThat(made.matcher(file).find()).as(path + " makes markup").isFalse();
            assertThat(elsewhere.matcher(file).find())
                    .as(path + " names another place")
                    .isFalse();
            Matcher m = imports.matcher(file);
            while (m.find()) {
                assertThat(paths).as(path).contains("/" + m.group(1));
            }
        }
    }

    @Test
    void theCookieAndTheKeyTogetherAreTheUser() throws IOException {
        Rig rig = rig();
        Samples.fill(rig.answers);
        Login in = login(rig);
        assertThat(browse(rig, "GET", "/slurm/v0.0.45/partitions", "", "cookie", in.cookie, "x-muster-key", in.key)
                        .status())
                .isEqualTo(200);
        assertThat(browse(rig, "GET", "/slurm/v0.0.45/partitions", "", "x-muster-key", in.key)
                        .status())
                .isEqualTo(401);
        for (String path : List.of(
                "/slurm/v0.0.45/partitions",
                "/slurm/v0.0.45/reconfigure",
                "/muster/v1/jobs",
                "/muster/v1/events",
                "/muster/v1/session")) {
            assertThat(browse(rig, "GET", path, "", "cookie", in.cookie).status())
                    .as(path)
                    .isEqualTo(403);
            assertThat(browse(rig, "GET", path, "", "cookie", in.cookie, "x-muster-key", in.key + "x")
                            .status())
                    .as(path)
                    .isEqualTo(403);
            assertThat(browse(
                                    rig,
                                    "GET",
                                    path,
                                    "",
                                    "cookie",
                                    in.cookie,
                                    "x-muster-key",
                                    in.key,
                                    "sec-fetch-site",
                                    "same-site")
                            .status())
                    .as(path)
                    .isEqualTo(403);
        }
        assertThat(rig.asked).noneMatch(a -> a.startsWith("Reconfigure"));
        assertThat(browse(rig, "DELETE", "/slurm/v0.0.45/job/5", "", "cookie", in.cookie)
                        .status())
                .isEqualTo(403);
    }

    @Test
    void loggedOutSessionIsRefused() throws IOException {
        Rig rig = rig();
        Login in = login(rig);
        Http.Reply out = browse(rig, "DELETE", "/muster/v1/session", "", "cookie", in.cookie, "x-muster-key", in.key);
        assertThat(out.status()).isEqualTo(200);
        assertThat(out.headers().get("Set-Cookie")).contains("Max-Age=0");
        assertThat(browse(rig, "GET", "/muster/v1/session", "", "cookie", in.cookie, "x-muster-key", in.key)
                        .status())
                .isEqualTo(401);
    }

    @Test
    void aCodeIsGoodOnceAndForAMinute() throws IOException, RestException {
        Rig rig = rig();
        String code = Json.object(
                        rig.ask("POST", "/muster/v1/session/codes", "").body())
                .text("code");
        assertThat(browse(rig, "POST", "/muster/v1/session", "{\"code\":\"" + code + "\"}")
                        .status())
                .isEqualTo(200);
        assertThat(browse(rig, "POST", "/muster/v1/session", "{\"code\":\"" + code + "\"}")
                        .status())
                .isEqualTo(401);
        assertThat(browse(rig, "POST", "/muster/v1/session", "{\"code\":\"none\"}")
                        .status())
                .isEqualTo(401);
        Sessions sessions = new Sessions();
        assertThat(sessions.spend(sessions.code(TOKEN, 0), Sessions.CODE_MS)).isEmpty();
        assertThat(sessions.spend(sessions.code(TOKEN, 0), Sessions.CODE_MS - 1))
                .contains(TOKEN);
    }

    @Test
    void aSessionLastsNoLongerThanItsToken() {
        String short_ =
                "a." + java.util.Base64.getUrlEncoder().encodeToString("{\"exp\":100}".getBytes(StandardCharsets.UTF_8))
                        + ".c";
        assertThat(new Sessions().open(short_, "ann", 0).untilMs()).isEqualTo(100_000);
        assertThat(new Sessions().open(TOKEN, "ann", 0).untilMs()).isEqualTo(Sessions.LIFE_MS);
    }

    @Test
    void crossSiteLoginIsRefused() throws IOException {
        Rig rig = rig();
        String body = "{\"token\":\"" + TOKEN + "\"}";
        assertThat(browse(rig, "POST", "/muster/v1/session", body, "sec-fetch-site", "cross-site")
                        .status())
                .isEqualTo(403);
        assertThat(rig.ask("POST", "/muster/v1/session", body, "content-type", "text/plain")
                        .status())
                .isEqualTo(415);
        assertThat(browse(rig, "POST", "/muster/v1/session", "{").status()).isEqualTo(400);
    }

    @Test
    void invalidRequestGetsItsStatusCode() throws IOException {
        Rig rig = rig();
        assertThat(browse(rig, "GET", "/muster/v1/jobs", "").status()).isEqualTo(401);
        assertThat(rig.ask("GET", "/muster/v1/none", "").status()).isEqualTo(404);
        assertThat(rig.ask("PUT", "/muster/v1/jobs", "").status()).isEqualTo(404);
        assertThat(rig.ask("GET", "/muster/v1/jobs/x/log", "").status()).isEqualTo(400);
        assertThat(rig.ask("GET", "/muster/v1/jobs/1/log?offset=x", "").status())
                .isEqualTo(400);
    }

    @Test
    void anEstimateIsAskedForWhereNodesAreWaitedForOnly() throws IOException {
        for (String reason : List.of(
                "Resources",
                "Priority",
                "JobHeldUser",
                "JobHeldAdmin",
                "BeginTime",
                "Dependency",
                "AssocGrpCpuLimit",
                "Licenses",
                "QOSMaxGRESPerUser",
                "PartitionDown",
                "ReqNodeNotAvail",
                "JobArrayTaskLimit",
                "None")) {
            Rig rig = rig();
            rig.answers.put("QueryJobs", tree("{\"jobs\":[{\"state\":\"PENDING\",\"reason\":\"" + reason + "\"}]}"));
            rig.answers.put("QueryWhy", tree("{\"says\":\"\",\"reason\":\"" + reason + "\"}"));
            rig.answers.put("TestJob", tree("{\"testStart\":90000}"));
            Json.Obj why = rig.tree("GET", "/muster/v1/jobs/7/why", "");
            assertThat(why.has("estimate"))
                    .as(reason)
                    .isEqualTo(List.of("Resources", "Priority").contains(reason));
            assertThat(why.obj("estimate").flag("planned")).isFalse();
        }
    }

    @Test
    void aFormIsSubmittedAsSbatchDoes() throws IOException {
        Rig rig = rig();
        rig.answers.put("Submit", tree("{\"jobId\":7}"));
        Json.Obj done = rig.tree(
                "POST",
                "/muster/v1/submit",
                "{\"options\":[\"-J\",\"x\"],\"script\":\"#!/bin/sh\\n#SBATCH --array=1-3\\ntrue\\n\"}");
        assertThat(done.number("job_id")).isEqualTo(7);
        assertThat(rig.asked)
                .anyMatch(a ->
                        a.startsWith("Submit ") && a.contains("\"array\":\"1-3\"") && a.contains("\"name\":\"x\""));
        Http.Reply refused =
                rig.ask("POST", "/muster/v1/submit", "{\"script\":\"#!/bin/sh\\n#SBATCH --wait\\ntrue\\n\"}");
        assertThat(refused.status()).isEqualTo(400);
        assertThat(text(refused)).contains("--wait is not possible here");
        assertThat(rig.ask("POST", "/muster/v1/submit", "{").status()).isEqualTo(400);
    }

    @Test
    void pageShowsReasonStartAndUsageOfAJob() throws IOException {
        Rig rig = rig();
        rig.answers.put("QueryJobs", tree("{\"jobs\":[{\"state\":\"PENDING\",\"reason\":\"Priority\"}]}"));
        rig.answers.put(
                "QueryWhy",
                tree("{\"says\":\"It ends at @86400@.\",\"evidence\":[\"n1 until "
                        + "@0@\"],\"start\":90000,\"nodes\":\"n1\"}"));
        Json.Obj why = rig.tree("GET", "/muster/v1/jobs/7/why", "");
        assertThat(why.text("says")).isEqualTo("It ends at 1970-01-02T00:00:00Z.");
        assertThat(why.texts("evidence")).containsExactly("n1 until 1970-01-01T00:00:00Z");
        assertThat(why.obj("estimate").number("start_time")).isEqualTo(90_000);
        assertThat(rig.asked).noneMatch(a -> a.startsWith("TestJob"));

        rig.answers.put(
                "QueryUse",
                tree("{\"state\":\"RUNNING\",\"every\":30,\"nodes\":[\"n2: it is not connected\"],\"uses\":["
                        + "{\"node\":\"n1\",\"step\":\"batch\",\"points\":["
                        + "{\"time\":5,\"cpuMs\":6,\"residentKb\":7,\"readBytes\":8,\"writtenBytes\":9}]}]}"));
        Json.Obj use = rig.tree("GET", "/muster/v1/jobs/7/usage", "");
        assertThat(new String(Json.print(use), StandardCharsets.UTF_8))
                .contains("\"points\":[[5,6,7,8,9]]")
                .contains("n2: it is not connected");

        rig.answers.put(
                "QueryScript",
                new Json.Obj()
                        .put(
                                "script",
                                java.util.Base64.getEncoder()
                                        .encodeToString("A=1\0B=x y\0".getBytes(StandardCharsets.UTF_8))));
        assertThat(rig.tree("GET", "/muster/v1/jobs/7/environment", "").texts("environment"))
                .containsExactly("A=1", "B=x y");
        rig.answers.put(
                "QueryAssocMgr",
                tree("{\"assocs\":[{"
                        + "\"running\":2,\"limits\":{\"GrpJobs\":\"3\"},\"share\":{\"account\":\"lab\","
                        + "\"depth\":1}}]}"));
        Json.Obj lab =
                rig.tree("GET", "/muster/v1/limits", "").objects("associations").getFirst();
        assertThat(lab.text("account") + " " + lab.number("running") + " of "
                        + lab.obj("limits").text("GrpJobs"))
                .isEqualTo("lab 2 of 3");

        rig.answers.put(
                "QueryPlan",
                tree("{\"waiting\":2,\"planned\":1,\"bars\":[{\"jobId\":7,\"shown\":\"7\",\"start\":90000}]}"));
        assertThat(rig.tree("GET", "/muster/v1/plan?hours=2", "")
                        .objects("jobs")
                        .getFirst()
                        .number("start_time"))
                .isEqualTo(90_000);
        assertThat(rig.ask("GET", "/muster/v1/plan?hours=0", "").status()).isEqualTo(400);
    }

    /** Spans that have begun by now, 1800000000, in one question; the last is as long as it has lasted. */
    @Test
    void useOfTheClusterHasACourse() throws IOException {
        Rig rig = rig();
        String row = "{\"From\":\"%s\",\"TRES\":\"cpu\",\"Allocated\":\"7\",\"Down\":\"6\",\"PlannedDown\":\"5\","
                + "\"Idle\":\"4\",\"Planned\":\"3\","
                + "\"Reported\":\"25\",\"Count\":\"1\"},{\"From\":\"%1$s\",\"TRES\":\"mem\","
                + "\"Allocated\":\"9\"}";
        rig.answers.put(
                "Report",
                tree("{\"rows\":[" + String.format(row, 1_799_992_000) + "," + String.format(row, 1_799_995_600) + ","
                        + String.format(row, 1_799_999_200) + "]}"));
        Json.Obj course = rig.tree("GET", "/muster/v1/utilization?from=1799992000&step=3600&spans=5", "");
        assertThat(new String(Json.print(course.obj("series")), StandardCharsets.UTF_8))
                .isEqualTo("{\"cpu\":[[1799992000,3600,7,6,5,4,3,25,1],"
                        + "[1799995600,3600,7,6,5,4,3,25,1],[1799999200,800,7,6,5,4,3,25,1]]}");
        assertThat(rig.asked)
                .filteredOn(a -> a.startsWith("Report "))
                .hasSize(1)
                .first()
                .asString()
                .contains(
                        "\"kind\":\"utilization\"",
                        "\"from\":1799992000,\"to\":1800002800",
                        "\"clusters\":[\"test\"]",
                        "\"step\":3600");
        for (String wrong : List.of(
                "from=5&step=60&spans=1",
                "from=5&step=3600&spans=101",
                "from=x&step=3600&spans=1",
                "step=3600&spans=1")) {
            assertThat(rig.ask("GET", "/muster/v1/utilization?" + wrong, "").status())
                    .as(wrong)
                    .isEqualTo(400);
        }
    }

    /** The answer is not 401, with which the page would log its user out. */
    @Test
    void slurmdbdWithoutTokensAnswers503Instead() {
        dev.muster.cli.command.Controller dbd = (message, request) -> {
            throw new dev.muster.cli.command.SlurmException(1007, "Protocol authentication error");
        };
        Host host = (Host) java.lang.reflect.Proxy.newProxyInstance(
                Host.class.getClassLoader(),
                new Class<?>[] {Host.class},
                (p, method, args) -> switch (method.getName()) {
                    case "accounting" -> dbd;
                    case "clusters" -> List.of("test");
                    case "nowMs" -> 1_800_000_000_000L;
                    default -> throw new UnsupportedOperationException(method.getName());
                });
        org.assertj.core.api.Assertions.assertThatThrownBy(() -> UtilizationSeries.of(
                        host, java.util.Map.of("from", "1799992000", "step", "3600", "spans", "1")))
                .isInstanceOfSatisfying(
                        RestException.class, e -> assertThat(e.status()).isEqualTo(503))
                .hasMessageContaining("AuthAltTypes");
    }

    private static Json.Obj tree(String text) {
        return Json.object(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void listsAreRowsOfValues() throws IOException {
        Rig rig = rig();
        Samples.fill(rig.answers);
        for (String list : List.of("jobs", "nodes")) {
            Json.Obj r = rig.tree("GET", "/muster/v1/" + list, "");
            assertThat(r.list("rows")).isNotEmpty();
            assertThat((List<?>) r.list("rows").getFirst()).hasSameSizeAs(r.list("fields"));
        }
    }
}
