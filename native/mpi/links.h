/*
 * The reliable streams to the parent and the children in the tree of nodes. Called by: helper.c, collective.c, pmix.c.
 * Calls: collective.c (received), bytes.c.
 */
#ifndef MUSTER_MPI_HELPER_LINKS_H
#define MUSTER_MPI_HELPER_LINKS_H

#include "bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MESSAGE_BYTES_MAX                                                                                              \
    (256u * 1024u * 1024u) /* one message between helpers: what all tasks of a step put before a fence */
#define QUEUE_BYTES_MAX (1024u * 1024u * 1024u) /* kept for one neighbour that does not acknowledge */
#define CHUNK_BYTES 65536u
#define CALLERS_MAX 64
#define PREFACE_BYTES 32u

struct helper;
struct link;

/* A connection that slurmd has just made, before its first line. */
struct caller {
    int fd;
    char text[PREFACE_BYTES];
    size_t have;
};

struct links {
    struct link *all;
    size_t count;
    struct caller callers[CALLERS_MAX];
    size_t caller_count;
};

enum message { CONTRIBUTION = 1, RESULT, NAME_REQUEST, NAME_ANSWER, MODEX_REQUEST, MODEX_ANSWER };
void links_open(struct helper *helper);
size_t links_watch(struct helper *helper, void *pollfds, size_t room);
void links_serve(struct helper *helper, void *pollfds, size_t count);
bool links_flushed(struct helper *helper);
void send_to(struct helper *helper, uint32_t node, enum message type, uint32_t id, const struct bytes *body);
void send_to_children(struct helper *helper, enum message type, uint32_t id, const char *body, size_t n);
/* Of this node's own messages as well; in collective.c. */
void received(struct helper *helper, enum message type, uint32_t from, uint32_t id, struct reader body);

#endif
