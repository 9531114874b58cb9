/*
 * The PMIx server of this node: libpmix does the talking with the tasks, in threads of its own; what it asks of its
 * host comes as upcalls, which are queued for the helper's own thread and answered from there: fences and the data of
 * single ranks of other nodes.
 */
#define _GNU_SOURCE
#include "helper.h"
#include "pmix_abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define ABORT_DELAY_MS 300 /* a task that asks for the end may leave with its own exit code within this time */
#define REGISTER_WAIT_S 20
#define FINALIZE_SECONDS 3

enum event_kind { CAME, LEFT, ASKED_ABORT, ASKED_FENCE, ASKED_DIRECT, GOT_DIRECT, LOST };
struct event {
    enum event_kind kind;
    struct event *next;
    struct proc *procs;
    size_t proc_count;
    char *bytes;
    size_t byte_count;
    int status;
    done_call done;
    modex_call modex;
    void *data;
    uint32_t from, id;
};
/* A rank's data that another node was asked for. */
struct direct {
    uint32_t id;
    long long deadline_ms;
    modex_call modex;
    void *data;
    struct direct *next;
};
struct round {
    char *key;
    size_t length;
    uint64_t count;
    struct round *next;
};

/* The library calls back from its own threads, and without a context: these are the process's. */
static struct library pmix;
static void *library;
static int wake = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct event *first_event, **last_event = &first_event;

/* ---- the library ---- */

bool pmix_load(char *error, size_t room)
{
    const struct {
        const char *name;
        void *where;
    } symbols[] = {
        {"PMIx_server_init", &pmix.init},
        {"PMIx_server_finalize", &pmix.finalize},
        {"PMIx_Get_version", &pmix.version},
        {"PMIx_generate_regex", &pmix.regex},
        {"PMIx_generate_ppn", &pmix.ppn},
        {"PMIx_server_register_nspace", &pmix.register_space},
        {"PMIx_server_register_client", &pmix.register_client},
        {"PMIx_server_setup_fork", &pmix.setup_fork},
        {"PMIx_server_dmodex_request", &pmix.direct_request},
        {"PMIx_Register_event_handler", &pmix.register_handler},
    };
    library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        snprintf(error, room, "%s", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *at = dlsym(library, symbols[i].name);
        if (!at) {
            snprintf(error, room, "libpmix.so.2 has no %s", symbols[i].name);
            return false;
        }
        memcpy(symbols[i].where, &at, sizeof at);
    }
    return true;
}

/* "pmix_v4" */
const char *pmix_version(void)
{
    static char name[16];
    const char *text = pmix.version ? pmix.version() : "", *digit = strpbrk(text, "0123456789");
    snprintf(name, sizeof name, "pmix_v%.1s", digit ? digit : "");
    return name;
}

/* ---- from the library's threads to the helper's ---- */

static int post(struct event e)
{
    struct event *copy = claim(1, sizeof *copy);
    uint64_t one = 1;
    *copy = e;
    copy->next = NULL;
    pthread_mutex_lock(&lock);
    *last_event = copy;
    last_event = &copy->next;
    pthread_mutex_unlock(&lock);
    ssize_t ignored = write(wake, &one, sizeof one);
    (void)ignored;
    return OK;
}

static char *copied(const void *from, size_t n)
{
    char *to = claim(n + 1, 1);
    if (n)
        memcpy(to, from, n);
    return to;
}

static int on_client(enum event_kind kind, const struct proc *who, done_call done, void *data)
{
    return post((struct event){
        .kind = kind, .procs = (struct proc *)copied(who, sizeof *who), .proc_count = 1, .done = done, .data = data});
}

static int on_connected(const struct proc *who, void *object, done_call done, void *data)
{
    (void)object;
    return on_client(CAME, who, done, data);
}

static int on_finalized(const struct proc *who, void *object, done_call done, void *data)
{
    (void)object;
    return on_client(LEFT, who, done, data);
}

static int on_abort(const struct proc *who, void *object, int status, const char *text, struct proc *which, size_t n,
                    done_call done, void *data)
{
    (void)who;
    (void)object;
    (void)text;
    (void)which;
    (void)n;
    return post((struct event){.kind = ASKED_ABORT, .status = status, .done = done, .data = data});
}

static int on_fence(const struct proc *who, size_t n, const struct info *info, size_t info_count, char *bytes,
                    size_t byte_count, modex_call done, void *data)
{
    (void)info;
    (void)info_count;
    return post((struct event){.kind = ASKED_FENCE,
                               .procs = (struct proc *)copied(who, n * sizeof *who),
                               .proc_count = n,
                               .bytes = copied(bytes, byte_count),
                               .byte_count = byte_count,
                               .modex = done,
                               .data = data});
}

static int on_direct(const struct proc *who, const struct info *info, size_t info_count, modex_call done, void *data)
{
    (void)info;
    (void)info_count;
    return post((struct event){.kind = ASKED_DIRECT,
                               .procs = (struct proc *)copied(who, sizeof *who),
                               .proc_count = 1,
                               .modex = done,
                               .data = data});
}

static void on_event(size_t handler, int status, const struct proc *source, struct info *info, size_t info_count,
                     struct info *results, size_t result_count, handled_call handled, void *data)
{
    (void)handler;
    (void)info;
    (void)info_count;
    (void)results;
    (void)result_count;
    if (status == LOST_CONNECTION || status == LOST_CLIENT || status == ENDED_EARLY || status == PROC_ABORTED
        || status == KILLED_BY_SIGNAL)
        post((struct event){.kind = LOST,
                            .status = status,
                            .procs = (struct proc *)copied(source, source ? sizeof *source : 0),
                            .proc_count = source ? 1 : 0});
    if (handled)
        handled(OK, NULL, 0, NULL, NULL, data);
}

/* ---- registration ---- */

struct latch {
    pthread_mutex_t lock;
    pthread_cond_t opened_condition;
    bool done;
    int status;
};

static void open_latch(int status, void *data)
{
    struct latch *l = data;
    pthread_mutex_lock(&l->lock);
    l->done = true;
    l->status = status;
    pthread_cond_signal(&l->opened_condition);
    pthread_mutex_unlock(&l->lock);
}

static void open_handler_latch(int status, size_t handler, void *data)
{
    (void)handler;
    open_latch(status < 0 ? status : OK, data);
}

/* What a call that answers later, or at once with an error, comes to. */
static void await_latch(struct helper *helper, const char *what, int said, struct latch *l)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += REGISTER_WAIT_S;
    pthread_mutex_lock(&l->lock);
    int late = 0;
    while (said == OK && !l->done && !late)
        late = pthread_cond_timedwait(&l->opened_condition, &l->lock, &until);
    int status = said != OK ? said : late ? TIMED_OUT : l->status;
    l->done = false;
    pthread_mutex_unlock(&l->lock);
    if (status != OK && status != -157) /* done at once */
        fatal(helper, "mpi/pmix: %s: error %d", what, status);
}

struct infos {
    struct info *at;
    size_t count, room;
};

static struct value *add(struct infos *list, const char *key, uint16_t type)
{
    if (list->count == list->room) {
        list->room = list->room ? list->room * 2 : 16;
        list->at = realloc(list->at, list->room * sizeof *list->at);
        if (!list->at)
            abort();
    }
    struct info *info = &list->at[list->count++];
    memset(info, 0, sizeof *info);
    snprintf(info->key, sizeof info->key, "%s", key);
    info->value.type = type;
    return &info->value;
}

static void add_text(struct infos *l, const char *key, const char *text)
{
    add(l, key, TYPE_STRING)->is.string = strdup(text);
}

/* The library keeps copies: what it was given is free when its call is over. */
static void infos_free(struct infos *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct value *value = &list->at[i].value;
        if (value->type == TYPE_STRING)
            free(value->is.string);
        if (value->type != TYPE_ARRAY)
            continue;
        struct infos inner = {value->is.array->at, value->is.array->size, 0};
        infos_free(&inner);
        free(value->is.array);
    }
    free(list->at);
    *list = (struct infos){0};
}

static void add_u32(struct infos *l, const char *key, uint32_t n) { add(l, key, TYPE_UINT32)->is.u32 = n; }
static void add_u16(struct infos *l, const char *key, uint32_t n) { add(l, key, TYPE_UINT16)->is.u16 = (uint16_t)n; }
static void add_rank(struct infos *l, const char *key, uint32_t n) { add(l, key, TYPE_RANK)->is.u32 = n; }

static char *join_nodes(struct helper *helper, bool names)
{
    struct bytes b = {0};
    for (uint32_t n = 0; n < helper->node_count; n++) {
        if (n)
            bytes_put(&b, names ? "," : ";", 1);
        if (names)
            bytes_put_text(&b, helper->nodes[n].name);
        for (uint32_t i = 0; i < helper->nodes[n].rank_count && !names; i++) {
            char one[16];
            snprintf(one, sizeof one, i ? ",%u" : "%u", helper->nodes[n].ranks[i]);
            bytes_put_text(&b, one);
        }
    }
    bytes_put(&b, "", 1);
    return b.at;
}

/* In the library's short form where that is text; what it would compress is given as it is. */
static void add_map(struct infos *l, const char *key, const char *list, int (*shorten)(const char *, char **))
{
    char *out = NULL;
    bool is_text = shorten(list, &out) == OK && out && !strncmp(out, "pmix", 4);
    if (is_text)
        add_text(l, key, out);
    free(out);
    if (is_text)
        return;
    struct bytes raw = {0};
    bytes_put_text(&raw, "raw:");
    bytes_put(&raw, list, strlen(list) + 1);
    add_text(l, key, raw.at);
    bytes_free(&raw);
}

static void add_ranks_of_node(struct helper *helper, struct infos *l)
{
    const struct node *own = &helper->nodes[helper->index];
    struct bytes peers = {0};
    for (uint32_t i = 0; i < own->rank_count; i++) {
        char one[16];
        snprintf(one, sizeof one, i ? ",%u" : "%u", own->ranks[i]);
        bytes_put_text(&peers, one);
    }
    bytes_put(&peers, "", 1);
    add_text(l, "pmix.lpeers", peers.at);
    bytes_free(&peers);
    add_rank(l, "pmix.lldr", own->ranks[0]);
    add_u32(l, "pmix.local.size", own->rank_count);
    add_u32(l, "pmix.node.size", own->rank_count);
}

static void add_rank_data(struct helper *helper, struct infos *l, uint32_t node, uint32_t local)
{
    struct infos one = {0};
    uint32_t rank = helper->nodes[node].ranks[local];
    struct array *array = claim(1, sizeof *array);
    add_rank(&one, "pmix.rank", rank);
    add_u32(&one, "pmix.appnum", 0);
    add_rank(&one, "pmix.aldr", 0);
    add_rank(&one, "pmix.grank", rank);
    add_rank(&one, "pmix.apprank", rank);
    add_u16(&one, "pmix.lrank", local);
    add_u16(&one, "pmix.nrank", local);
    add_u32(&one, "pmix.nodeid", node);
    add_text(&one, "pmix.hname", helper->nodes[node].name);
    *array = (struct array){TYPE_INFO, one.count, one.at};
    add(l, "pmix.pdata", TYPE_ARRAY)->is.array = array;
}

static void register_space(struct helper *helper, struct latch *l)
{
    struct infos list = {0};
    char *names = join_nodes(helper, true), *ranks = join_nodes(helper, false);
    add_text(&list, "pmix.jobid", helper->name_space);
    add_u32(&list, "pmix.univ.size", helper->size);
    add_u32(&list, "pmix.max.size", helper->size);
    add_u32(&list, "pmix.job.size", helper->size);
    add_u32(&list, "pmix.app.size", helper->size);
    add_u32(&list, "pmix.job.napps", 1);
    add_u32(&list, "pmix.num.nodes", helper->node_count);
    add_rank(&list, "pmix.offset", 0);
    add(&list, "pmix.spawned", TYPE_BOOL);
    add_ranks_of_node(helper, &list);
    add_map(&list, "pmix.nmap", names, pmix.regex);
    add_map(&list, "pmix.pmap", ranks, pmix.ppn);
    if (*helper->client_directory) {
        char *base = strdup(helper->client_directory);
        if (!base)
            abort();
        add_text(&list, "pmix.tmpdir", dirname(base));
        add_text(&list, "pmix.nsdir", helper->client_directory);
        add(&list, "pmix.tdir.rmclean", TYPE_BOOL)->is.flag = true;
        free(base);
    }
    for (uint32_t n = 0; n < helper->node_count; n++)
        for (uint32_t i = 0; i < helper->nodes[n].rank_count; i++)
            add_rank_data(helper, &list, n, i);
    await_latch(helper, "the step cannot be registered",
                pmix.register_space(helper->name_space, (int)helper->local_count, list.at, list.count, open_latch, l),
                l);
    infos_free(&list);
    free(names);
    free(ranks);
}

static struct proc proc_of(struct helper *helper, uint32_t rank)
{
    struct proc p = {.rank = rank};
    snprintf(p.name_space, sizeof p.name_space, "%s", helper->name_space);
    return p;
}

static void send_variable(struct helper *helper, uint32_t rank, const char *name, const char *value)
{
    struct bytes b = {0};
    char head[128];
    snprintf(head, sizeof head, "%u %s=", rank, name);
    bytes_put_text(&b, head);
    bytes_put(&b, value, strlen(value) + 1);
    send_stepd_line(helper, "env", b.at);
    bytes_free(&b);
}

static void register_task(struct helper *helper, uint32_t rank, struct latch *l)
{
    struct proc p = proc_of(helper, rank);
    char **environment = NULL, text[64];
    await_latch(helper, "a task cannot be registered",
                pmix.register_client(&p, helper->uid, helper->gid, NULL, open_latch, l), l);
    int rc = pmix.setup_fork(&p, &environment);
    if (rc != OK)
        fatal(helper, "mpi/pmix: no environment for rank %u: error %d", rank, rc);
    snprintf(text, sizeof text, "%u ", rank);
    for (char **e = environment; e && *e; e++) {
        struct bytes b = {0};
        bytes_put_text(&b, text);
        bytes_put(&b, *e, strlen(*e) + 1);
        if (!strchr(*e, '\n'))
            send_stepd_line(helper, "env", b.at);
        bytes_free(&b);
    }
    char *mapping = step_mapping(helper);
    send_variable(helper, rank, "SLURM_PMIX_MAPPING_SERV", mapping ? mapping : "");
    free(mapping);
    if (*helper->shared_directory)
        send_variable(helper, rank, "OMPI_MCA_btl_vader_backing_directory", helper->shared_directory);
}

void pmix_open(struct helper *helper)
{
    char error[300];
    struct infos list = {0};
    struct latch l = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};
    static struct upcalls upcalls = {.client_connected = on_connected,
                                     .client_finalized = on_finalized,
                                     .abort = on_abort,
                                     .fence = on_fence,
                                     .direct_modex = on_direct};
    for (size_t i = 0; i < helper->environment_count; i++)
        putenv((char *)helper->environment[i]);
    if (*helper->client_directory && mkdir(helper->client_directory, 0700) < 0)
        fatal(helper, "mpi/pmix: PMIxCliTmpDirBase: %s: %s", helper->client_directory, strerror(errno));
    if (*helper->shared_directory && mkdir(helper->shared_directory, 0700) < 0)
        helper->shared_directory = "";
    if (!pmix_load(error, sizeof error))
        fatal(helper, "mpi/pmix: %s", error);
    wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (*helper->directory)
        add_text(&list, "pmix.srvr.tmpdir", helper->directory);
    int rc = wake < 0 ? FAILED : pmix.init(&upcalls, list.at, list.count);
    infos_free(&list);
    if (rc != OK)
        fatal(helper, "mpi/pmix: the server does not start: error %d", rc);
    helper->pmix.opened = true;
    helper->pmix.connected = claim(helper->size, sizeof *helper->pmix.connected);
    await_latch(helper, "no events", pmix.register_handler(NULL, 0, NULL, 0, on_event, open_handler_latch, &l), &l);
    register_space(helper, &l);
    for (uint32_t i = 0; i < helper->local_count; i++)
        register_task(helper, helper->locals[i].rank, &l);
}

/* ---- what the library asked for ---- */

static void released(void *data) { free(data); }

static void answer(modex_call modex, int status, const char *bytes, size_t n, void *data)
{
    char *copy = copied(bytes, n);
    modex(status, n ? copy : NULL, n, data, released, copy);
}

struct fence {
    modex_call modex;
    void *data;
};

static void end_fence(struct helper *helper, void *context, int status, const char *bytes, size_t n)
{
    struct fence *f = context;
    debug_line(helper, "mpi/pmix: fence %s, %zu bytes", status ? "timed out" : "over", n);
    answer(f->modex, status ? TIMED_OUT : OK, bytes, n, f->data);
    free(f);
}

/* How often the same tasks have met before: it makes their meetings distinct. */
static uint64_t next_round(struct helper *helper, const char *key, size_t n)
{
    struct round *r = helper->pmix.rounds;
    while (r && (r->length != n || memcmp(r->key, key, n)))
        r = r->next;
    if (!r) {
        r = claim(1, sizeof *r);
        *r = (struct round){copied(key, n), n, 0, helper->pmix.rounds};
        helper->pmix.rounds = r;
    }
    return ++r->count;
}

static void start_fence(struct helper *helper, struct event *e)
{
    struct bytes key = {0}, data = {e->bytes, e->byte_count, e->byte_count, 0};
    bool *nodes = claim(helper->node_count, sizeof *nodes), all = false, foreign = false;
    uint32_t count = 0;
    bytes_put8(&key, 'x');
    for (size_t i = 0; i < e->proc_count; i++) {
        uint32_t rank = e->procs[i].rank;
        foreign |= strncmp(e->procs[i].name_space, helper->name_space, NAME_ROOM) != 0
                || (rank >= helper->size && rank != RANK_ALL);
        all |= rank == RANK_ALL;
        bytes_put32(&key, rank);
        if (!foreign && rank < helper->size)
            nodes[helper->node_of[rank]] = true;
    }
    for (uint32_t i = 0; i < helper->node_count; i++)
        count += all || nodes[i];
    free(nodes);
    if (foreign || !count) {
        answer(e->modex, NOT_SUPPORTED, NULL, 0, e->data);
    } else {
        struct fence *f = claim(1, sizeof *f);
        *f = (struct fence){e->modex, e->data};
        debug_line(helper, "mpi/pmix: fence of %u nodes, %zu bytes from here", count, e->byte_count);
        bytes_put64(&key, next_round(helper, key.at, key.have));
        collect(helper, key.at, key.have, count, &data, helper->timeout_s, end_fence, f);
    }
    bytes_free(&key);
}

static void request_data(struct helper *helper, struct event *e)
{
    struct bytes body = {0};
    uint32_t rank = e->procs[0].rank;
    debug_line(helper, "mpi/pmix: data of rank %u wanted", rank);
    if (strncmp(e->procs[0].name_space, helper->name_space, NAME_ROOM) || rank >= helper->size
        || helper->node_of[rank] == helper->index) {
        answer(e->modex, NOT_FOUND, NULL, 0, e->data);
        return;
    }
    struct direct *d = claim(1, sizeof *d);
    *d = (struct direct){++helper->pmix.direct_count, helper->timeout_s > 0 ? now_ms() + helper->timeout_s * 1000 : 0,
                         e->modex, e->data, helper->pmix.directs};
    helper->pmix.directs = d;
    bytes_put32(&body, rank);
    send_to(helper, helper->node_of[rank], MODEX_REQUEST, d->id, &body);
    bytes_free(&body);
}

struct asked {
    uint32_t from, id;
};

static void direct_known(int status, char *bytes, size_t n, void *data)
{
    struct asked *a = data;
    post((struct event){.kind = GOT_DIRECT,
                        .status = status,
                        .bytes = copied(bytes, n),
                        .byte_count = n,
                        .from = a->from,
                        .id = a->id});
    free(a);
}

static void direct_answer(struct helper *helper, uint32_t to, uint32_t id, int status, const char *bytes, size_t n)
{
    struct bytes body = {0};
    bytes_put32(&body, (uint32_t)status);
    bytes_put(&body, bytes, n);
    send_to(helper, to, MODEX_ANSWER, id, &body);
    bytes_free(&body);
}

void pmix_modex_asked(struct helper *helper, uint32_t from, uint32_t id, struct reader body)
{
    uint32_t rank;
    if (!helper->pmix.opened || !read32(&body, &rank))
        return;
    struct proc p = proc_of(helper, rank);
    struct asked *a = claim(1, sizeof *a);
    *a = (struct asked){from, id};
    int rc = rank < helper->size ? pmix.direct_request(&p, direct_known, a) : NOT_FOUND;
    if (rc != OK) {
        free(a);
        direct_answer(helper, from, id, rc, NULL, 0);
    }
}

static void direct_over(struct direct **at, int status, const char *bytes, size_t n)
{
    struct direct *d = *at;
    *at = d->next;
    answer(d->modex, status, bytes, n, d->data);
    free(d);
}

void pmix_modex_answered(struct helper *helper, uint32_t id, struct reader body)
{
    uint32_t status;
    struct direct **at = &helper->pmix.directs;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    if (*at && read32(&body, &status))
        direct_over(at, (int)status, body.at, body.left);
}

/* A task that is gone without having said so: its step does not go on. */
static void report_lost_task(struct helper *helper, int status, const char *name_space, uint32_t rank)
{
    char text[NAME_ROOM + 200];
    if (helper->pmix.abort_at_ms)
        return;
    snprintf(text, sizeof text,
             " mpi/%s: _errhandler: %s [%u]: Error handler invoked: status = %d, source = [%.255s:%u]", pmix_version(),
             helper->nodes[helper->index].name, helper->index, status, name_space, rank);
    send_stepd_line(helper, "error", text);
    helper->pmix.abort_at_ms = now_ms() + ABORT_DELAY_MS;
}

static void note_client(struct helper *helper, const struct event *e)
{
    if (e->procs[0].rank < helper->size && helper->pmix.connected)
        helper->pmix.connected[e->procs[0].rank] = e->kind == CAME;
    if (e->done)
        e->done(OK, e->data);
}

/* The library does not always say that the last task of a node has been lost. */
void pmix_task_ended(struct helper *helper, uint32_t rank)
{
    if (!helper->pmix.opened)
        return;
    pmix_serve(helper);
    if (rank < helper->size && helper->pmix.connected[rank])
        report_lost_task(helper, LOST_CONNECTION, helper->name_space, rank);
}

int pmix_wake_fd(void) { return wake; }

void pmix_serve(struct helper *helper)
{
    uint64_t ignored;
    ssize_t n = read(wake, &ignored, sizeof ignored);
    (void)n;
    pthread_mutex_lock(&lock);
    struct event *e = first_event, *next;
    first_event = NULL;
    last_event = &first_event;
    pthread_mutex_unlock(&lock);
    for (; e; e = next) {
        next = e->next;
        switch (e->kind) {
        case ASKED_ABORT:
            if (!helper->pmix.abort_at_ms)
                helper->pmix.abort_at_ms = now_ms() + ABORT_DELAY_MS;
            if (e->done)
                e->done(OK, e->data);
            break;
        case ASKED_FENCE: start_fence(helper, e); break;
        case ASKED_DIRECT: request_data(helper, e); break;
        case GOT_DIRECT: direct_answer(helper, e->from, e->id, e->status, e->bytes, e->byte_count); break;
        case LOST:
            if (e->proc_count)
                report_lost_task(helper, e->status, e->procs[0].name_space, e->procs[0].rank);
            break;
        case CAME:
        case LEFT: note_client(helper, e); break;
        }
        free(e->procs);
        free(e->bytes);
        free(e);
    }
}

long long pmix_deadline_ms(struct helper *helper)
{
    long long first = helper->pmix.abort_at_ms > 0 ? helper->pmix.abort_at_ms : 0;
    for (const struct direct *d = helper->pmix.directs; d; d = d->next)
        if (d->deadline_ms && (!first || d->deadline_ms < first))
            first = d->deadline_ms;
    return first;
}

void pmix_expire(struct helper *helper)
{
    long long now = now_ms();
    if (helper->pmix.abort_at_ms > 0 && helper->pmix.abort_at_ms <= now) {
        helper->pmix.abort_at_ms = -1;
        step_abort(helper);
    }
    struct direct **d = &helper->pmix.directs;
    while (*d)
        if ((*d)->deadline_ms && (*d)->deadline_ms <= now)
            direct_over(d, TIMED_OUT, NULL, 0);
        else
            d = &(*d)->next;
}

/* The tasks are gone: what they had here goes as well. */
void pmix_close(struct helper *helper)
{
    if (!helper->pmix.opened)
        return;
    signal(SIGALRM, SIG_DFL);
    alarm(FINALIZE_SECONDS);
    pmix.finalize();
}
