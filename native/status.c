/* What became of every task, as text: written aside, synced, renamed, the directory synced, before anybody is told. */
#define _GNU_SOURCE
#include "stepd.h"

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
size_t status_text(char *into, size_t room)
{
    struct writer w = {into, room, 0};
    struct rusage all;
    getrusage(RUSAGE_CHILDREN, &all);
    put(&w, "job %s\nstep %s\nattempt %s\nstepd %d\n", spec.job, spec.step, spec.attempt, (int)getpid());
    put(&w, "state %s\n", step_complete() ? "complete" : step_tasks_ended() ? "ending" : "running");
    if (*step_reason())
        put(&w, "reason %s\n", step_reason());
    for (size_t i = 0; i < spec.task_count; i++)
        put_task(&w, &spec.tasks[i]);
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

static int file = -1;
static size_t file_bytes;
static bool name_synced;

/* A new file: the first under its name (not whole yet, so nobody takes it), a later one aside and renamed. */
static bool begin(const char *text, size_t length)
{
    const char *name = file < 0 ? "status" : "status.new";
    int fresh = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fresh < 0)
        return false;
    if (!write_all(fresh, text, length) || (file >= 0 && (fsync(fresh) < 0 || rename(name, "status") < 0))) {
        close(fresh);
        return false;
    }
    if (file >= 0)
        close(file);
    file = fresh;
    file_bytes = length;
    name_synced = false;
    return true;
}

/* One more record behind the last: a torn one is not whole, and the one before it still holds. */
static bool append(const char *text, size_t length)
{
    if (write_all(file, text, length)) {
        file_bytes += length;
        return true;
    }
    int error = errno;
    if (ftruncate(file, (off_t)file_bytes) < 0)
        log_line("cannot cut the status file: %s", strerror(errno));
    errno = error;
    return false;
}

/* Adds what is known now to "status" in the working directory, which is the step's spool directory. */
bool status_write(bool durable)
{
    size_t length = status_text(NULL, 0);
    char *text = malloc(length + 1);
    if (!text)
        return false;
    status_text(text, length + 1);
    bool good = file < 0 || file_bytes + length > STATUS_BYTES_MOST ? begin(text, length) : append(text, length);
    if (good && durable)
        good = fdatasync(file) == 0 && (name_synced || (name_synced = sync_directory()));
    if (!good)
        log_line("cannot write the status file: %s", strerror(errno));
    free(text);
    return good;
}
