/*
 * PMI-1 and PMI-2 with the tasks of this node. Called by: helper.c. Calls: collective.c, store.c, bytes.c.
 */
#ifndef MUSTER_MPI_HELPER_PMI_H
#define MUSTER_MPI_HELPER_PMI_H

#include "bytes.h"

#include <stddef.h>
#include <stdint.h>

#define LINE_BYTES_MAX (1024u * 1024u) /* one request of a task */
#define KEY_BYTES_MAX 64u
#define VALUE_BYTES_MAX 1024u

struct helper;

struct pmi {
    struct task *tasks;
    size_t in_fence; /* tasks of this node */
    struct store *common, *attributes;
    struct bytes pending; /* put since the last fence: what this node contributes */
    uint64_t fences;
    char *mapping; /* of ranks to nodes, once it was asked for */
};

void pmi_open(struct helper *helper);
size_t pmi_watch(struct helper *helper, void *pollfds, size_t room);
void pmi_serve(struct helper *helper, void *pollfds, size_t count);

#endif
