/* What became of every task, as text: written aside, synced, renamed, the directory synced, before anybody is told. */
#define _GNU_SOURCE
#include "step.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_BYTES_MOST (256u * 1024u) /* of records behind each other; then the file is begun anew */

static const char *const PHASES[] = {"waiting", "running", "epilog", "done"};

struct writer {
    char *text;
    size_t room, have;
};

static void put(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct writer *w, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(w->text + (w->have < w->room ? w->have : w->room), w->have < w->room ? w->room - w->have : 0,
                      format, arguments);
    va_end(arguments);
    if (n > 0)
        w->have += (size_t)n;
}

static long long microseconds(struct timeval t) { return (long long)t.tv_sec * 1000000 + t.tv_usec; }

static void put_usage(struct writer *w, const struct rusage *u)
{
    put(w, " utime_us=%lld stime_us=%lld maxrss_kb=%ld majflt=%ld inblock=%ld oublock=%ld", microseconds(u->ru_utime),
        microseconds(u->ru_stime), u->ru_maxrss, u->ru_majflt, u->ru_inblock, u->ru_oublock);
}

static void put_task(struct writer *w, const struct task *task)
{
    put(w, "task id=%u phase=%s pid=%d started=%lld.%06ld", task->id, PHASES[task->phase], (int)task->pid,
        (long long)task->started.tv_sec, task->started.tv_nsec / 1000);
    if (task->phase >= TASK_EPILOG) {
        put(w, " status=%d ended=%lld.%06ld", task->status, (long long)task->ended.tv_sec, task->ended.tv_nsec / 1000);
        put_usage(w, &task->usage);
    }
    if (*task->reason)
        put(w, " reason=%s", task->reason);
    put(w, "\n");
}

/* The text's length, which may be more than `room`: then it was cut. */
size_t status_text(struct step *step, char *into, size_t room)
{
    struct writer w = {into, room, 0};
    struct rusage all;
    getrusage(RUSAGE_CHILDREN, &all);
    put(&w, "job %s\nstep %s\nattempt %s\nstepd %d\n", step->spec.job, step->spec.step, step->spec.attempt,
        (int)getpid());
    put(&w, "state %s\n", step_complete(step) ? "complete" : step_tasks_ended(step) ? "ending" : "running");
    if (!step->begun)
        put(&w, "begun no\n");
    if (*step_reason(step))
        put(&w, "reason %s\n", step_reason(step));
    for (size_t i = 0; i < step->spec.task_count; i++)
        put_task(&w, &step->spec.tasks[i]);
    put(&w, "usage");
    put_usage(&w, &all);
    put(&w, "\nend\n");
    return w.have;
}

static bool write_all(int fd, const char *text, size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t n = write(fd, text + done, length - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static bool sync_directory(void)
{
    int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

/* A new file: the first under its name (not whole yet, so nobody takes it), a later one aside and renamed. */
static bool begin_file(struct step *step, const char *text, size_t length)
{
    const char *name = step->status.fd < 0 ? "status" : "status.new";
    int fresh = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fresh < 0)
        return false;
    if (!write_all(fresh, text, length) || (step->status.fd >= 0 && (fsync(fresh) < 0 || rename(name, "status") < 0))) {
        close(fresh);
        return false;
    }
    if (step->status.fd >= 0)
        close(step->status.fd);
    step->status.fd = fresh;
    step->status.length = length;
    step->status.name_synced = false;
    return true;
}

/* One more record behind the last: a torn one is not whole, and the one before it still holds. */
static bool append_record(struct step *step, const char *text, size_t length)
{
    if (write_all(step->status.fd, text, length)) {
        step->status.length += length;
        return true;
    }
    int error = errno;
    if (ftruncate(step->status.fd, (off_t)step->status.length) < 0)
        log_line(step, "cannot cut the status file: %s", strerror(errno));
    errno = error;
    return false;
}

/* Adds what is known now to "status" in the working directory, which is the step's spool directory. */
bool status_write(struct step *step, bool durable)
{
    size_t length = status_text(step, NULL, 0);
    char *text = malloc(length + 1);
    if (!text)
        return false;
    status_text(step, text, length + 1);
    bool good = step->status.fd < 0 || step->status.length + length > STATUS_BYTES_MOST
                  ? begin_file(step, text, length)
                  : append_record(step, text, length);
    if (good && durable)
        good = fdatasync(step->status.fd) == 0
            && (step->status.name_synced || (step->status.name_synced = sync_directory()));
    if (!good)
        log_line(step, "cannot write the status file: %s", strerror(errno));
    free(text);
    return good;
}
