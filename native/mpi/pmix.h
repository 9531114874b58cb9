/*
 * The PMIx server: libpmix, loaded when it is wanted. Called by: helper.c, collective.c. Calls: links.c, collective.c,
 * bytes.c.
 */
#ifndef MUSTER_MPI_HELPER_PMIX_H
#define MUSTER_MPI_HELPER_PMIX_H

#include "bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct helper;

/* What belongs to the helper's own thread. */
struct pmix_server {
    bool opened;
    struct direct *directs; /* data that other nodes were asked for */
    struct round *rounds;   /* how often the same tasks have met */
    uint32_t direct_count;  /* the last question's number */
    long long abort_at_ms;  /* 0: not asked for; -1: done */
    bool *connected;        /* by rank: it has come and has not said that it leaves */
};

bool pmix_load(char *error, size_t room);
const char *pmix_version(void);
void pmix_open(struct helper *helper);
int pmix_wake_fd(void);
void pmix_serve(struct helper *helper);
void pmix_modex_asked(struct helper *helper, uint32_t from, uint32_t id, struct reader body);
void pmix_modex_answered(struct helper *helper, uint32_t id, struct reader body);
long long pmix_deadline_ms(struct helper *helper);
void pmix_expire(struct helper *helper);
void pmix_task_ended(struct helper *helper, uint32_t rank);
void pmix_close(struct helper *helper);

#endif
