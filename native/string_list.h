/*
 * Lists of strings that end with NULL, as execve takes them. Called by: spec.c, environment.c, mpi.c.
 */
#ifndef MUSTER_STRING_LIST_H
#define MUSTER_STRING_LIST_H

#include <stddef.h>

struct strings {
    char **items;
    size_t count, room;
};

/* Keeps `item` itself. */
void strings_add(struct strings *list, char *item);

#endif
