/*
 * Task prologs and epilogs, run as the user. Called by: task.c, stepd.c. Calls: environment.c, task.c, namespace.c,
 * log.c.
 */
#ifndef MUSTER_HOOKS_H
#define MUSTER_HOOKS_H

#include "task.h"

void hooks_run_prologs(struct step *step);
pid_t hooks_start_epilog(struct step *step, struct task *task);
void hooks_epilog_ended(struct task *task);

#endif
