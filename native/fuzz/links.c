/*
 * What a neighbour sends to the helper of the first of three nodes, from the connection's first line to the messages
 * for the PMIx server. The first byte: bit 0 and 1, the local task has asked for data of ranks 1 and 2; bit 2, it is in
 * a fence with all. links.c and collective.c of mpi-helper are part of this file. What ends the helper (fatal) ends
 * this input only: the linker puts __wrap__exit in place of _exit.
 */
#include "../mpi/collective.c"
#include "../mpi/links.c"
#include "fuzz.h"
#include "pmix_library.h"

#include <setjmp.h>
#include <stdio.h>

void __wrap__exit(int code);

static jmp_buf ended;

void __wrap__exit(int code)
{
    (void)code;
    longjmp(ended, 1);
}

static void helper_make(struct helper *helper)
{
    static uint32_t ranks[] = {0, 1, 2}, node_of[] = {0, 1, 2};
    static struct node nodes[] = {{"n0", ranks, 1}, {"n1", ranks + 1, 1}, {"n2", ranks + 2, 1}};
    static struct local locals[] = {{0, -1}};
    struct store *names = helper->collectives.names; /* emptied after each input */
    *helper = (struct helper){.kind = "pmix",
                              .id = "7.0",
                              .name_space = "slurm.pmix.7.0",
                              .ports = "",
                              .width = 2,
                              .size = 3,
                              .node_count = 3,
                              .local_count = 1,
                              .nodes = nodes,
                              .node_of = node_of,
                              .locals = locals,
                              .control = -1,
                              .listener = -1};
    helper->collectives.names = names;
    fuzz_pmix_open(helper);
}

static void links_free(struct helper *helper)
{
    for (size_t i = 0; i < helper->links.count; i++) {
        disconnect(&helper->links.all[i]);
        bytes_free(&helper->links.all[i].kept);
        bytes_free(&helper->links.all[i].message);
    }
    free(helper->links.all);
    helper->links.all = NULL;
    helper->links.count = helper->links.caller_count = 0;
}

static void collectives_free(struct helper *helper)
{
    for (struct gathering *g = helper->collectives.gatherings, *next; g; g = next) {
        next = g->next;
        bytes_free(&g->data);
        free(g->key);
        free(g);
    }
    while (helper->collectives.waitings)
        finish(helper, &helper->collectives.waitings, STATUS_TIMEOUT, NULL, 0);
    for (struct question *q = helper->collectives.questions, *next; q; q = next) {
        next = q->next;
        free(q);
    }
    helper->collectives.gatherings = NULL;
    helper->collectives.questions = NULL;
    helper->collectives.gathering_count = 0;
    if (helper->collectives.names)
        store_clear(helper->collectives.names);
}

static void feed(struct helper *helper, int fd)
{
    helper->links.callers[0] = (struct caller){.fd = fd};
    if (!introduced(helper, &helper->links.callers[0]))
        close(fd);
    for (size_t i = 0; i < helper->links.count; i++)
        while (helper->links.all[i].fd >= 0) {
            fill_connection(&helper->links.all[i]);
            if (helper->links.all[i].out.have > helper->links.all[i].out.done)
                write_link(&helper->links.all[i]);
            if (helper->links.all[i].fd >= 0)
                read_link(helper, &helper->links.all[i]);
            pmix_serve(helper);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t everybody[] = {255};
    static struct helper state;
    struct helper *helper = &state;
    int pair[2];
    if (!size)
        return 0;
    helper_make(helper);
    links_open(helper);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        abort();
    if (setjmp(ended) == 0) {
        if (*data & 1)
            fuzz_pmix_ask(helper, 1);
        if (*data & 2)
            fuzz_pmix_ask(helper, 2);
        if (*data & 4)
            fuzz_pmix_fence(helper, everybody, 1);
        ssize_t ignored = send(pair[1], data + 1, size - 1, MSG_NOSIGNAL);
        (void)ignored;
        shutdown(pair[1], SHUT_WR);
        feed(helper, pair[0]);
    }
    close(pair[1]);
    links_free(helper);
    collectives_free(helper);
    fuzz_pmix_forget(helper);
    return 0;
}
