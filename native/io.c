/*
 * The step's socket. Output is kept by offset until a primary client acknowledges it; every client has its own
 * position;
 * what is to be sent is derived from state when a client can take it, so that no queue grows for a slow one.
 */
#define _GNU_SOURCE
#include "step.h"
#include "log.h"
#include "procs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>
#include <unistd.h>

static size_t task_kept(const struct task *task)
{
    return (size_t)(task->out[0].end - task->out[0].acked) + (size_t)(task->out[1].end - task->out[1].acked);
}

bool io_open(struct step *step, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return errno = ENAMETOOLONG, false;
    strcpy(address.sun_path, path);
    step->io.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(path);
    mode_t old = umask(0177);
    bool good = step->io.listener >= 0 && bind(step->io.listener, (struct sockaddr *)&address, sizeof address) == 0
             && listen(step->io.listener, CLIENTS_MAX) == 0;
    umask(old);
    return good;
}

static void keep_output(struct stream *s, const char *bytes, size_t n)
{
    if (!n)
        return;
    if (s->end + n - s->base > s->room) {
        uint64_t acknowledged = s->acked - s->base; /* acknowledged bytes are kept only while there is room */
        if (acknowledged) {
            memmove(s->kept, s->kept + acknowledged, (size_t)(s->end - s->acked));
            s->base = s->acked;
        }
        while (s->end + n - s->base > s->room) {
            size_t room = s->room ? s->room * 2 : 8192;
            char *grown = realloc(s->kept, room);
            if (!grown)
                abort();
            s->kept = grown;
            s->room = room;
        }
    }
    memcpy(s->kept + (s->end - s->base), bytes, n);
    s->end += n;
}

/* Adds text of stepd's own to a task's output, if somebody reads that here. */
void io_append(struct task *task, int stream, const char *bytes, size_t n)
{
    struct stream *s = &task->out[stream];
    if (s->wanted && !s->eof && task_kept(task) < OUTPUT_KEPT_BYTES)
        keep_output(s, bytes, n);
}

/* Writes on into the file of a labelled stream; what cannot be written is not kept for ever. */
static void write_sink(struct step *step, const struct task *task, struct stream *s)
{
    while (s->acked < s->end) {
        ssize_t n = write(s->sink, s->kept + (s->acked - s->base), (size_t)(s->end - s->acked));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n <= 0) {
            log_line(step, "task %u: cannot write its output file: %s", task->id, strerror(errno));
            s->acked = s->end;
            return;
        }
        s->acked += (uint64_t)n;
    }
}

static void keep_line(const struct task *task, struct stream *s)
{
    keep_output(s, task->label, strlen(task->label));
    keep_output(s, s->partial_line, s->partial_length);
    keep_output(s, "\n", 1);
    s->partial_length = 0;
}

/* Whole lines go on, each behind the label; a longer one than may be held is broken. */
static void keep_labelled(struct step *step, const struct task *task, struct stream *s, const char *bytes, size_t n)
{
    if (!s->partial_line && !(s->partial_line = malloc(LABELLED_LINE_BYTES)))
        abort();
    while (n) {
        const char *newline = memchr(bytes, '\n', n);
        size_t part = newline ? (size_t)(newline - bytes) : n, room = LABELLED_LINE_BYTES - s->partial_length;
        bool broken = part > room;
        if (broken)
            part = room;
        memcpy(s->partial_line + s->partial_length, bytes, part);
        s->partial_length += part;
        if (broken || newline)
            keep_line(task, s);
        part += newline && !broken;
        bytes += part;
        n -= part;
    }
    write_sink(step, task, s);
}

/* Labelled output in regular files, which take it at once, is there before anybody is told that the step is complete.
 */
static bool sinks_written(struct step *step)
{
    struct stat st;
    for (size_t i = 0; i < step->spec.task_count; i++)
        for (int k = 0; k < 2; k++) {
            const struct stream *s = &step->spec.tasks[i].out[k];
            if (s->labelled && s->sink >= 0 && (!s->eof || s->acked < s->end) && fstat(s->sink, &st) == 0
                && S_ISREG(st.st_mode))
                return false;
        }
    return true;
}

/* The first task's messages tell how all tasks ended: they come behind its own output, which may be closed before. */
static struct stream *debug_stream(struct step *step)
{
    return step->spec.debug >= STEP_DEBUG_VERBOSE && step->spec.task_count
             ? &step->spec.tasks[0].out[step->spec.tasks[0].out[1].wanted]
             : NULL;
}

static bool all_tasks_over(struct step *step)
{
    for (size_t i = 0; i < step->spec.task_count; i++)
        if (step->spec.tasks[i].phase < TASK_EPILOG)
            return false;
    return true;
}

/* Nothing reads it any more, but something may still be said on it: what the step tells of itself, and what a task's
 * epilog says. */
static bool may_be_written(struct step *step, const struct task *task, const struct stream *s)
{
    return (s == debug_stream(step) && !all_tasks_over(step))
        || ((step->spec.epilogs.count || step->spec.user_epilogs.count) && s == &task->out[task->out[1].wanted]
            && task->phase < TASK_DONE);
}

void io_told(struct step *step)
{
    for (size_t i = 0; i < step->spec.task_count; i++)
        for (int k = 0; k < 2; k++) {
            struct stream *s = &step->spec.tasks[i].out[k];
            if (s->wanted && s->fd < 0 && !may_be_written(step, &step->spec.tasks[i], s))
                s->eof = true;
        }
}

static void end_stream(struct step *step, const struct task *task, struct stream *s)
{
    if (s->labelled && s->partial_length) {
        keep_line(task, s);
        write_sink(step, task, s);
    }
    close(s->fd);
    s->fd = -1;
    s->eof = !may_be_written(step, task, s);
}

static void read_output(struct step *step, struct task *task, struct stream *s)
{
    char bytes[65536];
    size_t kept = task_kept(task), most = kept < OUTPUT_KEPT_BYTES ? OUTPUT_KEPT_BYTES - kept : 0;
    if (!most)
        return;
    ssize_t n = read(s->fd, bytes, most < sizeof bytes ? most : sizeof bytes);
    if (step_complete(step) && n > 0)
        s->after_end += (size_t)n;
    step->io.is_flood |= n >= FLOOD_BYTES;
    if (n > 0 && s->labelled)
        keep_labelled(step, task, s, bytes, (size_t)n);
    else if (n > 0)
        keep_output(s, bytes, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR)) { /* a terminal whose last user left answers EIO */
        step_watch_memory(step, task);                        /* its message must come before the end */
        end_stream(step, task, s);
    }
}

/*
 * The step is over although somebody who is no more of it may hold its outputs: what they contain now still counts, of
 * what keeps coming no more than pipes hold.
 */
void io_leave_outputs(struct step *step)
{
    for (size_t i = 0; i < step->spec.task_count; i++)
        for (int k = 0; k < 2; k++) {
            struct stream *s = &step->spec.tasks[i].out[k];
            struct pollfd ready = {s->fd, POLLIN, 0};
            while (s->fd >= 0 && s->after_end < OUTPUT_KEPT_BYTES && task_kept(&step->spec.tasks[i]) < OUTPUT_KEPT_BYTES
                   && poll(&ready, 1, 0) > 0)
                read_output(step, &step->spec.tasks[i], s);
            if (s->fd >= 0 && task_kept(&step->spec.tasks[i]) < OUTPUT_KEPT_BYTES)
                end_stream(step, &step->spec.tasks[i], s);
        }
}

void io_close_input(struct task *task)
{
    struct input *in = &task->in;
    if (in->fd >= 0)
        close(in->fd);
    in->fd = -1;
    in->closed = true;
    in->written = in->taken;
    free(in->held);
    in->held = NULL;
    in->room = 0;
}

static void write_input(struct step *step, struct task *task)
{
    struct input *in = &task->in;
    size_t held = (size_t)(in->taken - in->written);
    if (held) {
        ssize_t n = write(in->fd, in->held, held);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return io_close_input(task);
        if (n > 0) {
            in->written += (uint64_t)n;
            memmove(in->held, in->held + n, held - (size_t)n);
            held -= (size_t)n;
        }
    }
    if (held || !in->eof)
        return;
    struct termios t;
    if (task->target[0].kind == TARGET_PTY && tcgetattr(in->fd, &t) == 0 && write(in->fd, &t.c_cc[VEOF], 1) < 0)
        log_line(step, "task %u: end of input: %s", task->id, strerror(errno));
    if (task->target[0].kind == TARGET_PTY)
        in->eof = false; /* a terminal has no end: the character was typed */
    else
        io_close_input(task);
}

static uint64_t input_limit(struct task *task)
{
    struct input *in = &task->in;
    uint64_t room = in->written + STDIN_WINDOW_BYTES;
    if (in->closed)
        in->limit = UINT64_MAX;
    else if (room > in->injected && room - in->injected > in->limit)
        in->limit = room - in->injected;
    return in->limit;
}

static void hold_input(struct input *in, const char *bytes, size_t n)
{
    if (!n)
        return;
    size_t held = (size_t)(in->taken - in->written);
    if (held + n > in->room) {
        size_t room = held + n < 4096 ? 4096 : held + n;
        char *grown = realloc(in->held, room);
        if (!grown)
            abort();
        in->held = grown;
        in->room = room;
    }
    memcpy(in->held + held, bytes, n);
    in->taken += n;
}

/* False: the client sent more than its window, or repeated bytes that do not follow. */
static bool take_input(struct task *task, uint64_t offset, const char *bytes, size_t n)
{
    struct input *in = &task->in;
    if (!in->wanted)
        return true;
    uint64_t taken = in->taken - in->injected;
    if (offset > taken || in->eof)
        return in->eof;
    uint64_t known = taken - offset; /* sent again after a re-attachment */
    if (known >= n)
        return true;
    bytes += known;
    n -= known;
    if (in->closed) {
        in->written = in->taken += n;
        return true;
    }
    if (taken + n > input_limit(task))
        return false;
    hold_input(in, bytes, n);
    return true;
}

/* What another than the primary types (sattach): stands wherever the input has come to. */
static void inject_input(struct task *task, const char *bytes, size_t n)
{
    struct input *in = &task->in;
    if (!in->wanted || in->eof || in->closed)
        return;
    in->injected += n;
    hold_input(in, bytes, n);
}

/* A client that injects is not read while a task has not taken what it has: it goes by no limit. */
static bool inputs_full(struct step *step)
{
    for (size_t i = 0; i < step->spec.task_count; i++)
        if (!step->spec.tasks[i].in.closed
            && step->spec.tasks[i].in.taken - step->spec.tasks[i].in.written >= STDIN_WINDOW_BYTES)
            return true;
    return false;
}

static void put_frame(struct client *c, uint8_t type, uint32_t task, uint8_t stream, uint64_t offset, const char *bytes,
                      size_t n)
{
    frame_append(&c->out, type, task, stream, offset, bytes, n);
}

/* ---- what a client asks ---- */

static void attach(struct step *step, struct client *c, size_t i, int s, uint64_t offset)
{
    struct position *p = &c->positions[i * 2 + (size_t)s];
    const struct stream *out = &step->spec.tasks[i].out[s];
    if (!out->wanted || out->labelled)
        return;
    p->attached = true;
    p->end_told = false;
    p->sent = offset < out->base ? out->base : offset > out->end ? out->end : offset;
}

/* Once: it may go and come again. */
bool io_caller_came(struct step *step) { return step->io.caller_came; }

static bool request_attach(struct step *step, struct client *c, const struct frame *f)
{
    c->hears = true;
    c->end_only = f->length > 0 && f->bytes[0] == 'e';
    if (f->length > 0 && (f->bytes[0] == 'n' || f->bytes[0] == 'e'))
        return true;
    c->primary |= f->length > 0 && f->bytes[0] == 'p';
    step->io.caller_came |= c->primary;
    c->attaching = f->length > 1 && f->bytes[1] == '+';
    for (size_t i = 0; i < step->spec.task_count; i++)
        for (int s = 0; s < 2; s++)
            if ((f->task == FRAME_ALL_TASKS || f->task == step->spec.tasks[i].id) && (!f->stream || f->stream == s + 1))
                attach(step, c, i, s, f->offset);
    return true;
}

static bool request_ack(struct step *step, struct client *c, const struct frame *f)
{
    for (size_t i = 0; i < step->spec.task_count; i++) {
        struct stream *out = f->stream == 1 || f->stream == 2 ? &step->spec.tasks[i].out[f->stream - 1] : NULL;
        if (step->spec.tasks[i].id != f->task || !out || out->labelled)
            continue;
        if (f->offset > out->end)
            return false;
        if (c->primary && f->offset > out->acked)
            out->acked = f->offset;
    }
    return true;
}

static bool request_input(struct step *step, struct client *c, const struct frame *f)
{
    bool good = c->primary;
    for (size_t i = 0; i < step->spec.task_count && good; i++) {
        struct task *task = &step->spec.tasks[i];
        if (f->task != FRAME_ALL_TASKS && f->task != task->id)
            continue;
        if (f->type == FRAME_STDIN)
            good = take_input(task, f->offset, f->bytes, f->length);
        else if (task->in.wanted && !task->in.closed)
            task->in.eof = true;
    }
    return good;
}

static bool request_injection(struct step *step, struct client *c, const struct frame *f)
{
    c->injects = true;
    for (size_t i = 0; i < step->spec.task_count; i++) {
        struct task *task = &step->spec.tasks[i];
        if (f->task != FRAME_ALL_TASKS && f->task != task->id)
            continue;
        if (f->type == FRAME_INJECT)
            inject_input(task, f->bytes, f->length);
        else if (task->in.wanted && !task->in.closed)
            task->in.eof = true;
    }
    return true;
}

static bool request_window(struct step *step, const struct frame *f)
{
    if (f->length != 4)
        return false;
    const unsigned char *b = (const unsigned char *)f->bytes;
    struct winsize size = {.ws_row = (unsigned short)(b[0] << 8 | b[1]), .ws_col = (unsigned short)(b[2] << 8 | b[3])};
    for (size_t i = 0; i < step->spec.task_count; i++)
        if (step->spec.tasks[i].target[1].kind == TARGET_PTY && step->spec.tasks[i].out[0].fd >= 0)
            ioctl(step->spec.tasks[i].out[0].fd, TIOCSWINSZ, &size);
    return true;
}

static bool request_signal(struct step *step, struct client *c, const struct frame *f)
{
    char answer[64];
    if (f->offset > (uint64_t)SIGRTMAX)
        return false;
    int signal = (int)f->offset, sent = 0;
    if (f->stream == SIGNAL_TERMINATE)
        step_terminate(step);
    else if (f->stream == SIGNAL_TASKS)
        sent = procs_signal_tasks(step, signal);
    else if (f->stream == SIGNAL_SUSPEND)
        sent = procs_suspend(step);
    else {
        sent = procs_signal_children_tree(step, signal);
        if (signal == SIGKILL)
            procs_kill_cgroups(step);
        if (signal == SIGTERM)
            step_warned(step);
    }
    int n = snprintf(answer, sizeof answer, "%d", sent);
    put_frame(c, FRAME_RESULT, FRAME_ALL_TASKS, FRAME_SIGNAL, f->offset, answer, (size_t)n);
    return true;
}

static bool request_status(struct step *step, struct client *c)
{
    size_t length = status_text(step, NULL, 0);
    char *text = malloc(length + 1);
    if (!text)
        return false;
    status_text(step, text, length + 1);
    put_frame(c, FRAME_RESULT, FRAME_ALL_TASKS, FRAME_QUERY, 0, text, length);
    free(text);
    return true;
}

/* The first task that can still be heard says it. */
void io_say(struct step *step, const char *text, size_t length)
{
    size_t i = 0;
    while (i + 1 < step->spec.task_count && step->spec.tasks[i].phase == TASK_DONE)
        i++;
    task_message(step, &step->spec.tasks[i], text, length);
}

/* What the step says goes by the first task that can still be heard. */
static size_t speaker(struct step *step)
{
    for (size_t i = 0; i < step->spec.task_count; i++)
        if (step->spec.tasks[i].phase != TASK_DONE)
            return i;
    return 0;
}

static bool handle_request(struct step *step, struct client *c, const struct frame *f)
{
    switch (f->type) {
    case FRAME_ATTACH: return request_attach(step, c, f);
    case FRAME_ACK: return request_ack(step, c, f);
    case FRAME_STDIN:
    case FRAME_STDIN_END: return request_input(step, c, f);
    case FRAME_INJECT:
    case FRAME_INJECT_END: return request_injection(step, c, f);
    case FRAME_WINDOW: return request_window(step, f);
    case FRAME_SIGNAL: return request_signal(step, c, f);
    case FRAME_QUERY: return request_status(step, c);
    case FRAME_MESSAGE:
        step->io.is_cancelled |=
            !(f->offset & MESSAGE_NO_ABORT) && memmem(f->bytes, f->length, " CANCELLED AT ", 14) != NULL;
        for (size_t i = 0; i < step->spec.task_count && !(f->offset & MESSAGE_UNPRINTED); i++)
            if (f->task == FRAME_ALL_TASKS ? i == speaker(step) : f->task == step->spec.tasks[i].id)
                task_message(step, &step->spec.tasks[i], f->bytes, f->length);
        return true;
    case FRAME_FINISH: step_finish(step, f->offset > 3600000 ? 3600000 : (unsigned)f->offset); return true;
    default: return false;
    }
}

/* ---- what a client is told ---- */

/* That a task has started is told with something else, or when all have: each telling wakes three processes. */
static void tell_task(struct step *step, struct client *c, size_t i, bool all_started)
{
    struct task *task = &step->spec.tasks[i];
    char text[400];
    if (c->primary && task->in.wanted && input_limit(task) != c->limits[i]
        && (input_limit(task) == UINT64_MAX || !c->limits[i]
            || input_limit(task) - c->limits[i] >= STDIN_WINDOW_BYTES / 4)) {
        c->limits[i] = input_limit(task);
        put_frame(c, FRAME_STDIN_LIMIT, task->id, 0, c->limits[i], NULL, 0);
    }
    bool started = task->phase >= TASK_RUNNING && (task->executed || task->phase > TASK_RUNNING);
    if (!(c->told[i] & TOLD_STARTED) && started
        && (all_started || task->phase == TASK_DONE || c->out.have > c->out.done)) {
        c->told[i] |= TOLD_STARTED;
        put_frame(c, FRAME_STARTED, task->id, 0, (uint64_t)task->pid, NULL, 0);
    }
    if (!(c->told[i] & TOLD_EXIT) && task->phase == TASK_DONE) {
        c->told[i] |= TOLD_EXIT;
        int n = snprintf(text, sizeof text, "utime_us=%lld stime_us=%lld maxrss_kb=%ld cancelled=%d reason=%s",
                         (long long)task->usage.ru_utime.tv_sec * 1000000 + task->usage.ru_utime.tv_usec,
                         (long long)task->usage.ru_stime.tv_sec * 1000000 + task->usage.ru_stime.tv_usec,
                         task->usage.ru_maxrss, step->io.is_cancelled, task->reason);
        put_frame(c, FRAME_EXIT, task->id, 0, (uint64_t)(unsigned)task->status, text, (size_t)n);
    }
}

static bool tell_output(struct step *step, struct client *c, size_t i, int s)
{
    struct position *p = &c->positions[i * 2 + (size_t)s];
    const struct stream *out = &step->spec.tasks[i].out[s];
    if (!p->attached || p->end_told)
        return false;
    if (p->sent < out->base)
        p->sent = out->base; /* an observer too slow for what was acknowledged by the primary: it skips */
    size_t n = (size_t)(out->end - p->sent);
    if (n > FRAME_DATA_BYTES)
        n = FRAME_DATA_BYTES;
    if (n) {
        put_frame(c, FRAME_DATA, step->spec.tasks[i].id, (uint8_t)(s + 1), p->sent, out->kept + (p->sent - out->base),
                  n);
        p->sent += n;
    } else if (out->eof) {
        p->end_told = true;
        put_frame(c, FRAME_DATA_END, step->spec.tasks[i].id, (uint8_t)(s + 1), out->end, NULL, 0);
    }
    return n > 0;
}

static void fill_output(struct step *step, struct client *c)
{
    if (c->out.have - c->out.done >= CLIENT_OUT_BYTES)
        return;
    if (c->end_only && !c->abort_told && step_is_aborted(step)) {
        c->abort_told = true;
        put_frame(c, FRAME_ABORT, FRAME_ALL_TASKS, 0, 0, NULL, 0);
    }
    if (c->end_only && !c->linger_told && step_is_lingering(step)) {
        c->linger_told = true;
        put_frame(c, FRAME_LINGERS, FRAME_ALL_TASKS, 0, 0, NULL, 0);
    }
    bool more = c->hears, ends_told = true, all_started = true;
    for (size_t i = 0; i < step->spec.task_count && c->hears && !c->end_only; i++)
        all_started &= step->spec.tasks[i].executed || step->spec.tasks[i].phase > TASK_RUNNING;
    for (size_t i = 0; i < step->spec.task_count && c->hears && !c->end_only; i++)
        tell_task(step, c, i, all_started);
    while (more && c->out.have - c->out.done < CLIENT_OUT_BYTES) {
        more = false;
        for (size_t k = 0; k < step->spec.task_count * 2 && c->out.have - c->out.done < CLIENT_OUT_BYTES; k++) {
            c->next = (c->next + 1) % (step->spec.task_count * 2);
            more |= tell_output(step, c, c->next / 2, (int)(c->next % 2));
        }
    }
    for (size_t k = 0; k < step->spec.task_count * 2; k++)
        ends_told &= !c->positions[k].attached || c->positions[k].end_told;
    if (ends_told && c->hears && !c->attaching && !c->finish_told && step_complete(step) && sinks_written(step)) {
        c->finish_told = true;
        put_frame(c, FRAME_COMPLETE, FRAME_ALL_TASKS, 0, 0, step_reason(step), strlen(step_reason(step)));
    }
}

/* ---- connections ---- */

static void drop_client(struct step *step, struct client *c)
{
    close(c->fd);
    free(c->positions);
    free(c->told);
    free(c->limits);
    free(c->out.bytes);
    free(c->in.bytes);
    *c = step->io.clients[--step->io.client_count];
}

static void accept_client(struct step *step)
{
    int fd = accept4(step->io.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (fd < 0)
        return;
    bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0
              && (peer.uid == 0 || peer.uid == geteuid() || peer.uid == step->spec.allowed_uid);
    if (!known || step->io.client_count == CLIENTS_MAX) {
        log_line(step, "refused a connection%s", known ? ": too many" : "");
        close(fd);
        return;
    }
    struct client *c = &step->io.clients[step->io.client_count++];
    *c = (struct client){.fd = fd};
    c->positions = calloc(step->spec.task_count * 2 + 1, sizeof *c->positions);
    c->told = calloc(step->spec.task_count + 1, 1);
    c->limits = calloc(step->spec.task_count + 1, sizeof *c->limits);
    if (!c->positions || !c->told || !c->limits)
        return drop_client(step, c);
    char text[600];
    int n = snprintf(text, sizeof text, "%s %s %s %zu", step->spec.job, step->spec.step, step->spec.attempt,
                     step->spec.task_count);
    put_frame(c, FRAME_HELLO, FRAME_ALL_TASKS, 0, FRAME_VERSION, text, (size_t)n);
}

static bool receive(struct step *step, struct client *c)
{
    bool open = buffer_receive(&c->in, c->fd);
    struct frame f;
    int got;
    while ((got = frame_take(&c->in, &f)) > 0)
        if (!handle_request(step, c, &f))
            return log_line(step, "a client broke the protocol with a frame of type %d", f.type), false;
    return got == 0 && open;
}

static bool wants_output(struct step *step, struct client *c)
{
    fill_output(step, c);
    return c->out.have > c->out.done;
}

/* ---- the poll ---- */

enum subject {
    WATCH_WAKE,
    WATCH_MPI,
    WATCH_LISTENER,
    WATCH_CLIENT,
    WATCH_OUTPUT,
    WATCH_SINK,
    WATCH_INPUT,
    WATCH_READY
};
struct watch {
    enum subject subject;
    size_t index;
    int stream;
};

static void watch(struct step *step, enum subject subject, size_t index, int stream, int fd, short events)
{
    if (step->io.watch_count == step->io.watch_room) {
        step->io.watch_room = step->io.watch_room ? step->io.watch_room * 2 : 32;
        step->io.fds = realloc(step->io.fds, step->io.watch_room * sizeof *step->io.fds);
        step->io.watches = realloc(step->io.watches, step->io.watch_room * sizeof *step->io.watches);
        if (!step->io.fds || !step->io.watches)
            abort();
    }
    step->io.fds[step->io.watch_count] = (struct pollfd){fd, events, 0};
    step->io.watches[step->io.watch_count++] = (struct watch){subject, index, stream};
}

static void watch_task(struct step *step, size_t i)
{
    struct task *task = &step->spec.tasks[i];
    for (int s = 0; s < 2; s++)
        if (task->out[s].fd >= 0 && task_kept(task) < OUTPUT_KEPT_BYTES)
            watch(step, WATCH_OUTPUT, i, s, task->out[s].fd, POLLIN);
    for (int s = 0; s < 2; s++)
        if (task->out[s].sink >= 0 && task->out[s].acked < task->out[s].end)
            watch(step, WATCH_SINK, i, s, task->out[s].sink, POLLOUT);
    if (task->in.fd >= 0)
        watch(step, WATCH_INPUT, i, 0, task->in.fd, task->in.taken > task->in.written || task->in.eof ? POLLOUT : 0);
    if (task->ready_fd >= 0)
        watch(step, WATCH_READY, i, 0, task->ready_fd, POLLIN);
}

static void serve_one(struct step *step, const struct watch *w, short events, void (*on_wake)(struct step *))
{
    struct task *task = w->index < step->spec.task_count ? &step->spec.tasks[w->index] : NULL;
    switch (w->subject) {
    case WATCH_WAKE: on_wake(step); break;
    case WATCH_MPI: mpi_hear(step); break;
    case WATCH_LISTENER: accept_client(step); break;
    case WATCH_CLIENT: break;
    case WATCH_OUTPUT:
        read_output(step, task, &task->out[w->stream]);
        /* nobody writes there any more: the end is told with the last of it, not a round later */
        for (int more = 0; more < LAST_READS && events & POLLHUP && task->out[w->stream].fd >= 0; more++)
            read_output(step, task, &task->out[w->stream]);
        break;
    case WATCH_SINK: write_sink(step, task, &task->out[w->stream]); break;
    case WATCH_INPUT:
        if (events & POLLERR && task->target[0].kind != TARGET_PTY)
            io_close_input(task);
        else if (events & POLLOUT)
            write_input(step, task);
        else if (events & POLLHUP)
            io_close_input(task);
        break;
    case WATCH_READY: task_read_ready(task); break;
    }
}

/*
 * What many tasks do comes one by one, and each round looks at all of them, writes the status and wakes those who
 * listen: a moment later there is more to do in one. The moment grows while events keep coming, and begins anew after a
 * rest.
 */
static long long now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* One round: waits at most timeout_ms (-1: for ever) for anything to do, and does it. */
void io_serve(struct step *step, int timeout_ms, int wake_fd, void (*on_wake)(struct step *))
{
    if (step->io.gather_us && !step->io.is_flood)
        usleep((useconds_t)step->io.gather_us);
    step->io.watch_count = 0;
    watch(step, WATCH_WAKE, SIZE_MAX, 0, wake_fd, POLLIN);
    watch(step, WATCH_LISTENER, SIZE_MAX, 0, step->io.listener, POLLIN);
    if (mpi_control(step) >= 0)
        watch(step, WATCH_MPI, SIZE_MAX, 0, mpi_control(step), POLLIN);
    for (size_t i = 0; i < step->io.client_count; i++)
        watch(step, WATCH_CLIENT, i, 0, step->io.clients[i].fd,
              (short)((step->io.clients[i].out.have - step->io.clients[i].out.done < CLIENT_ANSWERS_BYTES
                               && !(step->io.clients[i].injects && inputs_full(step))
                           ? POLLIN
                           : 0)
                      | (wants_output(step, &step->io.clients[i]) ? POLLOUT : 0)));
    for (size_t i = 0; i < step->spec.task_count; i++)
        watch_task(step, i);
    long long before_us = now_us();
    step->io.is_flood = false;
    int events = poll(step->io.fds, step->io.watch_count, timeout_ms);
    bool was_idle = now_us() - before_us > GATHER_MOST_US;
    if (step->spec.task_count < GATHER_TASKS || (size_t)(events > 0 ? events : 0) >= step->spec.task_count / 2)
        step->io.gather_us = 0;
    else
        step->io.gather_us = was_idle || !step->io.gather_us         ? GATHER_FIRST_US
                           : step->io.gather_us * 2 < GATHER_MOST_US ? step->io.gather_us * 2
                                                                     : GATHER_MOST_US;
    if (events <= 0)
        return;
    /* clients from the last to the first: dropping one moves only those already served */
    for (size_t k = step->io.watch_count; k-- > 0;) {
        if (step->io.watches[k].subject != WATCH_CLIENT || !step->io.fds[k].revents)
            continue;
        struct client *c = &step->io.clients[step->io.watches[k].index];
        bool open = !(step->io.fds[k].revents & (POLLIN | POLLHUP | POLLERR)) || receive(step, c);
        if (open && step->io.fds[k].revents & POLLOUT)
            open = buffer_send(&c->out, c->fd);
        if (!open)
            drop_client(step, c);
    }
    for (size_t k = 0; k < step->io.watch_count; k++)
        if (step->io.fds[k].revents && step->io.watches[k].subject != WATCH_CLIENT)
            serve_one(step, &step->io.watches[k], step->io.fds[k].revents, on_wake);
}

/* Nothing is left that somebody might still want to read. */
bool io_all_delivered(struct step *step)
{
    for (size_t i = 0; i < step->spec.task_count; i++)
        for (int s = 0; s < 2; s++) {
            const struct stream *out = &step->spec.tasks[i].out[s];
            if (out->wanted && (!out->eof || out->acked < out->end))
                return false;
        }
    return true;
}

/* Tells every client the end, as far as it can be told without waiting for a slow one. */
void io_last_words(struct step *step)
{
    for (size_t i = 0; i < step->io.client_count; i++) {
        fill_output(step, &step->io.clients[i]);
        buffer_send(&step->io.clients[i].out, step->io.clients[i].fd);
    }
}
