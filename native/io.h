/*
 * The step's socket and the streams of its tasks: output kept by offset, standard input, the event loop's poll.
 * Called by: stepd.c, task.c, mpi.c. Calls: frames.c, status.c, procs.c, mpi.c, task.c and the step (step.h).
 */
#ifndef MUSTER_IO_H
#define MUSTER_IO_H

#include "frames.h"
#include "task.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>

#define OUTPUT_KEPT_BYTES (1024u * 1024u) /* unacknowledged output of one task; then its pipes are left alone */
#define STDIN_WINDOW_BYTES (256u * 1024u) /* standard input taken ahead of what the task has read */
#define FRAME_DATA_BYTES (32u * 1024u)    /* data in one frame to a client */
#define LABELLED_LINE_BYTES 65536u        /* a longer line of a labelled file is broken */
#define GATHER_TASKS 16                   /* with this many tasks, a short wait follows a round that brought little */
#define GATHER_FIRST_US 300
#define GATHER_MOST_US 20000
#define LAST_READS 8      /* from a task that writes no more, in one round */
#define FLOOD_BYTES 16384 /* read at once from one task: no time to wait */
#define CLIENTS_MAX 64

struct watch;

struct io {
    int listener;
    struct client clients[CLIENTS_MAX];
    size_t client_count;
    bool caller_came;  /* a primary client has attached; it may go and come again */
    bool is_cancelled; /* the step was told so: srun wants to know why its tasks end */
    bool is_flood;     /* a task wrote much in this round: the next one comes at once */
    long gather_us;    /* how long the next round waits for more events */
    struct pollfd *fds;
    struct watch *watches; /* what each of fds stands for */
    size_t watch_count, watch_room;
};

bool io_open(struct step *step, const char *path);
void io_serve(struct step *step, int timeout_ms, int wake_fd, void (*on_wake)(struct step *));
bool io_all_delivered(struct step *step);
void io_close_input(struct task *task);
void io_last_words(struct step *step);
void io_leave_outputs(struct step *step);
void io_say(struct step *step, const char *text, size_t length);
void io_append(struct task *task, int stream, const char *bytes, size_t n);
void io_told(struct step *step);
bool io_caller_came(struct step *step);

#endif
