/*
 * The one program behind every command and daemon name.
 *   launcher.c  finds the installation, forks daemons, starts the Java machine
 *   natives.c   what Java code asks of the process: raw arguments and environment, sockets, the end by a signal
 *   warm.c      the short path of commands: a request to the command service of this machine
 *   service.c   how that service begins: its socket, its user
 *   keeper.c    the process that starts it, and again when it ends, while a daemon runs
 *   identity.c  the user that a daemon becomes, and what files it takes along
 */
#ifndef MUSTER_LAUNCHER_H
#define MUSTER_LAUNCHER_H

#include "warm.h"

#include <jni.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define VERSION_NUMBER " 26.05.3"
#define VERSION_LINE "slurm" VERSION_NUMBER
#define REQUEST_ID_CHARS 32
#define OPTIONS_MAX 128

struct launcher {
    char name[64]; /* squeue, slurmctld, … */
    char prefix[PATH_MAX];
    int argc;
    char **argv;
    char **environment; /* as the caller gave it, also what is hidden from the Java machine */
    mode_t umask;
    int ready_fd;      /* a daemon tells its waiting parent here; -1 in the foreground */
    int keeper_order;  /* its end is the end of the keeper of command services; -1: there is none */
    int keeper_report; /* lines for the daemon's log */
    bool keeper_began;
    bool compiles_behind;
    char service[108]; /* the command service's socket; "" for none */
    long service_uid;  /* uid of the command service beside root; -1: none */
    long service_gid;  /* its group; 0 for the one with the number of service_uid */
    char request_id[REQUEST_ID_CHARS + 1];
    const char *main_class;
    char java_home[PATH_MAX];
    JavaVMOption options[OPTIONS_MAX];
    int option_count;
    char extra_options[4096]; /* from launcher.conf */
    struct warm warm;
};

/* slurmctld serves: what it starts with is over. */
void launcher_serves(struct launcher *launcher);

#endif
