/* See bytes.h. */
#define _GNU_SOURCE
#include "helper.h"

#include <stdlib.h>
#include <string.h>

void *claim(size_t count, size_t size)
{
    void *at = calloc(count ? count : 1, size);
    if (!at)
        abort();
    return at;
}

char *claim_text(const char *text, size_t n)
{
    char *copy = claim(n + 1, 1);
    memcpy(copy, text, n);
    return copy;
}

void bytes_put(struct bytes *b, const void *from, size_t n)
{
    if (b->done == b->have)
        b->done = b->have = 0;
    if (b->have + n > b->room && b->done) {
        memmove(b->at, b->at + b->done, b->have - b->done);
        b->have -= b->done;
        b->done = 0;
    }
    if (b->have + n > b->room) {
        size_t room = b->room ? b->room : 256;
        while (room < b->have + n)
            room *= 2;
        char *grown = realloc(b->at, room);
        if (!grown)
            abort();
        b->at = grown;
        b->room = room;
    }
    if (n)
        memcpy(b->at + b->have, from, n);
    b->have += n;
}

static void put_big_endian(struct bytes *b, uint64_t value, int n)
{
    unsigned char at[8];
    for (int i = n - 1; i >= 0; i--, value >>= 8)
        at[i] = (unsigned char)(value & 0xff);
    bytes_put(b, at, (size_t)n);
}

void bytes_put8(struct bytes *b, uint8_t value) { put_big_endian(b, value, 1); }
void bytes_put32(struct bytes *b, uint32_t value) { put_big_endian(b, value, 4); }
void bytes_put64(struct bytes *b, uint64_t value) { put_big_endian(b, value, 8); }
void bytes_put_text(struct bytes *b, const char *text) { bytes_put(b, text, strlen(text)); }

void bytes_put_block(struct bytes *b, const void *from, size_t n)
{
    bytes_put32(b, (uint32_t)n);
    bytes_put(b, from, n);
}

void bytes_drop(struct bytes *b, size_t n) { b->done += n; }

void bytes_free(struct bytes *b)
{
    free(b->at);
    *b = (struct bytes){0};
}

/* What is in the buffer; of an empty one there is no address to count from. */
struct reader bytes_reader(const struct bytes *b)
{
    return b->have > b->done ? (struct reader){b->at + b->done, b->have - b->done} : (struct reader){"", 0};
}

static bool read_big_endian(struct reader *r, uint64_t *value, size_t n)
{
    if (r->left < n)
        return false;
    *value = 0;
    for (size_t i = 0; i < n; i++)
        *value = *value << 8 | (unsigned char)r->at[i];
    r->at += n;
    r->left -= n;
    return true;
}

bool read8(struct reader *r, uint8_t *value)
{
    uint64_t v;
    bool good = read_big_endian(r, &v, 1);
    *value = good ? (uint8_t)v : 0;
    return good;
}

bool read32(struct reader *r, uint32_t *value)
{
    uint64_t v;
    bool good = read_big_endian(r, &v, 4);
    *value = good ? (uint32_t)v : 0;
    return good;
}

bool read64(struct reader *r, uint64_t *value) { return read_big_endian(r, value, 8); }

bool read_block(struct reader *r, const char **at, size_t *n)
{
    uint32_t length;
    if (!read32(r, &length) || r->left < length)
        return false;
    *at = r->at;
    *n = length;
    r->at += length;
    r->left -= length;
    return true;
}
