/* The launch specification: whatever it is, it is taken or refused with a sentence. */
#define _GNU_SOURCE
#include "../step.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

static void strings_free(struct strings *list)
{
    free(list->items);
    *list = (struct strings){0};
}

static void spec_free(struct spec *spec)
{
    struct strings *lists[] = {&spec->argv,         &spec->env,     &spec->cgroups,        &spec->own_cgroups,
                               &spec->kill_cgroups, &spec->prologs, &spec->epilogs,        &spec->user_prologs,
                               &spec->user_epilogs, &spec->mpi,     &spec->mpi_directories};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        strings_free(lists[i]);
    for (size_t i = 0; i < spec->task_count; i++) {
        struct strings *own[] = {&spec->tasks[i].argv,          &spec->tasks[i].env,     &spec->tasks[i].cgroups,
                                 &spec->tasks[i].binding_lines, &spec->tasks[i].remarks, &spec->tasks[i].failing};
        for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
            strings_free(own[k]);
    }
    free(spec->groups);
    free(spec->tasks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct step step = {0};
    char error[300] = "", *text = malloc(size + 1);
    if (!text)
        abort();
    if (size)
        memcpy(text, data, size);
    bool good = spec_parse(&step, text, size, error, sizeof error);
    if (good == (*error != 0))
        abort();
    for (size_t i = 0; good && i < step.spec.task_count; i++)
        if (!(step.spec.tasks[i].argv.count ? step.spec.tasks[i].argv.items : step.spec.argv.items)[0])
            abort();
    spec_free(&step.spec);
    free(text);
    return 0;
}
