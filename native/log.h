/*
 * stepd's own log, and how a message to a task's standard error begins. Called by: every file of stepd.
 */
#ifndef MUSTER_LOG_H
#define MUSTER_LOG_H

#include <stdbool.h>
#include <stddef.h>

struct step;

/* The longest beginning of a message: "[TIME] LEVEL" in the longest LogTimeFormat. */
#define LOG_PREFIX_BYTES_MAX 128
void log_line(struct step *step, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t log_prefix(const char *log_time, char *line, size_t room, const char *level);

#endif
