/*
 * What all nodes of a step bring together, and names that a step publishes. Called by: helper.c, links.c, pmi.c,
 * pmix.c. Calls: links.c, store.c, pmix.c.
 */
#ifndef MUSTER_MPI_HELPER_COLLECTIVE_H
#define MUSTER_MPI_HELPER_COLLECTIVE_H

#include "bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLLECTIVES_MAX 4096u
#define NAMES_MAX 4096u

struct helper;

struct collectives {
    struct gathering *gatherings; /* on the first node: contributions until all have come */
    struct waiting *waitings;     /* requests that wait for a result, of any node */
    struct question *questions;   /* about names, unanswered */
    size_t gathering_count, waiting_count;
    uint32_t question_count; /* the last question's number */
    struct store *names;     /* on the first node */
};

typedef void (*collected)(struct helper *helper, void *context, int status, const char *data, size_t n);
void collect(struct helper *helper, const char *key, size_t key_length, uint32_t nodes, const struct bytes *data,
             long timeout_s, collected done, void *context);
long long collective_deadline_ms(struct helper *helper);
void collective_expire(struct helper *helper);
typedef void (*named)(struct helper *helper, void *context, bool good, const char *port);
enum name_request { NAME_PUBLISH, NAME_UNPUBLISH, NAME_LOOKUP };
void name_ask(struct helper *helper, enum name_request what, const char *name, const char *port, named done,
              void *context);

#endif
