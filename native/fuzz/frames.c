/*
 * What clients of a step's socket send, as far as stepd's decoder and every request of it: a step of two tasks whose
 * input and output go to /dev/null. io.c is part of this file, so that no socket and no poll stands between the bytes
 * and the requests.
 */
#include "../io.c"
#include "fuzz.h"

/* ---- the rest of stepd, as io.c calls it ---- */

void log_line(struct step *step, const char *format, ...) { (void)format; }
bool step_tasks_ended(struct step *step) { return false; }
bool step_complete(struct step *step) { return true; }
bool step_is_aborted(struct step *step) { return true; }
bool step_is_lingering(struct step *step) { return true; }
void step_finish(struct step *step, unsigned linger_ms) { (void)linger_ms; }
void step_terminate(struct step *step) {}
void step_warned(struct step *step) {}
void step_watch_memory(struct step *step, struct task *task) { (void)task; }
const char *step_reason(struct step *step) { return "reason"; }
void task_message(struct step *step, struct task *task, const char *text, size_t length)
{
    io_append(task, 0, text, length);
}
void task_read_ready(struct task *task) { (void)task; }
int procs_signal_children_tree(struct step *step, int signal) { return signal; }
int procs_signal_tasks(struct step *step, int signal) { return signal; }
int procs_suspend(struct step *step) { return 0; }
void procs_kill_cgroups(struct step *step) {}
void mpi_hear(struct step *step) {}
int mpi_control(struct step *step) { return -1; }
size_t status_text(struct step *step, char *into, size_t room) { return (size_t)snprintf(into, room, "status"); }
static void tasks_make(struct step *step, struct task *tasks)
{
    for (size_t i = 0; i < 2; i++) {
        tasks[i] = (struct task){
            .id = (uint32_t)i * 7, .phase = i ? TASK_DONE : TASK_RUNNING, .executed = true, .ready_fd = -1};
        tasks[i].in = (struct input){.fd = open("/dev/null", O_WRONLY | O_CLOEXEC), .wanted = true};
        for (int k = 0; k < 2; k++)
            tasks[i].out[k] = (struct stream){.fd = -1, .wanted = true, .sink = -1};
        io_append(&tasks[i], 0, "some output\n", 12);
    }
    step->spec.tasks = tasks;
    step->spec.task_count = 2;
}

static void tasks_free(struct task *tasks)
{
    for (size_t i = 0; i < 2; i++) {
        io_close_input(&tasks[i]);
        for (int k = 0; k < 2; k++)
            free(tasks[i].out[k].kept);
    }
}

/* Decoded frames are encoded to the same bytes again. */
static void check_encoding(const struct frame *frame)
{
    struct buffer again = {0};
    frame_append(&again, frame->type, frame->task, frame->stream, frame->offset, frame->bytes, frame->length);
    if (memcmp(again.bytes, frame->bytes - 4 - FRAME_HEAD_BYTES, again.have))
        abort();
    free(again.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct step step;
    struct task tasks[2];
    struct position positions[4] = {0};
    uint8_t told[2] = {0};
    uint64_t limits[2] = {0};
    struct client client = {.fd = -1, .positions = positions, .told = told, .limits = limits};
    struct frame frame;
    tasks_make(&step, tasks);
    client.in = (struct buffer){malloc(size ? size : 1), size, size, 0};
    if (!client.in.bytes)
        abort();
    if (size)
        memcpy(client.in.bytes, data, size);
    while (frame_take(&client.in, &frame) > 0) {
        check_encoding(&frame);
        if (!handle_request(&step, &client, &frame))
            break;
        fill_output(&step, &client);
        client.out.done = client.out.have;
        for (size_t i = 0; i < 2; i++)
            if (tasks[i].in.fd >= 0 && (tasks[i].in.taken > tasks[i].in.written || tasks[i].in.eof))
                write_input(&step, &tasks[i]);
    }
    tasks_free(tasks);
    free(client.in.bytes);
    free(client.out.bytes);
    return 0;
}
