/*
 * mpi-helper: one process per step and node that speaks PMI-1, PMI-2 or PMIx with the step's tasks. stepd starts it as
 * the job's user; ../README.md describes its settings, its lines and what travels between the helpers of a step.
 *   helper.c      settings, the poll loop, the lines to and from stepd
 *   bytes.c       growing buffers
 *   links.c       the reliable streams to the parent and the children in the tree of nodes
 *   collective.c  what all nodes of a step bring together, and names that a step publishes
 *   pmi.c         PMI-1 and PMI-2 of one task
 *   store.c       keys and values
 *   pmix.c        the PMIx server: libpmix, loaded when it is wanted
 */
#ifndef MUSTER_MPI_HELPER_H
#define MUSTER_MPI_HELPER_H

#include "bytes.h"
#include "collective.h"
#include "links.h"
#include "pmi.h"
#include "pmix.h"
#include "store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NODES_MAX 65536u
#define TASKS_MAX 4000000u
#define FLUSH_MS 5000 /* how long neighbours may take to have everything when the tasks are done */

struct node {
    char *name;
    uint32_t *ranks;
    uint32_t rank_count;
};

/* A task of this node. */
struct local {
    uint32_t rank;
    int fd; /* its PMI socket; -1: none */
};

/* The step as the settings describe it, and what each file keeps of it. */
struct helper {
    const char *kind, *job, *number, *id, *name_space, *ports, *directory, *client_directory, *shared_directory;
    uint32_t uid, gid, index, width, size, node_count, local_count;
    long timeout_s, debug;
    struct node *nodes;
    uint32_t *node_of; /* rank → node */
    struct local *locals;
    int control, listener;
    char **environment;
    size_t environment_count;
    bool finishing; /* the tasks are done */
    long long finish_at_ms;
    struct bytes stepd_lines; /* what has come of stepd's lines */
    struct links links;
    struct collectives collectives;
    struct pmi pmi;
    struct pmix_server pmix;
};

long long now_ms(void);
void send_stepd_line(struct helper *helper, const char *word, const char *text); /* a line for stepd */
void step_abort(struct helper *helper);                                          /* everything of the step is to end */
void fatal(struct helper *helper, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));
void debug_line(struct helper *helper, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *step_mapping(struct helper *helper);

#endif
