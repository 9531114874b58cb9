/*
 * The environment of one task, assembled in its child: the step's, the task's over it, then what prologs change.
 * Called by: stepd.c, task.c, hooks.c. Calls: string_list.c.
 */
#ifndef MUSTER_ENVIRONMENT_H
#define MUSTER_ENVIRONMENT_H

#include <stddef.h>

struct step;
struct task;

void environment_prepare(struct step *step);
void environment_make(struct step *step, const struct task *task);
void environment_set(struct step *step, char *entry);
void environment_unset(struct step *step, const char *name);
const char *environment_value(struct step *step, const char *name);
char **environment_list(struct step *step);
const char *environment_search(struct step *step, const char *program, const char *directory, char *found, size_t room);

#endif
