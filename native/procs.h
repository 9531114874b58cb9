/*
 * Finding, signalling and killing everything a step left behind. Called by: stepd.c, io.c, task.c, mpi.c. Calls:
 * namespace.c.
 */
#ifndef MUSTER_PROCS_H
#define MUSTER_PROCS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct step;

int procs_signal_children_tree(struct step *step, int signal);
int procs_signal_tasks(struct step *step, int signal);
int procs_suspend(struct step *step);
bool procs_are_left(struct step *step);
bool procs_linger(struct step *step, bool warned);
void procs_join_cgroup(const char *directory, pid_t pid, char *error, size_t error_room);
void procs_kill_cgroups(struct step *step);
long procs_oom_kills(struct step *step);

#endif
