/*
 * What the nodes of a step bring together: each sends its contribution to the first node, which sends all of them down
 * the tree when the last has come. Names that tasks publish live on the first node as well.
 */
#define _GNU_SOURCE
#include "helper.h"

#include <stdlib.h>
#include <string.h>

enum { STATUS_GOOD = 0, STATUS_TIMEOUT = 1 };

/* Gathered on the first node. */
struct gathering {
    char *key;
    size_t key_length;
    uint32_t expected, have;
    struct bytes data;
    struct gathering *next;
};
/* Waited for on any node. */
struct waiting {
    char *key;
    size_t key_length;
    long long deadline_ms;
    collected done;
    void *context;
    struct waiting *next;
};
struct question {
    uint32_t id;
    named done;
    void *context;
    struct question *next;
};

static bool same(const char *a, size_t a_length, const char *b, size_t b_length)
{
    return a_length == b_length && !memcmp(a, b, a_length);
}

void collect(struct helper *helper, const char *key, size_t key_length, uint32_t nodes, const struct bytes *data,
             long timeout_s, collected done, void *context)
{
    struct bytes body = {0};
    if (++helper->collectives.waiting_count > COLLECTIVES_MAX)
        fatal(helper, "mpi: too many exchanges at once");
    struct waiting *w = claim(1, sizeof *w);
    *w = (struct waiting){
        claim_text(key, key_length), key_length, timeout_s > 0 ? now_ms() + timeout_s * 1000 : 0, done, context,
        helper->collectives.waitings};
    helper->collectives.waitings = w;
    bytes_put_block(&body, key, key_length);
    bytes_put32(&body, nodes);
    struct reader contributed = bytes_reader(data);
    bytes_put(&body, contributed.at, contributed.left);
    send_to(helper, 0, CONTRIBUTION, 0, &body);
    bytes_free(&body);
}

static void finish(struct helper *helper, struct waiting **at, int status, const char *data, size_t n)
{
    struct waiting *w = *at;
    *at = w->next;
    helper->collectives.waiting_count--;
    w->done(helper, w->context, status, data, n);
    free(w->key);
    free(w);
}

static void result(struct helper *helper, struct reader r)
{
    const char *key;
    size_t n;
    if (!read_block(&r, &key, &n))
        return;
    for (struct waiting **w = &helper->collectives.waitings; *w; w = &(*w)->next)
        if (same((*w)->key, (*w)->key_length, key, n))
            return finish(helper, w, STATUS_GOOD, r.at, r.left);
}

static struct gathering **find_gathering(struct helper *helper, const char *key, size_t n, uint32_t expected)
{
    struct gathering **g = &helper->collectives.gatherings;
    while (*g && !same((*g)->key, (*g)->key_length, key, n))
        g = &(*g)->next;
    if (!*g) {
        if (++helper->collectives.gathering_count > COLLECTIVES_MAX)
            fatal(helper, "mpi: too many exchanges at once");
        *g = claim(1, sizeof **g);
        **g = (struct gathering){.key = claim_text(key, n), .key_length = n, .expected = expected};
    }
    return g;
}

static void contribution(struct helper *helper, struct reader r)
{
    const char *key;
    size_t n;
    uint32_t expected;
    if (helper->index != 0 || !read_block(&r, &key, &n) || !read32(&r, &expected))
        return;
    struct gathering **at = find_gathering(helper, key, n, expected), *g = *at;
    bytes_put(&g->data, r.at, r.left);
    if (++g->have < g->expected)
        return;
    struct bytes all = {0};
    bytes_put_block(&all, g->key, g->key_length);
    bytes_put(&all, g->data.at, g->data.have);
    *at = g->next;
    helper->collectives.gathering_count--;
    send_to_children(helper, RESULT, 0, all.at, all.have);
    result(helper, (struct reader){all.at, all.have});
    bytes_free(&all);
    bytes_free(&g->data);
    free(g->key);
    free(g);
}

long long collective_deadline_ms(struct helper *helper)
{
    long long first = 0;
    for (const struct waiting *w = helper->collectives.waitings; w; w = w->next)
        if (w->deadline_ms && (!first || w->deadline_ms < first))
            first = w->deadline_ms;
    return first;
}

void collective_expire(struct helper *helper)
{
    long long now = now_ms();
    struct waiting **w = &helper->collectives.waitings;
    while (*w) {
        if ((*w)->deadline_ms && (*w)->deadline_ms <= now) {
            finish(helper, w, STATUS_TIMEOUT, NULL, 0);
            w = &helper->collectives.waitings;
        } else {
            w = &(*w)->next;
        }
    }
}

void name_ask(struct helper *helper, enum name_request what, const char *name, const char *port, named done,
              void *context)
{
    struct bytes body = {0};
    struct question *q = claim(1, sizeof *q);
    *q = (struct question){++helper->collectives.question_count, done, context, helper->collectives.questions};
    helper->collectives.questions = q;
    bytes_put8(&body, (uint8_t)what);
    bytes_put_block(&body, name, strlen(name));
    bytes_put_block(&body, port, strlen(port));
    send_to(helper, 0, NAME_REQUEST, q->id, &body);
    bytes_free(&body);
}

static bool name_do(struct helper *helper, uint8_t what, const char *name, const char *port, const char **found)
{
    if (!helper->collectives.names)
        helper->collectives.names = store_new();
    *found = store_get(helper->collectives.names, name);
    switch (what) {
    case NAME_PUBLISH:
        if (*found || store_count(helper->collectives.names) >= NAMES_MAX)
            return false;
        store_put(helper->collectives.names, name, port);
        return true;
    case NAME_UNPUBLISH: *found = NULL; return store_remove(helper->collectives.names, name);
    default: return *found != NULL;
    }
}

static void name_requested(struct helper *helper, uint32_t from, uint32_t id, struct reader r)
{
    uint8_t what;
    const char *name, *port, *found = NULL;
    size_t name_length, port_length;
    if (helper->index != 0 || !read8(&r, &what) || !read_block(&r, &name, &name_length)
        || !read_block(&r, &port, &port_length))
        return;
    char *name_text = claim_text(name, name_length), *port_text = claim_text(port, port_length);
    struct bytes body = {0};
    bool good = name_do(helper, what, name_text, port_text, &found);
    bytes_put8(&body, good);
    bytes_put_block(&body, found ? found : "", found ? strlen(found) : 0);
    send_to(helper, from, NAME_ANSWER, id, &body);
    bytes_free(&body);
    free(name_text);
    free(port_text);
}

static void name_answered(struct helper *helper, uint32_t id, struct reader r)
{
    uint8_t good;
    const char *port;
    size_t n;
    struct question **at = &helper->collectives.questions;
    while (*at && (*at)->id != id)
        at = &(*at)->next;
    if (!*at || !read8(&r, &good) || !read_block(&r, &port, &n))
        return;
    struct question *q = *at;
    *at = q->next;
    char *text = claim_text(port, n);
    q->done(helper, q->context, good, text);
    free(text);
    free(q);
}

/* Of this node's own messages as well. */
void received(struct helper *helper, enum message type, uint32_t from, uint32_t id, struct reader body)
{
    switch (type) {
    case CONTRIBUTION: contribution(helper, body); break;
    case RESULT:
        send_to_children(helper, RESULT, 0, body.at, body.left);
        result(helper, body);
        break;
    case NAME_REQUEST: name_requested(helper, from, id, body); break;
    case NAME_ANSWER: name_answered(helper, id, body); break;
    case MODEX_REQUEST: pmix_modex_asked(helper, from, id, body); break;
    case MODEX_ANSWER: pmix_modex_answered(helper, id, body); break;
    }
}
