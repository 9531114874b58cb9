#define _GNU_SOURCE
#include "environment.h"
#include "stepd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct strings environment;

static size_t find(const char *name, size_t length)
{
    size_t i = 0;
    while (i < environment.count
           && (strncmp(environment.items[i], name, length) || environment.items[i][length] != '='))
        i++;
    return i;
}

/* `entry` is NAME=value and is kept, not copied. An entry without '=' is passed on as it is. */
void environment_set(char *entry)
{
    const char *equals = strchr(entry, '=');
    size_t i = equals ? find(entry, (size_t)(equals - entry)) : environment.count;
    if (i < environment.count)
        environment.items[i] = entry;
    else
        strings_add(&environment, entry);
}

void environment_unset(const char *name)
{
    size_t i = find(name, strlen(name));
    if (i == environment.count)
        return;
    memmove(&environment.items[i], &environment.items[i + 1], (environment.count - i) * sizeof(char *));
    environment.count--;
}

const char *environment_value(const char *name)
{
    size_t length = strlen(name), i = find(name, length);
    return i < environment.count ? environment.items[i] + length + 1 : NULL;
}

/* That of the step; once before the first task is forked, so that there is room for it. */
void environment_prepare(void)
{
    environment.count = 0;
    for (size_t i = 0; i < spec.env.count; i++)
        strings_add(&environment, spec.env.items[i]);
}

/* In place of what another task may have made of it. */
void environment_make(const struct task *task)
{
    environment_prepare();
    for (size_t i = 0; i < task->env.count; i++)
        environment_set(task->env.items[i]);
}

char **environment_list(void)
{
    static char *empty[] = {NULL};
    return environment.count ? environment.items : empty;
}

/*
 * A name that begins with a dot stands in the working directory, a bare name is looked up in the task's own PATH; any
 * other name, and a bare one that PATH does not have, stands for itself.
 */
const char *environment_search(const char *program, const char *directory, char *found, size_t room)
{
    if (*program == '.')
        return snprintf(found, room, "%s/%s", directory, program) < (int)room ? found : program;
    const char *path = strchr(program, '/') ? NULL : environment_value("PATH");
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
