/* See environment.h. */
#define _GNU_SOURCE
#include "environment.h"
#include "step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t find(struct step *step, const char *name, size_t length)
{
    size_t i = 0;
    while (i < step->environment.count
           && (strncmp(step->environment.items[i], name, length) || step->environment.items[i][length] != '='))
        i++;
    return i;
}

/* `entry` is NAME=value and is kept, not copied. An entry without '=' is passed on as it is. */
void environment_set(struct step *step, char *entry)
{
    const char *equals = strchr(entry, '=');
    size_t i = equals ? find(step, entry, (size_t)(equals - entry)) : step->environment.count;
    if (i < step->environment.count)
        step->environment.items[i] = entry;
    else
        strings_add(&step->environment, entry);
}

void environment_unset(struct step *step, const char *name)
{
    size_t i = find(step, name, strlen(name));
    if (i == step->environment.count)
        return;
    memmove(&step->environment.items[i], &step->environment.items[i + 1],
            (step->environment.count - i) * sizeof(char *));
    step->environment.count--;
}

const char *environment_value(struct step *step, const char *name)
{
    size_t length = strlen(name), i = find(step, name, length);
    return i < step->environment.count ? step->environment.items[i] + length + 1 : NULL;
}

/* That of the step; once before the first task is forked, so that there is room for it. */
void environment_prepare(struct step *step)
{
    step->environment.count = 0;
    for (size_t i = 0; i < step->spec.env.count; i++)
        strings_add(&step->environment, step->spec.env.items[i]);
}

/* In place of what another task may have made of it. */
void environment_make(struct step *step, const struct task *task)
{
    environment_prepare(step);
    for (size_t i = 0; i < task->env.count; i++)
        environment_set(step, task->env.items[i]);
}

char **environment_list(struct step *step)
{
    static char *empty[] = {NULL};
    return step->environment.count ? step->environment.items : empty;
}

/*
 * A name that begins with a dot stands in the working directory, a bare name is looked up in the task's own PATH; any
 * other name, and a bare one that PATH does not have, stands for itself.
 */
const char *environment_search(struct step *step, const char *program, const char *directory, char *found, size_t room)
{
    if (*program == '.')
        return snprintf(found, room, "%s/%s", directory, program) < (int)room ? found : program;
    const char *path = strchr(program, '/') ? NULL : environment_value(step, "PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        int n = length ? snprintf(found, room, "%.*s/%s", (int)length, path, program)
                       : snprintf(found, room, "./%s", program);
        struct stat st;
        if (n > 0 && (size_t)n < room && access(found, X_OK) == 0 && stat(found, &st) == 0 && S_ISREG(st.st_mode))
            return found;
        path += length;
        path += *path == ':';
    }
    return program;
}
