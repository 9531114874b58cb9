/*
 * The one program behind every command and daemon name.
 *   launcher.c  finds the installation, forks daemons, starts the Java machine
 *   natives.c   what Java code asks of the process: raw arguments and environment, sockets, the end by a signal
 *   warm.c      the short path of commands: a request to the command service of this machine
 *   service.c   how that service begins: its socket, its user
 */
#ifndef MUSTER_LAUNCHER_H
#define MUSTER_LAUNCHER_H

#include <jni.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define VERSION_NUMBER " 26.05.3"
#define VERSION_LINE "slurm" VERSION_NUMBER
#define REQUEST_ID_CHARS 32

struct launcher {
    char name[64]; /* squeue, slurmctld, … */
    char prefix[PATH_MAX];
    int argc;
    char **argv;
    char **environment; /* as the caller gave it, also what is hidden from the Java machine */
    mode_t umask;
    int ready_fd;      /* a daemon tells its waiting parent here; -1 in the foreground */
    char service[108]; /* the command service's socket; "" for none */
    long service_uid;  /* who may be the command service of users besides root; -1 nobody */
    long service_gid;  /* its group; 0 for the one with the number of service_uid */
    char request_id[REQUEST_ID_CHARS + 1];
};

extern struct launcher launcher;

/* natives.c */
void natives_register(JNIEnv *env, const char *class_name);
void natives_ready(int rc);
void launcher_serves(void);

/* service.c */
#define SERVICE_NAME "muster-commands"
#define SERVICE_OF_ROOT ".root" /* behind the socket's name: the one for root's commands */
bool service_uid_fits(long uid);
bool service_begin(bool for_root);

/* warm.c: true when the command was carried out there; then *rc is its exit code. */
bool warm_run(int *rc);
bool warm_unfinished(const char **state, size_t *state_bytes, char **progress, const char **input, size_t *input_bytes);

#endif
