/* What two tasks of a node write to their PMI sockets; a byte 1 passes the word to the other task. pmi.c is part of
 * this file. */
#include "../mpi/pmi.c"
#include "fuzz.h"

static void helper_make(struct helper *helper)
{
    static uint32_t ranks[] = {0, 1}, node_of[] = {0, 0};
    static struct node node = {"n0", ranks, 2};
    static struct local locals[] = {{0, -1}, {1, -1}};
    *helper = (struct helper){.kind = "pmi2",
                              .id = "7.0",
                              .ports = "12000",
                              .width = 16,
                              .size = 2,
                              .node_count = 1,
                              .local_count = 2,
                              .nodes = &node,
                              .node_of = node_of,
                              .locals = locals,
                              .control = -1,
                              .listener = -1};
    links_open(helper);
    pmi_open(helper);
}

static void task_free(struct task *t)
{
    close_task(t);
    bytes_free(&t->out);
    free(t->attribute);
    free(t->attribute_thread);
    free(t->fence_thread);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct helper state;
    struct helper *helper = &state;
    int pairs[2][2];
    if (!helper->pmi.tasks)
        helper_make(helper);
    for (uint32_t i = 0; i < 2; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i]) < 0)
            abort();
        helper->pmi.tasks[i] = (struct task){.rank = i, .fd = pairs[i][0]};
    }
    uint32_t speaker = 0;
    for (size_t done = 0; done < size; speaker = 1 - speaker) {
        const uint8_t *end = memchr(data + done, 1, size - done);
        size_t n = end ? (size_t)(end - data) - done : size - done;
        if (helper->pmi.tasks[speaker].fd >= 0 && n) {
            bytes_put(&helper->pmi.tasks[speaker].in, data + done, n);
            take_requests(helper, &helper->pmi.tasks[speaker]);
        }
        done += n + 1;
    }
    for (uint32_t i = 0; i < 2; i++) {
        task_free(&helper->pmi.tasks[i]);
        close(pairs[i][1]);
    }
    helper->pmi.in_fence = 0;
    bytes_free(&helper->pmi.pending);
    store_clear(helper->pmi.common);
    store_clear(helper->pmi.attributes);
    return 0;
}
