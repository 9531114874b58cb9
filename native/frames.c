/* See frames.h. */
#define _GNU_SOURCE
#include "frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void make_room(struct buffer *b, size_t n)
{
    if (b->done == b->have)
        b->done = b->have = 0;
    if (b->have + n > b->room && b->done) {
        memmove(b->bytes, b->bytes + b->done, b->have - b->done);
        b->have -= b->done;
        b->done = 0;
    }
    while (b->have + n > b->room) {
        b->room = b->room ? b->room * 2 : 1024;
        b->bytes = realloc(b->bytes, b->room);
        if (!b->bytes)
            abort();
    }
}

static void put_big_endian(char *at, uint64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--, value >>= 8)
        at[i] = (char)(value & 0xff);
}

static uint64_t big_endian(const char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | (unsigned char)at[i];
    return value;
}

void frame_append(struct buffer *to, uint8_t type, uint32_t task, uint8_t stream, uint64_t offset, const char *bytes,
                  size_t n)
{
    make_room(to, 4 + FRAME_HEAD_BYTES + n);
    char *at = to->bytes + to->have;
    put_big_endian(at, FRAME_HEAD_BYTES + n, 4);
    at[4] = (char)type;
    put_big_endian(at + 5, task, 4);
    at[9] = (char)stream;
    put_big_endian(at + 10, offset, 8);
    if (n)
        memcpy(at + 4 + FRAME_HEAD_BYTES, bytes, n);
    to->have += 4 + FRAME_HEAD_BYTES + n;
}

/* 1: a frame was taken, its bytes are good till the next read; 0: more is needed; -1: what is there is no frame. */
int frame_take(struct buffer *from, struct frame *frame)
{
    size_t there = from->have - from->done;
    const char *at = from->bytes + from->done;
    if (there < 4)
        return 0;
    size_t length = (size_t)big_endian(at, 4);
    if (length < FRAME_HEAD_BYTES || length > FRAME_IN_BYTES)
        return -1;
    if (there < 4 + length)
        return 0;
    *frame = (struct frame){(uint8_t)at[4],
                            (uint8_t)at[9],
                            (uint32_t)big_endian(at + 5, 4),
                            big_endian(at + 10, 8),
                            at + 4 + FRAME_HEAD_BYTES,
                            length - FRAME_HEAD_BYTES};
    from->done += 4 + length;
    return 1;
}

/* False: the peer is gone. */
bool buffer_receive(struct buffer *into, int fd)
{
    make_room(into, 65536);
    ssize_t n = recv(fd, into->bytes + into->have, into->room - into->have, 0);
    if (n > 0)
        into->have += (size_t)n;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

bool buffer_send(struct buffer *from, int fd)
{
    if (from->have == from->done)
        return true;
    ssize_t n = send(fd, from->bytes + from->done, from->have - from->done, MSG_NOSIGNAL);
    if (n > 0)
        from->done += (size_t)n;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}
