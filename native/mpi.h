/*
 * The step's mpi-helper as stepd sees it: its start, its lines, its end. Called by: stepd.c, io.c.
 * Calls: task.c, procs.c, io.c, log.c, string_list.c.
 */
#ifndef MUSTER_MPI_H
#define MUSTER_MPI_H

#include "task.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct mpi {
    pid_t helper; /* 0: none */
    int control, listener;
    bool is_ready, is_aborted, is_finishing;
    char *partial_line; /* what has come of a line */
    size_t partial_length;
    char failure[300];
    int logged_lines;
};

bool mpi_begin(struct step *step, char *error, size_t room);
int mpi_control(struct step *step);
void mpi_hear(struct step *step);
bool mpi_is_aborted(struct step *step);
bool mpi_is_there(struct step *step);
bool mpi_reaped(struct step *step, pid_t pid);
void mpi_task_ended(struct step *step, const struct task *task);
void mpi_finish(struct step *step);
void mpi_kill(struct step *step);
void mpi_clean(struct step *step);

#endif
