/*
 * The process that keeps the command services running while its daemon does. Called by: launcher.c, natives.c.
 */
#ifndef MUSTER_KEEPER_H
#define MUSTER_KEEPER_H

#include <stddef.h>
#include <sys/types.h>

struct launcher;

/* In the daemon: starts the keeper, which waits; tells it that the daemon serves; reads what it has to say. */
void keeper_start(struct launcher *launcher);
void keeper_begin(struct launcher *launcher);
ssize_t keeper_report(struct launcher *launcher, char *text, size_t room);
/* In the keeper. */
int keeper_run(struct launcher *launcher);

#endif
