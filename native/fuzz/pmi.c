/* What two tasks of a node write to their PMI sockets; a byte 1 passes the word to the other task. pmi.c is part of
 * this file. */
#include "../mpi/pmi.c"
#include "fuzz.h"

static void step_make(void)
{
    static uint32_t ranks[] = {0, 1}, node_of[] = {0, 0};
    static struct node node = {"n0", ranks, 2};
    static struct local locals[] = {{0, -1}, {1, -1}};
    step = (struct step){.kind = "pmi2",
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
    links_open();
    pmi_open();
}

static void task_free(struct task *t)
{
    leave(t);
    bytes_free(&t->out);
    free(t->attribute);
    free(t->thread);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int pairs[2][2];
    if (!tasks)
        step_make();
    for (uint32_t i = 0; i < 2; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pairs[i]) < 0)
            abort();
        tasks[i] = (struct task){.rank = i, .fd = pairs[i][0]};
    }
    uint32_t speaker = 0;
    for (size_t done = 0; done < size; speaker = 1 - speaker) {
        const uint8_t *end = memchr(data + done, 1, size - done);
        size_t n = end ? (size_t)(end - data) - done : size - done;
        if (tasks[speaker].fd >= 0 && n) {
            bytes_put(&tasks[speaker].in, data + done, n);
            take_requests(&tasks[speaker]);
        }
        done += n + 1;
    }
    for (uint32_t i = 0; i < 2; i++) {
        task_free(&tasks[i]);
        close(pairs[i][1]);
    }
    in_fence = 0;
    bytes_free(&pending);
    store_clear(common);
    store_clear(attributes);
    return 0;
}
