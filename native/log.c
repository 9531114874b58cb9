/*
 * stepd's own log, and how messages of a step to its tasks' standard error begin: with the time, in the format of
 * LogTimeFormat (slurm.conf(5)).
 */
#define _GNU_SOURCE
#include "log.h"
#include "step.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static bool format_is(const char *log_time, const char *word)
{
    size_t length = strlen(word);
    const char *at = log_time;
    while (at && *at) {
        size_t here = strcspn(at, ",");
        if (here == length && !strncmp(at, word, length))
            return true;
        at += here + (at[here] == ',');
    }
    return false;
}

/* Writes "[TIME] LEVEL" to `line` (at least LOG_PREFIX_BYTES_MAX bytes) and returns its length. */
size_t log_prefix(const char *log_time, char *line, size_t room, const char *level)
{
    struct timeval now;
    struct tm local;
    char day[64], zone[8] = "";
    gettimeofday(&now, NULL);
    localtime_r(&now.tv_sec, &local);
    int n;
    if (format_is(log_time, "clock")) {
        n = snprintf(line, room, "[%ld] %s", (long)clock(), level);
    } else if (format_is(log_time, "thread_id")) {
        strftime(day, sizeof day, "%b %d %H:%M:%S", &local);
        n = snprintf(line, room, "[%s.%06ld %5d %-12s %#lx] %s", day, (long)now.tv_usec, (int)getpid(), "slurmstepd",
                     (unsigned long)syscall(SYS_gettid), level);
    } else if (format_is(log_time, "short")) {
        strftime(day, sizeof day, "%b %d %H:%M:%S", &local);
        n = snprintf(line, room, "[%s] %s", day, level);
    } else {
        bool with_zone =
            format_is(log_time, "rfc5424") || format_is(log_time, "rfc5424_ms") || format_is(log_time, "rfc3339");
        bool whole_seconds =
            format_is(log_time, "iso8601") || format_is(log_time, "rfc5424") || format_is(log_time, "rfc3339");
        char milliseconds[24] = "";
        strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &local);
        if (!whole_seconds)
            snprintf(milliseconds, sizeof milliseconds, ".%03ld", (long)now.tv_usec / 1000);
        if (with_zone && strftime(zone, sizeof zone - 1, "%z", &local) == 5) {
            memmove(zone + 4, zone + 3, 3);
            zone[3] = ':';
        }
        n = snprintf(line, room, "[%s%s%s] %s", day, milliseconds, zone, level);
    }
    return n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

/* Most steps have nothing to remark: the file is made with the first line. */
static void write_log(struct step *step, const char *text)
{
    if (step->log_fd < 0)
        step->log_fd = open("log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    ssize_t ignored = write(step->log_fd < 0 ? 2 : step->log_fd, text, strlen(text));
    (void)ignored;
}

void log_line(struct step *step, const char *format, ...)
{
    char text[600];
    struct timespec t;
    struct tm local;
    clock_gettime(CLOCK_REALTIME, &t);
    localtime_r(&t.tv_sec, &local);
    size_t n = strftime(text, sizeof text, "[%Y-%m-%dT%H:%M:%S", &local);
    n += (size_t)snprintf(text + n, sizeof text - n, ".%03ld] [%s.%s] ", t.tv_nsec / 1000000, step->spec.job,
                          step->spec.step);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + n, sizeof text - n - 1, format, arguments);
    va_end(arguments);
    strcat(text, "\n");
    write_log(step, text);
}
