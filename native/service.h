/*
 * How the command service begins: its socket, its user. Called by: launcher.c, warm.c.
 */
#ifndef MUSTER_SERVICE_H
#define MUSTER_SERVICE_H

#include <stdbool.h>

#define SERVICE_NAME "muster-commands"
#define SERVICE_OF_ROOT ".root" /* behind the socket's name: the one for root's commands */

struct launcher;

bool service_uid_fits(long uid);
bool service_begin(struct launcher *launcher, bool for_root);

#endif
