/*
 * A job's own mounts, processes and users (slurmstepd --namespace), and how a step enters them.
 * Called by: stepd.c, task.c, hooks.c, procs.c.
 */
#ifndef MUSTER_NAMESPACE_H
#define MUSTER_NAMESPACE_H

#include <stdbool.h>
#include <sys/types.h>

int namespace_main(int argc, char **argv);
bool namespace_join(const char *file);
bool namespace_adopt(const char *file);
bool namespace_has(const char *file, pid_t pid);
bool namespace_has_processes(const char *file);
bool namespace_channel(const char *device, uid_t uid, gid_t gid);

#endif
