/*
 * One step on one node: what all files of stepd know of it. Each function has it as its first parameter.
 * stepd.c   start, the event loop, the end           io.c         clients of the socket, streams of the tasks
 * spec.c    reads the launch specification           status.c     the durable record of what became of every task
 * task.c    what a child does between fork and exec  procs.c      finding and killing everything a step left behind
 * hooks.c   task prolog and task epilog              namespace.c  the file system and processes as a job sees them
 * mpi.c     the process that speaks PMI              container.c  a task whose container is created and started
 * pam.c     a PAM session around the step            serve.c      starts steps on request of slurmd
 * log.c     stepd's log                              frames.c     frames of the socket
 */
#ifndef MUSTER_STEP_H
#define MUSTER_STEP_H

#include "io.h"
#include "mpi.h"
#include "spec.h"
#include "status.h"
#include "string_list.h"
#include "task.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The arguments' place, where ps reads. */
struct title {
    char *place;
    size_t room;
};

struct step {
    struct spec spec;
    struct io io;
    struct mpi mpi;
    struct status_file status;
    struct launch launch;
    struct strings environment; /* of the child that is about to execute */
    struct title title;
    void *pam_session; /* NULL: none is open */
    pid_t server;      /* the process of slurmstepd --serve that started the step; 0: none */
    int answer;        /* where it is said that the step stands; -1: said */
    int log_fd;        /* -1: nothing was logged yet */
    int signal_fd;
    int gate[2]; /* there if any of the tasks could fail alone before it runs */
    bool begun; /* a task may have run */
    bool gate_open;
    bool terminated; /* everything of the step is to be killed */
    bool warned;     /* every process of the step was sent SIGTERM */
    bool ended;      /* the last task is over */
    bool complete;   /* nothing of the step is left */
    bool changed;    /* the status file is behind */
    bool lingering, lingering_told, bad_exit, mpi_waited, finish_asked;
    char reason[300];
    long long finish_at_ms, kill_at_ms;
    int kill_retry_ms;
};

bool step_tasks_ended(struct step *step);
bool step_complete(struct step *step);
bool step_is_terminated(struct step *step);
void step_finish(struct step *step, unsigned linger_ms);
void step_terminate(struct step *step);
/* Every process of the step has SIGTERM: those with a handler for it may run that to its end. */
void step_warned(struct step *step);
/* The tasks are over and on disk; processes that relay other steps, or handle SIGTERM, are left for now. */
bool step_is_lingering(struct step *step);
const char *step_reason(struct step *step);
bool step_is_aborted(struct step *step);
void step_watch_memory(struct step *step, struct task *task);
void step_main(struct step *step, int answer, const char *prefix) __attribute__((noreturn));
void step_title(struct step *step, const char *title);

#endif
