/*
 * The durable record of what became of every task (README.md, status file). Called by: stepd.c, io.c. Calls: log.c.
 */
#ifndef MUSTER_STATUS_H
#define MUSTER_STATUS_H

#include <stdbool.h>
#include <stddef.h>

struct step;

struct status_file {
    int fd; /* -1: not begun */
    size_t length;
    bool name_synced;
};

bool status_write(struct step *step, bool durable);
size_t status_text(struct step *step, char *into, size_t room);

#endif
