/*
 * How messages of a step to its tasks' standard error begin: with the time, in the format of LogTimeFormat
 * (slurm.conf(5)). Called by: task.c, hooks.c, container.c.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "stepd.h"

static bool format_is(const char *word)
{
    size_t length = strlen(word);
    const char *at = spec.log_time;
    while (at && *at) {
        size_t here = strcspn(at, ",");
        if (here == length && !strncmp(at, word, length))
            return true;
        at += here + (at[here] == ',');
    }
    return false;
}

/* Writes "[TIME] LEVEL" to `line` (at least LOG_PREFIX_BYTES_MAX bytes) and returns its length. */
size_t log_prefix(char *line, size_t room, const char *level)
{
    struct timeval now;
    struct tm local;
    char day[64], zone[8] = "";
    gettimeofday(&now, NULL);
    localtime_r(&now.tv_sec, &local);
    int n;
    if (format_is("clock")) {
        n = snprintf(line, room, "[%ld] %s", (long)clock(), level);
    } else if (format_is("thread_id")) {
        strftime(day, sizeof day, "%b %d %H:%M:%S", &local);
        n = snprintf(line, room, "[%s.%06ld %5d %-12s %#lx] %s", day, (long)now.tv_usec, (int)getpid(), "slurmstepd",
                     (unsigned long)syscall(SYS_gettid), level);
    } else if (format_is("short")) {
        strftime(day, sizeof day, "%b %d %H:%M:%S", &local);
        n = snprintf(line, room, "[%s] %s", day, level);
    } else {
        bool with_zone = format_is("rfc5424") || format_is("rfc5424_ms") || format_is("rfc3339");
        bool whole_seconds = format_is("iso8601") || format_is("rfc5424") || format_is("rfc3339");
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
