/* The environment of one task, assembled in its child: the step's, the task's over it, then what prologs change. */
#ifndef MUSTER_ENVIRONMENT_H
#define MUSTER_ENVIRONMENT_H

#include <stddef.h>

struct task;

void environment_prepare(void);
void environment_make(const struct task *task);
void environment_set(char *entry);
void environment_unset(const char *name);
const char *environment_value(const char *name);
char **environment_list(void);
const char *environment_search(const char *program, const char *directory, char *found, size_t room);

#endif
