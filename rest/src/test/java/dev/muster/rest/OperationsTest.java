package dev.muster.rest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.muster.json.Json;
import dev.muster.rest.http.Http;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What each change asks of slurmctld or slurmdbd. */
class OperationsTest {
    /** Request, body, and what is among the things asked; quotes are single ones, the request's id is left out. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            POST /slurm/v0.0.45/job/5 | {'time_limit':{'set':true,'number':9},'name':'x'} | 'changes':{'jobname':'x','timelimit':'9'}}
            POST /slurm/v0.0.42/job/5 | {'time_limit':'INFINITE'} | UpdateJob {'job':'5','changes':{'timelimit':'UNLIMITED'}}
            POST /slurm/v0.0.45/job/5 | {'required_switches':{'set':true,'number':2},'wait_for_switch':90} | 'changes':{'switches':'2@1:30'}}
            POST /slurm/v0.0.45/job/5 | {'minimum_nodes':2,'maximum_nodes':3,'delay_boot':60} | 'changes':{'numnodes':'2-3','delayboot':'1'}}
            POST /slurm/v0.0.45/node/n1 | {'cpu_bind':4,'topology_str':'t:s1'} | 'changes':{'cpubind':'cores','topology':'t:s1'}}
            POST /slurm/v0.0.45/partitions | {'partitions':[{'name':'n','maximums':{'oversubscribe':{'jobs':2,'flags':['force']}}}]} | 'FORCE:2'
            POST /slurmdb/v0.0.45/qos | {'qos':[{'name':'q','flags':['ADD','NO_DECAY'],'preempt':{'mode':['DISABLED']}}]} | 'Flags':'+=NoDecay'
            POST /slurmdb/v0.0.45/accounts | {'accounts':[{'name':'1','description':'','organization':'','flags':['UsersAreCoords']}]} | {'Flags'
            POST /slurm/v0.0.45/job/allocate | {'hetjob':[{'environment':['A=b'],'tasks':2},{'environment':['A=b'],'tasks':3}]} | 'kind':'ALLOCATION'
            POST /slurm/v0.0.45/job/allocate | {'hetjob':[{'environment':['A=b']},{'environment':['A=b']}]} | SubmitHet {'parts':[{
            POST /slurm/v0.0.45/job/5 | {'hold':false} | JobAction {'action':'release','jobs':['5']}
            DELETE /slurm/v0.0.45/job/5?signal=USR1&flags=BATCH_JOB | {} | Cancel {'signal':10,'batchOnly':true,'full':false
            DELETE /slurm/v0.0.45/jobs | {'user_name':'nobody','job_state':['PENDING']} | 'states':['PENDING'],'userIds':[65534]}
            GET /slurm/v0.0.45/job/5/requeue?Hold | {} | JobAction {'action':'requeuehold','argument':'','jobs':['5']}
            POST /slurm/v0.0.44/node/n1 | {'state':'DRAIN','reason':'r'} | UpdateNode {'nodes':'n1','changes':{'reason':'r','state':'DRAIN'}}
            POST /slurm/v0.0.45/partitions | {'partitions':[{'name':'1','flags':['HIDDEN','DEFAULT']}]} | 'changes':{'hidden':'YES'}}
            POST /slurm/v0.0.45/partitions | {'partitions':[{'name':'n','flags':['LLN_CLEAR']}]} | 'partition':'n','values':{'lln':'NO'}
            POST /slurm/v0.0.45/reservation | {'name':'r','start_time':7,'duration':2,'partition':'p'} | 'duration':'120','nodes':'ALL'}}
            DELETE /slurm/v0.0.45/partition/p | {} | DeletePartition {'partition':'p'}
            POST /slurmdb/v0.0.45/qos | {'qos':[{'name':'q','priority':3,'flags':['NO_DECAY']}]} | 'set':{'Flags':'NoDecay','Priority':'3'}
            POST /slurmdb/v0.0.42/accounts | {'accounts':[{'name':'1','description':'e','organization':'f'}]} | 'verb':'modify','entity':'account'
            DELETE /slurmdb/v0.0.43/wckey/k | {} | 'where':{'name':'ann','wckey':'k','cluster':'test'}
            DELETE /slurmdb/v0.0.45/associations?user=u&cluster=c | {} | 'entity':'user','set':{},'where':{'cluster':'c','name':'u'}
            GET /slurmdb/v0.0.45/jobs?users=nobody&skip_steps&state=FAILED | {} | 'states':['FAILED'],'userIds':[65534]
            """)
    void operationSendsItsMessageToTheDaemon(String request, String body, String asked) throws IOException {
        Rig rig = new Rig();
        Samples.fill(rig.answers);
        String[] words = request.split(" ");
        Http.Reply reply = rig.ask(words[0], words[1], body.replace('\'', '"'));
        assertThat(reply.status())
                .as(new String(reply.body(), java.nio.charset.StandardCharsets.UTF_8))
                .isIn(200, 304);
        String all = String.join("\n", rig.asked)
                .replace("\"requestId\":\"0123456789abcdef0123456789abcdef\",", "")
                .replace('"', '\'');
        assertThat(all).contains(asked);
    }

    @Test
    void aJobIsAskedForAsSbatchDoes() throws IOException {
        Rig rig = new Rig();
        rig.answers.put("Submit", new Json.Obj().put("jobId", 12L));
        Json.Obj answer = rig.tree("POST", "/slurm/v0.0.43/job/submit", """
                {"script":"#!/bin/sh\\n","job":{"environment":"A=b","nodes":"2-3","tasks":4,
                 "memory_per_node":{"set":true,"number":0},
                "time_limit":"60","priority":{"set":true,"number":0},"kill_warning_signal":"USR1","rlimits":{"core":{"infinite":true}},
                "tres_per_node":"gres:gpu:2","mail_type":["END"],"requeue":false}}""");
        assertThat(answer.number("job_id")).isEqualTo(12);
        assertThat(answer.objects("warnings"))
                .extracting(w -> w.text("description"))
                .containsExactly(
                        "Expected OpenAPI type=array (Slurm type=list) but got OpenAPI type=string (Slurm "
                                + "type=string): \"A=b\"",
                        "Job submission resulted in non-zero return code: Job is in held state, pending "
                                + "scheduler release",
                        "Job is in held state, pending scheduler release");
        String asked = rig.asked.getFirst();
        assertThat(asked)
                .startsWith("Submit ")
                .contains(
                        "\"nodesMin\":2,\"nodesMax\":3",
                        "\"tasks\":4",
                        "\"memAll\":true",
                        "\"timeLimitMin\":60",
                        "\"hold\":true",
                        "\"warnSignal\":10,\"warnSeconds\":60",
                        "\"CORE\":-1",
                        "\"tresPerNode\":\"gres/gpu:2\"",
                        "\"mailType\":\"END\"",
                        "\"requeue\":\"NO\"",
                        "\"name\":\"openapi\"");
    }

    /** What has no place is refused, and slurmctld is not asked. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            {'script':'x','job':{'environment':['A=b'],'selinux_context':'s'}} | 422 | 2036
            {'script':'x','job':{}}                                           | 422 | 2127
            {'job':{'environment':['A=b']}}                                   | 422 | 9000
            {}                                                                | 422 | 9000
            []                                                                | 500 | 9209
            {'script':'x','job':[]}                                           | 500 | 9209
            {'script':'x'}                                                    | 422 | 9002
            {'script':'x','job':{'environment':['A=b'],'nodes':'x'}}          | 422 | 2036
            {'script':'x','job':{'environment':['A=b'],'flags':['NONE_SUCH']}} | 500 | 9207
            """)
    void invalidSubmissionIsRefusedUnsent(String body, int status, long errno) throws IOException {
        Rig rig = new Rig();
        Http.Reply reply = rig.ask("POST", "/slurm/v0.0.45/job/submit", body.replace('\'', '"'));
        assertThat(reply.status()).isEqualTo(status);
        assertThat(Json.object(reply.body()).objects("errors").getFirst().number("error_number"))
                .isEqualTo(errno);
        assertThat(rig.asked).isEmpty();
    }

    private static final List<String> PLAIN = List.of(
            ("core_specification thread_specification deadline delay_boot nice tasks oom_kill_step reserve_ports "
                            + "cpus_per_task minimum_cpus minimum_nodes maximum_nodes minimum_boards_per_node "
                            + "sockets_per_node threads_per_core tasks_per_node tasks_per_socket tasks_per_core "
                            + "ntasks_per_tres minimum_cpus_per_node temporary_disk_per_node wait_for_switch")
                    .split(" "));
    private static final List<String> STRUCTURED = List.of(
            ("begin_time distribution_plane_size priority time_limit time_minimum kill_warning_delay memory_per_cpu "
                            + "memory_per_node required_switches segment_size")
                    .split(" "));

    /** A number that does not fit is refused by its field's name, in new jobs and in changes of jobs. */
    @Test
    void numberOutOfRangeIsRefusedByItsField() throws IOException {
        Rig rig = new Rig();
        for (String number :
                List.of("-3000000000", "9223372036854775808", "1e300", "1.5", "'x'", "'99999999999999999999'")) {
            for (String field :
                    Stream.concat(PLAIN.stream(), STRUCTURED.stream()).toList()) {
                refuses(rig, field, number);
                if (STRUCTURED.contains(field)) {
                    refuses(rig, field, "{'set':true,'number':" + number + "}");
                }
            }
        }
        for (String field : PLAIN) {
            for (String number : field.equals("deadline") ? List.of("-1") : List.of("2147483648", "4294967295", "-5")) {
                if (!field.equals("nice") || !number.equals("-5")) {
                    refuses(rig, field, number);
                }
            }
        }
        for (String field : STRUCTURED) {
            refuses(rig, field, "{'set':true,'number':-1}");
            refuses(rig, field, "-5");
        }
        refuses(rig, "kill_warning_delay", "70000");
        refuses(rig, "segment_size", "70000");
        refuses(rig, "time_limit", "3000000000");
        assertThat(rig.asked).isEmpty();
    }

    private static void refuses(Rig rig, String field, String number) {
        String job = "{'environment':['A=b'],'wait_for_switch':1,'required_switches':2,'kill_warning_signal':'USR1',"
                        .replace("'" + field + "':", "'ignored':")
                + "'" + field + "':" + number + "}";
        refuses(rig, "/job/submit", "{'script':'x','job':" + job + "}", "#/job/" + field);
        if (!List.of(
                        "oom_kill_step",
                        "kill_warning_delay",
                        "reserve_ports",
                        "segment_size",
                        "tasks_per_socket",
                        "tasks_per_core",
                        "ntasks_per_tres",
                        "distribution_plane_size",
                        "minimum_boards_per_node")
                .contains(field)) {
            String change = "{'required_switches':2,".replace("'" + field + "':", "'ignored':") + "'" + field + "':";
            refuses(rig, "/job/5", change + number + "}", "#/" + field);
        }
    }

    private static void refuses(Rig rig, String target, String body, String place) {
        Http.Reply reply = rig.ask("POST", "/slurm/v0.0.45" + target, body.replace('\'', '"'));
        String answer = new String(reply.body(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(reply.status()).as(body + answer).isEqualTo(400);
        Json.Obj error = Json.object(reply.body()).objects("errors").getFirst();
        assertThat(error.number("error_number")).as(body + answer).isEqualTo(9202);
        assertThat(error.text("source")).as(body + answer).startsWith(place);
    }

    /** NO_VAL written out is no value, and INFINITE is infinite. */
    @Test
    void noValueWrittenOutIsUnset() throws IOException {
        Rig rig = new Rig();
        rig.answers.put("Submit", new Json.Obj().put("jobId", 12L));
        rig.tree("POST", "/slurm/v0.0.45/job/submit", """
                {"script":"x","job":{"environment":["A=b"],"tasks":4294967294,"cpus_per_task":2,
                 "priority":{"set":true,"number":4294967294},"segment_size":65534,
                 "time_limit":{"set":true,"number":4294967295}}}""");
        assertThat(rig.asked.getFirst())
                .contains("\"timeLimitMin\":-1", "\"cpusPerTask\":2")
                .doesNotContain("tasks\":", "priority", "segment");
    }

    /** All tasks of an array have their line; the answer is an error only where none could be changed. */
    @Test
    void partlyFailedArrayUpdateIsNoError() throws IOException {
        Rig rig = new Rig();
        rig.answers.put(
                "UpdateJob",
                Json.object(("{'errors':[{'job':'5_1-2','error':'No error'},"
                                + "{'job':'5_3','errno':2021,'error':'Job has already finished'}]}")
                        .replace('\'', '"')
                        .getBytes(java.nio.charset.StandardCharsets.UTF_8)));
        Json.Obj answer = rig.tree("POST", "/slurm/v0.0.45/job/5", "{\"comment\":\"x\"}");
        assertThat(answer.objects("results"))
                .extracting(r -> r.text("step_id") + " " + r.number("error_code"))
                .containsExactly("5_1-2 0", "5_3 2021");
        assertThat(answer.objects("errors")).isEmpty();
        assertThat(answer.objects("warnings"))
                .extracting(w -> w.text("description"))
                .containsExactly("Job has already finished for job 5_3");
    }

    @Test
    void configurationHasItsKinds() throws IOException {
        Rig rig = new Rig();
        Samples.fill(rig.answers);
        Json.Obj conf = rig.tree("GET", "/slurm/v0.0.45/conf", "").obj("slurm_conf");
        assertThat(conf.text("ClusterName")).isEqualTo("test");
        assertThat(conf.number("KillWait")).isEqualTo(30);
        assertThat(conf.text("SlurmUser") + conf.number("SlurmUserId")).isEqualTo("root0");
        assertThat(rig.tree("GET", "/slurmdb/v0.0.45/conf", "")
                        .obj("slurmdbd_conf")
                        .number("DbdPort"))
                .isEqualTo(6819);
    }

    /** A list that is as it was: nodes answer 304, the others empty with a warning. */
    @Test
    void unchangedListIsAnsweredWith304OrEmpty() throws IOException {
        Rig rig = new Rig();
        Samples.fill(rig.answers);
        assertThat(rig.ask("GET", "/slurm/v0.0.45/nodes?update_time=1800000001", "")
                        .status())
                .isEqualTo(304);
        assertThat(rig.ask("GET", "/slurm/v0.0.45/nodes?update_time=5", "").status())
                .isEqualTo(200);
        Json.Obj jobs = rig.tree("GET", "/slurm/v0.0.45/jobs?update_time=1800000001", "");
        assertThat(jobs.list("jobs")).isEmpty();
        assertThat(jobs.list("warnings")).hasSize(1);
        assertThat(rig.tree("GET", "/slurm/v0.0.45/jobs?update_time=5", "").list("jobs"))
                .hasSize(1);
    }

    /** The jobs are 7 (over, with nothing), 8 (over with 3, by the plan) and 9 (running). */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            association=5,4               | [8, 9]
            association=77                | []
            reservation=r,q               | [8]
            reservation_id=6              | [8]
            constraints=a                 | [8, 9]
            constraints=a,b,c             | [8]
            constraints=d                 | []
            exit_code=3                   | [8]
            exit_code=0                   | []
            scheduler_unset               | [7]
            scheduled_by_main=true        | [9]
            scheduled_by_backfill         | [8]
            job_started                   | [9]
            scheduled_by_backfill=true&scheduler_unset=true | [7, 8]
            scheduled_by_backfill=false   | [7, 8, 9]
            scheduled_on_submit           | []
            """)
    void endedJobsAreChosen(String query, String ids) throws IOException {
        Rig rig = new Rig();
        Samples.fill(rig.answers);
        Json.Obj answer = rig.tree("GET", "/slurmdb/v0.0.45/jobs?" + query, "");
        assertThat(answer.objects("jobs").stream().map(j -> j.number("job_id")).toList())
                .hasToString(ids);
        assertThat(answer.list("warnings").isEmpty()).isEqualTo(!ids.equals("[]"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            jobs?association=x         | 422
            jobs?exit_code=256         | 422
            jobs?job_altered           | 422
            jobs?usage_time_as_submit_time | 422
            """)
    void conditionsThatCannotBeAreRefused(String path, int status) throws IOException {
        assertThat(new Rig().ask("GET", "/slurmdb/v0.0.45/" + path, "").status())
                .isEqualTo(status);
    }

    @ParameterizedTest
    @CsvSource({
        "slurmdb/v0.0.45/qos/, 7000, Unable to connect to database",
        "slurmdb/v0.0.42/jobs/, 7000, Unable to connect to database",
        "slurm/v0.0.45/jobs/, 1800, Unable to contact slurm controller (connect failure)"
    })
    void errorNamesTheUnreachableDaemon(String path, long number, String sentence) throws IOException {
        Rig rig = new Rig();
        rig.away = true;
        assertThat(rig.ask("GET", "/" + path, "").status()).isEqualTo(500);
        Json.Obj error = rig.tree("GET", "/" + path, "").objects("errors").getFirst();
        assertThat(error.number("error_number")).isEqualTo(number);
        assertThat(error.text("error")).isEqualTo(sentence);
    }

    /**
     * What accounting has is asked for a part at a time, in both forms, and nothing of it is lost; what fails then
     * stands behind what was read.
     */
    @Test
    void endedJobsComeInParts() throws IOException {
        Rig rig = new Rig();
        Samples.fill(rig.answers);
        rig.answers.get("QueryAccounting").put("next", 20L);
        rig.answers.put(
                "QueryAccounting from 20",
                Json.object(("{\"jobs\":[{\"job\":{\"jobId\":20,\"userName\":\"ann\",\"cpusAllocated\":2,"
                                + "\"tresAllocated\":\"cpu=2,gres/gpu=3\"}}]}")
                        .getBytes(StandardCharsets.UTF_8)));
        Json.Obj all = rig.tree("GET", "/slurmdb/v0.0.45/jobs", "");
        assertThat(all.objects("jobs").stream().map(j -> j.number("job_id")).toList())
                .containsExactly(7L, 8L, 9L, 20L);
        assertThat(rig.asked).hasSize(2).allMatch(q -> q.contains("\"limit\":1000"));
        Json.Obj rows = rig.tree("GET", "/muster/v1/ended?from=5", "");
        assertThat(rows.list("rows")).hasSize(4).last().hasToString("[ann, , , , , 0, 0, 0, 0, 2, 3]");
        assertThat(rig.ask("GET", "/muster/v1/ended", "").status()).isEqualTo(400);
    }

    /** A refused removal has Slurm's number, and an association of an unknown account is no change. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            DELETE /user/u               | ACTIVE | 422 | 7001 | slurmdb_users_remove failed
            DELETE /account/a            | ACTIVE | 422 | 7001 | slurmdb_accounts_remove failed
            DELETE /qos/q                | ACTIVE | 422 | 7001 | slurmdb_qos_remove failed
            DELETE /associations?user=u  | DEFAULT | 422 | 7009 | slurmdb_associations_remove failed
            DELETE /user/u               | Any other sentence | 500 | -1 | Any other sentence
            POST /users_association      | No account a on cluster c, skipping./Nothing added. | 304 | 0 | ''
            """)
    void refusedRemovalHasSlurmsErrorNumber(String request, String sentence, int status, int errno, String description)
            throws IOException {
        Rig rig = new Rig();
        Samples.fill(rig.answers);
        rig.answers.put(
                "Change",
                new Json.Obj()
                        .put(
                                "error",
                                List.of(" "
                                        + sentence.replace("/", "\n")
                                                .replace(
                                                        "ACTIVE",
                                                        "Error with request: Job(s) active, cancel job(s) "
                                                                + "before remove")
                                                .replace(
                                                        "DEFAULT",
                                                        "Error with request: You can not remove the default "
                                                                + "account of a user")))
                        .put("errno", -1L));
        String[] words = request.split(" ");
        Http.Reply reply = rig.ask(
                words[0],
                "/slurmdb/v0.0.45" + words[1],
                "{\"association_condition\":{\"users\":[\"u\"],\"accounts\":[\"a\"]}," + "\"user\":{}}");
        assertThat(reply.status()).isEqualTo(status);
        if (errno != 0) {
            assertThat(new String(reply.body(), java.nio.charset.StandardCharsets.UTF_8))
                    .contains("\"error_number\":" + errno, description);
        }
    }

    /** What was added and removed, in sacctmgr's columns. */
    @Test
    void changesAreTold() throws IOException {
        Rig rig = new Rig();
        Samples.fill(rig.answers);
        rig.answers.put(
                "Change",
                new Json.Obj()
                        .put("names", List.of("u"))
                        .put(
                                "assocs",
                                List.of(new Json.Obj()
                                        .put("user", "u")
                                        .put("account", "a")
                                        .put("cluster", "c"))));
        assertThat(rig.tree("DELETE", "/slurmdb/v0.0.45/user/u", "").texts("removed_users"))
                .containsExactly("u");
        assertThat(rig.tree(
                                "POST",
                                "/slurmdb/v0.0.45/users_association",
                                "{\"association_condition\":{\"users\":[\"u\"],\"accounts\":[\"a\"],"
                                        + "\"wckeys\":[\"w\"]},"
                                        + "\"user\":{\"adminlevel\":[\"Operator\"]}}")
                        .text("added_users"))
                .isEqualTo(" Adding User(s)\n  u\n Settings\n  Admin Level     = Operator\n Associations =\n"
                        + "  C = c          A = a                    U = u        \n Wckey(s)\n  C = c       "
                        + "   W = w          U = u        \n");
    }

    /** A cluster is not taken away where a condition of it would have been passed over. */
    @Test
    void aDeletionWithAConditionIsRefused() throws IOException {
        Rig rig = new Rig();
        assertThat(rig.ask("DELETE", "/slurmdb/v0.0.45/cluster/c?flags=EXTERNAL", "")
                        .status())
                .isEqualTo(422);
        assertThat(rig.asked).isEmpty();
    }

    /** Times of a query are numbers or Slurm's time formats. An unknown state is refused. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            start_time=1700000000          | 200 | "from":1700000000
            start_time=uts1700000000       | 200 | "from":1700000000
            start_time=2023-11-14          | 200 | "from":1699
            start_time=2023-11-14T08:00:00 | 200 | "from":16999
            state=failed                   | 200 | "states":["FAILED"]
            state=CD,TO                    | 200 | "states":["COMPLETED","TIMEOUT"]
            start_time=foo                 | 422 | 9202
            state=FOO                      | 422 | 9207
            """)
    void endedJobsAreQueriedByTimeAndState(String query, int status, String said) throws IOException {
        Rig rig = new Rig();
        Samples.fill(rig.answers);
        Http.Reply reply = rig.ask("GET", "/slurmdb/v0.0.45/jobs/?" + query, "");
        assertThat(reply.status()).isEqualTo(status);
        assertThat(
                        status == 200
                                ? rig.asked.getFirst()
                                : new String(reply.body(), java.nio.charset.StandardCharsets.UTF_8))
                .contains(said);
    }

    /** Clients of early API versions send the environment as an object. */
    @Test
    void anEnvironmentMayBeAnObject() throws IOException {
        Rig rig = new Rig();
        rig.answers.put("Submit", new Json.Obj().put("jobId", 12L));
        Json.Obj answer = rig.tree(
                "POST",
                "/slurm/v0.0.45/job/submit",
                "{\"job\":{\"script\":\"#!/bin/sh\\n\",\"environment\":{\"PATH\":\"/bin\",\"N\":3},"
                        + "\"current_working_directory\":\"/tmp\"}}");
        assertThat(answer.number("job_id")).isEqualTo(12);
        assertThat(answer.objects("warnings")).extracting(w -> w.text("source")).contains("#/job/environment/");
        assertThat(rig.asked.getFirst()).contains("\"environment\":[\"UEFUSD0vYmlu\",\"Tj0z\"]");
    }
}
