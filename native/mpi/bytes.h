/*
 * Growing buffers, and reading numbers and blocks out of them. Called by: every file of mpi-helper.
 */
#ifndef MUSTER_MPI_HELPER_BYTES_H
#define MUSTER_MPI_HELPER_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    char *at;
    size_t room, have, done;
};
void bytes_put(struct bytes *b, const void *from, size_t n);
void bytes_put8(struct bytes *b, uint8_t value);
void bytes_put32(struct bytes *b, uint32_t value);
void bytes_put64(struct bytes *b, uint64_t value);
void bytes_put_text(struct bytes *b, const char *text);
void bytes_put_block(struct bytes *b, const void *from, size_t n);
void bytes_drop(struct bytes *b, size_t n);
void bytes_free(struct bytes *b);
void *claim(size_t count, size_t size);
char *claim_text(const char *text, size_t n);
/* Readers. They return false if too few bytes are left. */
struct reader {
    const char *at;
    size_t left;
};
struct reader bytes_reader(const struct bytes *b);
bool read8(struct reader *r, uint8_t *value);
bool read32(struct reader *r, uint32_t *value);
bool read64(struct reader *r, uint64_t *value);
bool read_block(struct reader *r, const char **at, size_t *n);

#endif
