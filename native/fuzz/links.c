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

static void step_make(void)
{
    static uint32_t ranks[] = {0, 1, 2}, node_of[] = {0, 1, 2};
    static struct node nodes[] = {{"n0", ranks, 1}, {"n1", ranks + 1, 1}, {"n2", ranks + 2, 1}};
    static struct local locals[] = {{0, -1}};
    step = (struct step){.kind = "pmix",
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
    fuzz_pmix_open();
}

static void links_free(void)
{
    for (size_t i = 0; i < link_count; i++) {
        lose(&links[i]);
        bytes_free(&links[i].kept);
        bytes_free(&links[i].message);
    }
    free(links);
    links = NULL;
    link_count = caller_count = 0;
}

static void collectives_free(void)
{
    for (struct gathering *g = gatherings, *next; g; g = next) {
        next = g->next;
        bytes_free(&g->data);
        free(g->key);
        free(g);
    }
    while (waitings)
        finish(&waitings, STATUS_TIMEOUT, NULL, 0);
    for (struct question *q = questions, *next; q; q = next) {
        next = q->next;
        free(q);
    }
    gatherings = NULL;
    questions = NULL;
    gathering_count = 0;
    if (names)
        store_clear(names);
}

static void feed(int fd)
{
    callers[0] = (struct caller){.fd = fd};
    if (!introduced(&callers[0]))
        close(fd);
    for (size_t i = 0; i < link_count; i++)
        while (links[i].fd >= 0) {
            prepare(&links[i]);
            if (links[i].out.have > links[i].out.done)
                say(&links[i]);
            if (links[i].fd >= 0)
                hear(&links[i]);
            pmix_serve();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t everybody[] = {255};
    int pair[2];
    if (!size)
        return 0;
    step_make();
    links_open();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
        abort();
    if (setjmp(ended) == 0) {
        if (*data & 1)
            fuzz_pmix_ask(1);
        if (*data & 2)
            fuzz_pmix_ask(2);
        if (*data & 4)
            fuzz_pmix_fence(everybody, 1);
        ssize_t ignored = send(pair[1], data + 1, size - 1, MSG_NOSIGNAL);
        (void)ignored;
        shutdown(pair[1], SHUT_WR);
        feed(pair[0]);
    }
    close(pair[1]);
    links_free();
    collectives_free();
    fuzz_pmix_forget();
    return 0;
}
