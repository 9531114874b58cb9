/* The PMIx server of mpi-helper with a library that answers at once: links.c of this directory calls it. */
#include "../mpi/pmix.c"
#include "pmix_library.h"

static int data_of_rank(const struct proc *who, direct_call done, void *data)
{
    char text[] = "data";
    if (who->rank > 2)
        return NOT_FOUND;
    done(OK, text, sizeof text, data);
    return OK;
}

static void take_answer(int status, const char *bytes, size_t n, void *data, release_call release, void *release_data)
{
    (void)status, (void)data;
    if (n && !bytes)
        abort();
    if (release)
        release(release_data);
}

void fuzz_pmix_open(struct helper *helper)
{
    helper->pmix.opened = true;
    pmix.direct_request = data_of_rank;
    if (!helper->pmix.connected)
        helper->pmix.connected = claim(helper->size, sizeof *helper->pmix.connected);
}

void fuzz_pmix_ask(struct helper *helper, uint32_t rank)
{
    struct proc who = proc_of(helper, rank);
    on_direct(&who, NULL, 0, take_answer, NULL);
    pmix_serve(helper);
}

/* Rounds of fences and unanswered questions of one input are none of the next. */
void fuzz_pmix_forget(struct helper *helper)
{
    while (helper->pmix.directs)
        direct_over(&helper->pmix.directs, TIMED_OUT, NULL, 0);
    for (struct round *r = helper->pmix.rounds, *next; r; r = next) {
        next = r->next;
        free(r->key);
        free(r);
    }
    helper->pmix.rounds = NULL;
    helper->pmix.direct_count = 0;
    free(helper->pmix.connected);
    helper->pmix.connected = NULL;
}

void fuzz_pmix_fence(struct helper *helper, const uint8_t *ranks, size_t count)
{
    struct proc procs[4];
    char data[] = "a contribution";
    for (size_t i = 0; i < count && i < 4; i++)
        procs[i] = proc_of(helper, ranks[i] == 255 ? RANK_ALL : ranks[i]);
    on_fence(procs, count > 4 ? 4 : count, NULL, 0, data, sizeof data, take_answer, NULL);
    pmix_serve(helper);
}
