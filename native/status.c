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

static const char *const PHASES[] = {"waiting", "running", "epilog", "done"};

struct writer { char *text; size_t room, have; };

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

static long long microseconds(struct timeval t)
{
    return (long long)t.tv_sec * 1000000 + t.tv_usec;
}

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

static bool write_synced(const char *text, size_t length, bool durable)
{
    int fd = open("status.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    size_t done = 0;
    while (done < length) {
        ssize_t n = write(fd, text + done, length - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    bool good = done == length && (!durable || fsync(fd) == 0);
    return close(fd) == 0 && good;
}

static bool sync_directory(void)
{
    int fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

/* Writes "status" in the working directory, which is the step's spool directory. */
bool status_write(bool durable)
{
    size_t length = status_text(NULL, 0);
    char *text = malloc(length + 1);
    if (!text)
        return false;
    status_text(text, length + 1);
    bool good = write_synced(text, length, durable) && rename("status.new", "status") == 0
        && (!durable || sync_directory());
    if (!good)
        log_line("cannot write the status file: %s", strerror(errno));
    free(text);
    return good;
}
