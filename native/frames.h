/*
 * Frames on the step's socket: u32 length, then u8 type, u32 task, u8 stream, u64 offset, bytes; all big endian.
 * Called by: io.c.
 */
#ifndef MUSTER_FRAMES_H
#define MUSTER_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_VERSION 1
#define FRAME_ALL_TASKS 0xFFFFFFFFu
#define FRAME_HEAD_BYTES 14
#define FRAME_IN_BYTES (256u * 1024u)        /* longest frame taken from a client */
#define CLIENT_ANSWERS_BYTES (1024u * 1024u) /* beyond that a client that does not read is not listened to */
#define CLIENT_OUT_BYTES (128u * 1024u)      /* prepared for one client; the rest stays in the streams */

enum frame_type {
    /* from stepd */
    FRAME_HELLO = 'H',
    FRAME_STARTED = 'T',
    FRAME_DATA = 'O',
    FRAME_DATA_END = 'E',
    FRAME_EXIT = 'X',
    FRAME_STDIN_LIMIT = 'L',
    FRAME_COMPLETE = 'F',
    FRAME_RESULT = 'R',
    FRAME_ABORT = 'B',
    FRAME_LINGERS = 'N',
    /* to stepd */
    FRAME_ATTACH = 'A',
    FRAME_ACK = 'a',
    FRAME_STDIN = 'I',
    FRAME_STDIN_END = 'i',
    FRAME_WINDOW = 'w',
    FRAME_SIGNAL = 'S',
    FRAME_FINISH = 'K',
    FRAME_QUERY = 'Q',
    FRAME_MESSAGE = 'M',
    FRAME_INJECT = 'J',
    FRAME_INJECT_END = 'j',
};

/* In the offset of FRAME_MESSAGE: the text is not printed; a cancelled step is no aborted one for srun. */
enum { MESSAGE_UNPRINTED = 1, MESSAGE_NO_ABORT = 2 };

enum signal_mode { SIGNAL_ALL = 0, SIGNAL_TASKS = 1, SIGNAL_TERMINATE = 2, SIGNAL_SUSPEND = 3 };

struct frame {
    uint8_t type, stream;
    uint32_t task;
    uint64_t offset;
    const char *bytes;
    size_t length;
};

struct buffer {
    char *bytes;
    size_t room, have, done;
};

struct position {
    bool attached, end_told;
    uint64_t sent;
};

enum { TOLD_STARTED = 1, TOLD_EXIT = 2 };

struct client {
    int fd;
    bool primary, hears, attaching, finish_told, abort_told, linger_told, injects, end_only;
    struct buffer in, out;
    struct position *positions; /* two a task */
    uint8_t *told;
    uint64_t *limits;
    size_t next; /* round robin over the streams */
};

void frame_append(struct buffer *to, uint8_t type, uint32_t task, uint8_t stream, uint64_t offset, const char *bytes,
                  size_t n);
int frame_take(struct buffer *from, struct frame *frame);
bool buffer_receive(struct buffer *into, int fd);
bool buffer_send(struct buffer *from, int fd);

#endif
