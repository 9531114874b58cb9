/*
 * PMI-1 and PMI-2 with each task of this node, over the socket that it has as PMI_FD. Both begin with a PMI-1 line; it
 * says which it is. PMI-1: lines "cmd=NAME key=value …". PMI-2: six characters with a length, then
 * "cmd=NAME;key=value;…" (a semicolon in a value is doubled).
 */
#define _GNU_SOURCE
#include "helper.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAIRS_MAX 256
#define PREFIX_BYTES 6
#define ANSWERS_BYTES (1024u * 1024u) /* a task that does not read its answers is not asked for more */
#define MAPPING_KEY "PMI_process_mapping"

struct pair {
    const char *key, *value;
};
struct task {
    uint32_t rank;
    int fd;
    int version; /* 0: has not said yet */
    bool in_fence, spawning;
    struct bytes in, out;
    char *attribute; /* waits until a task of this node puts it; NULL: does not wait */
    /* Of the requests that are answered later: each of a task's threads may wait for something else. */
    char *attribute_thread, *fence_thread;
};
struct request {
    const char *command, *thread;
    struct pair pairs[PAIRS_MAX];
    size_t count;
};

void pmi_open(struct helper *helper)
{
    helper->pmi.common = store_new();
    helper->pmi.attributes = store_new();
    helper->pmi.tasks = claim(helper->local_count, sizeof *helper->pmi.tasks);
    for (uint32_t i = 0; i < helper->local_count; i++)
        helper->pmi.tasks[i] = (struct task){.rank = helper->locals[i].rank, .fd = helper->locals[i].fd};
}

static void close_task(struct task *t)
{
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
    bytes_free(&t->in);
}

/* ---- answers ---- */

static void flush(struct task *t)
{
    while (t->fd >= 0 && t->out.have > t->out.done) {
        ssize_t n = send(t->fd, t->out.at + t->out.done, t->out.have - t->out.done, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            bytes_drop(&t->out, (size_t)n);
        else if (n < 0 && errno == EINTR)
            continue;
        else if (n < 0 && errno == EAGAIN)
            return;
        else
            close_task(t);
    }
}

static void send_line(struct task *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void send_line(struct task *t, const char *format, ...)
{
    char text[VALUE_BYTES_MAX + 512];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text - 1, format, arguments);
    va_end(arguments);
    if (n > (int)sizeof text - 2)
        n = (int)sizeof text - 2;
    text[n] = '\n';
    bytes_put(&t->out, text, (size_t)n + 1);
    flush(t);
}

static void put_pair(struct bytes *b, const char *key, const char *value)
{
    bytes_put_text(b, key);
    bytes_put(b, "=", 1);
    for (; *value; value++)
        bytes_put(b, *value == ';' ? ";;" : value, *value == ';' ? 2 : 1);
    bytes_put(b, ";", 1);
}

/* PMI-2: pairs of key and value, ended by NULL. */
static void respond(struct task *t, const char *command, const char *thread, ...) __attribute__((sentinel));

static void respond(struct task *t, const char *command, const char *thread, ...)
{
    struct bytes body = {0};
    char name[80], length[16];
    va_list pairs;
    snprintf(name, sizeof name, "%.60s-response", command);
    put_pair(&body, "cmd", name);
    if (thread)
        put_pair(&body, "thrid", thread);
    va_start(pairs, thread);
    for (const char *key; (key = va_arg(pairs, const char *));)
        put_pair(&body, key, va_arg(pairs, const char *));
    va_end(pairs);
    snprintf(length, sizeof length, "%6zu", body.have);
    bytes_put(&t->out, length, PREFIX_BYTES);
    bytes_put(&t->out, body.at, body.have);
    bytes_free(&body);
    flush(t);
}

static void refuse(struct task *t, const struct request *r, const char *why)
{
    respond(t, r->command, r->thread, "rc", "-1", "errmsg", why, NULL);
}

static const char *value_of(const struct request *r, const char *key)
{
    for (size_t i = 0; i < r->count; i++)
        if (!strcmp(r->pairs[i].key, key))
            return r->pairs[i].value;
    return NULL;
}

static const char *number(uint64_t n)
{
    static char text[4][24];
    static int next;
    next = (next + 1) % 4;
    snprintf(text[next], sizeof text[next], "%llu", (unsigned long long)n);
    return text[next];
}

/* ---- keys, values and the fence ---- */

static bool put(struct helper *helper, const char *key, const char *value)
{
    if (!key || !value || !*key || strlen(key) > KEY_BYTES_MAX || strlen(value) > VALUE_BYTES_MAX)
        return false;
    store_put(helper->pmi.common, key, value);
    bytes_put_block(&helper->pmi.pending, key, strlen(key));
    bytes_put_block(&helper->pmi.pending, value, strlen(value));
    return true;
}

static const char *job_value(struct helper *helper, const char *key)
{
    if (!strcmp(key, MAPPING_KEY)) {
        if (!helper->pmi.mapping)
            helper->pmi.mapping = step_mapping(helper);
        return helper->pmi.mapping;
    }
    if (!strcmp(key, "universeSize"))
        return number(helper->size);
    if (!strcmp(key, "mpi_reserved_ports") && *helper->ports)
        return helper->ports;
    return NULL;
}

static void release(struct task *t, bool good)
{
    t->in_fence = false;
    if (t->version == 2)
        respond(t, "kvs-fence", t->fence_thread, "rc", good ? "0" : "-1", NULL);
    else
        send_line(t, "cmd=barrier_out");
    free(t->fence_thread);
    t->fence_thread = NULL;
}

static void fence_over(struct helper *helper, void *context, int status, const char *data, size_t n)
{
    struct reader r = {data, n};
    const char *key, *value;
    size_t key_length, value_length;
    (void)context;
    while (r.left && read_block(&r, &key, &key_length) && read_block(&r, &value, &value_length)) {
        char *k = claim_text(key, key_length), *v = claim_text(value, value_length);
        store_put(helper->pmi.common, k, v);
        free(k);
        free(v);
    }
    helper->pmi.in_fence = 0;
    for (uint32_t i = 0; i < helper->local_count; i++)
        if (helper->pmi.tasks[i].in_fence)
            release(&helper->pmi.tasks[i], status == 0);
}

/* The last task of this node has come: what they put goes to all. It may take any time until those of other nodes come
 * as well. */
static void enter_fence(struct helper *helper, struct task *t, const char *thread)
{
    if (t->in_fence)
        return;
    t->in_fence = true;
    t->fence_thread = thread ? claim_text(thread, strlen(thread)) : NULL;
    if (++helper->pmi.in_fence < helper->local_count)
        return;
    char key[24];
    int n = snprintf(key, sizeof key, "f%llu", (unsigned long long)++helper->pmi.fences);
    struct bytes mine = helper->pmi.pending;
    helper->pmi.pending = (struct bytes){0};
    collect(helper, key, (size_t)n, helper->node_count, &mine, 0, fence_over, NULL);
    bytes_free(&mine);
}

/* ---- names ---- */

struct name_wait {
    uint32_t task;
    enum name_request asked;
    char *thread;
};

static void name_known(struct helper *helper, void *context, bool good, const char *port)
{
    static const char *const PMI2_NAMES[] = {"name-publish", "name-unpublish", "name-lookup"};
    static const char *const PMI1_NAMES[] = {"publish_result", "unpublish_result", "lookup_result"};
    static const char *const REASONS[] = {"duplicate_name", "service_not_found", "service_not_found"};
    struct name_wait *w = context;
    struct task *t = &helper->pmi.tasks[w->task];
    bool lookup = w->asked == NAME_LOOKUP;
    if (t->version == 1)
        send_line(t, "cmd=%s rc=%d info=%s%s%s", PMI1_NAMES[w->asked], good ? 0 : -1, good ? "ok" : REASONS[w->asked],
                  lookup && good ? " port=" : "", lookup && good ? port : "");
    else if (lookup)
        respond(t, PMI2_NAMES[w->asked], w->thread, "rc", good ? "0" : "-1", "found", good ? "TRUE" : "FALSE", "value",
                port, "port", port, NULL);
    else
        respond(t, PMI2_NAMES[w->asked], w->thread, "rc", good ? "0" : "-1", "errmsg",
                good ? "success" : REASONS[w->asked], NULL);
    free(w->thread);
    free(w);
}

static void ask_name(struct helper *helper, struct task *t, enum name_request asked, const char *name, const char *port,
                     const char *thread)
{
    struct name_wait *w = claim(1, sizeof *w);
    *w = (struct name_wait){(uint32_t)(t - helper->pmi.tasks), asked,
                            thread ? claim_text(thread, strlen(thread)) : NULL};
    bool good = name && *name && strlen(name) <= VALUE_BYTES_MAX && (!port || strlen(port) <= VALUE_BYTES_MAX);
    if (good)
        name_ask(helper, asked, name, port ? port : "", name_known, w);
    else
        name_known(helper, w, false, "");
}

/* ---- PMI-1 ---- */

static void get_by_index(struct helper *helper, struct task *t, const char *index)
{
    const char *key, *value;
    size_t at = index ? strtoul(index, NULL, 10) : 0;
    if (store_at(helper->pmi.common, at, &key, &value))
        send_line(t, "cmd=getbyidx_results rc=0 nextidx=%zu key=%s val=%s", at + 1, key, value);
    else
        send_line(t, "cmd=getbyidx_results rc=-2 reason=no_more_keyvals");
}

static void get_pmi1(struct helper *helper, struct task *t, const struct request *r)
{
    const char *key = value_of(r, "key"), *value = key ? store_get(helper->pmi.common, key) : NULL;
    if (!value && key)
        value = job_value(helper, key);
    if (value)
        send_line(t, "cmd=get_result rc=0 msg=success value=%s", value);
    else
        send_line(t, "cmd=get_result rc=-1 msg=key_%s_not_found value=unknown", key ? key : "");
}

static void init_pmi1(struct task *t, const struct request *r)
{
    const char *version = value_of(r, "pmi_version"), *minor = value_of(r, "pmi_subversion");
    if (version && !strcmp(version, "2")) {
        send_line(t, "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0");
        t->version = 2;
    } else if (version && !strcmp(version, "1")) {
        send_line(t, "cmd=response_to_init pmi_version=1 pmi_subversion=%s rc=0",
                  minor && !strcmp(minor, "0") ? "0" : "1");
        t->version = 1;
    } else {
        send_line(t, "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=-1");
    }
}

static void handle_pmi1(struct helper *helper, struct task *t, const struct request *r)
{
    const char *c = r->command, *name = value_of(r, "service");
    if (!strcmp(c, "init"))
        return init_pmi1(t, r);
    if (!strcmp(c, "initack"))
        send_line(t, "cmd=initack\ncmd=set size=%u\ncmd=set rank=%u\ncmd=set debug=0", helper->size, t->rank);
    else if (!strcmp(c, "get_maxes"))
        send_line(t, "cmd=maxes kvsname_max=%u keylen_max=%u vallen_max=%u", KEY_BYTES_MAX, KEY_BYTES_MAX,
                  VALUE_BYTES_MAX);
    else if (!strcmp(c, "get_appnum"))
        send_line(t, "cmd=appnum appnum=0");
    else if (!strcmp(c, "get_my_kvsname"))
        send_line(t, "cmd=my_kvsname kvsname=%s", helper->id);
    else if (!strcmp(c, "get_universe_size"))
        send_line(t, "cmd=universe_size size=%u", helper->size);
    else if (!strcmp(c, "put"))
        put(helper, value_of(r, "key"), value_of(r, "value"))
            ? send_line(t, "cmd=put_result rc=0 msg=success")
            : send_line(t, "cmd=put_result rc=-1 msg=key_or_value_too_long");
    else if (!strcmp(c, "get"))
        get_pmi1(helper, t, r);
    else if (!strcmp(c, "getbyidx"))
        get_by_index(helper, t, value_of(r, "idx"));
    else if (!strcmp(c, "barrier_in"))
        enter_fence(helper, t, NULL);
    else if (!strcmp(c, "publish_name"))
        ask_name(helper, t, NAME_PUBLISH, name, value_of(r, "port"), NULL);
    else if (!strcmp(c, "unpublish_name"))
        ask_name(helper, t, NAME_UNPUBLISH, name, NULL, NULL);
    else if (!strcmp(c, "lookup_name"))
        ask_name(helper, t, NAME_LOOKUP, name, NULL, NULL);
    else if (!strcmp(c, "abort"))
        step_abort(helper);
    else if (!strcmp(c, "finalize"))
        send_line(t, "cmd=finalize_ack");
    else
        send_line(t, "cmd=%.60s_result rc=-1 msg=not_supported", c);
}

/* ---- PMI-2 ---- */

static void attribute_put(struct helper *helper, const char *key, const char *value)
{
    store_put(helper->pmi.attributes, key, value);
    for (uint32_t i = 0; i < helper->local_count; i++) {
        struct task *t = &helper->pmi.tasks[i];
        if (!t->attribute || strcmp(t->attribute, key))
            continue;
        respond(t, "info-getnodeattr", t->attribute_thread, "rc", "0", "found", "TRUE", "value", value, NULL);
        free(t->attribute);
        free(t->attribute_thread);
        t->attribute = t->attribute_thread = NULL;
    }
}

static void node_attribute(struct helper *helper, struct task *t, const struct request *r, bool is_put)
{
    const char *key = value_of(r, "key"), *value = value_of(r, "value"), *wait = value_of(r, "wait");
    if (!key || strlen(key) > KEY_BYTES_MAX || (is_put && (!value || strlen(value) > VALUE_BYTES_MAX))
        || (is_put && store_count(helper->pmi.attributes) >= NAMES_MAX))
        return refuse(t, r, "bad attribute");
    if (is_put) {
        attribute_put(helper, key, value);
        return respond(t, r->command, r->thread, "rc", "0", NULL);
    }
    value = store_get(helper->pmi.attributes, key);
    if (value)
        return respond(t, r->command, r->thread, "rc", "0", "found", "TRUE", "value", value, NULL);
    if (!wait || strcasecmp(wait, "TRUE") || t->attribute)
        return respond(t, r->command, r->thread, "rc", "0", "found", "FALSE", NULL);
    t->attribute = claim_text(key, strlen(key));
    t->attribute_thread = r->thread ? claim_text(r->thread, strlen(r->thread)) : NULL;
}

static void get_pmi2(struct helper *helper, struct task *t, const struct request *r, bool of_job)
{
    const char *key = value_of(r, "key"), *job = value_of(r, "jobid"), *value = NULL;
    if (key && of_job)
        value = job_value(helper, key);
    else if (key && (!job || !strcmp(job, helper->id)))
        value = store_get(helper->pmi.common, key);
    if (value)
        respond(t, r->command, r->thread, "rc", "0", "found", "TRUE", "value", value, NULL);
    else
        respond(t, r->command, r->thread, "rc", "0", "found", "FALSE", "value", "", NULL);
}

static bool handle_pmi2_name(struct helper *helper, struct task *t, const struct request *r)
{
    const char *c = r->command, *name = value_of(r, "name");
    if (!strcmp(c, "name-publish"))
        ask_name(helper, t, NAME_PUBLISH, name, value_of(r, "port"), r->thread);
    else if (!strcmp(c, "name-unpublish"))
        ask_name(helper, t, NAME_UNPUBLISH, name, NULL, r->thread);
    else if (!strcmp(c, "name-lookup"))
        ask_name(helper, t, NAME_LOOKUP, name, NULL, r->thread);
    else
        return false;
    return true;
}

static void handle_pmi2(struct helper *helper, struct task *t, const struct request *r)
{
    const char *c = r->command;
    if (handle_pmi2_name(helper, t, r))
        return;
    if (!strcmp(c, "fullinit"))
        respond(t, c, r->thread, "rc", "0", "pmi-version", "2", "pmi-subversion", "0", "rank", number(t->rank), "size",
                number(helper->size), "appnum", "0", "debugged", "FALSE", "pmiverbose", "FALSE", NULL);
    else if (!strcmp(c, "job-getid"))
        respond(t, c, r->thread, "rc", "0", "jobid", helper->id, NULL);
    else if (!strcmp(c, "info-getjobattr"))
        get_pmi2(helper, t, r, true);
    else if (!strcmp(c, "info-putnodeattr") || !strcmp(c, "info-getnodeattr"))
        node_attribute(helper, t, r, c[5] == 'p');
    else if (!strcmp(c, "kvs-put"))
        put(helper, value_of(r, "key"), value_of(r, "value")) ? respond(t, c, r->thread, "rc", "0", NULL)
                                                              : refuse(t, r, "key or value too long");
    else if (!strcmp(c, "kvs-get"))
        get_pmi2(helper, t, r, false);
    else if (!strcmp(c, "kvs-fence"))
        enter_fence(helper, t, r->thread);
    else if (!strcmp(c, "abort"))
        step_abort(helper);
    else if (!strcmp(c, "finalize"))
        respond(t, c, r->thread, "rc", "0", NULL);
    else if (!strcmp(c, "spawn"))
        refuse(t, r, "starting further tasks is not supported");
    else
        refuse(t, r, "not supported");
}

/* ---- requests as they come ---- */

static void add(struct request *r, const char *key, const char *value)
{
    if (!strcmp(key, "cmd"))
        r->command = value;
    else if (!strcmp(key, "thrid"))
        r->thread = value;
    else if (r->count < PAIRS_MAX)
        r->pairs[r->count++] = (struct pair){key, value};
}

static struct request parse_pmi1(char *text)
{
    struct request r = {.command = ""};
    char *save = NULL;
    for (char *word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *equals = strchr(word, '=');
        if (!equals)
            continue;
        *equals = 0;
        add(&r, word, equals + 1);
    }
    return r;
}

/* Takes the value in place, with doubled semicolons made one; what follows it, or NULL at the end. */
static char *end_of_value(char *at)
{
    char *to = at;
    for (; *at; at++) {
        if (*at == ';' && at[1] != ';') {
            *to = 0;
            return at + 1;
        }
        if (*at == ';')
            at++;
        *to++ = *at;
    }
    *to = 0;
    return NULL;
}

static struct request parse_pmi2(char *text)
{
    struct request r = {.command = ""};
    while (text && *text) {
        char *equals = strchr(text, '=');
        if (!equals)
            break;
        *equals = 0;
        char *key = text, *value = equals + 1;
        text = end_of_value(value);
        add(&r, key, value);
    }
    return r;
}

/* "mcmd=spawn", lines of it, "endcmd": tasks that a task starts. */
static bool is_spawn_line(struct task *t, const char *text)
{
    if (!strncmp(text, "mcmd=", 5))
        t->spawning = true;
    else if (t->spawning && !strcmp(text, "endcmd")) {
        t->spawning = false;
        send_line(t, "cmd=spawn_result rc=-1 msg=not_supported");
        return true;
    }
    return t->spawning;
}

static bool take_pmi1(struct helper *helper, struct task *t)
{
    char *at = t->in.at + t->in.done, *end = memchr(at, '\n', t->in.have - t->in.done);
    if (!end)
        return false;
    *end = 0;
    size_t n = (size_t)(end - at) + 1;
    if (!is_spawn_line(t, at)) {
        struct request r = parse_pmi1(at);
        handle_pmi1(helper, t, &r);
    }
    if (t->fd >= 0)
        bytes_drop(&t->in, n);
    return t->fd >= 0;
}

static bool take_pmi2(struct helper *helper, struct task *t)
{
    char *at = t->in.at + t->in.done, head[PREFIX_BYTES + 1], *end;
    size_t have = t->in.have - t->in.done;
    if (have < PREFIX_BYTES)
        return false;
    memcpy(head, at, PREFIX_BYTES);
    head[PREFIX_BYTES] = 0;
    unsigned long n = strtoul(head, &end, 10);
    if (end == head || n > LINE_BYTES_MAX) {
        close_task(t);
        return false;
    }
    if (have < PREFIX_BYTES + n)
        return false;
    char *text = claim_text(at + PREFIX_BYTES, n);
    bytes_drop(&t->in, PREFIX_BYTES + n);
    struct request r = parse_pmi2(text);
    handle_pmi2(helper, t, &r);
    free(text);
    return t->fd >= 0;
}

static void take_requests(struct helper *helper, struct task *t)
{
    while (t->in.have > t->in.done && (t->version == 2 ? take_pmi2(helper, t) : take_pmi1(helper, t)))
        continue;
    if (t->fd >= 0 && t->in.have - t->in.done > LINE_BYTES_MAX + PREFIX_BYTES)
        close_task(t);
}

static void read_task(struct helper *helper, struct task *t)
{
    char bytes[65536];
    ssize_t n = recv(t->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0)
        return close_task(t);
    bytes_put(&t->in, bytes, (size_t)n);
    take_requests(helper, t);
}

static size_t unread(const struct task *t) { return t->out.have - t->out.done; }

size_t pmi_watch(struct helper *helper, void *pollfds, size_t room)
{
    struct pollfd *p = pollfds;
    size_t n = 0;
    for (uint32_t i = 0; i < helper->local_count && n < room; i++)
        if (helper->pmi.tasks && helper->pmi.tasks[i].fd >= 0)
            p[n++] = (struct pollfd){helper->pmi.tasks[i].fd,
                                     (short)((unread(&helper->pmi.tasks[i]) < ANSWERS_BYTES ? POLLIN : 0)
                                             | (unread(&helper->pmi.tasks[i]) ? POLLOUT : 0)),
                                     0};
    return n;
}

void pmi_serve(struct helper *helper, void *pollfds, size_t count)
{
    struct pollfd *p = pollfds;
    uint32_t at = 0;
    for (size_t i = 0; i < count; i++) {
        while (at < helper->local_count && helper->pmi.tasks[at].fd != p[i].fd)
            at++;
        if (at == helper->local_count)
            return;
        if (p[i].revents & POLLOUT)
            flush(&helper->pmi.tasks[at]);
        if (helper->pmi.tasks[at].fd >= 0 && p[i].revents & (POLLIN | POLLHUP | POLLERR))
            read_task(helper, &helper->pmi.tasks[at]);
    }
}
